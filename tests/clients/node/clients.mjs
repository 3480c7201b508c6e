/**
 * Does the work of clients on @kubernetes/client-node against a Kubernetes API server, and tells for each check whether it
 * holds. It does not know which server that is.
 *
 *     node clients.mjs KUBECONFIG
 *
 * It prints one line for each check, "ok NAME" or "FAILED NAME: REASON", and at the end "N passed, N failed".
 */
import assert from "node:assert/strict";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import * as k8s from "@kubernetes/client-node";

const config = new k8s.KubeConfig();
config.loadFromFile(process.argv[2]);
const core = config.makeApiClient(k8s.CoreV1Api);
const apps = config.makeApiClient(k8s.AppsV1Api);
const leases = config.makeApiClient(k8s.CoordinationV1Api);
const definitions = config.makeApiClient(k8s.ApiextensionsV1Api);
const custom = config.makeApiClient(k8s.CustomObjectsApi);
const events = config.makeApiClient(k8s.EventsV1Api);
const access = config.makeApiClient(k8s.AuthorizationV1Api);
const objects = k8s.KubernetesObjectApi.makeApiClient(config);

const made = await core.createNamespace({
  body: { metadata: { generateName: "clients-node-" } },
});
const namespace = made.metadata.name;
const group = `${namespace}.example.com`;

/** Options of a patch in a format. */
function as(strategy) {
  return k8s.setHeaderOptions("Content-Type", strategy);
}

/** Waits until something holds. */
async function eventually(what, holds) {
  for (let waited = 0; waited < 20_000; waited += 20) {
    if (await holds()) return;
    await delay(20);
  }
  throw new Error(`not in time: ${what}`);
}

/** The error that a request is refused with. */
async function refused(request, code, reason) {
  try {
    await request;
  } catch (error) {
    assert(error instanceof k8s.ApiException, `${error}`);
    const body = typeof error.body === "string" ? JSON.parse(error.body) : error.body;
    assert.equal(error.code, code);
    assert.equal(body.reason, reason);
    return body;
  }
  throw new Error(`not refused: must be ${code} ${reason}`);
}

const labels = { app: "web" };
const deployment = {
  metadata: { name: "web" },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { containers: [{ name: "main", image: "main:1" }] },
    },
  },
};

