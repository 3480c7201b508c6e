package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

var controllerChecks = []check{
	{"a client of controller-runtime creates, updates or patches, and leaves alone what is right", createOrUpdate},
	{"an environment of envtest uses the server and installs definitions", environment},
	{"a manager reconciles a custom resource into a Deployment and a ConfigMap, and cleans up", manager},
}

// Website is a custom resource.
type Website struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WebsiteSpec   `json:"spec"`
	Status            WebsiteStatus `json:"status,omitempty"`
}

// WebsiteSpec is what is wanted.
type WebsiteSpec struct {
	Page     string `json:"page"`
	Replicas int32  `json:"replicas"`
}

// WebsiteStatus is what is there.
type WebsiteStatus struct {
	Ready      int32              `json:"ready"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// WebsiteList is a list of websites.
type WebsiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Website `json:"items"`
}

// DeepCopyObject copies a website.
func (in *Website) DeepCopyObject() runtime.Object {
	out := *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = append([]metav1.Condition(nil), in.Status.Conditions...)
	return &out
}

// DeepCopyObject copies a list.
func (in *WebsiteList) DeepCopyObject() runtime.Object {
	out := *in
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Website, len(in.Items))
	for i := range in.Items {
		out.Items[i] = *in.Items[i].DeepCopyObject().(*Website)
	}
	return &out
}

func schemeOf(w *world) *runtime.Scheme {
	scheme := runtime.NewScheme()
	version := schema.GroupVersion{Group: group(w), Version: "v1"}
	_ = clientgoscheme.AddToScheme(scheme)
	scheme.AddKnownTypes(version, &Website{}, &WebsiteList{})
	metav1.AddToGroupVersion(scheme, version)
	return scheme
}

func newClient(w *world) (client.Client, error) {
	return client.New(w.config, client.Options{Scheme: schemeOf(w)})
}

func createOrUpdate(ctx context.Context, w *world) error {
	c, err := newClient(w)
	if err != nil {
		return err
	}
	results := []controllerutil.OperationResult{}
	for _, replicas := range []int32{1, 1, 2} {
		object := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "either", Namespace: w.namespace}}
		result, err := controllerutil.CreateOrUpdate(ctx, c, object, func() error {
			object.Spec.Replicas = &replicas
			object.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "either"}}
			object.Spec.Template.Labels = map[string]string{"app": "either"}
			if len(object.Spec.Template.Spec.Containers) == 0 {
				object.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main"}}
			}
			object.Spec.Template.Spec.Containers[0].Image = "main:1"
			return nil
		})
		if err != nil {
			return err
		}
		results = append(results, result)
	}
	for _, value := range []string{"a", "a", "b"} {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "either", Namespace: w.namespace}}
		result, err := controllerutil.CreateOrPatch(ctx, c, object, func() error {
			object.Data = map[string]string{"k": value}
			return nil
		})
		if err != nil {
			return err
		}
		results = append(results, result)
	}
	if err := c.Apply(ctx, coreapply.ConfigMap("runtime", w.namespace).WithData(map[string]string{"k": "v"}), client.FieldOwner("runtime")); err != nil {
		return err
	}
	var read corev1.ConfigMap
	if err := c.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: "runtime"}, &read); err != nil {
		return err
	}
	stale := read.DeepCopy()
	changed := read.DeepCopy()
	changed.Data["k"] = "w"
	if err := c.Patch(ctx, changed, client.MergeFromWithOptions(&read, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	stale.Data["k"] = "x"
	locked := c.Patch(ctx, stale, client.MergeFromWithOptions(&read, client.MergeFromWithOptimisticLock{}))
	if err := c.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(w.namespace), client.MatchingFields{"metadata.name": "runtime"}); err != nil {
		return err
	}
	gone := c.Get(ctx, client.ObjectKeyFromObject(&read), &read)
	return all(expect(fmt.Sprint(results) == "[created unchanged updated created unchanged updated]", "results %v", results),
		refused(locked, "a conflict", apierrors.IsConflict), refused(gone, "not found", apierrors.IsNotFound))
}

func environment(_ context.Context, w *world) error {
	spec := apiextensionsv1.JSONSchemaProps{Type: "object", Required: []string{"page"}, Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"page": {Type: "string"}, "replicas": {Type: "integer", Format: "int32"},
	}}
	env := &envtest.Environment{
		UseExistingCluster: pointer(true), Config: w.config, CRDs: []*apiextensionsv1.CustomResourceDefinition{definition(w, "Website", spec)},
	}
	config, err := env.Start()
	if err != nil {
		return err
	}
	return all(expect(config.Host == w.config.Host, "another server"), env.Stop())
}

const finalizer = "example.com/website"

// websites reconciles.
type websites struct {
	client.Client
	recorder events.EventRecorder
	cleaned  atomic.Int32
}

// Reconcile makes what is there what is wanted.
func (r *websites) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var site Website
	if err := r.Get(ctx, request.NamespacedName, &site); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !site.DeletionTimestamp.IsZero() {
		if controllerutil.RemoveFinalizer(&site, finalizer) {
			r.cleaned.Add(1)
			return ctrl.Result{}, r.Update(ctx, &site)
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(&site, finalizer) {
		return ctrl.Result{}, r.Update(ctx, &site)
	}
	page := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: site.Name, Namespace: site.Namespace}}
	if _, err := controllerutil.CreateOrPatch(ctx, r.Client, page, func() error {
		page.Data = map[string]string{"index.html": site.Spec.Page}
		return controllerutil.SetControllerReference(&site, page, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	pods := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: site.Name, Namespace: site.Namespace}}
	result, err := controllerutil.CreateOrUpdate(ctx, r.Client, pods, func() error {
		labels := map[string]string{"website": site.Name}
		pods.Spec.Replicas, pods.Spec.Selector, pods.Spec.Template.Labels = &site.Spec.Replicas, &metav1.LabelSelector{MatchLabels: labels}, labels
		if len(pods.Spec.Template.Spec.Containers) == 0 {
			pods.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web", Image: "web:1"}}
		}
		return controllerutil.SetControllerReference(&site, pods, r.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	if result == controllerutil.OperationResultCreated {
		r.recorder.Eventf(&site, pods, corev1.EventTypeNormal, "Deployed", "Deploying", "Made the Deployment of %s", site.Name)
	}
	before := site.DeepCopyObject().(*Website)
	site.Status.Ready = pods.Status.ReadyReplicas
	condition := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Waiting", ObservedGeneration: site.Generation}
	if site.Status.Ready == site.Spec.Replicas {
		condition.Status, condition.Reason = metav1.ConditionTrue, "Serving"
	}
	meta.SetStatusCondition(&site.Status.Conditions, condition)
	return ctrl.Result{}, r.Status().Patch(ctx, &site, client.MergeFrom(before))
}

func manager(ctx context.Context, w *world) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m, err := ctrl.NewManager(w.config, ctrl.Options{
		Scheme: schemeOf(w), Metrics: server.Options{BindAddress: "0"},
		Cache:          cache.Options{DefaultNamespaces: map[string]cache.Config{w.namespace: {}}},
		LeaderElection: true, LeaderElectionID: "websites", LeaderElectionNamespace: w.namespace, LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout: pointer(5 * time.Second),
	})
	if err != nil {
		return err
	}
	index := func(object client.Object) []string { return []string{object.(*Website).Spec.Page} }
	if err := m.GetFieldIndexer().IndexField(ctx, &Website{}, "page", index); err != nil {
		return err
	}
	reconciler := &websites{Client: m.GetClient(), recorder: m.GetEventRecorder("websites")}
	if err := ctrl.NewControllerManagedBy(m).For(&Website{}).Owns(&appsv1.Deployment{}).Owns(&corev1.ConfigMap{}).Complete(reconciler); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	if !m.GetCache().WaitForCacheSync(ctx) {
		return fmt.Errorf("the cache is not in sync")
	}
	if err := websiteLife(ctx, w, m.GetClient(), reconciler); err != nil {
		return err
	}
	cancel()
	if err := <-ended; err != nil {
		return err
	}
	lease, err := w.client.CoordinationV1().Leases(w.namespace).Get(context.Background(), "websites", metav1.GetOptions{})
	return all(err, expect(*lease.Spec.HolderIdentity == "", "still held by %s", *lease.Spec.HolderIdentity))
}

func websiteLife(ctx context.Context, w *world, c client.Client, reconciler *websites) error {
	site := &Website{ObjectMeta: metav1.ObjectMeta{Name: "blog", Namespace: w.namespace}, Spec: WebsiteSpec{Page: "hello", Replicas: 2}}
	if err := c.Create(ctx, site); err != nil {
		return err
	}
	key := client.ObjectKeyFromObject(site)
	var pods appsv1.Deployment
	if err := eventually(ctx, "there is a Deployment", func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, key, &pods)
		return err == nil, client.IgnoreNotFound(err)
	}); err != nil {
		return err
	}
	owner := metav1.GetControllerOf(&pods)
	if err := expect(owner != nil && owner.Kind == "Website" && owner.UID == site.UID, "owner %v", owner); err != nil {
		return err
	}
	pods.Status.Replicas, pods.Status.ReadyReplicas, pods.Status.ObservedGeneration = 2, 2, pods.Generation
	if err := c.Status().Update(ctx, &pods); err != nil {
		return err
	}
	if err := eventually(ctx, "the website is ready", func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, key, site)
		return meta.IsStatusConditionTrue(site.Status.Conditions, "Ready"), err
	}); err != nil {
		return err
	}
	// What somebody else breaks is mended.
	if err := c.Delete(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "blog", Namespace: w.namespace}}); err != nil {
		return err
	}
	if err := eventually(ctx, "the ConfigMap is back", func(ctx context.Context) (bool, error) {
		object, err := w.client.CoreV1().ConfigMaps(w.namespace).Get(ctx, "blog", metav1.GetOptions{})
		if err != nil {
			return false, client.IgnoreNotFound(err)
		}
		return object.Data["index.html"] == "hello", nil
	}); err != nil {
		return err
	}
	base := site.DeepCopyObject().(*Website)
	site.Spec.Page = "bye"
	if err := c.Patch(ctx, site, client.MergeFrom(base)); err != nil {
		return err
	}
	if err := eventually(ctx, "the page is new, and indexed", func(ctx context.Context) (bool, error) {
		object, err := w.client.CoreV1().ConfigMaps(w.namespace).Get(ctx, "blog", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		var found WebsiteList
		if err := c.List(ctx, &found, client.InNamespace(w.namespace), client.MatchingFields{"page": "bye"}); err != nil {
			return false, err
		}
		return object.Data["index.html"] == "bye" && len(found.Items) == 1, nil
	}); err != nil {
		return err
	}
	if err := eventually(ctx, "there is an event", func(ctx context.Context) (bool, error) {
		list, err := w.client.EventsV1().Events(w.namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=Deployed"})
		return err == nil && len(list.Items) == 1 && list.Items[0].Related != nil && list.Items[0].Related.Kind == "Deployment", err
	}); err != nil {
		return err
	}
	if err := c.Delete(ctx, site); err != nil {
		return err
	}
	if err := eventually(ctx, "the website is gone", func(ctx context.Context) (bool, error) {
		return apierrors.IsNotFound(c.Get(ctx, key, site)), nil
	}); err != nil {
		return err
	}
	return expect(reconciler.cleaned.Load() == 1, "cleaned up %d times", reconciler.cleaned.Load())
}
