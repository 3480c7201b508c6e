/**
 * States how objects end: finalizers, preconditions, grace and propagation.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { names, type Suite } from "./_suite.ts";
import { deployment, map, pod, widget } from "./_widget.ts";

const HOLD = { finalizers: ["example.com/hold"] };

/** Registers the behaviours. */
export function deletion(suite: Suite): void {
  suite.test("A delete answers with a Status that names what went; a second one is 404", async (at) => {
    const { metadata } = await at.ok("POST configmaps", map("a"));
    const { code, body } = await at.send("DELETE configmaps/a");
    assertEquals([code, body.kind, body.status], [200, "Status", "Success"]);
    assertEquals(body.details, { name: "a", kind: "configmaps", uid: metadata.uid });
    assertEquals(await at.refused("DELETE configmaps/a"), [404, "NotFound"]);
  });

  suite.test("A delete of a Service or a ServiceAccount answers with the object", async (at) => {
    await at.ok("POST services", { metadata: { name: "a" }, spec: { ports: [{ port: 80 }] } });
    await at.ok("POST serviceaccounts", { metadata: { name: "a" } });
    assertEquals((await at.ok("DELETE services/a")).kind, "Service");
    assertEquals((await at.ok("DELETE serviceaccounts/a")).kind, "ServiceAccount");
  });

  suite.test("An object with finalizers is marked, and goes when they are gone", async (at) => {
    const made = await at.ok("POST configmaps", map("a", {}, HOLD));
    const marked = await at.ok("DELETE configmaps/a");
    assertEquals([marked.kind, marked.metadata.deletionGracePeriodSeconds], ["ConfigMap", 0]);
    assert(Number(marked.metadata.resourceVersion) > Number(made.metadata.resourceVersion));
    const again = await at.ok("DELETE configmaps/a");
    assertEquals(again.metadata.resourceVersion, marked.metadata.resourceVersion);
    await at.ok("merge configmaps/a", { data: { k: "w" } });
    await at.ok("merge configmaps/a", { metadata: { finalizers: null } });
    assertEquals((await at.send("GET configmaps/a")).code, 404);
  });

  suite.test("A marked object takes no new finalizers", async (at) => {
    await at.ok("POST configmaps", map("a", {}, HOLD));
    await at.ok("DELETE configmaps/a");
    const more = { metadata: { finalizers: [...HOLD.finalizers, "example.com/more"] } };
    const { code, body } = await at.send("merge configmaps/a", more);
    assertEquals([code, body.details.causes[0].field, body.details.causes[0].reason], [
      422,
      "metadata.finalizers",
      "FieldValueForbidden",
    ]);
    await at.ok("merge configmaps/a", { metadata: { finalizers: null } });
  });

  suite.test("Being marked is a change of the generation, where there is one", async (at) => {
    await at.widgets();
    await at.ok("POST widgets", widget("a", { size: 1 }, HOLD));
    const marked = await at.ok("DELETE widgets/a");
    assertEquals([marked.kind, marked.metadata.generation], ["Widget", 2]);
    await at.ok("merge widgets/a", { metadata: { finalizers: null } });
    assertEquals((await at.send("GET widgets/a")).code, 404);
  });

  suite.test("A replacement that takes the last finalizer of a marked object ends it", async (at) => {
    await at.ok("POST configmaps", map("a", {}, HOLD));
    const marked = await at.ok("DELETE configmaps/a");
    delete marked.metadata.finalizers;
    assertEquals((await at.send("PUT configmaps/a", marked)).code, 200);
    assertEquals((await at.send("GET configmaps/a")).code, 404);
  });

  suite.test("A delete under another uid or version is 409, and changes nothing", async (at) => {
    const made = await at.ok("POST configmaps", map("a"));
    for (const preconditions of [{ uid: crypto.randomUUID() }, { resourceVersion: "1" }]) {
      assertEquals(await at.refused("DELETE configmaps/a", { preconditions }), [409, "Conflict"]);
    }
    assertEquals(await at.ok("GET configmaps/a"), made);
    const { uid, resourceVersion } = made.metadata;
    assertEquals((await at.send("DELETE configmaps/a", { preconditions: { uid, resourceVersion } })).code, 200);
  });

  suite.test("Foreground and orphan deletion wait for a finalizer of their own; background does not", async (at) => {
    for (const [policy, finalizer] of [["Foreground", "foregroundDeletion"], ["Orphan", "orphan"]]) {
      await at.ok("POST configmaps", map("a"));
      const body = await at.ok("DELETE configmaps/a", { propagationPolicy: policy });
      assertEquals(body.metadata.finalizers, [finalizer]);
      await at.ok("merge configmaps/a", { metadata: { finalizers: null } });
    }
    await at.ok("POST deployments", deployment("a"));
    assertEquals((await at.ok("DELETE deployments/a?propagationPolicy=Background")).kind, "Status");
    assertEquals((await at.send("GET deployments/a")).code, 404);
  });

  suite.test("A later delete with another policy swaps the finalizer", async (at) => {
    await at.ok("POST configmaps", map("a", {}, HOLD));
    await at.ok("DELETE configmaps/a?propagationPolicy=Foreground");
    const body = await at.ok("DELETE configmaps/a?propagationPolicy=Orphan");
    assertEquals([...body.metadata.finalizers].sort(), ["example.com/hold", "orphan"]);
    await at.ok("merge configmaps/a", { metadata: { finalizers: null } });
  });

  suite.test("Options that are not valid are refused, and those of the body win", async (at) => {
    await at.ok("POST configmaps", map("a"));
    assertEquals((await at.refused("DELETE configmaps/a", { propagationPolicy: "Nope" }))[0], 422);
    const both = { propagationPolicy: "Background", orphanDependents: true };
    assertEquals((await at.refused("DELETE configmaps/a", both))[0], 422);
    const body = await at.ok("DELETE configmaps/a?propagationPolicy=Background", { propagationPolicy: "Foreground" });
    assertEquals(body.metadata.finalizers, ["foregroundDeletion"]);
    await at.ok("merge configmaps/a", { metadata: { finalizers: null } });
  });

  suite.test("A pod on a node is given its grace, and goes at once without", async (at) => {
    const bound = pod("a");
    bound.spec.nodeName = "node";
    await at.ok("POST pods", bound);
    const fading = await at.ok("DELETE pods/a");
    assertEquals([fading.metadata.deletionGracePeriodSeconds, fading.metadata.generation], [30, 2]);
    const shorter = await at.ok("DELETE pods/a?gracePeriodSeconds=5");
    assertEquals(shorter.metadata.deletionGracePeriodSeconds, 5);
    await at.ok("DELETE pods/a?gracePeriodSeconds=0");
    assertEquals((await at.send("GET pods/a")).code, 404);
  });

  suite.test("A pod without a node goes at once", async (at) => {
    await at.ok("POST pods", pod("a"));
    assertEquals((await at.ok("DELETE pods/a")).kind, "Pod");
    assertEquals((await at.send("GET pods/a")).code, 404);
  });

  suite.test("A collection is deleted as selected, and answers with what went", async (at) => {
    for (const name of ["a", "b", "c"]) {
      await at.ok("POST configmaps", map(name, {}, { labels: { keep: name === "b" ? "yes" : "no" } }));
    }
    const gone = await at.ok("DELETE configmaps?labelSelector=keep%3Dno");
    assertEquals([gone.kind, names(gone)], ["ConfigMapList", ["a", "c"]]);
    assertEquals(names(await at.ok("GET configmaps")), ["b"]);
  });

  suite.test("A new object of an old name has another uid", async (at) => {
    const first = await at.ok("POST configmaps", map("a"));
    await at.ok("DELETE configmaps/a");
    const second = await at.ok("POST configmaps", map("a"));
    assert(first.metadata.uid !== second.metadata.uid);
    const { uid } = first.metadata;
    assertEquals(await at.refused("DELETE configmaps/a", { preconditions: { uid } }), [409, "Conflict"]);
  });

  suite.test("A namespace that is being deleted is Terminating, and takes nothing new", async (at) => {
    const path = `/api/v1/namespaces/${at.namespace}`;
    await at.ok("POST configmaps", map("a"));
    const body = await at.ok(`DELETE ${path}`);
    assertEquals([body.status.phase, body.spec.finalizers], ["Terminating", ["kubernetes"]]);
    assertEquals(body.metadata.deletionGracePeriodSeconds, undefined);
    const { code, body: status } = await at.send("POST configmaps", map("b"));
    assertEquals([code, status.reason, status.details.causes[0].reason], [403, "Forbidden", "NamespaceTerminating"]);
    assertEquals((await at.send("merge configmaps/a", { data: { k: "w" } })).code, 200);
  });

  suite.test("A finalized namespace goes", async (at) => {
    const path = `/api/v1/namespaces/${at.namespace}`;
    const marked = await at.ok(`DELETE ${path}`);
    await at.ok(`PUT ${path}/finalize`, { ...marked, spec: { finalizers: [] } });
    assertEquals((await at.send(`GET ${path}`)).code, 404);
  });

  suite.test("Owner references are checked: one controller, and all their parts", async (at) => {
    const uid = crypto.randomUUID();
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "o", uid, controller: true };
    const two = [owner, { ...owner, uid: crypto.randomUUID() }];
    const { code, body } = await at.send("POST configmaps", map("a", {}, { ownerReferences: two }));
    assertEquals([code, body.details.causes[0].field], [422, "metadata.ownerReferences"]);
    const { uid: _, ...partial } = owner;
    assertEquals((await at.refused("POST configmaps", map("a", {}, { ownerReferences: [partial] })))[0], 422);
    const made = await at.ok("POST configmaps", map("a", {}, { ownerReferences: [owner] }));
    assertEquals(made.metadata.ownerReferences, [owner]);
  });
}
