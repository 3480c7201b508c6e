package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/util/retry"
)

var typedChecks = []check{
	{"an object is created, read, updated and deleted in JSON", func(ctx context.Context, w *world) error {
		return lifecycle(ctx, w.client, w.namespace)
	}},
	{"an object is created, read, updated and deleted in protocol buffers", func(ctx context.Context, w *world) error {
		return lifecycle(ctx, w.proto, w.namespace)
	}},
	{"rich objects written in protocol buffers are read the same in JSON, and the reverse", sameInBoth},
	{"errors are of the types that callers look for, in JSON", func(ctx context.Context, w *world) error {
		return typedErrors(ctx, w.client, w.namespace)
	}},
	{"errors are of the types that callers look for, in protocol buffers", func(ctx context.Context, w *world) error {
		return typedErrors(ctx, w.proto, w.namespace)
	}},
	{"a list comes in pages, and a pager reads them all", paging},
	{"a watch tells what happens, in JSON", func(ctx context.Context, w *world) error { return watching(ctx, w.client, w.namespace, "j") }},
	{"a watch tells what happens, in protocol buffers", func(ctx context.Context, w *world) error {
		return watching(ctx, w.proto, w.namespace, "p")
	}},
	{"a streaming list ends with a bookmark that says so, in JSON", func(ctx context.Context, w *world) error {
		return streamingList(ctx, w.client, w.namespace)
	}},
	{"a streaming list ends with a bookmark that says so, in protocol buffers", func(ctx context.Context, w *world) error {
		return streamingList(ctx, w.proto, w.namespace)
	}},
	{"a token that is none is refused, and a watch from the future waits", outOfTime},
	{"writers that conflict succeed with RetryOnConflict", conflicts},
	{"a dry run leaves nothing behind", dryRun},
	{"generated names differ", generatedNames},
	{"a collection is deleted by label", deletedCollection},
	{"preconditions of a deletion are checked", preconditions},
	{"a finalizer keeps an object until it is removed", finalizers},
}

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
}

func lifecycle(ctx context.Context, client kubernetes.Interface, namespace string) error {
	maps := client.CoreV1().ConfigMaps(namespace)
	made, err := maps.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "life-", Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"x": "é✓"}},
		Data:       map[string]string{"k": "v", "empty": ""},
		BinaryData: map[string][]byte{"b": {0, 1, 255}},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := all(
		expect(made.UID != "" && made.ResourceVersion != "" && made.Namespace == namespace, "metadata: %v", made.ObjectMeta),
		expect(time.Since(made.CreationTimestamp.Time) < time.Minute, "created at %v", made.CreationTimestamp),
		expect(len(made.ManagedFields) == 1 && len(made.ManagedFields[0].FieldsV1.Raw) > 10, "managed fields: %v", made.ManagedFields),
	); err != nil {
		return err
	}
	read, err := maps.Get(ctx, made.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := expect(equality.Semantic.DeepEqual(made, read), "read %v, not %v", read, made); err != nil {
		return err
	}
	read.Data["k"] = "w"
	updated, err := maps.Update(ctx, read, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	if err := expect(updated.Data["k"] == "w" && updated.ResourceVersion != made.ResourceVersion, "updated %v", updated); err != nil {
		return err
	}
	made.Data["k"] = "old"
	_, err = maps.Update(ctx, made, metav1.UpdateOptions{})
	if err := refused(err, "a conflict", apierrors.IsConflict); err != nil {
		return err
	}
	if err := maps.Delete(ctx, made.Name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	_, err = maps.Get(ctx, made.Name, metav1.GetOptions{})
	return refused(err, "not found", apierrors.IsNotFound)
}

func deployment(name string, labels map[string]string) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: pointer[int32](0),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "main:1"}}},
			},
		},
	}
}

