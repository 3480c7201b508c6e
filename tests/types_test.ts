import { assertEquals } from "@std/assert";
import { z } from "zod";
import { Action, Controller, customResource, type KubernetesObject, type ObjectOf, resource } from "../mod.ts";
import { ConfigMap, Deployment, Namespace, Node } from "../kinds.ts";

/** True if both types are the very same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;

/** Compiles for `true` alone. */
function holds<_T extends true>(): void {}

const Site = customResource({
  ...{ group: "example.com", version: "v1", kind: "Site" },
  spec: z.object({
    title: z.string(),
    replicas: z.number().int().default(1),
    theme: z.enum(["dark", "light"]).optional(),
  }),
  status: z.object({
    page: z.string().optional(),
    ready: z.object({ count: z.number(), since: z.string().optional() }).optional(),
    urls: z.array(z.string()).optional(),
  }),
});
type Site = ObjectOf<typeof Site>;

const Bare = customResource({
  group: "example.com",
  version: "v1",
  kind: "Bare",
  spec: z.object({ size: z.number() }),
});

interface Widget extends KubernetesObject {
  spec: { color: string };
  status?: { painted: boolean };
}
const Widget = resource<Widget>({ group: "example.com", version: "v1", kind: "Widget", plural: "widgets" });

Deno.test("an object of a customResource() kind has the types of its schemas, and its status may be absent", () => {
  holds<Same<Site["spec"]["replicas"], number>>();
  holds<Same<Site["spec"]["theme"], "dark" | "light" | undefined>>();
  new Controller(Site).reconcile((site) => {
    const title: string = site.spec.title;
    const page: string | undefined = site.status?.page;
    // @ts-expect-error: there may be no status yet
    site.status.page;
    // @ts-expect-error: no such field in the spec
    site.spec.titel;
    // @ts-expect-error: a number is no string
    const wrong: string = site.spec.replicas;
    return void [title, page, wrong];
  });
});

Deno.test("patchStatus() takes what the status has, in parts, with null to remove; nothing else compiles", () => {
  new Controller(Site).reconcile(async (site, ctx) => {
    const after = await ctx.patchStatus(site, { page: "p", ready: { count: 1 }, urls: ["a"] });
    holds<Same<typeof after, Site>>();
    await ctx.patchStatus(site, { page: null, ready: { since: null }, urls: undefined });
    await ctx.patchStatus(site, {});
    // @ts-expect-error: no such field
    await ctx.patchStatus(site, { pages: "p" });
    // @ts-expect-error: no such field, further down
    await ctx.patchStatus(site, { ready: { counts: 1 } });
    // @ts-expect-error: of another type
    await ctx.patchStatus(site, { ready: { count: "1" } });
    // @ts-expect-error: a list is replaced whole
    await ctx.patchStatus(site, { urls: [1] });
    // @ts-expect-error: the spec is none of its business
    await ctx.patchStatus(site, { spec: { title: "t" } });
  });
  new Controller(Widget).reconcile(async (widget, ctx) => {
    await ctx.patchStatus(widget, { painted: true });
    // @ts-expect-error: no such field
    await ctx.patchStatus(widget, { paint: true });
  });
  new Controller(Deployment).reconcile(async (deployment, ctx) => {
    await ctx.patchStatus(deployment, { replicas: 1 });
    // @ts-expect-error: no such field
    await ctx.patchStatus(deployment, { replica: 1 });
  });
  new Controller(Bare).reconcile(async (bare, ctx) => {
    await ctx.patchStatus(bare, { anything: { at: "all" } });
  });
});

Deno.test("setCondition() takes any object, and only what a condition has", () => {
  new Controller(Site).reconcile(async (site, ctx) => {
    const after = await ctx.setCondition(site, { type: "Ready", status: true, reason: "Done" });
    holds<Same<typeof after, Site>>();
    // @ts-expect-error: a reason is a must
    await ctx.setCondition(site, { type: "Ready", status: true });
    // @ts-expect-error: True, False, Unknown, or a boolean
    await ctx.setCondition(site, { type: "Ready", status: "yes", reason: "Done" });
    // @ts-expect-error: the framework sets it
    await ctx.setCondition(site, { type: "Ready", status: true, reason: "Done", lastTransitionTime: "now" });
  });
});

