import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Backup } from "../examples/backup.ts";
import { SecretCopy } from "../examples/secret_copier.ts";
import { Website } from "../examples/website.ts";
import type { Client } from "../client.ts";
import { ConfigMap, Deployment, Event, Lease, Namespace, Secret, Service } from "../kinds.ts";
import type { KubernetesObject, Resource } from "../resource.ts";
import { ApiServer } from "../testing/mod.ts";
import { example, type OperatorProcess, ready, startProcess } from "./control_plane/_process.ts";
import { until } from "./control_plane/_wait.ts";

/** An example that runs as its header says, against an API server in memory. */
interface Played extends AsyncDisposable {
  readonly server: ApiServer;
  readonly client: Client;
  readonly operator: OperatorProcess;
}

/** Starts an API server with namespaces and the definitions, and an example. */
async function play(name: string, ...namespaces: [name: string, labels?: Record<string, string>][]): Promise<Played> {
  const server = new ApiServer({ controllers: ["garbage-collector", "namespaces"] });
  const folder = await Deno.makeTempDir();
  const { kubeconfig } = await server.listen();
  await Deno.writeTextFile(`${folder}/kubeconfig`, kubeconfig);
  await server.apply([Backup.crd(), SecretCopy.crd(), Website.crd()]);
  const objects = namespaces.map(([name, labels = {}]) => Namespace.draft({ metadata: { name, labels } }));
  await server.apply(objects);
  const { file, flags } = await example(name);
  const program = { file, flags: ["--no-prompt", ...flags] };
  const operator = await startProcess({ program, kubeconfig: `${folder}/kubeconfig` }, ["--identity=me"]);
  await ready(operator);
  return {
    server,
    client: server.client(),
    operator,
    [Symbol.asyncDispose]: async () => {
      await operator[Symbol.asyncDispose]();
      await server.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** Stops an example in order, after which nothing but the failures that were meant to be may be in its log. */
async function end({ operator, client }: Played, lease: string, ...failures: string[]): Promise<void> {
  assertEquals(await operator.stop(), 0);
  const bad = operator.log.filter(({ level }) => level === "error" || level === "warning" || level === "fatal");
  assertEquals([...new Set(bad.map(({ message, error }) => error?.message ?? message))], failures);
  assertEquals((await client.api(Lease).get(lease)).spec?.holderIdentity, "");
}

/** Waits until an object passes a check, and answers with it. */
function becomes<T extends KubernetesObject>(
  { client, operator }: Played,
  resource: Resource<T>,
  key: string,
  check: (object: T) => unknown,
): Promise<T> {
  const [namespace, name] = key.includes("/") ? key.split("/") as [string, string] : [undefined, key];
  return until(`${resource.kind} ${key} with ${check}`, async () => {
    const object = await client.api(resource).find(name, { namespace });
    return object && check(object) ? object : undefined;
  }, { patience: 15_000, explain: () => JSON.stringify(operator.log.slice(-5), undefined, 1) });
}

/** Waits until there is no such object. */
async function goes<T extends KubernetesObject>({ client }: Played, resource: Resource<T>, key: string): Promise<void> {
  const [namespace, name] = key.includes("/") ? key.split("/") as [string, string] : [undefined, key];
  const gone = async (): Promise<boolean> => !await client.api(resource).find(name, { namespace });
  await until(`The end of ${resource.kind} ${key}`, gone, { patience: 15_000 });
}

async function events({ client }: Played, namespace: string): Promise<string[]> {
  const { items } = await client.api(Event).list({ namespace });
  return items.map(({ type, reason, note }) => `${type} ${reason}: ${note}`);
}

const markOf = ({ metadata }: KubernetesObject): string | undefined =>
  metadata.annotations?.["example.com/backed-up-by"];

Deno.test("examples/backup.ts copies a ConfigMap, marks it, says so, and takes the mark off when the Backup goes", async () => {
  await using played = await play("backup", ["shop"]);
  const { client, server } = played;
  await client.api(ConfigMap).create({ metadata: { name: "a", namespace: "shop" }, data: { color: "blue" } });
  await client.api(Backup).create({ metadata: { name: "nightly", namespace: "shop" }, spec: { configMap: "a" } });
  const backup = await becomes(played, Backup, "shop/nightly", ({ status }) => status?.lastRun);
  assertEquals(backup.metadata.finalizers, ["example.com/cleanup"]);
  assertEquals([backup.spec.everyMinutes, backup.status!.source, backup.status!.copy], [5, "a", "nightly-copy"]);
  const copy = await client.api(ConfigMap).get("nightly-copy", { namespace: "shop" });
  assertEquals([copy.data, copy.metadata.ownerReferences?.[0]?.uid], [{ color: "blue" }, backup.metadata.uid]);
  await becomes(played, ConfigMap, "shop/a", (source) => markOf(source) === "nightly");
  await until("The Event", async () => (await events(played, "shop")).length > 0);
  assertEquals(await events(played, "shop"), ["Normal Copied: Copied a to nightly-copy"]);

  await client.api(ConfigMap).delete({ name: "nightly-copy", namespace: "shop" });
  await becomes(played, ConfigMap, "shop/nightly-copy", ({ metadata }) => metadata.uid !== copy.metadata.uid);

  await client.api(Backup).delete({ name: "nightly", namespace: "shop" });
  await goes(played, Backup, "shop/nightly");
  await goes(played, ConfigMap, "shop/nightly-copy");
  assertEquals(markOf(await client.api(ConfigMap).get("a", { namespace: "shop" })), undefined);
  assert(server.requests.every(({ code }) => code < 400 || code === 404 || code === 409), "nothing was refused");
  await end(played, "backup-operator");
});

Deno.test("examples/backup.ts waits for a ConfigMap that is not there yet, and says why it fails", async () => {
  await using played = await play("backup", ["shop"]);
  const { client, operator } = played;
  await client.api(Backup).create({ metadata: { name: "early", namespace: "shop" }, spec: { configMap: "late" } });
  const failed = await until("The failure", () => Promise.resolve(operator.log.find(({ retryIn }) => retryIn)));
  assertEquals([failed.key, failed.error?.message], ["shop/early", 'ConfigMap "late" does not exist']);
  assertEquals(Math.round(failed.retryIn! / 1000), 5);
  await client.api(ConfigMap).create({ metadata: { name: "late", namespace: "shop" }, data: { now: "here" } });
  await becomes(played, ConfigMap, "shop/early-copy", ({ data }) => data?.["now"] === "here");
  await becomes(played, Backup, "shop/early", ({ status }) => status?.lastRun);
  await end(played, "backup-operator", 'ConfigMap "late" does not exist');
});

Deno.test("examples/backup.ts follows a changed source, and takes off its own mark alone", async () => {
  await using played = await play("backup", ["shop"], ["other"]);
  const { client } = played;
  const [backups, maps] = [client.api(Backup), client.api(ConfigMap)];
  const at = (name: string) => ({ name, namespace: "shop" });
  for (const name of ["a", "b", "c"]) await maps.create({ metadata: at(name), data: { name } });
  await maps.create({
    metadata: { name: "a", namespace: "other", annotations: { "example.com/backed-up-by": "one" } },
  });
  await backups.create({ metadata: at("one"), spec: { configMap: "a" } });
  await becomes(played, ConfigMap, "shop/a", (source) => markOf(source) === "one");

  await backups.patch(at("one"), { spec: { configMap: "b" } });
  await becomes(played, ConfigMap, "shop/b", (source) => markOf(source) === "one");
  await becomes(played, ConfigMap, "shop/a", (source) => markOf(source) === undefined);
  await becomes(played, ConfigMap, "shop/one-copy", ({ data }) => data?.["name"] === "b");
  await becomes(played, Backup, "shop/one", ({ status }) => status?.source === "b");
  assertEquals(markOf(await maps.get("a", { namespace: "other" })), "one", "another namespace is left alone");

  await backups.create({ metadata: at("two"), spec: { configMap: "b" } });
  await becomes(played, ConfigMap, "shop/b", (source) => markOf(source) === "two");
  await backups.delete(at("one"));
  await goes(played, Backup, "shop/one");
  assertEquals(markOf(await maps.get("b", { namespace: "shop" })), "two", "another Backup's mark stays");
  // The source may be gone by then.
  await maps.delete(at("b"));
  await backups.delete(at("two"));
  await goes(played, Backup, "shop/two");
  await end(played, "backup-operator");
});

Deno.test("examples/website.ts makes a page, a Deployment and a Service, and follows the Deployment's status and its scale", async () => {
  await using played = await play("website", ["shop"]);
  const { client } = played;
  const at = { name: "home", namespace: "shop" };
  const [sites, deployments] = [client.api(Website), client.api(Deployment)];
  const ready = ({ status }: Website) => status?.conditions?.find(({ type }) => type === "Ready");
  const serve = async (readyReplicas: number) => {
    const { metadata } = await deployments.get(at);
    const status = { observedGeneration: metadata.generation!, replicas: readyReplicas, readyReplicas };
    await deployments.status.patch(at, { status });
  };
  await sites.create({ metadata: at, spec: { html: "<p>1</p>" } });
  const waiting = await becomes(played, Website, "shop/home", ready);
  assertEquals(ready(waiting)!.status, "False");
  assertEquals(ready(waiting)!.message, "0 of 1 servers are ready");
  assertEquals((await client.api(ConfigMap).get(at)).data, { "index.html": "<p>1</p>" });
  assertEquals((await client.api(Service).get(at)).spec?.ports?.[0]?.targetPort, "http");

  await serve(1);
  const up = await becomes(played, Website, "shop/home", (site) => ready(site)?.status === "True");
  assertEquals([ready(up)!.reason, up.status?.readyReplicas], ["AllServersReady", 1]);
  assertMatch(ready(up)!.lastTransitionTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

  await sites.scale.patch(at, { spec: { replicas: 2 } });
  await becomes(played, Deployment, "shop/home", ({ spec }) => spec?.replicas === 2);
  const scaled = await becomes(played, Website, "shop/home", (site) => ready(site)?.status === "False");
  assertEquals(ready(scaled)!.observedGeneration, scaled.metadata.generation);
  await serve(2);
  await becomes(played, Website, "shop/home", (site) => ready(site)?.message === "2 of 2 servers are ready");
  assertEquals((await sites.scale.get(at)).status, { replicas: 2 });

  await sites.patch(at, { spec: { html: "<p>2</p>", replicas: 0 } });
  await becomes(played, ConfigMap, "shop/home", ({ data }) => data?.["index.html"] === "<p>2</p>");
  await becomes(played, Deployment, "shop/home", ({ spec }) => spec?.replicas === 0);
  await serve(0);
  await becomes(played, Website, "shop/home", (site) => ready(site)?.message === "0 of 0 servers are ready");

  await deployments.patch(at, { spec: { replicas: 7 } });
  await becomes(played, Deployment, "shop/home", ({ spec }) => spec?.replicas === 0);
  await client.api(Service).delete(at);
  await becomes(played, Service, "shop/home", () => true);

  await sites.delete(at);
  for (const kind of [Website, ConfigMap, Deployment, Service] as Resource[]) await goes(played, kind, "shop/home");
  await end(played, "website-operator");
});

/** A namespace that gets copies. */
const SHARED = { "shared-secrets": "" };

function secret(namespace: string, password: string, more: Record<string, unknown> = {}) {
  return { metadata: { namespace, name: "registry" }, data: { password: btoa(password) }, ...more };
}

/** The password of a Secret. */
const passwordOf = ({ data }: Secret): string => atob(data?.["password"] ?? "");
const copyOf = ({ metadata }: Secret): string | undefined => metadata.annotations?.["example.com/copy-of"];

async function shareRegistry({ client }: Played, name = "registry", namespace = "vault"): Promise<void> {
  const spec = { namespace, name: "registry", label: "shared-secrets" };
  await client.api(SecretCopy).create({ metadata: { name }, spec });
}

Deno.test("examples/secret_copier.ts copies into labelled namespaces, follows the Secret and the labels, and cleans up", async () => {
  await using played = await play("secret_copier", ["vault", SHARED], ["one", SHARED], ["two", SHARED], ["three"]);
  const { client } = played;
  const [secrets, namespaces] = [client.api(Secret), client.api(Namespace)];
  await secrets.create(secret("vault", "first", { type: "example.com/x" }));
  await shareRegistry(played);
  const copy = await becomes(played, Secret, "one/registry", copyOf);
  assertEquals([copy.type, passwordOf(copy)], ["example.com/x", "first"]);
  const shared = await becomes(played, SecretCopy, "registry", ({ status }) => status?.namespaces);
  assertEquals(shared.status!.namespaces, ["one", "two"]);

  await secrets.patch({ name: "registry", namespace: "vault" }, { data: { more: btoa("x") } });
  await becomes(played, Secret, "two/registry", ({ data }) => data?.["more"]);
  await secrets.patch({ name: "registry", namespace: "vault" }, { data: { more: null, password: btoa("second") } });
  for (const key of ["one/registry", "two/registry"]) {
    await becomes(played, Secret, key, (copy) => passwordOf(copy) === "second" && !copy.data?.["more"]);
  }
  await secrets.patch({ name: "registry", namespace: "one" }, { data: { password: btoa("spoilt") } });
  await becomes(played, Secret, "one/registry", (copy) => passwordOf(copy) === "second");

  await namespaces.patch("three", { metadata: { labels: SHARED } });
  await becomes(played, Secret, "three/registry", copyOf);
  await namespaces.patch("two", { metadata: { labels: { "shared-secrets": null } } });
  await goes(played, Secret, "two/registry");
  const fewer = await becomes(played, SecretCopy, "registry", ({ status }) => !status?.namespaces?.includes("two"));
  assertEquals(fewer.status!.namespaces, ["one", "three"]);

  await secrets.delete({ name: "registry", namespace: "vault" });
  await secrets.create(secret("vault", "third", { type: "example.com/y" }));
  await becomes(played, Secret, "one/registry", ({ type }) => type === "example.com/y");

  await client.api(SecretCopy).delete("registry");
  await goes(played, SecretCopy, "registry");
  const left = (await secrets.list()).items.filter(({ metadata }) => metadata.name === "registry");
  assertEquals(left.map(({ metadata }) => metadata.namespace), ["vault"]);
  assertEquals(await played.operator.stop(), 0);
});

Deno.test("examples/secret_copier.ts leaves a Secret of the same name alone, and copies once that has gone", async () => {
  await using played = await play("secret_copier", ["vault"], ["own", SHARED]);
  const { client } = played;
  const secrets = client.api(Secret);
  await secrets.create(secret("vault", "theirs"));
  await secrets.create(secret("own", "mine"));
  await shareRegistry(played);
  await until("The warning", async () => (await events(played, "default")).length > 0);
  assertEquals(await events(played, "default"), ["Warning NotACopy: own has a Secret registry of its own"]);
  const kept = await secrets.get("registry", { namespace: "own" });
  assertEquals([passwordOf(kept), copyOf(kept)], ["mine", undefined]);
  await becomes(played, SecretCopy, "registry", ({ status }) => status?.namespaces?.length === 0);

  await secrets.delete({ name: "registry", namespace: "own" });
  const copy = await becomes(played, Secret, "own/registry", copyOf);
  assertEquals(passwordOf(copy), "theirs");
  await end(played, "secret-copier");
});

Deno.test("examples/secret_copier.ts removes the copies of a Secret that it copies no more, and lets another SecretCopy take over", async () => {
  await using played = await play("secret_copier", ["vault"], ["safe"], ["one", SHARED]);
  const { client } = played;
  await client.api(Secret).create(secret("vault", "first"));
  await client.api(Secret).create(secret("safe", "second"));
  await client.api(Secret).create({
    metadata: { namespace: "vault", name: "other" },
    data: { password: btoa("third") },
  });
  await shareRegistry(played);
  await becomes(played, Secret, "one/registry", (copy) => copyOf(copy) === "registry");
  await shareRegistry(played, "rival", "safe");
  await until("The rival's warning", async () => (await events(played, "default")).length > 0);

  await client.api(SecretCopy).patch("registry", { spec: { name: "other" } });
  await becomes(played, Secret, "one/other", (copy) => passwordOf(copy) === "third");
  const taken = await becomes(played, Secret, "one/registry", (copy) => copyOf(copy) === "rival");
  assertEquals(passwordOf(taken), "second");
  assertEquals(await played.operator.stop(), 0);
});

Deno.test("The examples' headers name narrow flags, and every way to need fewer", async () => {
  for (const name of ["backup", "secret_copier", "website"]) {
    const { flags, file } = await example(name);
    assertEquals(flags, ["--allow-net", "--allow-env=HOME,KUBECONFIG", "--allow-read"]);
    const text = await Deno.readTextFile(file);
    for (const words of ["`--allow-net --allow-read=FILE` are enough", "`--allow-sys=hostname` puts the host's name"]) {
      assertStringIncludes(text, words);
    }
  }
});
