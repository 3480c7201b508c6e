package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
)

var patchChecks = []check{
	{"JSON, merge and strategic merge patches change what they say", patches},
	{"a patch that changes nothing makes no new version", noChange},
	{"applied configurations own their fields, conflict, and are taken over by force", applied},
	{"what is no longer applied goes", unapplied},
	{"an extracted configuration is what was applied", extracted},
	{"a status is applied on its own", appliedStatus},
}

func patches(ctx context.Context, w *world) error {
	deployments := w.client.AppsV1().Deployments(w.namespace)
	made := deployment("patched", map[string]string{"app": "patched"})
	if _, err := w.proto.AppsV1().Deployments(w.namespace).Create(ctx, made, metav1.CreateOptions{}); err != nil {
		return err
	}
	strategic := `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"main:2"},{"name":"side","image":"side:1"}]}}}}`
	now, err := deployments.Patch(ctx, "patched", types.StrategicMergePatchType, []byte(strategic), metav1.PatchOptions{})
	if err != nil {
		return err
	}
	images := map[string]string{}
	for _, each := range now.Spec.Template.Spec.Containers {
		images[each.Name] = each.Image
	}
	if err := expect(fmt.Sprint(images) == "map[main:main:2 side:side:1]", "containers %v", images); err != nil {
		return err
	}
	now, err = w.proto.AppsV1().Deployments(w.namespace).Patch(ctx, "patched", types.StrategicMergePatchType,
		[]byte(`{"spec":{"template":{"spec":{"containers":[{"name":"side","$patch":"delete"}]}}}}`), metav1.PatchOptions{})
	if err != nil {
		return err
	}
	if err := expect(len(now.Spec.Template.Spec.Containers) == 1, "containers %v", now.Spec.Template.Spec.Containers); err != nil {
		return err
	}
	now, err = deployments.Patch(ctx, "patched", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}},"spec":{"replicas":3}}`), metav1.PatchOptions{})
	if err != nil {
		return err
	}
	if err := expect(now.Labels["a"] == "b" && *now.Spec.Replicas == 3 && now.Generation == 4, "labels %v, generation %d", now.Labels, now.Generation); err != nil {
		return err
	}
	now, err = deployments.Patch(ctx, "patched", types.JSONPatchType,
		[]byte(`[{"op":"test","path":"/spec/replicas","value":3},{"op":"replace","path":"/spec/replicas","value":4},{"op":"remove","path":"/metadata/labels/a"}]`), metav1.PatchOptions{})
	if err != nil {
		return err
	}
	_, failed := deployments.Patch(ctx, "patched", types.JSONPatchType, []byte(`[{"op":"test","path":"/spec/replicas","value":9}]`), metav1.PatchOptions{})
	return all(expect(len(now.Labels) == 0 && *now.Spec.Replicas == 4, "labels %v", now.Labels), refused(failed, "invalid", apierrors.IsInvalid))
}

func noChange(ctx context.Context, w *world) error {
	maps := w.proto.CoreV1().ConfigMaps(w.namespace)
	made, err := maps.Create(ctx, configMap("unchanged", map[string]string{"k": "v"}), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	same, err := maps.Patch(ctx, "unchanged", types.MergePatchType, []byte(`{"data":{"k":"v"}}`), metav1.PatchOptions{})
	if err != nil {
		return err
	}
	again, err := maps.Update(ctx, made, metav1.UpdateOptions{})
	return all(err, expect(same.ResourceVersion == made.ResourceVersion && again.ResourceVersion == made.ResourceVersion,
		"versions %s, %s and %s", made.ResourceVersion, same.ResourceVersion, again.ResourceVersion))
}

func applied(ctx context.Context, w *world) error {
	maps := w.client.CoreV1().ConfigMaps(w.namespace)
	one := coreapply.ConfigMap("applied", w.namespace).WithLabels(map[string]string{"a": "1"}).WithData(map[string]string{"k": "one"})
	made, err := maps.Apply(ctx, one, metav1.ApplyOptions{FieldManager: "one"})
	if err != nil {
		return err
	}
	two := coreapply.ConfigMap("applied", w.namespace).WithData(map[string]string{"k": "two"})
	_, err = w.proto.CoreV1().ConfigMaps(w.namespace).Apply(ctx, two, metav1.ApplyOptions{FieldManager: "two"})
	if err := refused(err, "a conflict", apierrors.IsConflict); err != nil {
		return err
	}
	cause, found := apierrors.StatusCause(err, metav1.CauseTypeFieldManagerConflict)
	forced, problem := w.proto.CoreV1().ConfigMaps(w.namespace).Apply(ctx, two, metav1.ApplyOptions{FieldManager: "two", Force: true})
	if problem != nil {
		return problem
	}
	managers := fmt.Sprint(forced.ManagedFields[0].Manager, " ", forced.ManagedFields[1].Manager)
	return all(
		expect(made.ManagedFields[0].Operation == metav1.ManagedFieldsOperationApply, "managers %v", made.ManagedFields),
		expect(found && cause.Field == ".data.k", "cause %v", cause),
		expect(forced.Data["k"] == "two" && forced.Labels["a"] == "1", "object %v", forced),
		expect(managers == "one two", "managers %s", managers),
	)
}

func unapplied(ctx context.Context, w *world) error {
	deployments := w.client.AppsV1().Deployments(w.namespace)
	selector := map[string]string{"app": "unapplied"}
	config := func(containers ...*coreapply.ContainerApplyConfiguration) *appsapply.DeploymentApplyConfiguration {
		return appsapply.Deployment("unapplied", w.namespace).WithSpec(appsapply.DeploymentSpec().
			WithReplicas(0).WithSelector(metaapply.LabelSelector().WithMatchLabels(selector)).
			WithTemplate(coreapply.PodTemplateSpec().WithLabels(selector).WithSpec(coreapply.PodSpec().WithContainers(containers...))))
	}
	main, side := coreapply.Container().WithName("main").WithImage("main:1"), coreapply.Container().WithName("side").WithImage("side:1")
	options := metav1.ApplyOptions{FieldManager: "applier"}
	if _, err := deployments.Apply(ctx, config(main, side), options); err != nil {
		return err
	}
	now, err := deployments.Apply(ctx, config(main), options)
	if err != nil {
		return err
	}
	return expect(len(now.Spec.Template.Spec.Containers) == 1 && now.Spec.Template.Spec.Containers[0].Name == "main",
		"containers %v", now.Spec.Template.Spec.Containers)
}

func extracted(ctx context.Context, w *world) error {
	deployments := w.proto.AppsV1().Deployments(w.namespace)
	now, err := deployments.Get(ctx, "unapplied", metav1.GetOptions{})
	if err != nil {
		return err
	}
	config, err := appsapply.ExtractDeployment(now, "applier")
	if err != nil {
		return err
	}
	if err := expect(*config.Spec.Replicas == 0 && len(config.Spec.Template.Spec.Containers) == 1 &&
		config.Spec.Template.Spec.Containers[0].TerminationMessagePath == nil, "extracted %v", config); err != nil {
		return err
	}
	config.Spec.WithReplicas(5)
	now, err = deployments.Apply(ctx, config, metav1.ApplyOptions{FieldManager: "applier"})
	return all(err, expect(*now.Spec.Replicas == 5, "replicas %v", now.Spec.Replicas))
}

func appliedStatus(ctx context.Context, w *world) error {
	services := w.client.CoreV1().Services(w.namespace)
	made, err := services.Create(ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "status"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80}}},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	status := coreapply.Service(made.Name, w.namespace).WithStatus(coreapply.ServiceStatus().
		WithLoadBalancer(coreapply.LoadBalancerStatus().WithIngress(coreapply.LoadBalancerIngress().WithIP("192.0.2.1"))))
	now, err := services.ApplyStatus(ctx, status, metav1.ApplyOptions{FieldManager: "balancer"})
	if err != nil {
		return err
	}
	subresource := ""
	for _, each := range now.ManagedFields {
		if each.Manager == "balancer" {
			subresource = each.Subresource
		}
	}
	return expect(now.Status.LoadBalancer.Ingress[0].IP == "192.0.2.1" && subresource == "status" && now.Spec.Type == corev1.ServiceTypeLoadBalancer,
		"service %v", now)
}
