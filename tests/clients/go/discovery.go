package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
)

var discoveryChecks = []check{
	{"discovery finds groups, resources and preferred versions", discovered},
	{"a mapper finds the resources of kinds, custom ones among them", mapped},
	{"the OpenAPI of built-in and custom kinds is read", openAPI},
	{"documents of several kinds are applied by what discovery says", appliedDocuments},
}

func discovered(_ context.Context, w *world) error {
	client := w.client.Discovery()
	version, err := client.ServerVersion()
	if err != nil {
		return err
	}
	groups, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		return err
	}
	preferred, err := client.ServerPreferredNamespacedResources()
	if err != nil {
		return err
	}
	legacy, err := discovery.NewDiscoveryClient(w.client.CoreV1().RESTClient()).WithLegacy().ServerResourcesForGroupVersion("apps/v1")
	if err != nil {
		return err
	}
	binary, err := w.proto.Discovery().ServerResourcesForGroupVersion("v1")
	if err != nil {
		return err
	}
	watched := discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "watch"}}, preferred)
	return all(expect(version.Major == "1", "version %v", version), expect(len(groups) > 10 && len(lists) > 10, "%d groups, %d lists", len(groups), len(lists)),
		expect(len(watched) > 5, "%d lists can be watched", len(watched)), expect(len(legacy.APIResources) > 10, "%d in apps", len(legacy.APIResources)),
		expect(len(binary.APIResources) > 20, "%d in core", len(binary.APIResources)))
}

func mapper(w *world) *restmapper.DeferredDiscoveryRESTMapper {
	return restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(w.client.Discovery()))
}

func mapped(_ context.Context, w *world) error {
	m := mapper(w)
	apps, err := m.RESTMapping(schema.GroupKind{Group: "apps", Kind: "Deployment"})
	if err != nil {
		return err
	}
	custom, err := m.RESTMapping(schema.GroupKind{Group: group(w), Kind: "Gadget"}, "v1")
	if err != nil {
		return err
	}
	node, err := m.RESTMapping(schema.GroupKind{Kind: "Node"})
	if err != nil {
		return err
	}
	kind, err := m.KindFor(schema.GroupVersionResource{Resource: "deployments"})
	if err != nil {
		return err
	}
	_, err = m.RESTMapping(schema.GroupKind{Group: "nope", Kind: "Nope"})
	return all(expect(apps.Resource.Resource == "deployments" && apps.Scope.Name() == meta.RESTScopeNameNamespace, "mapping %v", apps),
		expect(custom.Resource == gadgets(w), "mapping %v", custom), expect(node.Scope.Name() == meta.RESTScopeNameRoot, "mapping %v", node),
		expect(kind.Kind == "Deployment", "kind %v", kind), refused(err, "no match", meta.IsNoMatchError))
}

func openAPI(ctx context.Context, w *world) error {
	paths, err := w.client.Discovery().OpenAPIV3().Paths()
	if err != nil {
		return err
	}
	for path, want := range map[string]string{"apis/apps/v1": "io.k8s.api.apps.v1.Deployment", "apis/" + group(w) + "/v1": "Gadget"} {
		if err := eventually(ctx, path, func(context.Context) (bool, error) {
			if paths[path] == nil {
				paths, err = w.client.Discovery().OpenAPIV3().Paths()
				return false, err
			}
			text, err := paths[path].Schema("application/json")
			return bytes.Contains(text, []byte(want)), err
		}); err != nil {
			return err
		}
	}
	return nil
}

func appliedDocuments(ctx context.Context, w *world) error {
	text := `
apiVersion: v1
kind: ServiceAccount
metadata: { name: documents }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: documents }
spec:
  replicas: 0
  selector: { matchLabels: { app: documents } }
  template:
    metadata: { labels: { app: documents } }
    spec: { containers: [{ name: main, image: main:1 }] }
---
apiVersion: ` + group(w) + `/v1
kind: Gadget
metadata: { name: documents }
spec: { color: blue }
`
	m, decoder, count := mapper(w), yaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(text)), 4096), 0
	for ; ; count++ {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		kind := object.GroupVersionKind()
		mapping, err := m.RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil {
			return err
		}
		var client dynamic.ResourceInterface = w.dynamic.Resource(mapping.Resource)
		if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
			client = w.dynamic.Resource(mapping.Resource).Namespace(w.namespace)
		}
		first, err := client.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: "documents"})
		if err != nil {
			return fmt.Errorf("%v: %w", kind, err)
		}
		again, err := client.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: "documents"})
		if err != nil {
			return fmt.Errorf("%v: %w", kind, err)
		}
		if err := expect(first.GetResourceVersion() == again.GetResourceVersion(), "%v: version %s, then %s", kind, first.GetResourceVersion(), again.GetResourceVersion()); err != nil {
			return err
		}
	}
	return expect(count == 3, "%d documents", count)
}
