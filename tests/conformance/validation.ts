/**
 * States what is refused, what is dropped, and under which field a refusal says why.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import type { Body } from "../_api.ts";
import type { Suite } from "./_suite.ts";
import { deployment, map, pod, widget } from "./_widget.ts";

const causes = ({ details }: Body): [string, string][] =>
  details.causes.map(({ field, reason }: Body) => [field, reason]);

/** Registers the behaviours. */
export function validation(suite: Suite): void {
  suite.test("A patch that takes an object's name away is 400", async (at) => {
    await at.ok("POST configmaps", map("a"));
    assertEquals(await at.refused("json configmaps/a", [{ op: "remove", path: "/metadata/name" }]), [
      400,
      "BadRequest",
    ]);
    assertEquals(await at.refused("merge configmaps/a", { metadata: null }), [400, "BadRequest"]);
  });

  suite.test("Options of a deletion that are of another type are 400", async (at) => {
    await at.ok("POST configmaps", map("a"));
    assertEquals(await at.refused("DELETE configmaps/a", { gracePeriodSeconds: "x" }), [400, "BadRequest"]);
    assertEquals(await at.refused("DELETE configmaps/a", { preconditions: { uid: 5 } }), [400, "BadRequest"]);
    assertEquals((await at.send("GET configmaps/a")).code, 200);
  });

  suite.test("An Event owns nothing: 422 with the reference's index in the field", async (at) => {
    const ownerReferences = [{ apiVersion: "v1", kind: "Event", name: "x", uid: "u" }];
    const { code, body } = await at.send("POST configmaps", map("a", {}, { ownerReferences }));
    assertEquals([code, causes(body)], [422, [["metadata.ownerReferences[0]", "FieldValueInvalid"]]]);
  });

  suite.test("An owner reference without its parts has a cause for each, under its index", async (at) => {
    const { code, body } = await at.send("POST configmaps", map("a", {}, { ownerReferences: [{ kind: "x" }] }));
    const fields = causes(body).filter(([, reason]) => reason === "FieldValueRequired").map(([field]) => field);
    assertEquals([code, [...new Set(fields)].sort()], [
      422,
      ["apiVersion", "name", "uid"].map((part) => `metadata.ownerReferences[0].${part}`),
    ]);
  });

  suite.test("A finalizer without a domain passes on a custom resource, with a warning", async (at) => {
    await at.widgets();
    const { code, headers } = await at.send("POST widgets", widget("a", { size: 1 }, { finalizers: ["plain"] }));
    assertEquals(code, 201);
    assert(headers.get("warning")!.includes("prefer a domain-qualified finalizer name"));
    await at.ok("merge widgets/a", { metadata: { finalizers: null } });
  });

  suite.test("A custom resource without an apiVersion is 400", async (at) => {
    await at.widgets();
    const { apiVersion: _, ...bare } = widget("a");
    assertEquals(await at.refused("POST widgets", bare), [400, "BadRequest"]);
  });

  suite.test("A PUT of a collection of custom resources is 400", async (at) => {
    await at.widgets();
    assertEquals(await at.refused("PUT widgets", widget("a")), [400, "BadRequest"]);
  });

  suite.test("A scale is written where a custom resource has no replicas yet, which is 500 to read", async (at) => {
    await at.widgets();
    await at.ok("POST widgets", widget("a"));
    assertEquals((await at.refused("GET widgets/a/scale"))[0], 500);
    const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "a" }, spec: { replicas: 2 } };
    assertEquals((await at.send("PUT widgets/a/scale", scale)).code, 200);
    assertEquals((await at.ok("GET widgets/a")).spec.replicas, 2);
  });

  suite.test("An apply of the scale conflicts with who set the replicas", async (at) => {
    await at.ok("POST deployments", deployment("a"));
    const scale = (replicas: number) => ({
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "a" },
      spec: { replicas },
    });
    await at.ok("apply deployments/a/scale?fieldManager=one&force=true", scale(4));
    assertEquals(await at.refused("apply deployments/a/scale?fieldManager=two", scale(5)), [409, "Conflict"]);
  });

  suite.test("A Binding is of the pod that its path names, or 400", async (at) => {
    await at.ok("POST pods", pod("a"));
    const target = { kind: "Node", name: "node" };
    const other = { metadata: { name: "b" }, target };
    assertEquals(await at.refused("POST pods/a/binding", other), [400, "BadRequest"]);
    assertEquals((await at.send("POST pods/a/binding", { metadata: { name: "a" }, target })).code, 201);
    assertEquals((await at.ok("GET pods/a")).spec.nodeName, "node");
  });

  suite.test("A headless Service without a selector is of both families of addresses", async (at) => {
    const { spec } = await at.ok("POST services", { metadata: { name: "a" }, spec: { clusterIP: "None" } });
    assertEquals([spec.ipFamilies, spec.ipFamilyPolicy], [["IPv4", "IPv6"], "RequireDualStack"]);
  });

  suite.test("The address of a Service is of the cluster's range", async (at) => {
    const spec = { ports: [{ port: 80 }], clusterIP: "1.2.3.4" };
    const { code, body } = await at.send("POST services", { metadata: { name: "a" }, spec });
    assertEquals([code, causes(body)], [422, [["spec.clusterIPs", "FieldValueInvalid"]]]);
  });

  suite.test("The name of a port is a label", async (at) => {
    const spec = { ports: [{ port: 80, name: "A" }] };
    const { code, body } = await at.send("POST services", { metadata: { name: "a" }, spec });
    assertEquals([code, causes(body)[0]], [422, ["spec.ports[0].name", "FieldValueInvalid"]]);
  });

  suite.test("A Service needs ports of valid numbers, named when there are several", async (at) => {
    const cases = [
      [[], "spec.ports"],
      [[{ port: 0 }], "spec.ports[0].port"],
      [[{ port: 1 }, { port: 2 }], "spec.ports[0].name"],
    ] as const;
    for (const [ports, field] of cases) {
      const { code, body } = await at.send("POST services", { metadata: { name: "a" }, spec: { ports } });
      assertEquals([code, causes(body)[0]![0]], [422, field]);
    }
  });

  suite.test("A Role in a namespace has no rules of paths", async (at) => {
    const rules = [{ nonResourceURLs: ["/x"], verbs: ["get"] }];
    const { code, body } = await at.send("POST roles", { metadata: { name: "a" }, rules });
    assertEquals([code, causes(body)[0]![0]], [422, "rules[0].nonResourceURLs"]);
  });

  suite.test("The subjects of a binding are of known kinds", async (at) => {
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "x" };
    const binding = { metadata: { name: "a" }, roleRef, subjects: [{ kind: "Nope", name: "x" }] };
    const { code, body } = await at.send("POST rolebindings", binding);
    assertEquals([code, causes(body)[0]], [422, ["subjects[0].kind", "FieldValueNotSupported"]]);
  });

  suite.test("The role of a binding does not change", async (at) => {
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "x" };
    await at.ok("POST rolebindings", { metadata: { name: "a" }, roleRef });
    const { code, body } = await at.send("merge rolebindings/a", { roleRef: { name: "y" } });
    assertEquals([code, causes(body)[0]![0]], [422, "roleRef"]);
  });

  suite.test("A field of a feature that is off is dropped", async (at) => {
    const spec = { holderIdentity: "me", strategy: "OldestEmulationVersion" };
    assertEquals((await at.ok("POST leases", { metadata: { name: "a" }, spec })).spec, { holderIdentity: "me" });
  });

  suite.test("A PUT that creates takes a version, and with a uid is 409", async (at) => {
    const lease = (metadata: Body) => ({ metadata: { name: "a", ...metadata }, spec: { holderIdentity: "me" } });
    assertEquals(await at.refused("PUT leases/a", lease({ uid: "x" })), [409, "Conflict"]);
    assertEquals((await at.send("PUT leases/a", lease({ resourceVersion: "5" }))).code, 201);
  });

  suite.test("Only a GET of the version is allowed", async (at) => {
    assertEquals(await at.refused("POST /version", {}), [405, "MethodNotAllowed"]);
  });

  suite.test("A server has metrics, and says who issues its tokens", async (at) => {
    assertEquals((await at.send("GET /metrics")).code, 200);
    const { issuer } = await at.ok("GET /.well-known/openid-configuration");
    assertEquals(issuer, "https://kubernetes.default.svc");
  });

  suite.test("An update whose managedFields are empty leaves no managers", async (at) => {
    await at.ok("POST configmaps", map("a"));
    const { metadata } = await at.ok("PUT configmaps/a", map("a", { k: "w" }, { managedFields: [] }));
    assertEquals(metadata.managedFields, undefined);
  });

  suite.test("A change of the creation time of a custom resource is not taken", async (at) => {
    await at.widgets();
    const made = await at.ok("POST widgets", widget("a"));
    const patched = await at.ok("merge widgets/a", { metadata: { creationTimestamp: "2001-01-01T00:00:00Z" } });
    assertEquals(patched.metadata, made.metadata);
  });

  suite.test("An access review says what it is about, or is 422", async (at) => {
    const path = "/apis/authorization.k8s.io/v1";
    assertEquals((await at.refused(`POST ${path}/selfsubjectaccessreviews`, { spec: {} }))[0], 422);
    assertEquals((await at.refused(`POST ${path}/subjectaccessreviews`, { spec: { user: "x" } }))[0], 422);
  });

  suite.test("A token review without a token is 400", async (at) => {
    const path = "/apis/authentication.k8s.io/v1/tokenreviews";
    assertEquals(await at.refused(`POST ${path}`, { spec: {} }), [400, "BadRequest"]);
  });

  suite.test("A Table includes objects, their metadata or none, and is 400 for the rest", async (at) => {
    await at.ok("POST configmaps", map("a"));
    const accept = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
    const whole = await at.ok("GET configmaps?includeObject=Object", undefined, accept);
    assertEquals(whole.rows[0].object.data, { k: "v" });
    assertEquals(await at.refused("GET configmaps?includeObject=Nope", undefined, accept), [400, "BadRequest"]);
  });
}
