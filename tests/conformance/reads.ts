/**
 * States what is found and how it is shown: names in selectors, pages, Tables, metadata, and who may see it.
 *
 * @module
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Body, Watching } from "../_api.ts";
import { as, DEFINITIONS, names, type Place, shown, type Suite, take, unique, until } from "./_suite.ts";
import { GROUP, map, widget } from "./_widget.ts";

const TABLE = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
const PLAIN = { accept: "application/json;as=PartialObjectMetadata;v=v1beta1;g=meta.k8s.io" };
const USER = "rbac.authorization.k8s.io";

async function grant(at: Place, user: string, rules: object[], role = unique()): Promise<void> {
  const subjects = [{ kind: "User", name: user, apiGroup: USER }];
  await at.ok("POST roles", { metadata: { name: role }, rules });
  await at.ok("POST rolebindings", {
    metadata: { name: role },
    roleRef: { apiGroup: USER, kind: "Role", name: role },
    subjects,
  });
}

async function cells(at: Place, path: string): Promise<unknown[][]> {
  return (await at.ok(`GET ${path}`, undefined, TABLE)).rows.map(({ cells }: Body) => cells);
}

function pod(name: string, spec: object = {}, metadata: object = {}): object {
  return { metadata: { name, ...metadata }, spec: { containers: [{ name: "m", image: "i" }], ...spec } };
}

function container(state: object, more: object = {}): object {
  return { name: "m", image: "i", imageID: "", ready: false, restartCount: 0, state, ...more };
}

/** All events of a watch that ends by itself. */
async function rest(watching: Watching): Promise<Body[]> {
  const events: Body[] = [];
  for (let event; (event = await watching.next());) events.push(event);
  return events;
}

