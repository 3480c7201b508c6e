/**
 * States what holds for requests of any kind: methods, paths, names, options, and what is accepted.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import type { Body } from "../_api.ts";
import type { Suite } from "./_suite.ts";
import { deployment, GROUP, map, pod, widget } from "./_widget.ts";

const causes = ({ details }: Body): [string, string][] =>
  details.causes.map(({ field, reason }: Body) => [field, reason]);

/** Registers the behaviours. */
export function requests(suite: Suite): void {
  methods(suite);
  paths(suite);
  identity(suite);
  deletions(suite);
  options(suite);
}

function methods(suite: Suite): void {
  suite.test("A HEAD of a built-in resource is 405, of a custom one 200", async (at) => {
    await at.ok("POST configmaps", map("a"));
    await at.widgets();
    await at.ok("POST widgets", widget("a"));
    for (const path of ["configmaps", "configmaps/a"]) assertEquals((await head(at, path)).status, 405);
    for (const path of ["widgets", "widgets/a"]) assertEquals((await head(at, path)).status, 200);
  });

  suite.test("A method that there is not is 405 on a custom resource, and names the resource", async (at) => {
    await at.widgets();
    const { code, body } = await at.send("OPTIONS widgets");
    assertEquals([code, body.details], [405, { group: GROUP, kind: "widgets" }]);
  });

  suite.test("A POST of a custom resource creates it, whatever name its path has", async (at) => {
    await at.widgets();
    assertEquals((await at.ok("POST widgets/other", widget("a"))).metadata.name, "a");
    assertEquals((await at.refused("GET widgets/other"))[0], 404);
  });

  suite.test("A write to a built-in resource across namespaces is 405", async (at) => {
    assertEquals(await at.refused("POST /api/v1/configmaps", map("a")), [405, "MethodNotAllowed"]);
    assertEquals(await at.refused("DELETE /api/v1/configmaps"), [405, "MethodNotAllowed"]);
  });

  suite.test("Only a GET of a built-in version's resources is allowed, and any method of the groups", async (at) => {
    for (const path of ["/api", "/api/v1", "/apis/apps/v1"]) {
      assertEquals(await at.refused(`POST ${path}`, {}), [405, "MethodNotAllowed"]);
    }
    for (const path of ["/apis", "/apis/apps", "/"]) assertEquals((await at.send(`POST ${path}`, {})).code, 200);
  });

  suite.test("A PUT makes a Role, a LimitRange and Endpoints that are not there, but no ConfigMap", async (at) => {
    const metadata = { name: "a" };
    const core = `/api/v1/namespaces/${at.namespace}`;
    assertEquals((await at.send("PUT roles/a", { metadata, rules: [] })).code, 201);
    assertEquals((await at.send(`PUT ${core}/limitranges/a`, { metadata, spec: { limits: [] } })).code, 201);
    assertEquals((await at.send(`PUT ${core}/endpoints/a`, { metadata })).code, 201);
    assertEquals((await at.refused("PUT configmaps/a", map("a")))[0], 404);
  });
}

function head(at: { server: Suite["server"]; path(relative: string): string }, relative: string): Promise<Response> {
  return at.server.fetch(new Request(`http://kubernetes${at.path(relative)}`, { method: "HEAD" }));
}

function paths(suite: Suite): void {
  suite.test("A path with an empty segment is 404, with a slash at its end what it is without", async (at) => {
    await at.ok("POST configmaps", map("a"));
    const doubled = `/api/v1/namespaces/${at.namespace}/configmaps//a`;
    assertEquals(await at.refused(`GET ${doubled}`), [404, "NotFound"]);
    assertEquals(await at.refused("GET //api/v1/namespaces"), [404, undefined]);
    assertEquals((await at.ok("GET configmaps/a/")).metadata.name, "a");
  });

  suite.test("A watch of nothing is 500, in plain text", async (at) => {
    const { code, body } = await at.send("GET /api/v1/watch");
    assertEquals(code, 500);
    assert(body.includes("failed to create RequestInfo"));
  });

  suite.test("A server has checks of health for each of its pages", async (at) => {
    for (const path of ["/readyz/shutdown", "/readyz/informer-sync", "/livez/ping", "/healthz/etcd"]) {
      assertEquals((await at.send(`GET ${path}`)).code, 200);
    }
    for (const path of ["/livez/informer-sync", "/healthz/", "/livez/nope"]) {
      assertEquals((await at.send(`GET ${path}`)).code, 404);
    }
  });

  suite.test("The keys of tokens are for who accepts sets of keys", async (at) => {
    assertEquals((await at.send("GET /openid/v1/jwks", undefined, { accept: "*/*" })).code, 200);
    const json = { accept: "application/json" };
    assertEquals(await at.refused("GET /openid/v1/jwks", undefined, json), [406, "NotAcceptable"]);
    assertEquals(await at.refused("POST /openid/v1/jwks", {}), [405, "MethodNotAllowed"]);
  });
}

