package main

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

var accessChecks = []check{
	{"roles let users do what they say, and no more", roles},
	{"access reviews tell what users may do", reviews},
}

// as is a client that impersonates a user.
func as(w *world, user string, groups ...string) (kubernetes.Interface, error) {
	config := rest.CopyConfig(w.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	return kubernetes.NewForConfig(config)
}

func roles(ctx context.Context, w *world) error {
	client, err := as(w, "jane", "readers")
	if err != nil {
		return err
	}
	_, before := client.CoreV1().Pods(w.namespace).List(ctx, metav1.ListOptions{})
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "read-pods"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list", "watch"}}},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "read-pods"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "read-pods"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "readers"}},
	}
	if _, err := w.proto.RbacV1().Roles(w.namespace).Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := w.proto.RbacV1().RoleBindings(w.namespace).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return err
	}
	if !w.authorizes {
		return before
	}
	if err := eventually(ctx, "jane reads", func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().Pods(w.namespace).List(ctx, metav1.ListOptions{})
		return err == nil, nil
	}); err != nil {
		return err
	}
	deleted := client.CoreV1().Pods(w.namespace).Delete(ctx, "kept", metav1.DeleteOptions{})
	_, secrets := client.CoreV1().Secrets(w.namespace).List(ctx, metav1.ListOptions{})
	escalated := func() error {
		_, err := client.RbacV1().Roles(w.namespace).Create(ctx, role, metav1.CreateOptions{})
		return err
	}()
	return all(refused(before, "forbidden", apierrors.IsForbidden), refused(deleted, "forbidden", apierrors.IsForbidden),
		refused(secrets, "forbidden", apierrors.IsForbidden), refused(escalated, "forbidden", apierrors.IsForbidden))
}

func reviews(ctx context.Context, w *world) error {
	ask := func(client kubernetes.Interface, verb, resource string) (bool, error) {
		review, err := client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{
				User: "jane", Groups: []string{"readers"},
				ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: w.namespace, Verb: verb, Resource: resource},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			return false, err
		}
		return review.Status.Allowed, nil
	}
	pods, err := ask(w.proto, "list", "pods")
	if err != nil {
		return err
	}
	secrets, err := ask(w.client, "list", "secrets")
	if err != nil {
		return err
	}
	if err := expect(pods && secrets == !w.authorizes, "pods %v, secrets %v", pods, secrets); err != nil || !w.authorizes {
		return err
	}
	client, err := as(w, "jane", "readers")
	if err != nil {
		return err
	}
	self, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: w.namespace, Verb: "delete", Resource: "pods"},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	rules, err := client.AuthorizationV1().SelfSubjectRulesReviews().Create(ctx, &authorizationv1.SelfSubjectRulesReview{
		Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: w.namespace},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	found := false
	for _, rule := range rules.Status.ResourceRules {
		found = found || len(rule.Verbs) == 3 && rule.Resources[0] == "pods"
	}
	return all(expect(!self.Status.Allowed, "jane may delete"), expect(found, "rules %v", rules.Status.ResourceRules))
}
