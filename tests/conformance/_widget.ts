/**
 * Defines the custom resource of the conformance suite, and drafts objects of other kinds.
 *
 * @module
 */
import type { Body } from "../_api.ts";

/** The group of Widgets. */
export const GROUP = "conformance.example.com";

const spec: Body = {
  type: "object",
  required: ["size"],
  properties: {
    size: { type: "integer", minimum: 0 },
    replicas: { type: "integer" },
    color: { type: "string", default: "red", enum: ["red", "green", "blue"] },
    port: { "x-kubernetes-int-or-string": true },
    note: { type: "string", nullable: true },
    when: { type: "string", format: "date-time" },
    fixed: { type: "string", "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "fixed is fixed" }] },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    parts: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string" }, amount: { type: "integer" } },
      },
    },
  },
  "x-kubernetes-validations": [{ rule: "self.size <= 100", message: "size is at most 100" }],
};

const status: Body = {
  type: "object",
  properties: { phase: { type: "string" }, replicas: { type: "integer" }, selector: { type: "string" } },
};

const version = (name: string, storage: boolean): Body => ({
  name,
  storage,
  served: true,
  schema: { openAPIV3Schema: { type: "object", properties: { spec, status } } },
  subresources: {
    status: {},
    scale: {
      specReplicasPath: ".spec.replicas",
      statusReplicasPath: ".status.replicas",
      labelSelectorPath: ".status.selector",
    },
  },
  selectableFields: [{ jsonPath: ".spec.color" }],
  additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
});

/** The definition of Widgets: two versions, a status, a scale, a selectable field, a column and rules. */
export const WIDGET: Body = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `widgets.${GROUP}` },
  spec: {
    group: GROUP,
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget", shortNames: ["wd"] },
    versions: [version("v1", true), version("v2", false)],
  },
};

/** A Widget. */
export function widget(name: string, spec: Body = { size: 1 }, metadata: Body = {}): Body {
  return { apiVersion: `${GROUP}/v1`, kind: "Widget", metadata: { name, ...metadata }, spec };
}

/** A definition of a kind in a group of its own. */
export function gadget(name: string, schema: Body, scope = "Namespaced"): Body {
  const group = `${name}.example.com`;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `gadgets.${group}` },
    spec: {
      group,
      scope,
      names: { plural: "gadgets", kind: "Gadget" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}

/** A ConfigMap. */
export function map(name: string, data: Record<string, string> = { k: "v" }, metadata: Body = {}): Body {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata }, data };
}

/** A Pod. */
export function pod(name: string): Body {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: { containers: [{ name: "main", image: "nginx" }] },
  };
}

/** A Deployment. */
export function deployment(name: string, more: Body = {}): Body {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "nginx" }] } };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: { selector: { matchLabels: labels }, template, ...more },
  };
}