function identity(suite: Suite): void {
  suite.test("A PUT without a name, or with another, is 400 before it is 404", async (at) => {
    await at.ok("POST configmaps", map("a"));
    await at.ok("POST deployments", deployment("a"));
    for (const line of ["PUT configmaps/a", "PUT configmaps/nope", "PUT deployments/a/status"]) {
      assertEquals(await at.refused(line, {}), [400, "BadRequest"]);
    }
    assertEquals(await at.refused("PUT configmaps/nope", map("a")), [400, "BadRequest"]);
  });

  suite.test("A change of the creation time of a built-in kind is not taken", async (at) => {
    const made = await at.ok("POST configmaps", map("a"));
    const other = map("a", { k: "v" }, { creationTimestamp: "2001-01-01T00:00:00Z" });
    assertEquals((await at.ok("PUT configmaps/a", other)).metadata, made.metadata);
  });

  suite.test("The time of a deletion is not set by hand: 422", async (at) => {
    await at.ok("POST configmaps", map("a"));
    const metadata = { deletionTimestamp: "2001-01-01T00:00:00Z", deletionGracePeriodSeconds: 5 };
    const { code, body } = await at.send("merge configmaps/a", { metadata });
    assertEquals([code, causes(body)], [422, [
      ["metadata.deletionTimestamp", "FieldValueInvalid"],
      ["metadata.deletionGracePeriodSeconds", "FieldValueInvalid"],
    ]]);
  });

  suite.test("A namespace of an object that is in none is dropped", async (at) => {
    const namespace = { metadata: { name: at.namespace, namespace: "other" } };
    assertEquals((await at.ok(`PUT /api/v1/namespaces/${at.namespace}`, namespace)).metadata.namespace, undefined);
  });

  suite.test("A body that is null is an object without members, which a custom resource may not be", async (at) => {
    await at.widgets();
    const { code, body } = await at.send("POST configmaps", "null");
    assertEquals([code, causes(body)], [422, [["metadata.name", "FieldValueRequired"]]]);
    assertEquals(await at.refused("POST widgets", "null"), [400, "BadRequest"]);
  });

  suite.test("A kind that there is not, and one of another path, are 400", async (at) => {
    await at.widgets();
    for (const [apiVersion, kind] of [["v2", "ConfigMap"], ["v1", "Nope"], ["v1", "Pod"], ["apps/v1", "Deployment"]]) {
      assertEquals(await at.refused("POST configmaps", { ...map("a"), apiVersion, kind }), [400, "BadRequest"]);
    }
    assertEquals(await at.refused("POST widgets", { ...widget("a"), kind: undefined }), [400, "BadRequest"]);
    const { code, body } = await at.send("POST widgets", { ...widget("a"), kind: "Gadget" });
    assertEquals([code, body.details.kind, causes(body)], [422, "Gadget", [["kind", "FieldValueInvalid"]]]);
  });

  suite.test("A patch does not take the kind or the version of a custom resource away", async (at) => {
    await at.widgets();
    await at.ok("POST widgets", widget("a"));
    assertEquals(await at.refused("merge widgets/a", { kind: null }), [422, "Invalid"]);
    assertEquals(await at.refused("merge widgets/a", { apiVersion: null }), [500, "InternalError"]);
    const { code, body } = await at.send("merge widgets/a", { apiVersion: "v2" });
    assertEquals([code, causes(body), body.details.group], [422, [["apiVersion", "FieldValueInvalid"]], undefined]);
  });

  suite.test("What is applied to what is there needs no name, but metadata that are an object", async (at) => {
    await at.ok("POST configmaps", map("a"));
    const bare = { apiVersion: "v1", kind: "ConfigMap", data: { z: "z" } };
    assertEquals((await at.ok("apply configmaps/a?fieldManager=x", bare)).data, { k: "v", z: "z" });
    assertEquals(await at.refused("apply configmaps/b?fieldManager=x", bare), [400, "BadRequest"]);
    const wrong = { ...bare, metadata: 5 };
    assertEquals(await at.refused("apply configmaps/a?fieldManager=x", wrong), [500, undefined]);
    for (const body of ["", "null", "5", "[]"]) {
      assertEquals(await at.refused("apply configmaps/a?fieldManager=x", body), [400, "BadRequest"]);
    }
    const version = { apiVersion: 5, kind: "ConfigMap", metadata: { name: "a" } };
    assertEquals(await at.refused("apply configmaps/a?fieldManager=x", version), [400, "BadRequest"]);
  });

  suite.test("A name that is to be made may end in a dash after anything, but is no dash alone", async (at) => {
    const fields = async (generateName: string) => {
      const { body } = await at.send("POST configmaps", { metadata: { generateName } });
      return causes(body).map(([field]) => field);
    };
    assertEquals(await fields("A-"), ["metadata.name"]);
    assertEquals(await fields("-"), ["metadata.generateName", "metadata.name"]);
    assertEquals(await fields("a."), ["metadata.generateName"]);
  });

  suite.test("A finalizer of a built-in kind needs a domain: its index is in the field", async (at) => {
    const { code, body } = await at.send("POST configmaps", map("a", {}, { finalizers: ["a/b", "plain", "no!"] }));
    assertEquals([code, causes(body).map(([field]) => field)], [
      422,
      ["metadata.finalizers", "metadata.finalizers[1]", "metadata.finalizers[2]"],
    ]);
  });
}