func richDeployment(name string) *appsv1.Deployment {
	made := deployment(name, map[string]string{"app": name})
	made.Spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{MaxSurge: pointer(intstr.FromString("30%")), MaxUnavailable: pointer(intstr.FromInt32(2))}
	spec := &made.Spec.Template.Spec
	spec.Volumes = []corev1.Volume{
		{Name: "empty", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: pointer(resource.MustParse("1Gi"))}}},
		{Name: "map", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "m"}, Optional: pointer(true),
			Items: []corev1.KeyToPath{{Key: "k", Path: "p", Mode: pointer[int32](0o400)}},
		}}},
	}
	spec.TerminationGracePeriodSeconds = pointer[int64](0)
	spec.NodeSelector = map[string]string{"disk": "ssd"}
	spec.Tolerations = []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: pointer[int64](30)}}
	container := &spec.Containers[0]
	container.Env = []corev1.EnvVar{
		{Name: "A", Value: "1"},
		{Name: "S", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k"}}},
		{Name: "C", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}}},
	}
	container.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 80}}
	container.Resources = corev1.ResourceRequirements{
		Limits:   corev1.ResourceList{"cpu": resource.MustParse("500m"), "memory": resource.MustParse("1.5Gi")},
		Requests: corev1.ResourceList{"cpu": resource.MustParse("0.1")},
	}
	container.LivenessProbe = &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromString("http")}},
		PeriodSeconds: 7,
	}
	container.SecurityContext = &corev1.SecurityContext{RunAsUser: pointer[int64](1), Privileged: pointer(false)}
	return made
}

