import { assert, assertEquals, assertGreater, assertLess } from "@std/assert";
import { Backup } from "../../examples/backup.ts";
import type { Client } from "../../client.ts";
import { ConfigMap, Lease } from "../../kinds.ts";
import { makeNamespace } from "./_cluster.ts";
import { assertAllowed, deploy, example, type OperatorProcess, ready, startProcess } from "./_process.ts";
import { sharedControlPlane } from "./_setup.ts";
import { until } from "./_wait.ts";

const plane = sharedControlPlane();

/** Defaults of the election, in ms; the retry period with its jitter. */
const [LEASE_DURATION, RETRY_PERIOD] = [15_000, 2_400];
/** What a busy machine may add, in ms. */
const SLACK = 4_000;

async function holder(client: Client): Promise<string | undefined> {
  return (await client.api(Lease).find("backup-operator", { namespace: "default" }))?.spec?.holderIdentity;
}

/** Waits until a replica leads; answers with the ms that took. */
async function leads(client: Client, identity: string): Promise<number> {
  const started = performance.now();
  await until(`The lead of ${identity}`, async () => await holder(client) === identity);
  return performance.now() - started;
}

/** Whether a replica takes itself for the leader. */
async function isMaster(operator: OperatorProcess): Promise<boolean> {
  const { text } = await operator.get("/metrics");
  return /^leader_election_master_status\{.*\} 1$/m.test(text);
}

/** Has a Backup made and waits until some replica has reconciled it. */
async function assertWorks(client: Client, namespace: string, name: string): Promise<void> {
  await client.api(Backup).create({ metadata: { name, namespace }, spec: { configMap: "settings" } });
  await until(`The work on ${name}`, async () => (await client.api(Backup).get(name, { namespace })).status?.lastRun);
}

Deno.test("Of two replicas one works, the other takes over from one that stops at once, and from one that is killed within the lease", async () => {
  await using client = plane().client();
  const deployed = await deploy(plane(), client, await example("backup"), "backup-operator");
  const namespace = await makeNamespace(client);
  await client.api(ConfigMap).create({ metadata: { name: "settings", namespace }, data: { color: "blue" } });

  await using one = await startProcess(deployed, ["--identity", "one"]);
  await leads(client, "one");
  await using two = await startProcess(deployed, ["--identity", "two"]);
  await ready(one);
  await ready(two); // A replica that stands by is ready: its caches are.
  await assertWorks(client, namespace, "first");
  assertEquals([await isMaster(one), await isMaster(two)], [true, false]);
  assertEquals(two.log.filter(({ level }) => level === "warning" || level === "error"), []);

  one.kill("SIGTERM");
  assertLess(await leads(client, "two"), RETRY_PERIOD + SLACK);
  assertEquals((await one.ended()).code, 0);
  await assertWorks(client, namespace, "second");

  await using three = await startProcess(deployed, ["--identity", "three"]);
  await ready(three);
  const { spec } = await client.api(Lease).get("backup-operator", { namespace: "default" });
  two.kill("SIGKILL");
  assertLess(await leads(client, "three"), LEASE_DURATION + RETRY_PERIOD + SLACK);
  assertEquals((await two.ended()).signal, "SIGKILL");
  const taken = await client.api(Lease).get("backup-operator", { namespace: "default" });
  const vacancy = Date.parse(taken.spec!.acquireTime!) - Date.parse(spec!.renewTime!);
  assertGreater(vacancy, LEASE_DURATION - 1);
  assertEquals(taken.spec!.leaseTransitions, spec!.leaseTransitions! + 1);
  await assertWorks(client, namespace, "third");
  await assertAllowed(three);
  assertEquals(await three.stop(), 0);
});

Deno.test("A leader that was frozen past its lease finds another one in its place and stands by", async () => {
  await using client = plane().client();
  const deployed = await deploy(plane(), client, await example("backup"), "backup-operator");
  const namespace = await makeNamespace(client);
  await client.api(ConfigMap).create({ metadata: { name: "settings", namespace }, data: { color: "blue" } });
  await using one = await startProcess(deployed, ["--identity", "one"]);
  await leads(client, "one");
  await using two = await startProcess(deployed, ["--identity", "two"]);
  await ready(two);

  one.kill("SIGSTOP");
  // What it would do as soon as it goes on, were it still the leader.
  await client.api(Backup).create({ metadata: { name: "only", namespace }, spec: { configMap: "settings" } });
  await leads(client, "two");
  await until(
    "The work of the other",
    async () => (await client.api(Backup).get("only", { namespace })).status?.lastRun,
  );
  const before = await client.api(Backup).get("only", { namespace });
  one.kill("SIGCONT");
  await until("The step back", async () => !await isMaster(one));
  await ready(one);
  assertEquals(await holder(client), "two");
  assert(await isMaster(two));
  assertEquals((await client.api(Backup).get("only", { namespace })).metadata, before.metadata);

  two.kill("SIGTERM");
  assertLess(await leads(client, "one"), RETRY_PERIOD + SLACK);
  await assertWorks(client, namespace, "again");
  assertEquals([await one.stop(), (await two.ended()).code], [0, 0]);
});
