import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Backup } from "../../examples/backup.ts";
import { SecretCopy } from "../../examples/secret_copier.ts";
import { Website } from "../../examples/website.ts";
import type { Client } from "../../client.ts";
import { ConfigMap, Deployment, Event, Lease, Namespace, Secret, Service } from "../../kinds.ts";
import type { KubernetesObject } from "../../resource.ts";
import { ROOT } from "../_deno.ts";
import { applyAll, makeNamespace } from "./_cluster.ts";
import { assertAllowed, deploy, example, type Program, ready, startProcess } from "./_process.ts";
import { sharedControlPlane } from "./_setup.ts";
import { until } from "./_wait.ts";

const plane = sharedControlPlane();

// All at once, since it takes the server a while until objects of new kinds may own others.
Deno.test.beforeAll(async () => {
  await using client = plane().client();
  await applyAll(client, [Backup.crd(), SecretCopy.crd(), Website.crd()]);
});

/** The events about an object. */
async function eventsOf(client: Client, { metadata }: KubernetesObject, namespace = metadata.namespace!) {
  const { items } = await client.api(Event).list({ namespace });
  return items.filter(({ regarding }) => regarding?.uid === metadata.uid);
}

Deno.test("examples/backup.ts copies, says so in status and Event, follows its spec and cleans up, with its own RBAC only", async () => {
  await using client = plane().client();
  const deployed = await deploy(plane(), client, await example("backup"), "backup-operator");
  await using operator = await startProcess(deployed, ["--identity", "one"]);
  await ready(operator);
  const namespace = await makeNamespace(client);
  const [backups, maps] = [client.api(Backup), client.api(ConfigMap)];
  const markOf = async (name: string) =>
    (await maps.get(name, { namespace })).metadata.annotations?.["example.com/backed-up-by"];
  await maps.create({ metadata: { name: "settings", namespace }, data: { color: "blue" } });
  await maps.create({ metadata: { name: "prices", namespace }, data: { apple: "1" } });

  const { metadata: { uid } } = await backups.create({
    metadata: { name: "nightly", namespace },
    spec: { configMap: "settings" },
  });
  const backup = await until("The copy", async () => {
    const found = await backups.get("nightly", { namespace });
    return found.status?.lastRun !== undefined && found;
  });
  assertEquals(backup.metadata.finalizers, ["example.com/cleanup"]);
  assertEquals([backup.status!.source, backup.status!.copy], ["settings", "nightly-copy"]);
  const copy = await maps.get("nightly-copy", { namespace });
  assertEquals(copy.data, { color: "blue" });
  assertEquals(copy.metadata.ownerReferences, [{
    apiVersion: "example.com/v1",
    kind: "Backup",
    name: "nightly",
    uid,
    controller: true,
    blockOwnerDeletion: true,
  }]);
  assertEquals(await markOf("settings"), "nightly");
  const [event] = await until("The Event", async () => {
    const events = await eventsOf(client, backup);
    return events.length > 0 && events;
  });
  assertEquals([event!.type, event!.reason, event!.note], ["Normal", "Copied", "Copied settings to nightly-copy"]);
  assertEquals(event!.reportingController, "backup-operator");

  await backups.patch({ name: "nightly", namespace }, { spec: { configMap: "prices" } });
  await until("The copy of the other ConfigMap", async () => {
    return (await maps.get("nightly-copy", { namespace })).data?.apple === "1";
  });
  await until("The status", async () => (await backups.get("nightly", { namespace })).status?.source === "prices");
  assertEquals([await markOf("settings"), await markOf("prices")], [undefined, "nightly"]);

  await maps.patch({ name: "nightly-copy", namespace }, { data: { apple: "7" } });
  await until("The repair of the copy", async () => {
    return (await maps.get("nightly-copy", { namespace })).data?.apple === "1";
  });

  await backups.delete({ name: "nightly", namespace });
  await until("The end of the Backup", async () => await backups.find("nightly", { namespace }) === undefined);
  assertEquals(await markOf("prices"), undefined);

  await assertAllowed(operator);
  const lease = await client.api(Lease).get("backup-operator", { namespace: "default" });
  assertEquals(lease.spec?.holderIdentity, "one");
  assertEquals(await operator.stop(), 0);
  const released = await client.api(Lease).get("backup-operator", { namespace: "default" });
  assertEquals(released.spec?.holderIdentity ?? "", "");
});