func sameInBoth(ctx context.Context, w *world) error {
	for name, clients := range map[string][2]kubernetes.Interface{"from-proto": {w.proto, w.client}, "from-json": {w.client, w.proto}} {
		writer, reader := clients[0], clients[1]
		made, err := writer.AppsV1().Deployments(w.namespace).Create(ctx, richDeployment(name), metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		read, err := reader.AppsV1().Deployments(w.namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := expect(equality.Semantic.DeepEqual(made, read), "%s: read %v, not %v", name, read, made); err != nil {
			return err
		}
		listed, err := reader.AppsV1().Deployments(w.namespace).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := expect(len(listed.Items) == 1 && equality.Semantic.DeepEqual(made.Spec, listed.Items[0].Spec), "%s: listed %v", name, listed.Items); err != nil {
			return err
		}
		at := metav1.NewMicroTime(time.Date(2024, 1, 2, 3, 4, 5, 123456000, time.UTC))
		lease, err := writer.CoordinationV1().Leases(w.namespace).Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: pointer("me"), RenewTime: &at, LeaseTransitions: pointer[int32](0)},
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		again, err := reader.CoordinationV1().Leases(w.namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if err := expect(again.Spec.RenewTime.Time.Equal(at.Time) && equality.Semantic.DeepEqual(lease, again), "lease %v, not %v", again, lease); err != nil {
			return err
		}
		revision, err := writer.AppsV1().ControllerRevisions(w.namespace).Create(ctx, &appsv1.ControllerRevision{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Revision: 3, Data: runtime.RawExtension{Raw: []byte(`{"a":[1,"x"]}`)},
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		other, err := reader.AppsV1().ControllerRevisions(w.namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if err := expect(string(revision.Data.Raw) == string(other.Data.Raw), "data %s, not %s", other.Data.Raw, revision.Data.Raw); err != nil {
			return err
		}
	}
	return nil
}

func typedErrors(ctx context.Context, client kubernetes.Interface, namespace string) error {
	maps := client.CoreV1().ConfigMaps(namespace)
	made, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "errors-"}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	_, exists := maps.Create(ctx, configMap(made.Name, nil), metav1.CreateOptions{})
	_, invalid := maps.Create(ctx, configMap("Not a name", nil), metav1.CreateOptions{})
	_, missing := client.CoreV1().ConfigMaps("no-such-namespace").Create(ctx, configMap("a", nil), metav1.CreateOptions{})
	_, bad := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "!!"})
	status := apierrors.StatusError{}
	if reason, ok := invalid.(*apierrors.StatusError); ok {
		status = *reason
	}
	return all(
		refused(exists, "already there", apierrors.IsAlreadyExists),
		refused(invalid, "invalid", apierrors.IsInvalid),
		refused(missing, "not found", apierrors.IsNotFound),
		refused(bad, "a bad request", apierrors.IsBadRequest),
		expect(status.ErrStatus.Details != nil && len(status.ErrStatus.Details.Causes) == 1 &&
			status.ErrStatus.Details.Causes[0].Field == "metadata.name", "causes: %v", status.ErrStatus.Details),
	)
}

func paging(ctx context.Context, w *world) error {
	for i := range 7 {
		object := configMap(fmt.Sprintf("page-%d", i), nil)
		object.Labels = map[string]string{"of": "pages"}
		if _, err := w.client.CoreV1().ConfigMaps(w.namespace).Create(ctx, object, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	options := metav1.ListOptions{Limit: 3, LabelSelector: "of=pages"}
	sizes, names := []int{}, []string{}
	for {
		page, err := w.proto.CoreV1().ConfigMaps(w.namespace).List(ctx, options)
		if err != nil {
			return err
		}
		sizes = append(sizes, len(page.Items))
		for _, each := range page.Items {
			names = append(names, each.Name)
		}
		if options.Continue = page.Continue; options.Continue == "" {
			break
		}
	}
	count := 0
	reader := pager.New(pager.SimplePageFunc(func(options metav1.ListOptions) (runtime.Object, error) {
		return w.client.CoreV1().ConfigMaps(w.namespace).List(ctx, options)
	}))
	reader.PageSize = 2
	err := reader.EachListItem(ctx, metav1.ListOptions{LabelSelector: "of=pages"}, func(runtime.Object) error {
		count++
		return nil
	})
	return all(err, expect(fmt.Sprint(sizes) == "[3 3 1]", "pages of %v", sizes), expect(count == 7, "the pager saw %d", count),
		expect(names[0] == "page-0" && names[6] == "page-6", "names %v", names))
}

func watching(ctx context.Context, client kubernetes.Interface, namespace, name string) error {
	maps := client.CoreV1().ConfigMaps(namespace)
	list, err := maps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	selector := "watched=" + name
	watcher, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion, LabelSelector: selector})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	object := configMap("watched-"+name, map[string]string{"k": "1"})
	object.Labels = map[string]string{"watched": name}
	if object, err = maps.Create(ctx, object, metav1.CreateOptions{}); err != nil {
		return err
	}
	object.Data["k"] = "2"
	if object, err = maps.Update(ctx, object, metav1.UpdateOptions{}); err != nil {
		return err
	}
	object.Labels = nil
	if object, err = maps.Update(ctx, object, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err = maps.Delete(ctx, object.Name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	for _, want := range []string{"ADDED 1", "MODIFIED 2", "DELETED 2"} {
		event, err := next(ctx, watcher)
		if err != nil {
			return err
		}
		seen, ok := event.Object.(*corev1.ConfigMap)
		if !ok {
			return fmt.Errorf("a %T, not a ConfigMap", event.Object)
		}
		if err := expect(fmt.Sprint(event.Type, " ", seen.Data["k"]) == want, "%v, not %s", event, want); err != nil {
			return err
		}
	}
	return nil
}

func next(ctx context.Context, watcher watch.Interface) (watch.Event, error) {
	select {
	case event, ok := <-watcher.ResultChan():
		if !ok {
			return event, fmt.Errorf("the watch ended")
		}
		return event, nil
	case <-ctx.Done():
		return watch.Event{}, ctx.Err()
	case <-time.After(20 * time.Second):
		return watch.Event{}, fmt.Errorf("no event came")
	}
}

func streamingList(ctx context.Context, client kubernetes.Interface, namespace string) error {
	watcher, err := client.CoreV1().ConfigMaps(namespace).Watch(ctx, metav1.ListOptions{
		SendInitialEvents: pointer(true), AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	for added := 0; ; added++ {
		event, err := next(ctx, watcher)
		if err != nil {
			return err
		}
		if event.Type == watch.Bookmark {
			object := event.Object.(*corev1.ConfigMap)
			return all(expect(object.Annotations[metav1.InitialEventsAnnotationKey] == "true", "annotations %v", object.Annotations),
				expect(object.ResourceVersion != "", "no version"), expect(added > 0, "no objects"))
		}
		if event.Type != watch.Added {
			return fmt.Errorf("a %s", event.Type)
		}
	}
}

func outOfTime(ctx context.Context, w *world) error {
	_, err := w.client.CoreV1().ConfigMaps(w.namespace).List(ctx, metav1.ListOptions{Continue: "nonsense"})
	if err := refused(err, "a bad request", apierrors.IsBadRequest); err != nil {
		return err
	}
	watcher, err := w.proto.CoreV1().ConfigMaps(w.namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: "999999999", TimeoutSeconds: pointer[int64](1)})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		return fmt.Errorf("an event of the future: %v", event)
	}
	return nil
}

func conflicts(ctx context.Context, w *world) error {
	maps := w.client.CoreV1().ConfigMaps(w.namespace)
	if _, err := maps.Create(ctx, configMap("counter", map[string]string{"n": ""}), metav1.CreateOptions{}); err != nil {
		return err
	}
	var group sync.WaitGroup
	problems := make(chan error, 8)
	backoff := wait.Backoff{Steps: 200, Duration: 5 * time.Millisecond, Jitter: 1}
	for range 8 {
		group.Go(func() {
			problems <- retry.RetryOnConflict(backoff, func() error {
				object, err := maps.Get(ctx, "counter", metav1.GetOptions{})
				if err != nil {
					return err
				}
				object.Data["n"] += "x"
				_, err = maps.Update(ctx, object, metav1.UpdateOptions{})
				return err
			})
		})
	}
	group.Wait()
	close(problems)
	for problem := range problems {
		if problem != nil {
			return problem
		}
	}
	object, err := maps.Get(ctx, "counter", metav1.GetOptions{})
	return all(err, expect(object.Data["n"] == "xxxxxxxx", "counted %q", object.Data["n"]))
}

func dryRun(ctx context.Context, w *world) error {
	maps := w.client.CoreV1().ConfigMaps(w.namespace)
	made, err := maps.Create(ctx, configMap("dry", nil), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return err
	}
	_, err = maps.Get(ctx, "dry", metav1.GetOptions{})
	return all(expect(made.UID != "" && made.ResourceVersion == "", "metadata %v", made.ObjectMeta), refused(err, "not found", apierrors.IsNotFound))
}

func generatedNames(ctx context.Context, w *world) error {
	names := map[string]bool{}
	for range 5 {
		made, err := w.proto.CoreV1().Secrets(w.namespace).Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "generated-"}, StringData: map[string]string{"k": "v"},
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		if err := expect(string(made.Data["k"]) == "v" && made.StringData == nil, "secret %v", made); err != nil {
			return err
		}
		names[made.Name] = true
	}
	return expect(len(names) == 5, "names %v", names)
}

func deletedCollection(ctx context.Context, w *world) error {
	maps := w.client.CoreV1().ConfigMaps(w.namespace)
	for _, group := range []string{"go", "go", "stay"} {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "collected-", Labels: map[string]string{"collected": group}}}
		if _, err := maps.Create(ctx, object, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	if err := maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "collected=go"}); err != nil {
		return err
	}
	left, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "collected"})
	return all(err, expect(len(left.Items) == 1 && left.Items[0].Labels["collected"] == "stay", "left %v", left.Items))
}

