// Defines the kind Widget, with the methods that controller-gen would make.

package main

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the kind.
var GroupVersion = schema.GroupVersion{Group: "bench.example.com", Version: "v1"}

// AddToScheme adds the kind to a scheme.
func AddToScheme(scheme *runtime.Scheme) {
	scheme.AddKnownTypes(GroupVersion, &Widget{}, &WidgetList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
}

// Widget is the kind that the benchmark reconciles.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WidgetSpec   `json:"spec"`
	Status WidgetStatus `json:"status,omitempty"`
}

// WidgetSpec is what is wanted.
type WidgetSpec struct {
	Index    int32             `json:"index"`
	Revision int32             `json:"revision"`
	Sent     float64           `json:"sent"`
	Title    string            `json:"title"`
	Image    string            `json:"image"`
	Replicas int32             `json:"replicas"`
	Ports    []WidgetPort      `json:"ports,omitempty"`
	Env      []WidgetEnv       `json:"env,omitempty"`
	Selector map[string]string `json:"selector,omitempty"`
}

// WidgetPort is a port with a name.
type WidgetPort struct {
	Name string `json:"name"`
	Port int32  `json:"port"`
}

// WidgetEnv is a variable.
type WidgetEnv struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// WidgetStatus is what was seen.
type WidgetStatus struct {
	Observed int32  `json:"observed,omitempty"`
	Message  string `json:"message,omitempty"`
}

// WidgetList is a list of widgets.
type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Widget `json:"items"`
}

// DeepCopyInto copies all of a widget into another.
func (in *Widget) DeepCopyInto(out *Widget) {
	*out = *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Ports = slices.Clone(in.Spec.Ports)
	out.Spec.Env = slices.Clone(in.Spec.Env)
	out.Spec.Selector = maps.Clone(in.Spec.Selector)
}

// DeepCopy copies a widget.
func (in *Widget) DeepCopy() *Widget {
	out := new(Widget)
	in.DeepCopyInto(out)
	return out
}

// DeepCopyObject copies a widget.
func (in *Widget) DeepCopyObject() runtime.Object { return in.DeepCopy() }

// DeepCopyObject copies a list.
func (in *WidgetList) DeepCopyObject() runtime.Object {
	out := &WidgetList{TypeMeta: in.TypeMeta}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Widget, len(in.Items))
	for i := range in.Items {
		in.Items[i].DeepCopyInto(&out.Items[i])
	}
	return out
}