function deletions(suite: Suite): void {
  suite.test("A deletion with a body does not look at its query", async (at) => {
    await at.ok("POST configmaps", map("a", {}, { finalizers: ["example.com/x"] }));
    const body = await at.ok("DELETE configmaps/a?dryRun=All&propagationPolicy=Foreground", {});
    assertEquals(body.metadata.finalizers, ["example.com/x"]);
    assert((await at.ok("GET configmaps/a")).metadata.deletionTimestamp !== undefined);
    assertEquals((await at.send("DELETE configmaps/a?propagationPolicy=Nope", "null")).code, 200);
    await at.ok("merge configmaps/a", { metadata: { finalizers: null } });
  });

  suite.test("A deletion that must not orphan and has to wait is 202", async (at) => {
    await at.ok("POST configmaps", map("a", {}, { finalizers: ["example.com/x"] }));
    assertEquals((await at.send("DELETE configmaps/a", { orphanDependents: false, dryRun: ["All"] })).code, 202);
    assertEquals((await at.send("DELETE configmaps/a", { orphanDependents: false })).code, 202);
    await at.ok("merge configmaps/a", { metadata: { finalizers: null } });
  });

  suite.test("A query may say the uid and the version of what is deleted", async (at) => {
    await at.ok("POST configmaps", map("a"));
    assertEquals(await at.refused("DELETE configmaps/a?uid=other"), [409, "Conflict"]);
    assertEquals(await at.refused("DELETE configmaps/a?resourceVersion=1"), [409, "Conflict"]);
    assertEquals(await at.refused("DELETE configmaps?uid=other"), [409, "Conflict"]);
    assertEquals((await at.send("DELETE configmaps/a?uid=")).code, 200);
  });

  suite.test("Options of a deletion of another kind, or that are no object, are 400", async (at) => {
    await at.ok("POST configmaps", map("a"));
    for (const body of [{ kind: "Nope" }, { kind: "Status", apiVersion: "v1" }, [], 5, "garbage", " "]) {
      assertEquals(await at.refused("DELETE configmaps/a", body), [400, "BadRequest"]);
    }
    assertEquals((await at.send("GET configmaps/a")).code, 200);
  });

  suite.test("What can be read is not deleted as if it could not: 409", async (at) => {
    await at.ok("POST configmaps", map("a"));
    const unsafe = { ignoreStoreReadErrorWithClusterBreakingPotential: true };
    assertEquals(await at.refused("DELETE configmaps/a", unsafe), [409, "Conflict"]);
    assertEquals((await at.refused("DELETE configmaps/a", { ...unsafe, propagationPolicy: "Orphan" }))[0], 422);
    assertEquals((await at.refused("DELETE configmaps", unsafe))[0], 422);
  });

  suite.test("An Eviction is of the pod that its path names, or 400", async (at) => {
    await at.ok("POST pods", pod("a"));
    assertEquals(await at.refused("POST pods/a/eviction", {}), [400, "BadRequest"]);
    assertEquals(await at.refused("POST pods/nope/eviction", { metadata: { name: "a" } }), [400, "BadRequest"]);
    const wrong = { metadata: { name: "a" }, deleteOptions: { gracePeriodSeconds: "x" } };
    assertEquals(await at.refused("POST pods/a/eviction", wrong), [400, "BadRequest"]);
    assertEquals((await at.send("POST pods/a/eviction?dryRun=All", { metadata: { name: "a" } })).code, 201);
    assertEquals((await at.send("GET pods/a")).code, 200);
  });
}

