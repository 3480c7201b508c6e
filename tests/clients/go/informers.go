package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

var informerChecks = []check{
	{"shared informers follow additions, updates and deletions, and resync, in JSON", func(ctx context.Context, w *world) error {
		return informed(ctx, w.client, w.namespace, "json")
	}},
	{"shared informers follow additions, updates and deletions, and resync, in protocol buffers", func(ctx context.Context, w *world) error {
		return informed(ctx, w.proto, w.namespace, "proto")
	}},
	{"informers of many kinds come into sync", manyInformers},
}

func informed(ctx context.Context, client kubernetes.Interface, namespace, name string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	secrets := client.CoreV1().Secrets(namespace)
	secret := func(number int) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", name, number), Labels: map[string]string{"informed": name}}}
	}
	for number := range 3 {
		if _, err := secrets.Create(ctx, secret(number), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, time.Second, informers.WithNamespace(namespace),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = "informed=" + name }))
	kind := factory.Core().V1().Secrets()
	var added, updated, resynced, deleted atomic.Int32
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { added.Add(1) },
		UpdateFunc: func(old, now any) {
			if old.(*corev1.Secret).ResourceVersion == now.(*corev1.Secret).ResourceVersion {
				resynced.Add(1)
			} else {
				updated.Add(1)
			}
		},
		DeleteFunc: func(any) { deleted.Add(1) },
	}
	if _, err := kind.Informer().AddEventHandler(handler); err != nil {
		return err
	}
	byType := cache.Indexers{"type": func(object any) ([]string, error) { return []string{string(object.(*corev1.Secret).Type)}, nil }}
	if err := kind.Informer().AddIndexers(byType); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	defer cancel()
	for _, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("the cache is not in sync")
		}
	}
	if _, err := secrets.Create(ctx, secret(3), metav1.CreateOptions{}); err != nil {
		return err
	}
	changed := secret(0)
	changed.StringData = map[string]string{"k": "v"}
	if _, err := secrets.Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := secrets.Delete(ctx, name+"-1", metav1.DeleteOptions{}); err != nil {
		return err
	}
	if err := eventually(ctx, "events", func(context.Context) (bool, error) {
		return added.Load() == 4 && updated.Load() == 1 && deleted.Load() == 1 && resynced.Load() >= 3, nil
	}); err != nil {
		return fmt.Errorf("%w: %d added, %d updated, %d deleted, %d resynced", err, added.Load(), updated.Load(), deleted.Load(), resynced.Load())
	}
	listed, err := kind.Lister().Secrets(namespace).List(labels.Everything())
	if err != nil {
		return err
	}
	indexed, err := kind.Informer().GetIndexer().ByIndex("type", string(corev1.SecretTypeOpaque))
	return all(err, expect(len(listed) == 3 && len(indexed) == 3, "%d listed, %d indexed", len(listed), len(indexed)))
}

func manyInformers(ctx context.Context, w *world) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	factory := informers.NewSharedInformerFactory(w.proto, 0)
	factory.Core().V1().Pods().Informer()
	factory.Core().V1().Nodes().Informer()
	factory.Core().V1().Namespaces().Informer()
	factory.Core().V1().Services().Informer()
	factory.Core().V1().Events().Informer()
	factory.Core().V1().PersistentVolumeClaims().Informer()
	factory.Apps().V1().Deployments().Informer()
	factory.Apps().V1().ReplicaSets().Informer()
	factory.Apps().V1().StatefulSets().Informer()
	factory.Apps().V1().DaemonSets().Informer()
	factory.Batch().V1().Jobs().Informer()
	factory.Batch().V1().CronJobs().Informer()
	factory.Networking().V1().Ingresses().Informer()
	factory.Rbac().V1().ClusterRoles().Informer()
	factory.Rbac().V1().ClusterRoleBindings().Informer()
	factory.Coordination().V1().Leases().Informer()
	factory.Discovery().V1().EndpointSlices().Informer()
	factory.Policy().V1().PodDisruptionBudgets().Informer()
	factory.Storage().V1().StorageClasses().Informer()
	factory.Autoscaling().V2().HorizontalPodAutoscalers().Informer()
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	defer cancel()
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("%v is not in sync", kind)
		}
	}
	roles, err := factory.Rbac().V1().ClusterRoles().Lister().List(labels.Everything())
	return all(err, expect(len(roles) >= 4, "%d cluster roles", len(roles)))
}
