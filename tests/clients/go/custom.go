package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

var customChecks = []check{
	{"a definition is established, and its objects are served", established},
	{"custom resources are defaulted, pruned, validated and have a status", customObjects},
	{"custom resources are applied and watched by a dynamic client", dynamicWork},
	{"warnings of unknown fields come to the client, and are errors when strict", warnings},
	{"the metadata of objects is listed, patched and watched", metadataWork},
	{"dynamic and metadata informers see custom resources", customInformers},
}

// group is of one run alone, so that runs do not meet.
func group(w *world) string { return w.namespace + ".example.com" }

func gadgets(w *world) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group(w), Version: "v1", Resource: "gadgets"}
}

func definition(w *world, kind string, spec apiextensionsv1.JSONSchemaProps) *apiextensionsv1.CustomResourceDefinition {
	plural := strings.ToLower(kind) + "s"
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group(w)},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group(w), Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Singular: strings.ToLower(kind), Kind: kind, ListKind: kind + "List"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object",
					Properties: map[string]apiextensionsv1.JSONSchemaProps{
						"spec":   spec,
						"status": {Type: "object", XPreserveUnknownFields: pointer(true)},
					},
				}},
			}},
		},
	}
}

func established(ctx context.Context, w *world) error {
	spec := apiextensionsv1.JSONSchemaProps{
		Type: "object", Required: []string{"color"},
		Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"color": {Type: "string", Enum: []apiextensionsv1.JSON{{Raw: []byte(`"red"`)}, {Raw: []byte(`"blue"`)}}},
			"size":  {Type: "integer", Default: &apiextensionsv1.JSON{Raw: []byte("3")}, Minimum: pointer(1.0)},
			"tags":  {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{Type: "string"}}},
		},
		XValidations: apiextensionsv1.ValidationRules{{Rule: "self.size < 100", Message: "too large"}},
	}
	definitions := w.extensions.ApiextensionsV1().CustomResourceDefinitions()
	made, err := definitions.Create(ctx, definition(w, "Gadget", spec), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := eventually(ctx, "the definition is established", func(ctx context.Context) (bool, error) {
		now, err := definitions.Get(ctx, made.Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, each := range now.Status.Conditions {
			if each.Type == apiextensionsv1.Established && each.Status == apiextensionsv1.ConditionTrue {
				return true, nil
			}
		}
		return false, nil
	}); err != nil {
		return err
	}
	return eventually(ctx, "its objects are served", func(ctx context.Context) (bool, error) {
		_, err := w.dynamic.Resource(gadgets(w)).Namespace(w.namespace).List(ctx, metav1.ListOptions{})
		return err == nil, nil
	})
}

func gadget(w *world, name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group(w) + "/v1", "kind": "Gadget",
		"metadata": map[string]any{"name": name, "namespace": w.namespace}, "spec": spec,
	}}
}