function options(suite: Suite): void {
  suite.test("A write whose answer nobody could read is 406, and does nothing", async (at) => {
    await at.ok("POST configmaps", map("a"));
    const accept = { accept: "text/html" };
    assertEquals(await at.refused("POST configmaps", map("b"), accept), [406, "NotAcceptable"]);
    assertEquals(await at.refused("merge configmaps/a", { data: { z: "z" } }, accept), [406, "NotAcceptable"]);
    assertEquals(await at.refused("DELETE configmaps/a", undefined, accept), [406, "NotAcceptable"]);
    assertEquals((await at.ok("GET configmaps/a")).data, { k: "v" });
    assertEquals((await at.refused("GET configmaps/b"))[0], 404);
  });

  suite.test("A format is accepted by its exact name", async (at) => {
    await at.ok("POST configmaps", map("a"));
    for (const accept of ["application/*", "APPLICATION/JSON"]) {
      assertEquals(await at.refused("GET configmaps/a", undefined, { accept }), [406, "NotAcceptable"]);
    }
    assertEquals((await at.send("GET configmaps/a", undefined, { accept: "text/html, */*;q=0.1" })).code, 200);
  });

  suite.test("A timeout is a duration, or 400", async (at) => {
    for (const timeout of ["x", "5", "5q"]) {
      assertEquals(await at.refused(`GET configmaps?timeout=${timeout}`), [400, "BadRequest"]);
    }
    for (const timeout of ["5s", "1m30s", ""]) {
      assertEquals((await at.send(`GET configmaps?timeout=${timeout}`)).code, 200);
    }
  });

  suite.test("Numbers in a query are numbers, and not nothing", async (at) => {
    for (
      const query of ["limit=", "limit=1.5", "watch=true&limit=x", "timeoutSeconds=", "limit=99999999999999999999"]
    ) {
      assertEquals(await at.refused(`GET configmaps?${query}`), [400, "BadRequest"]);
    }
  });

  suite.test("A list from version 0 has all that is left, whatever its limit", async (at) => {
    for (const name of ["a", "b", "c", "d"]) await at.ok("POST configmaps", map(name));
    const { metadata } = await at.ok("GET configmaps?limit=1");
    const rest = await at.ok(`GET configmaps?limit=1&resourceVersion=0&continue=${metadata.continue}`);
    assertEquals([rest.items.length, rest.metadata.continue], [3, undefined]);
  });

  suite.test("A field selector of nothing selects everything", async (at) => {
    await at.ok("POST configmaps", map("a"));
    for (const selector of ["==", "=", "!="]) {
      const { items } = await at.ok(`GET configmaps?fieldSelector=${encodeURIComponent(selector)}`);
      assertEquals(items.length, 1);
    }
    assertEquals((await at.refused("GET configmaps?fieldSelector=%3Da"))[0], 400);
  });

  suite.test("The fields of a custom resource's scale are whole numbers, where they are", async (at) => {
    await at.widgets();
    for (const [replicas, value] of [[-1, "FieldValueInvalid"], [2 ** 31, "FieldValueInvalid"]] as const) {
      const { code, body } = await at.send("POST widgets", widget("a", { size: 1, replicas }));
      assertEquals([code, causes(body)], [422, [[".spec.replicas", value]]]);
    }
    const { code, body } = await at.send("POST widgets", widget("a", { size: 1, replicas: "x" }));
    assertEquals([code, causes(body).map(([field]) => field)], [422, ["spec.replicas", ".spec.replicas", "<nil>"]]);
    await at.ok("POST widgets", widget("a"));
    const status = await at.send("merge widgets/a/status", { status: { replicas: -1 } });
    assertEquals([status.code, causes(status.body)], [422, [[".status.replicas", "FieldValueInvalid"]]]);
  });
}