Deno.test("applyOwned(), owned(), get() and list() answer with objects of the kind that is asked for", () => {
  new Controller(Site).owns(ConfigMap).owns(Deployment).reconcile(async (site, ctx) => {
    const map = await ctx.applyOwned(site, ConfigMap.draft({ metadata: { name: "a" }, data: { a: "b" } }));
    holds<Same<typeof map, ConfigMap>>();
    const any = await ctx.applyOwned(site, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "a" },
      stringData: {},
    });
    holds<Same<typeof any, KubernetesObject>>();
    const widget = await ctx.applyOwned(site, Widget.draft({ metadata: { name: "a" }, spec: { color: "red" } }));
    holds<Same<typeof widget, Widget>>();
    // @ts-expect-error: no such field
    ConfigMap.draft({ metadata: { name: "a" }, dat: { a: "b" } });
    // @ts-expect-error: values are text
    ConfigMap.draft({ metadata: { name: "a" }, data: { a: 1 } });
    // @ts-expect-error: no such field, further down
    Deployment.draft({ metadata: { name: "a" }, spec: { template: { spec: { container: [] } } } });
    // @ts-expect-error: there is no kind
    await ctx.applyOwned(site, { metadata: { name: "a" } });
    holds<Same<ReturnType<typeof maps>, readonly ConfigMap[]>>();
    const maps = () => ctx.owned(ConfigMap);
    const found = await ctx.get(Deployment, "a");
    holds<Same<typeof found, Deployment | undefined>>();
    const all = await ctx.list(Node, { labelSelector: "a=b" });
    holds<Same<typeof all, readonly Node[]>>();
  });
});

Deno.test("what is reconciled, filtered, mapped and cleaned up is typed by the kind, and answers with an Action or nothing", () => {
  const controller = new Controller(Site)
    .filter((site, previous) => site.spec.title !== previous?.spec.title)
    .watches(Widget, (widget, cache) => {
      const color: string = widget.spec.color;
      return cache.list(Site).filter((site) => site.spec.title === color);
    })
    .watches(Namespace, ({ metadata }) => [{ name: metadata.name, namespace: metadata.namespace }])
    .finalizer("example.com/x", (site) => site.spec.replicas > 1 ? Action.requeue({ seconds: 1 }) : undefined)
    .reconcile(() => Action.awaitChange());
  assertEquals(controller.name, "site");
  // @ts-expect-error: no such field
  new Controller(Site).filter((site) => site.spec.titel === "");
  // @ts-expect-error: a mapping names objects
  new Controller(Site).watches(Widget, () => ["name"]);
  // @ts-expect-error: a number is no Action
  new Controller(Site).reconcile(() => 5);
  // @ts-expect-error: nor is one that comes later
  new Controller(Site).reconcile(() => Promise.resolve("done"));
});

Deno.test("options may be undefined wherever they may be absent", () => {
  const none = undefined as string | undefined;
  const controller = new Controller(Site, {
    name: none,
    namespaces: undefined,
    labelSelector: none,
    fieldSelector: none,
  })
    .owns(ConfigMap, { metadataOnly: undefined, labelSelector: none })
    .watches(Widget, () => [], { metadataOnly: undefined, namespaces: undefined })
    .reconcile(async (site, ctx) => {
      await ctx.get(ConfigMap, "a", { namespace: none, live: undefined });
      await ctx.list(ConfigMap, { namespace: none, labelSelector: none });
      await ctx.setCondition(site, { type: "Ready", status: true, reason: "Done", message: none });
    });
  assertEquals(controller.resource.id, "sites.example.com");
});
