/**
 * States how subresources and reviews read what they are sent: scales, bindings, requests for tokens, questions of access.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import type { Body } from "../_api.ts";
import type { Suite } from "./_suite.ts";
import { deployment, pod, widget } from "./_widget.ts";

const causes = ({ details }: Body): [string, string][] =>
  details.causes.map(({ field, reason }: Body) => [field, reason]);

const AUTHORIZATION = "/apis/authorization.k8s.io/v1";

/** Registers the behaviours. */
export function subresources(suite: Suite): void {
  suite.test("A scale is decoded as one: its name, its kind and its number are checked", async (at) => {
    await at.ok("POST deployments", deployment("a"));
    const scale = (replicas: unknown, metadata: Body = { name: "a" }) => ({ metadata, spec: { replicas } });
    for (const body of [scale(1, {}), scale(1, { name: "b" }), scale("x"), deployment("a")]) {
      assertEquals(await at.refused("PUT deployments/a/scale", body), [400, "BadRequest"]);
    }
    assertEquals(await at.refused("PUT deployments/a/scale", scale(1, { name: "a", uid: "x" })), [409, "Conflict"]);
    assertEquals((await at.refused("merge deployments/a/scale", { spec: { replicas: "x" } }))[0], 422);
    const { code, headers } = await at.send("PUT deployments/a/scale", { ...scale(2), nope: 1 });
    assertEquals([code, headers.get("warning")], [200, '299 - "unknown field \\"nope\\""']);
    assertEquals((await at.ok("GET deployments/a")).spec.replicas, 2);
  });

  suite.test("Who updated the replicas is named as of the scale's version when an apply of it conflicts", async (at) => {
    await at.ok("POST deployments", deployment("a", { replicas: 2 }));
    const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "a" }, spec: { replicas: 3 } };
    const { code, body } = await at.send("apply deployments/a/scale?fieldManager=two", scale);
    assertEquals([code, body.details.causes], [409, [{
      reason: "FieldManagerConflict",
      message: 'conflict with "tester" using autoscaling/v1',
      field: ".spec.replicas",
    }]]);
    await at.ok("apply deployments/a/scale?fieldManager=two&force=true", scale);
    const { metadata, spec } = await at.ok("GET deployments/a");
    const mine = metadata.managedFields.find(({ manager }: Body) => manager === "two");
    assertEquals([spec.replicas, mine.operation, mine.subresource, mine.time], [3, "Apply", "scale", undefined]);
  });

  suite.test("The scale of a custom resource is not applied: 409 when it conflicts, else 500", async (at) => {
    await at.widgets();
    await at.ok("POST widgets", widget("a", { size: 1, replicas: 1 }));
    await at.ok("POST widgets", widget("b"));
    const scale = (name: string) => (
      { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name }, spec: { replicas: 3 } }
    );
    assertEquals(await at.refused("apply widgets/a/scale?fieldManager=two", scale("a")), [409, "Conflict"]);
    assertEquals(await at.refused("apply widgets/a/scale?fieldManager=two&force=true", scale("a")), [500, undefined]);
    assertEquals(await at.refused("apply widgets/b/scale?fieldManager=two", scale("b")), [500, undefined]);
    assertEquals((await at.ok("GET widgets/a")).spec.replicas, 1);
  });

  suite.test("A Binding brings labels and annotations, and is made in the collection of bindings, too", async (at) => {
    await at.ok("POST pods", pod("a"));
    const binding = { metadata: { name: "a", labels: { l: "1" }, annotations: { n: "2" } }, target: { name: "node" } };
    const wrong = { ...binding, metadata: { name: "a", uid: "other" } };
    assertEquals(await at.refused("POST pods/a/binding", wrong), [409, "Conflict"]);
    assertEquals((await at.refused("POST pods/a/binding", { ...binding, target: {} }))[0], 500);
    const collection = `/api/v1/namespaces/${at.namespace}/bindings`;
    assertEquals(await at.refused(`POST ${collection}`, { target: { name: "node" } }), [400, "BadRequest"]);
    assertEquals((await at.ok(`POST ${collection}`, binding)).kind, "Status");
    const { metadata, spec } = await at.ok("GET pods/a");
    assertEquals([metadata.labels, metadata.annotations, spec.nodeName], [{ l: "1" }, { n: "2" }, "node"]);
    assertEquals(await at.refused("POST pods/a/binding", binding), [409, "Conflict"]);
  });

  suite.test("A review has no metadata, and a local one is about its own namespace", async (at) => {
    const resourceAttributes = { verb: "get", resource: "pods" };
    const named = { metadata: { name: "x" }, spec: { user: "x", resourceAttributes } };
    const { code, body } = await at.send(`POST ${AUTHORIZATION}/subjectaccessreviews`, named);
    assertEquals([code, causes(body)], [422, [["metadata", "FieldValueInvalid"]]]);
    const local = `${AUTHORIZATION}/namespaces/${at.namespace}/localsubjectaccessreviews`;
    const elsewhere = await at.send(`POST ${local}`, { spec: { user: "x", resourceAttributes } });
    assertEquals([elsewhere.code, causes(elsewhere.body)], [
      422,
      [["spec.resourceAttributes.namespace", "FieldValueInvalid"]],
    ]);
    const { namespace } = at;
    const here = { spec: { user: "x", resourceAttributes: { ...resourceAttributes, namespace } } };
    assertEquals((await at.ok(`POST ${local}`, here)).metadata.namespace, namespace);
  });

  suite.test("A review of rules is of a namespace, or 400", async (at) => {
    const path = `${AUTHORIZATION}/selfsubjectrulesreviews`;
    assertEquals(await at.refused(`POST ${path}`, { spec: {} }), [400, "BadRequest"]);
    assertEquals((await at.send(`POST ${path}`, { spec: { namespace: "default" } })).code, 201);
  });

  suite.test("A request for a token is decoded as one", async (at) => {
    await at.ok("POST serviceaccounts", { metadata: { name: "a" } });
    const wrong = { spec: { expirationSeconds: "x" } };
    assertEquals(await at.refused("POST serviceaccounts/a/token", wrong), [400, "BadRequest"]);
    assertEquals(await at.refused("POST serviceaccounts/a/token", { kind: "Pod" }), [400, "BadRequest"]);
    assertEquals((await at.ok("POST serviceaccounts/a/token", {})).spec.expirationSeconds, 3600);
  });
}