/** Registers the behaviours. */
export function reads(suite: Suite): void {
  suite.test("Who may see one name may list and watch by that name, and no other", async (at) => {
    const user = unique();
    for (const name of ["a", "b"]) await at.ok("POST configmaps", map(name));
    await grant(at, user, [{
      apiGroups: [""],
      resources: ["configmaps"],
      resourceNames: ["a"],
      verbs: ["list", "watch"],
    }]);
    const list = "GET configmaps?fieldSelector=metadata.name%3D";
    await until(async () => (await at.send(`${list}a`, undefined, as(user))).code === 200);
    assertEquals(names(await at.ok(`${list}a`, undefined, as(user))), ["a"]);
    const { code, body } = await at.send(`${list}b`, undefined, as(user));
    assertEquals([code, body.details], [403, { name: "b", kind: "configmaps" }]);
    assertEquals((await at.send("GET configmaps", undefined, as(user))).code, 403);
    await using watching = await at.watch("configmaps?watch=1&fieldSelector=metadata.name%3Da", as(user));
    assertEquals(shown(await take(watching, 1)), ["ADDED a"]);
  });

  suite.test("A page that is not the last of what there is goes on, even if nothing more is selected", async (at) => {
    await at.ok("POST configmaps", map("a", {}, { labels: { l: "1" } }));
    await at.ok("POST configmaps", map("b"));
    const first = await at.ok("GET configmaps?limit=1&labelSelector=l");
    assert(first.metadata.continue);
    assertEquals(first.metadata.remainingItemCount, undefined);
    const rest = await at.ok(`GET configmaps?limit=1&labelSelector=l&continue=${first.metadata.continue}`);
    assertEquals([rest.items, rest.metadata.continue], [[], undefined]);
    assertEquals((await at.ok("GET configmaps?limit=1&fieldSelector=metadata.name%3Da")).metadata.continue, undefined);
  });

  suite.test("Fields that selectors may use are those of the kind and its version", async (at) => {
    const messages: string[] = [];
    for (
      const path of [
        "jobs?fieldSelector=a%3Db",
        "events?fieldSelector=involvedObject.name%3Da",
        "leases?fieldSelector=a%3Db",
      ]
    ) {
      messages.push((await at.send(`GET ${path}`)).body.message);
    }
    assertEquals(messages, [
      'field label "a" not supported for Job',
      "field label not supported: involvedObject.name",
      '"a" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ]);
    assertEquals((await at.send("GET events?fieldSelector=regarding.name%3Da")).code, 200);
    const old = `GET /api/v1/namespaces/${at.namespace}/events?fieldSelector=source%3Dc`;
    const about = { kind: "Pod", name: "p", namespace: at.namespace };
    const event = { metadata: { name: "e" }, involvedObject: about, reportingComponent: "c", reportingInstance: "i" };
    await at.ok(`POST /api/v1/namespaces/${at.namespace}/events`, event);
    assertEquals(names(await at.ok(old)), ["e"]);
  });

  suite.test("The Table of pods says in which state each is", async (at) => {
    const states: [name: string, status: object, expected: [ready: string, status: string, restarts: string]][] = [
      ["a", { phase: "Failed", containerStatuses: [container({ terminated: { exitCode: 3 } })] }, [
        "0/1",
        "ExitCode:3",
        "0",
      ]],
      ["b", {
        phase: "Running",
        containerStatuses: [container({ waiting: { reason: "CrashLoopBackOff" } }, { restartCount: 4 })],
      }, [
        "0/1",
        "CrashLoopBackOff",
        "4",
      ]],
      ["c", { phase: "Failed", reason: "Evicted" }, ["0/1", "Evicted", "0"]],
      ["d", { phase: "Running", containerStatuses: [container({ running: {} }, { ready: true })] }, [
        "1/1",
        "Running",
        "0",
      ]],
    ];
    for (const [name, status] of states) {
      await at.ok("POST pods", pod(name));
      await at.ok(`merge pods/${name}/status`, { status });
    }
    await at.ok("POST pods", pod("e", { initContainers: [{ name: "i1", image: "i" }, { name: "i2", image: "i" }] }));
    const done = { ...container({ terminated: { exitCode: 0 } }), name: "i1" };
    const begun = { ...container({ running: {} }), name: "i2" };
    await at.ok("merge pods/e/status", { status: { phase: "Pending", initContainerStatuses: [done, begun] } });
    const { rows } = await at.ok("GET pods", undefined, TABLE);
    const found = rows.map(({ cells }: Body) => cells.slice(1, 4));
    assertEquals(found, [...states.map(([, , expected]) => expected), ["0/1", "Init:1/2", "0"]]);
    assertEquals(rows.map(({ conditions }: Body) => conditions?.[0].reason), [
      "Failed",
      undefined,
      "Failed",
      undefined,
      undefined,
    ]);
  });

  suite.test("Printer columns follow their JSONPaths: filters, indexes, and what does not fit", async (at) => {
    const paths = [".spec.l[?(@.n>1)].v", ".spec.l[-1].v", ".spec.l[*].v", ".spec.o", ".spec.none", ".spec.l[9].v"];
    const group = `${unique()}.example.com`;
    const columns = paths.map((jsonPath, index) => ({ name: `C${index}`, type: "string", jsonPath }));
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    await at.define({
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [{ name: "v1", served: true, storage: true, schema, additionalPrinterColumns: columns }],
      },
    });
    const root = `/apis/${group}/v1/namespaces/${at.namespace}/things`;
    const list = [{ n: 1, v: "x" }, { n: 2, v: "y" }, { n: 3, v: "z" }];
    const spec = { l: list, o: { b: 1, a: [true] } };
    await at.ok(`POST ${root}`, { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" }, spec });
    assertEquals(await cells(at, root), [["a", "y", "z", "x", '{"a":[true],"b":1}', null, null]]);
    await at.ok(`DELETE ${DEFINITIONS}/things.${group}`);
  });

  suite.test("Metadata alone comes in the version that is asked for, and of nothing as null", async (at) => {
    await at.ok("POST configmaps", map("a"));
    assertEquals((await at.ok("GET configmaps/a", undefined, PLAIN)).apiVersion, "meta.k8s.io/v1beta1");
    const lists = { accept: PLAIN.accept.replace("Metadata;v=v1beta1", "MetadataList;v=v1") };
    assertEquals((await at.ok("GET secrets", undefined, lists)).items, null);
    assertEquals((await at.ok("GET configmaps", undefined, lists)).items[0].kind, "PartialObjectMetadata");
  });

  suite.test("A watch from no version says where the beginning ends, if it may have bookmarks", async (at) => {
    await at.ok("POST pods", pod("a"));
    await using watching = await at.watch("pods?watch=1&allowWatchBookmarks=true");
    const [added, bookmark] = await take(watching, 2);
    assertEquals([added.type, bookmark.type], ["ADDED", "BOOKMARK"]);
    assertEquals(bookmark.object.metadata.annotations, { "k8s.io/initial-events-end": "true" });
    assertEquals([bookmark.object.spec, bookmark.object.status], [{ containers: null }, {}]);
  });

  suite.test("Watches of a custom resource end when its definition changes, or goes", async (at) => {
    const group = `${unique()}.example.com`, path = `${DEFINITIONS}/things.${group}`;
    const schema = { openAPIV3Schema: { type: "object" } };
    await at.define({
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [{ name: "v1", served: true, storage: true, schema }],
      },
    });
    const root = `/apis/${group}/v1/namespaces/${at.namespace}/things`;
    {
      await using watching = await at.watch(`${root}?watch=1`);
      await at.ok(`merge ${path}`, { spec: { names: { categories: ["all"] } } });
      assertEquals(await rest(watching), []);
    }
    await until(async () => (await at.send(`GET ${root}`)).code === 200);
    await at.ok(`POST ${root}`, { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" } });
    await using watching = await at.watch(`${root}?watch=1`);
    assertEquals(shown(await take(watching, 1)), ["ADDED a"]);
    await at.ok(`DELETE ${path}`);
    assertEquals(shown(await rest(watching)), ["DELETED a"]);
  });

  suite.test("A pod without a node is deleted at once, and seen going first", async (at) => {
    await at.ok("POST pods", pod("a"));
    await using watching = await at.watch("pods?watch=1");
    await at.ok("DELETE pods/a");
    const events = await take(watching, 3);
    assertEquals(shown(events), ["ADDED a", "MODIFIED a", "DELETED a"]);
    assertEquals(events[1].object.metadata.deletionGracePeriodSeconds, 0);
  });

  suite.test("A 403 names the roles that the user's bindings refer to and that are not there", async (at) => {
    const user = unique();
    const roleRef = { apiGroup: USER, kind: "Role", name: "late" };
    const subjects = [{ kind: "User", name: user, apiGroup: USER }];
    await at.ok("POST rolebindings", { metadata: { name: "b" }, roleRef, subjects });
    const missing = /: rbac: RBAC: role\.rbac\.authorization\.k8s\.io "late" not found$/;
    await until(async () => missing.test((await at.send("GET configmaps", undefined, as(user))).body.message));
    assertMatch((await at.send("GET configmaps", undefined, as(user))).body.message, missing);
  });

  suite.test("A token is good as long as what it is bound to, for the audiences that it is for", async (at) => {
    await at.ok("POST serviceaccounts", { metadata: { name: "sa" } });
    await at.ok("POST secrets", { metadata: { name: "s" } });
    const boundObjectRef = { kind: "Secret", apiVersion: "v1", name: "s" };
    const bound = (await at.ok("POST serviceaccounts/sa/token", { spec: { boundObjectRef } })).status.token;
    const other = (await at.ok("POST serviceaccounts/sa/token", { spec: { audiences: ["x"] } })).status.token;
    const code = async (token: string): Promise<number> =>
      (await at.send("GET /api", undefined, { authorization: `Bearer ${token}` })).code;
    assertEquals([await code(bound), await code(other)], [200, 401]);
    const review = async (spec: object): Promise<Body> =>
      (await at.ok("POST /apis/authentication.k8s.io/v1/tokenreviews", { spec })).status;
    assertEquals((await review({ token: other, audiences: ["x", "y"] })).audiences, ["x"]);
    assertMatch((await review({ token: other })).error, /token audiences \["x"\] is invalid for the target audiences/);
    await at.ok("DELETE secrets/s");
    await until(async () => await code(bound) === 401);
  });

  suite.test("A request for a certificate is of who makes it, and is approved apart", async (at) => {
    const root = "/apis/certificates.k8s.io/v1/certificatesigningrequests", name = unique();
    const spec = { request: REQUEST, signerName: "x.example.com/y", usages: ["client auth"], username: "somebody" };
    const made = await at.ok(`POST ${root}`, { metadata: { name }, spec });
    assert(made.spec.username !== "somebody" && made.spec.groups.includes("system:authenticated"));
    const conditions = [{ type: "Approved", status: "True", reason: "R" }];
    await at.ok(`merge ${root}/${name}`, { status: { conditions } });
    assertEquals((await at.ok(`GET ${root}/${name}`)).status, {});
    await at.ok(`PUT ${root}/${name}/approval`, { ...made, status: { conditions } });
    assertEquals((await cells(at, `${root}/${name}`))[0]!.at(-1), "Approved");
    assertEquals(
      names(await at.ok(`GET ${root}?fieldSelector=spec.signerName%3Dx.example.com/y,metadata.name%3D${name}`)),
      [name],
    );
    await at.ok(`DELETE ${root}/${name}`);
  });

  suite.test("A scale is shown as a Table of its own, and custom resources have theirs", async (at) => {
    await at.widgets();
    await at.ok("POST widgets", widget("a", { size: 1, replicas: 2 }));
    const root = `/apis/${GROUP}/v1/namespaces/${at.namespace}/widgets/a`;
    assertEquals((await cells(at, `${root}/scale`))[0]!.slice(0, 3), ["a", 2, 0]);
  });
}

/** A request for a certificate of bob. */
const REQUEST =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISU1IQUNBUUF3RGpFTU1Bb0dBMVVFQXd3RFltOWlNRmt3RXdZSEtvWkl6aj" +
  "BDQVFZSUtvWkl6ajBEQVFjRApRZ0FFNTdETXpQNm9WeFBUcExRL1ErQWYyQkxEY2h6bW4yeVZNRjc3WXJVOVhSN3E0ZFFUbHl3SG5ZNEdZTm0r" +
  "CnhLNEtuNFNpc3M5aGc1U2ZncGo0YSs4dk02QUFNQW9HQ0NxR1NNNDlCQU1DQTBnQU1FVUNJUURyaFpWc29jWGUKczVialZzZUtnZ0RVMWd0Zm" +
  "Yzc0hEVWV5VWZJckF2WkhsZ0lnUFJjMXRuZEIwYmV2ZGwzYmt6aEJFNEN6V2h0VwpQcUZPRk84QUdVbDlOSFk9Ci0tLS0tRU5EIENFUlRJRklD" +
  "QVRFIFJFUVVFU1QtLS0tLQo=";
