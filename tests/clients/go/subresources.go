package main

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

var subresourceChecks = []check{
	{"a status is written on its own", statuses},
	{"a scale is read and written", scales},
	{"a pod is bound, becomes ready, and is evicted", eviction},
	{"a disruption budget refuses an eviction", budget},
	{"a token of a service account says who it is of", tokens},
}

func statuses(ctx context.Context, w *world) error {
	for name, client := range map[string]kubernetes.Interface{"json": w.client, "proto": w.proto} {
		deployments := client.AppsV1().Deployments(w.namespace)
		made, err := deployments.Create(ctx, deployment("status-"+name, map[string]string{"app": "status"}), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		made.Status.ObservedGeneration, made.Status.Replicas = 1, 2
		made.Spec.Replicas = pointer[int32](9)
		now, err := deployments.UpdateStatus(ctx, made, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		if err := expect(now.Status.Replicas == 2 && *now.Spec.Replicas == 0 && now.Generation == 1, "%s: %v", name, now); err != nil {
			return err
		}
	}
	return nil
}

func scales(ctx context.Context, w *world) error {
	deployments := w.proto.AppsV1().Deployments(w.namespace)
	scale, err := deployments.GetScale(ctx, "status-json", metav1.GetOptions{})
	if err != nil {
		return err
	}
	scale.Spec.Replicas = 6
	scale, err = deployments.UpdateScale(ctx, "status-json", scale, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	now, err := deployments.Get(ctx, "status-json", metav1.GetOptions{})
	if err != nil {
		return err
	}
	stale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "status-json", Namespace: w.namespace, ResourceVersion: "1"}}
	_, err = w.client.AppsV1().Deployments(w.namespace).UpdateScale(ctx, "status-json", stale, metav1.UpdateOptions{})
	return all(expect(scale.Spec.Replicas == 6 && scale.Status.Selector == "app=status" && *now.Spec.Replicas == 6, "scale %v", scale),
		refused(err, "a conflict", apierrors.IsConflict))
}

func runningPod(ctx context.Context, client kubernetes.Interface, namespace, name string) error {
	pods := client.CoreV1().Pods(namespace)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "main"}}, TerminationGracePeriodSeconds: pointer[int64](0)},
	}
	if _, err := pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		return err
	}
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: name}, Target: corev1.ObjectReference{Kind: "Node", Name: "node-a"}}
	if err := pods.Bind(ctx, binding, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("binding: %w", err)
	}
	now, err := pods.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	now.Status.Phase = corev1.PodRunning
	now.Status.Conditions = append(now.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
	now, err = pods.UpdateStatus(ctx, now, metav1.UpdateOptions{})
	return all(err, expect(now.Spec.NodeName == "node-a" && now.Status.Phase == corev1.PodRunning, "pod %v", now))
}

func evict(ctx context.Context, client kubernetes.Interface, namespace, name string) error {
	return client.PolicyV1().Evictions(namespace).Evict(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}})
}

func eviction(ctx context.Context, w *world) error {
	if err := runningPod(ctx, w.proto, w.namespace, "evicted"); err != nil {
		return err
	}
	if err := evict(ctx, w.proto, w.namespace, "evicted"); err != nil {
		return err
	}
	_, err := w.client.CoreV1().Pods(w.namespace).Get(ctx, "evicted", metav1.GetOptions{})
	return refused(err, "not found", apierrors.IsNotFound)
}

func budget(ctx context.Context, w *world) error {
	if err := runningPod(ctx, w.client, w.namespace, "kept"); err != nil {
		return err
	}
	budgets := w.client.PolicyV1().PodDisruptionBudgets(w.namespace)
	made, err := budgets.Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "kept"},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: pointer(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "kept"}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: made.Generation, CurrentHealthy: 1, DesiredHealthy: 1, ExpectedPods: 1}
	if _, err := budgets.UpdateStatus(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	return refused(evict(ctx, w.client, w.namespace, "kept"), "too many requests", apierrors.IsTooManyRequests)
}

func tokens(ctx context.Context, w *world) error {
	accounts := w.client.CoreV1().ServiceAccounts(w.namespace)
	if _, err := accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: pointer[int64](600)}}
	issued, err := accounts.CreateToken(ctx, "robot", request, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	name := "system:serviceaccount:" + w.namespace + ":robot"
	review, err := w.proto.AuthenticationV1().TokenReviews().Create(ctx,
		&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: issued.Status.Token}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := expect(review.Status.Authenticated && review.Status.User.Username == name, "review %v", review.Status); err != nil {
		return err
	}
	if !w.authorizes { // Tokens are not sent without TLS.
		return nil
	}
	config := rest.AnonymousClientConfig(w.config)
	config.BearerToken = issued.Status.Token
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	self, err := client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	config.BearerToken = "wrong"
	if client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	_, wrong := client.CoreV1().Pods(w.namespace).List(ctx, metav1.ListOptions{})
	return all(expect(self.Status.UserInfo.Username == name, "user %v", self.Status.UserInfo), refused(wrong, "unauthorized", apierrors.IsUnauthorized))
}
