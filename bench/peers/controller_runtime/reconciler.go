// Reconciles widgets, in the way that the harness asks for.

package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"tend/bench/protocol"
)

// WidgetReconciler reconciles widgets.
type WidgetReconciler struct {
	client.Client
	Scheme *runtime.Scheme

	mode     string
	recorder *protocol.Recorder
}

// SetupWithManager adds the controller to a manager.
func (r *WidgetReconciler) SetupWithManager(m ctrl.Manager, workers int) error {
	builder := ctrl.NewControllerManagedBy(m).
		For(&Widget{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers})
	if r.mode == "owned" {
		builder = builder.Owns(&corev1.ConfigMap{})
	}
	return builder.Complete(r)
}

// Reconcile makes what is there what is wanted.
func (r *WidgetReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	started := r.recorder.Started()
	var widget Widget
	if err := r.Get(ctx, request.NamespacedName, &widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	// A patch answers with the object as it is then, which may have a newer revision.
	index, revision := widget.Spec.Index, widget.Spec.Revision
	r.recorder.Read(started, index, revision, widget.Spec.Sent)
	result, err := r.reconcile(ctx, &widget)
	r.recorder.Finished(index, revision, err)
	return result, err
}

func (r *WidgetReconciler) reconcile(ctx context.Context, widget *Widget) (ctrl.Result, error) {
	switch r.mode {
	case "status":
		return ctrl.Result{}, r.observe(ctx, widget)
	case "owned":
		return ctrl.Result{}, r.applyConfigMap(ctx, widget)
	case "delay":
		return ctrl.Result{RequeueAfter: time.Hour}, nil
	default:
		return ctrl.Result{}, nil
	}
}

// observe writes in the status which revision was seen.
func (r *WidgetReconciler) observe(ctx context.Context, widget *Widget) error {
	if widget.Status.Observed == widget.Spec.Revision {
		return nil
	}
	before := widget.DeepCopy()
	widget.Status.Observed = widget.Spec.Revision
	widget.Status.Message = fmt.Sprintf("Revision %d was observed", widget.Spec.Revision)
	r.recorder.Wrote()
	return r.Status().Patch(ctx, widget, client.MergeFrom(before))
}

// applyConfigMap applies the ConfigMap that a widget owns.
func (r *WidgetReconciler) applyConfigMap(ctx context.Context, widget *Widget) error {
	owner := applymeta.OwnerReference().
		WithAPIVersion(GroupVersion.String()).
		WithKind("Widget").
		WithName(widget.Name).
		WithUID(widget.UID).
		WithController(true).
		WithBlockOwnerDeletion(true)
	configMap := applycore.ConfigMap(widget.Name, widget.Namespace).
		WithOwnerReferences(owner).
		WithData(map[string]string{
			"revision": strconv.Itoa(int(widget.Spec.Revision)),
			"title":    widget.Spec.Title,
		})
	r.recorder.Wrote()
	return r.Apply(ctx, configMap, client.FieldOwner("controller-runtime"), client.ForceOwnership)
}