Deno.test("The README's operator runs as it is printed there, and tries again until the ConfigMap is there", async () => {
  const folder = await Deno.makeTempDir({ prefix: "tend-readme-" });
  try {
    const [, code] = /```ts[^\n]*\n([^]*?)```/.exec(await Deno.readTextFile(`${ROOT}/README.md`))!;
    assertStringIncludes(code!, "operator.main()");
    await Deno.writeTextFile(`${folder}/operator.ts`, code!);
    const { flags } = await example("backup");
    const program: Program = {
      file: `${folder}/operator.ts`,
      flags: ["--config", `${await Deno.realPath(ROOT)}/deno.json`, ...flags],
    };
    await using client = plane().client();
    const deployed = await deploy(plane(), client, program, "backup-operator");
    await using operator = await startProcess(deployed);
    await ready(operator);
    const namespace = await makeNamespace(client);
    const [backups, maps] = [client.api(Backup), client.api(ConfigMap)];
    const draft = { metadata: { name: "nightly", namespace }, spec: { configMap: "settings", everyMinutes: 1 } };
    await backups.create(draft);
    const failure = await until("The failure", () => {
      return Promise.resolve(operator.log.find(({ key }) => key === `${namespace}/nightly`));
    });
    assertEquals(failure.error?.message, 'ConfigMap "settings" does not exist');
    assert(failure.retryIn! >= 5000 && failure.retryIn! <= 10_000, `${failure.retryIn}`);
    assertEquals((await backups.get("nightly", { namespace })).metadata.finalizers, ["example.com/cleanup"]);

    await maps.create({ metadata: { name: "settings", namespace }, data: { color: "blue" } });
    await until("The retry", async () => (await backups.get("nightly", { namespace })).status?.copy === "nightly-copy");
    assertEquals((await maps.get("nightly-copy", { namespace })).data, { color: "blue" });

    await backups.delete({ name: "nightly", namespace });
    await until("The end of the Backup", async () => await backups.find("nightly", { namespace }) === undefined);
    await assertAllowed(operator);
    assertEquals(await operator.stop(), 0);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("examples/website.ts keeps its children and takes its condition from the Deployment's status, with its own RBAC only", async () => {
  await using client = plane().client();
  const deployed = await deploy(plane(), client, await example("website"), "website-operator");
  await using operator = await startProcess(deployed);
  await ready(operator);
  const namespace = await makeNamespace(client);
  const at = { name: "home", namespace };
  const [sites, deployments] = [client.api(Website), client.api(Deployment)];
  const site = await sites.create({ metadata: { ...at }, spec: { html: "<p>Hello</p>" } });
  assertEquals([site.spec.replicas, site.spec.image], [1, "nginxinc/nginx-unprivileged:1.29"]);
  const condition = async () => (await sites.get(at)).status?.conditions?.find(({ type }) => type === "Ready");
  /** What the Deployment controller would do when so many of its pods are ready. */
  const serve = async (replicas: number) => {
    const { metadata } = await deployments.get(at);
    await deployments.status.patch(at, {
      status: { observedGeneration: metadata.generation, replicas, readyReplicas: replicas },
    });
  };

  const starting = await until("The condition", condition);
  assertEquals([starting.status, starting.reason, starting.message], [
    "False",
    "ServersStarting",
    "0 of 1 servers are ready",
  ]);
  assertEquals(starting.observedGeneration, 1);
  assertMatch(starting.lastTransitionTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assertEquals((await client.api(ConfigMap).get(at)).data, { "index.html": "<p>Hello</p>" });
  for (
    const child of [await client.api(ConfigMap).get(at), await client.api(Service).get(at), await deployments.get(at)]
  ) {
    const [owner] = child.metadata.ownerReferences!;
    assertEquals([owner!.kind, owner!.uid, owner!.controller], ["Website", site.metadata.uid, true], child.kind);
  }

  await serve(1);
  const up = await until("The readiness", async () => {
    const now = await condition();
    return now?.status === "True" && now;
  });
  assertEquals([up.reason, up.message], ["AllServersReady", "1 of 1 servers are ready"]);

  const scaled = await sites.scale.patch(at, { spec: { replicas: 3 } });
  assertEquals(scaled.spec?.replicas, 3);
  await until("The scaling of the Deployment", async () => (await deployments.get(at)).spec?.replicas === 3);
  const down = await until("The loss of readiness", async () => {
    const now = await condition();
    return now?.status === "False" && now;
  });
  assertEquals([down.reason, down.observedGeneration], ["ServersStarting", 2]);
  await serve(2);
  const more = await until("The second server", async () => {
    const now = await condition();
    return now?.message === "2 of 3 servers are ready" && now;
  });
  assertEquals([more.status, more.lastTransitionTime], ["False", down.lastTransitionTime]);
  await serve(3);
  await until("The readiness of all", async () => (await condition())?.status === "True");
  assertEquals((await sites.scale.get(at)).status?.replicas, 3);

  await client.api(Service).delete(at);
  await until("The Service's return", () => client.api(Service).find(at));
  await client.api(ConfigMap).patch(at, { data: { "index.html": "<p>Defaced</p>" } });
  await until("The page's repair", async () => {
    return (await client.api(ConfigMap).get(at)).data?.["index.html"] === "<p>Hello</p>";
  });

  const table = await client.request<{ columnDefinitions: { name: string }[]; rows: { cells: unknown[] }[] }>({
    path: Website.path(namespace),
    accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
  });
  assertEquals(table.columnDefinitions.map(({ name }) => name), ["Name", "Ready", "Replicas", "Age"]);
  assertEquals(table.rows[0]!.cells.slice(0, 3), ["home", "True", 3]);
  await assertAllowed(operator);
  assertEquals(await operator.stop(), 0);
});

Deno.test("examples/secret_copier.ts copies into labelled namespaces, follows Secret and labels, and cleans up, with its own RBAC only", async () => {
  await using client = plane().client();
  const deployed = await deploy(plane(), client, await example("secret_copier"), "secret-copier");
  await using operator = await startProcess(deployed);
  await ready(operator);
  const [copies, secrets, namespaces] = [client.api(SecretCopy), client.api(Secret), client.api(Namespace)];
  const [vault, first, second, own, plain] = [
    await makeNamespace(client),
    await makeNamespace(client, { "shared-secrets": "" }),
    await makeNamespace(client, { "shared-secrets": "yes" }),
    await makeNamespace(client, { "shared-secrets": "" }),
    await makeNamespace(client),
  ];
  const stringData = (password: string) => ({ data: { password: btoa(password) } });
  await secrets.create({
    metadata: { name: "registry", namespace: vault },
    ...stringData("one"),
    type: "example.com/x",
  });
  await secrets.create({ metadata: { name: "registry", namespace: own }, ...stringData("mine") });
  const passwordIn = async (namespace: string) => {
    const data = (await secrets.find("registry", { namespace }))?.data;
    return data?.password && atob(data.password);
  };
  const becomes = (namespace: string, password: string | undefined) =>
    until(`${password} in ${namespace}`, async () => await passwordIn(namespace) === password);

  const copy = await copies.create({
    metadata: { name: "registry" },
    spec: { namespace: vault, name: "registry", label: "shared-secrets" },
  });
  await becomes(first, "one");
  await becomes(second, "one");
  assertEquals((await secrets.get("registry", { namespace: first })).type, "example.com/x");
  const status = () => copies.get("registry").then(({ status }) => status?.namespaces);
  await until("The status", async () => (await status())?.length === 2);
  assertEquals(await status(), [first, second].sort());
  const [event] = await until("The Event", async () => {
    const events = await eventsOf(client, copy, "default");
    return events.length > 0 && events;
  });
  assertEquals([event!.type, event!.reason], ["Warning", "NotACopy"]);

  await secrets.patch({ name: "registry", namespace: vault }, stringData("two"));
  await becomes(first, "two");
  await becomes(second, "two");
  await namespaces.patch(plain, { metadata: { labels: { "shared-secrets": "" } } });
  await becomes(plain, "two");
  await namespaces.patch(second, { metadata: { labels: { "shared-secrets": null } } });
  await becomes(second, undefined);
  await secrets.delete({ name: "registry", namespace: first });
  await becomes(first, "two");

  await copies.delete("registry");
  await until("The end of the SecretCopy", async () => await copies.find("registry") === undefined);
  const left = await Promise.all([vault, first, second, own, plain].map(passwordIn));
  assertEquals(left, ["two", undefined, undefined, "mine", undefined]);
  await assertAllowed(operator);
  assertEquals(await operator.stop(), 0);
});