func preconditions(ctx context.Context, w *world) error {
	maps := w.proto.CoreV1().ConfigMaps(w.namespace)
	made, err := maps.Create(ctx, configMap("conditional", nil), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	wrong := maps.Delete(ctx, made.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("other")})
	right := maps.Delete(ctx, made.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &made.UID, ResourceVersion: &made.ResourceVersion}})
	return all(refused(wrong, "a conflict", apierrors.IsConflict), right)
}

func finalizers(ctx context.Context, w *world) error {
	maps := w.proto.CoreV1().ConfigMaps(w.namespace)
	object := configMap("final", nil)
	object.Finalizers = []string{"example.com/clean-up"}
	made, err := maps.Create(ctx, object, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := maps.Delete(ctx, made.Name, metav1.DeleteOptions{PropagationPolicy: pointer(metav1.DeletePropagationForeground)}); err != nil {
		return err
	}
	going, err := maps.Get(ctx, made.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := expect(going.DeletionTimestamp != nil && len(going.Finalizers) == 2, "deletion %v %v", going.DeletionTimestamp, going.Finalizers); err != nil {
		return err
	}
	going.Finalizers = nil
	if _, err := maps.Update(ctx, going, metav1.UpdateOptions{}); err != nil {
		return err
	}
	_, err = maps.Get(ctx, made.Name, metav1.GetOptions{})
	return refused(err, "not found", apierrors.IsNotFound)
}