const checks = {
  "an object is created, read, listed, replaced and deleted": async () => {
    const body = {
      metadata: { name: "life", labels: { a: "b" } },
      data: { k: "v", text: "é✓" },
    };
    const created = await core.createNamespacedConfigMap({ namespace, body });
    assert(created.metadata.creationTimestamp instanceof Date);
    const read = await core.readNamespacedConfigMap({
      namespace,
      name: "life",
    });
    assert.deepEqual(read.data, body.data);
    const list = await core.listNamespacedConfigMap({
      namespace,
      labelSelector: "a=b",
    });
    assert.deepEqual(list.items.map(({ metadata }) => metadata.name), ["life"]);
    read.data.k = "w";
    const replaced = await core.replaceNamespacedConfigMap({
      namespace,
      name: "life",
      body: read,
    });
    assert.notEqual(
      replaced.metadata.resourceVersion,
      created.metadata.resourceVersion,
    );
    await refused(
      core.replaceNamespacedConfigMap({
        namespace,
        name: "life",
        body: created,
      }),
      409,
      "Conflict",
    );
    await core.deleteNamespacedConfigMap({ namespace, name: "life" });
    await refused(
      core.readNamespacedConfigMap({ namespace, name: "life" }),
      404,
      "NotFound",
    );
  },
  "refusals are ApiExceptions with a Status": async () => {
    const body = { metadata: { name: "twice" } };
    await core.createNamespacedConfigMap({ namespace, body });
    await refused(
      core.createNamespacedConfigMap({ namespace, body }),
      409,
      "AlreadyExists",
    );
    const bad = core.createNamespacedConfigMap({
      namespace,
      body: { metadata: { name: "Not a name" } },
    });
    const status = await refused(bad, 422, "Invalid");
    assert.equal(status.details.causes[0].field, "metadata.name");
    await refused(
      core.listNamespacedPod({ namespace, labelSelector: "!!" }),
      400,
      "BadRequest",
    );
  },
  "all kinds of patches change what they say": async () => {
    await apps.createNamespacedDeployment({ namespace, body: deployment });
    const target = { namespace, name: "web" };
    const merge = { metadata: { annotations: { seen: "yes" } } };
    const merged = await apps.patchNamespacedDeployment({
      ...target,
      body: merge,
    }, as(k8s.PatchStrategy.MergePatch));
    assert.equal(merged.metadata.annotations.seen, "yes");
    const json = [{ op: "replace", path: "/spec/replicas", value: 3 }];
    const replaced = await apps.patchNamespacedDeployment({
      ...target,
      body: json,
    }, as(k8s.PatchStrategy.JsonPatch));
    assert.equal(replaced.spec.replicas, 3);
    const strategic = {
      spec: {
        template: { spec: { containers: [{ name: "side", image: "side:1" }] } },
      },
    };
    const both = await apps.patchNamespacedDeployment(
      { ...target, body: strategic },
      as(k8s.PatchStrategy.StrategicMergePatch),
    );
    assert.deepEqual(
      both.spec.template.spec.containers.map(({ name }) => name).sort(),
      ["main", "side"],
    );
  },
  "an applied object is owned, and conflicts until it is forced": async () => {
    const config = (value) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "applied" },
      data: { k: value },
    });
    const apply = (fieldManager, value, force = false) =>
      core.patchNamespacedConfigMap(
        {
          namespace,
          name: "applied",
          body: config(value),
          fieldManager,
          force,
        },
        as(k8s.PatchStrategy.ServerSideApply),
      );
    const first = await apply("one", "1");
    assert.equal(first.metadata.managedFields[0].operation, "Apply");
    const status = await refused(apply("two", "2"), 409, "Conflict");
    assert.equal(status.details.causes[0].field, ".data.k");
    assert.equal((await apply("two", "2", true)).data.k, "2");
  },
  "statuses and scales are written on their own": async () => {
    const live = await apps.readNamespacedDeployment({
      namespace,
      name: "web",
    });
    live.status = { observedGeneration: 1, replicas: 2 };
    live.spec.replicas = 9;
    const body = await apps.replaceNamespacedDeploymentStatus({
      namespace,
      name: "web",
      body: live,
    });
    assert.deepEqual([body.status.replicas, body.spec.replicas], [2, 3]);
    const scale = await apps.readNamespacedDeploymentScale({
      namespace,
      name: "web",
    });
    scale.spec.replicas = 5;
    const scaled = await apps.replaceNamespacedDeploymentScale({
      namespace,
      name: "web",
      body: scale,
    });
    assert.equal(scaled.spec.replicas, 5);
  },
  "a list comes in pages": async () => {
    for (let number = 0; number < 5; number++) {
      await core.createNamespacedSecret({
        namespace,
        body: { metadata: { name: `page-${number}` }, stringData: { k: "v" } },
      });
    }
    const names = [];
    let token;
    do {
      const page = await core.listNamespacedSecret({
        namespace,
        limit: 2,
        ...(token ? { _continue: token } : {}),
      });
      names.push(...page.items.map(({ metadata }) => metadata.name));
      token = page.metadata._continue;
    } while (token);
    assert.deepEqual(names, ["page-0", "page-1", "page-2", "page-3", "page-4"]);
  },
  "a watch tells what happens, bookmarks at last": async () => {
    const seen = [];
    const watch = new k8s.Watch(config);
    const { metadata } = await core.listNamespacedConfigMap({ namespace });
    const query = {
      resourceVersion: metadata.resourceVersion,
      allowWatchBookmarks: true,
      timeoutSeconds: 3,
    };
    const ended = Promise.withResolvers ? Promise.withResolvers() : deferred();
    await watch.watch(
      `/api/v1/namespaces/${namespace}/configmaps`,
      query,
      (type, object) => seen.push(`${type} ${object.metadata.name ?? ""}`.trim()),
      () => ended.resolve(),
    );
    await core.createNamespacedConfigMap({
      namespace,
      body: { metadata: { name: "watched" } },
    });
    await core.deleteNamespacedConfigMap({ namespace, name: "watched" });
    await ended.promise;
    assert.deepEqual(seen.slice(0, 2), ["ADDED watched", "DELETED watched"]);
    assert(seen.slice(2).every((each) => each === "BOOKMARK"), seen.join());
  },
  "an informer follows additions, updates and deletions": async () => {
    const list = () => core.listNamespacedSecret({ namespace });
    const informer = k8s.makeInformer(
      config,
      `/api/v1/namespaces/${namespace}/secrets`,
      list,
    );
    const seen = [];
    for (const type of ["add", "update", "delete"]) {
      informer.on(
        type,
        ({ metadata }) => seen.push(`${type} ${metadata.name}`),
      );
    }
    informer.on("error", (error) => seen.push(`error ${error}`));
    await informer.start();
    await eventually("the list", () => seen.length >= 5);
    await delay(100); // The watch begins after the list.
    await core.createNamespacedSecret({
      namespace,
      body: { metadata: { name: "informed" } },
    });
    const body = { metadata: { labels: { a: "b" } } };
    await core.patchNamespacedSecret(
      { namespace, name: "informed", body },
      as(k8s.PatchStrategy.MergePatch),
    );
    await core.deleteNamespacedSecret({ namespace, name: "informed" });
    const wanted = ["add informed", "update informed", "delete informed"];
    await eventually(
      "the events",
      () => wanted.every((each) => seen.includes(each)),
    );
    assert.equal(informer.get("page-0", namespace).metadata.name, "page-0");
    assert.equal(informer.get("informed", namespace), undefined);
    await informer.stop();
  },
  "a lease keeps its times": async () => {
    const now = new k8s.V1MicroTime("2024-01-02T03:04:05.123Z");
    const body = {
      metadata: { name: "lease" },
      spec: { holderIdentity: "me", leaseDurationSeconds: 15, renewTime: now },
    };
    await leases.createNamespacedLease({ namespace, body });
    const lease = await leases.readNamespacedLease({
      namespace,
      name: "lease",
    });
    assert.equal(
      new Date(lease.spec.renewTime).toISOString(),
      new Date(now).toISOString(),
    );
    lease.spec.holderIdentity = "you";
    assert.equal(
      (await leases.replaceNamespacedLease({
        namespace,
        name: "lease",
        body: lease,
      })).spec.holderIdentity,
      "you",
    );
  },
  "events of both groups are one": async () => {
    const body = {
      metadata: { name: "event" },
      eventTime: new k8s.V1MicroTime(),
      action: "Testing",
      reason: "Tested",
      note: "it was",
      type: "Normal",
      reportingController: "example.com/clients",
      reportingInstance: "one",
      regarding: {
        apiVersion: "v1",
        kind: "ConfigMap",
        namespace,
        name: "twice",
      },
    };
    await events.createNamespacedEvent({ namespace, body });
    const old = await core.readNamespacedEvent({ namespace, name: "event" });
    assert.deepEqual([old.message, old.involvedObject.name], [
      "it was",
      "twice",
    ]);
  },
  "a definition is established, and its objects are validated, defaulted and patched": async () => {
    const properties = { size: { type: "integer", _default: 3, minimum: 1 } };
    const schema = {
      type: "object",
      properties: {
        spec: { type: "object", properties },
        status: {
          type: "object",
          x_kubernetes_preserve_unknown_fields: true,
        },
      },
    };
    const name = `widgets.${group}`;
    const version = {
      name: "v1",
      served: true,
      storage: true,
      subresources: { status: {} },
      schema: { openAPIV3Schema: schema },
    };
    const body = {
      metadata: { name },
      spec: {
        group,
        scope: "Namespaced",
        names: { plural: "widgets", kind: "Widget" },
        versions: [version],
      },
    };
    await definitions.createCustomResourceDefinition({ body });
    await eventually("established", async () => {
      const { status } = await definitions.readCustomResourceDefinition({
        name,
      });
      return status?.conditions?.some(({ type, status }) => type === "Established" && status === "True");
    });
    const all = { group, version: "v1", namespace, plural: "widgets" };
    const widget = (spec) => ({
      apiVersion: `${group}/v1`,
      kind: "Widget",
      metadata: { name: "one" },
      spec,
    });
    let created;
    await eventually("served", async () => {
      created = await custom.createNamespacedCustomObject({
        ...all,
        body: widget({}),
      }).catch(() => undefined);
      return created !== undefined;
    });
    assert.equal(created.spec.size, 3);
    await refused(
      custom.createNamespacedCustomObject({
        ...all,
        body: { ...widget({ size: 0 }), metadata: { name: "two" } },
      }),
      422,
      "Invalid",
    );
    const target = { ...all, name: "one" };
    const patched = await custom.patchNamespacedCustomObject({
      ...target,
      body: { spec: { size: 4 } },
    }, as(k8s.PatchStrategy.MergePatch));
    assert.deepEqual([patched.spec.size, patched.metadata.generation], [
      4,
      2,
    ]);
    const status = await custom.patchNamespacedCustomObjectStatus({
      ...target,
      body: { status: { ready: true } },
    }, as(k8s.PatchStrategy.MergePatch));
    assert.equal(status.status.ready, true);
    const list = await custom.listNamespacedCustomObject(all);
    assert.equal(list.items.length, 1);
    await custom.deleteNamespacedCustomObject(target);
    await refused(custom.getNamespacedCustomObject(target), 404, "NotFound");
  },
  "objects of any kind go through discovery": async () => {
    const [account, widget] = k8s.loadAllYaml(`
apiVersion: v1
kind: ServiceAccount
metadata: { name: any, namespace: ${namespace} }
---
apiVersion: ${group}/v1
kind: Widget
metadata: { name: any, namespace: ${namespace} }
spec: { size: 7 }
`);
    await objects.create(account);
    await objects.create(widget);
    const read = await objects.read(widget);
    assert.equal(read.spec.size, 7);
    const patched = await objects.patch(
      { ...widget, spec: { size: 8 } },
      undefined,
      undefined,
      "any",
      undefined,
      k8s.PatchStrategy.MergePatch,
    );
    assert.equal(patched.spec.size, 8);
    const list = await objects.list(`${group}/v1`, "Widget", namespace);
    assert.equal(list.items.length, 1);
    await objects.delete(widget);
  },
  "a finalizer keeps an object, and owners are kept": async () => {
    const owner = await core.readNamespacedConfigMap({
      namespace,
      name: "twice",
    });
    const { uid } = owner.metadata;
    const ownerReferences = [{
      apiVersion: "v1",
      kind: "ConfigMap",
      name: "twice",
      uid,
    }];
    const body = {
      metadata: {
        name: "final",
        finalizers: ["example.com/clean-up"],
        ownerReferences,
      },
    };
    await core.createNamespacedConfigMap({ namespace, body });
    await core.deleteNamespacedConfigMap({ namespace, name: "final" });
    const going = await core.readNamespacedConfigMap({
      namespace,
      name: "final",
    });
    assert(going.metadata.deletionTimestamp instanceof Date);
    assert.equal(going.metadata.ownerReferences[0].uid, uid);
    going.metadata.finalizers = [];
    await core.replaceNamespacedConfigMap({
      namespace,
      name: "final",
      body: going,
    });
    await refused(
      core.readNamespacedConfigMap({ namespace, name: "final" }),
      404,
      "NotFound",
    );
  },
  "a dry run leaves nothing behind, and strict validation refuses unknown fields": async () => {
    await core.createNamespacedConfigMap({
      namespace,
      body: { metadata: { name: "dry" } },
      dryRun: "All",
    });
    await refused(
      core.readNamespacedConfigMap({ namespace, name: "dry" }),
      404,
      "NotFound",
    );
    const body = {
      apiVersion: `${group}/v1`,
      kind: "Widget",
      metadata: { name: "strict" },
      spec: { nope: 1 },
    };
    const all = { group, version: "v1", namespace, plural: "widgets" };
    await refused(
      custom.createNamespacedCustomObject({
        ...all,
        body,
        fieldValidation: "Strict",
      }),
      400,
      "BadRequest",
    );
  },
  "a token of a service account and access reviews are given": async () => {
    const token = await core.createNamespacedServiceAccountToken({
      namespace,
      name: "any",
      body: { spec: { expirationSeconds: 600 } },
    });
    assert.equal(token.status.token.split(".").length, 3);
    const resourceAttributes = { namespace, verb: "get", resource: "pods" };
    const review = await access.createSelfSubjectAccessReview({
      body: { spec: { resourceAttributes } },
    });
    assert.equal(review.status.allowed, true);
  },
  "a large body goes there and back": async () => {
    const data = { k: "x".repeat(900_000) };
    await core.createNamespacedConfigMap({
      namespace,
      body: { metadata: { name: "large" }, data },
    });
    assert.equal(
      (await core.readNamespacedConfigMap({ namespace, name: "large" })).data.k
        .length,
      900_000,
    );
  },
};

/** As Promise.withResolvers, which older Nodes lack. */
function deferred() {
  let resolve, reject;
  const promise = new Promise((yes, no) => [resolve, reject] = [yes, no]);
  return { promise, resolve, reject };
}

let passed = 0, failed = 0;
for (const [name, run] of Object.entries(checks)) {
  try {
    await run();
    console.log(`ok ${name}`);
    passed++;
  } catch (error) {
    console.log(
      `FAILED ${name}: ${String(error?.message ?? error).replaceAll("\n", " ").slice(0, 2000)}`,
    );
    failed++;
  }
}
await core.deleteNamespace({ name: namespace });
await definitions.deleteCustomResourceDefinition({ name: `widgets.${group}` })
  .catch(() => {});
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