func customObjects(ctx context.Context, w *world) error {
	client := w.dynamic.Resource(gadgets(w)).Namespace(w.namespace)
	made, err := client.Create(ctx, gadget(w, "one", map[string]any{"color": "red", "unknown": true}), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	size, _, _ := unstructured.NestedInt64(made.Object, "spec", "size")
	_, unknown, _ := unstructured.NestedBool(made.Object, "spec", "unknown")
	_, color := client.Create(ctx, gadget(w, "two", map[string]any{"color": "green"}), metav1.CreateOptions{})
	_, rule := client.Create(ctx, gadget(w, "two", map[string]any{"color": "red", "size": int64(100)}), metav1.CreateOptions{})
	if err := all(expect(size == 3 && !unknown && made.GetGeneration() == 1, "object %v", made.Object),
		refused(color, "invalid", apierrors.IsInvalid), refused(rule, "invalid", apierrors.IsInvalid),
		expect(strings.Contains(fmt.Sprint(rule), "too large"), "message %v", rule)); err != nil {
		return err
	}
	made.Object["status"] = map[string]any{"phase": "Ready"}
	made.Object["spec"].(map[string]any)["size"] = int64(50)
	now, err := client.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	phase, _, _ := unstructured.NestedString(now.Object, "status", "phase")
	size, _, _ = unstructured.NestedInt64(now.Object, "spec", "size")
	return expect(phase == "Ready" && size == 3 && now.GetGeneration() == 1, "object %v", now.Object)
}

func dynamicWork(ctx context.Context, w *world) error {
	client := w.dynamic.Resource(gadgets(w)).Namespace(w.namespace)
	list, err := client.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	watcher, err := client.Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	options := metav1.ApplyOptions{FieldManager: "one"}
	if _, err := client.Apply(ctx, "applied", gadget(w, "applied", map[string]any{"color": "red", "tags": []any{"a"}}), options); err != nil {
		return err
	}
	_, conflict := client.Apply(ctx, "applied", gadget(w, "applied", map[string]any{"color": "blue"}), metav1.ApplyOptions{FieldManager: "two"})
	if _, err := client.Patch(ctx, "applied", types.MergePatchType, []byte(`{"spec":{"size":7}}`), metav1.PatchOptions{}); err != nil {
		return err
	}
	_, strategic := client.Patch(ctx, "applied", types.StrategicMergePatchType, []byte(`{}`), metav1.PatchOptions{})
	if err := client.Delete(ctx, "applied", metav1.DeleteOptions{}); err != nil {
		return err
	}
	for _, want := range []string{"ADDED 3", "MODIFIED 7", "DELETED 7"} {
		event, err := next(ctx, watcher)
		if err != nil {
			return err
		}
		size, _, _ := unstructured.NestedInt64(event.Object.(*unstructured.Unstructured).Object, "spec", "size")
		if err := expect(fmt.Sprint(event.Type, " ", size) == want, "%v, not %s", event, want); err != nil {
			return err
		}
	}
	return all(refused(conflict, "a conflict", apierrors.IsConflict), refused(strategic, "an unsupported media type", apierrors.IsUnsupportedMediaType))
}

// heard keeps warnings.
type heard struct{ texts []string }

func (h *heard) HandleWarningHeader(_ int, _, text string) { h.texts = append(h.texts, text) }

func warnings(ctx context.Context, w *world) error {
	handler := &heard{}
	config := rest.CopyConfig(w.config)
	config.WarningHandler = handler
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	object := gadget(w, "warned", map[string]any{"color": "red", "nope": true, "other": 1.0})
	if _, err := client.Resource(gadgets(w)).Namespace(w.namespace).Create(ctx, object, metav1.CreateOptions{FieldValidation: "Warn"}); err != nil {
		return err
	}
	object.SetName("strict")
	_, err = client.Resource(gadgets(w)).Namespace(w.namespace).Create(ctx, object, metav1.CreateOptions{FieldValidation: "Strict"})
	return all(expect(fmt.Sprint(handler.texts) == `[unknown field "spec.nope" unknown field "spec.other"]`, "warnings %q", handler.texts),
		refused(err, "a bad request", apierrors.IsBadRequest))
}

func metadataWork(ctx context.Context, w *world) error {
	for _, resource := range []schema.GroupVersionResource{gadgets(w), {Version: "v1", Resource: "configmaps"}} {
		client := w.metadata.Resource(resource).Namespace(w.namespace)
		list, err := client.List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return err
		}
		if len(list.Items) != 1 {
			return fmt.Errorf("%d %s", len(list.Items), resource.Resource)
		}
		watcher, err := client.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
		if err != nil {
			return err
		}
		defer watcher.Stop()
		name := list.Items[0].Name
		patched, err := client.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"annotations":{"seen":"yes"}}}`), metav1.PatchOptions{})
		if err != nil {
			return err
		}
		read, err := client.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		event, err := next(ctx, watcher)
		if err != nil {
			return err
		}
		seen, ok := event.Object.(*metav1.PartialObjectMetadata)
		if err := expect(ok && seen.Annotations["seen"] == "yes" && read.ResourceVersion == patched.ResourceVersion && seen.UID == read.UID,
			"event %v of %v", event, read); err != nil {
			return err
		}
	}
	return nil
}

func customInformers(ctx context.Context, w *world) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	objects := dynamicinformer.NewFilteredDynamicSharedInformerFactory(w.dynamic, 0, w.namespace, nil)
	partial := metadatainformer.NewFilteredSharedInformerFactory(w.metadata, 0, w.namespace, nil)
	var changes atomic.Int32
	informer, lister := objects.ForResource(gadgets(w)).Informer(), objects.ForResource(gadgets(w)).Lister()
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) { changes.Add(1) }}); err != nil {
		return err
	}
	metadata := partial.ForResource(gadgets(w))
	metadata.Informer()
	objects.Start(ctx.Done())
	partial.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced, metadata.Informer().HasSynced) {
		return fmt.Errorf("the caches are not in sync")
	}
	if _, err := lister.ByNamespace(w.namespace).Get("one"); err != nil {
		return err
	}
	if _, err := w.dynamic.Resource(gadgets(w)).Namespace(w.namespace).
		Patch(ctx, "one", types.MergePatchType, []byte(`{"metadata":{"labels":{"new":"yes"}}}`), metav1.PatchOptions{}); err != nil {
		return err
	}
	return eventually(ctx, "the informers see the change", func(context.Context) (bool, error) {
		object, err := metadata.Lister().ByNamespace(w.namespace).Get("one")
		if err != nil {
			return false, err
		}
		return changes.Load() > 0 && object.(*metav1.PartialObjectMetadata).Labels["new"] == "yes", nil
	})
}
