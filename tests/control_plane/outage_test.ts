import { assertEquals, assertMatch } from "@std/assert";
import { Backup } from "../../examples/backup.ts";
import type { Client } from "../../client.ts";
import { ClusterRoleBinding, ConfigMap, CustomResourceDefinition } from "../../kinds.ts";
import { operatorOf, start, Thing, thing, things } from "../_operator.ts";
import { applyAll, makeNamespace, removeDefinition } from "./_cluster.ts";
import { deploy, example, type OperatorProcess, ready, startProcess } from "./_process.ts";
import { sharedControlPlane } from "./_setup.ts";
import { until } from "./_wait.ts";

const plane = sharedControlPlane();

Deno.test.beforeEach(async () => {
  await using client = plane().client();
  await applyAll(client, [Thing.crd(), Backup.crd()]);
});

/** An operator in this process that notes the names of what it reconciles in their status. */
function noting(client: Client, namespace: string, options: Parameters<typeof start>[3] = {}): AsyncDisposable {
  const controller = things().onError({ milliseconds: 200 }).reconcile(async (object, ctx) => {
    await ctx.patchStatus(object, { seen: object.spec.round ?? 0 });
  });
  return start(operatorOf(controller), client, undefined, { namespaces: [namespace], ...options });
}

async function seen(client: Client, namespace: string, name: string, round = 0): Promise<void> {
  await until(`The reconcile of ${name}`, async () => {
    const { status } = await client.api(Thing).get({ name, namespace }) as Thing;
    return status?.seen === round;
  });
}

/** Waits until `/readyz` has a check that fails for a reason; answers with the line. */
async function unready(operator: OperatorProcess, reason: RegExp): Promise<string> {
  return await until(`A readiness check that fails with ${reason}`, async () => {
    const { status, text } = await operator.get("/readyz?verbose");
    return status === 503 && text.split("\n").find((line) => line.startsWith("[-]") && reason.test(line));
  });
}

for (const signal of ["SIGTERM", "SIGKILL"] as const) {
  Deno.test(`A watch survives a restart of the API server by ${signal}: nothing is lost`, async () => {
    await using client = plane().client();
    const namespace = await makeNamespace(client);
    await client.api(Thing).create(thing("before", {}, { namespace }));
    await client.api(Thing).create(thing("leaving", {}, { namespace }));
    await using _ = noting(client, namespace);
    await seen(client, namespace, "before");
    await seen(client, namespace, "leaving");

    await plane().restart(signal);
    await client.api(Thing).patch({ name: "before", namespace }, { spec: { round: 1 } });
    await client.api(Thing).delete({ name: "leaving", namespace });
    await client.api(Thing).create(thing("leaving", { round: 1 }, { namespace }));
    await client.api(Thing).create(thing("after", {}, { namespace }));
    await seen(client, namespace, "before", 1);
    await seen(client, namespace, "leaving", 1);
    await seen(client, namespace, "after");
  });
}

Deno.test("An operator that starts before the API server does waits for it", async () => {
  await using client = plane().client();
  const namespace = await makeNamespace(client);
  await client.api(Thing).create(thing("early", {}, { namespace }));
  await plane().stop("SIGKILL");
  const listening = Promise.withResolvers<string>();
  await using _ = noting(client, namespace, {
    address: "127.0.0.1:0",
    onListen: ({ hostname, port }) => listening.resolve(`http://${hostname}:${port}`),
  });
  const address = await listening.promise;
  const check = async () => {
    const response = await fetch(`${address}/readyz?verbose`);
    return { status: response.status, text: await response.text() };
  };
  const down = await check();
  assertEquals(down.status, 503);
  assertMatch(down.text, /\[-\]watch-things\.example\.com failed: the cache is not synced yet/);
  await until("A named problem", async () => /Cannot list things\.example\.com/.test((await check()).text));
  await plane().restart();
  await seen(client, namespace, "early");
  await until("The readiness", async () => (await check()).status === 200);
});

Deno.test("An operator survives an API server that freezes", async () => {
  await using client = plane().client(undefined, { timeout: { seconds: 1 } });
  const namespace = await makeNamespace(client);
  await using _ = noting(client, namespace);
  await client.api(Thing).create(thing("one", {}, { namespace }));
  await seen(client, namespace, "one");
  await client.api(Thing).patch({ name: "one", namespace }, { spec: { round: 1 } });
  await plane().pause();
  await new Promise((resolve) => setTimeout(resolve, 2500));
  plane().resume();
  await seen(client, namespace, "one", 1);
  await client.api(Thing).patch({ name: "one", namespace }, { spec: { round: 2 } });
  await seen(client, namespace, "one", 2);
});

Deno.test("A revoked permission fails /readyz, which names verb and resource, and its return heals without a restart", async () => {
  await using client = plane().client();
  const deployed = await deploy(plane(), client, await example("backup"), "backup-operator");
  await using operator = await startProcess(deployed);
  await ready(operator);
  const binding = await client.api(ClusterRoleBinding).get("backup-operator");
  await client.api(ClusterRoleBinding).delete("backup-operator");
  // A watch that was accepted goes on until its end, some minutes later; the restart ends it now.
  await plane().restart("SIGKILL");
  const line = await unready(operator, /answered 403/);
  assertMatch(line, /^\[-\]watch-\S+ failed: Cannot (list|watch) (configmaps|backups\.example\.com) /);
  const { text } = await operator.get("/readyz?verbose");
  assertMatch(text, /User "system:serviceaccount:default:backup-operator" cannot (list|watch) resource/);
  assertEquals((await operator.get("/healthz")).status, 200);

  await applyAll(client, [{ ...binding, metadata: { name: "backup-operator" } }]);
  await ready(operator);
  const namespace = await makeNamespace(client);
  await client.api(ConfigMap).create({ metadata: { name: "settings", namespace }, data: { a: "b" } });
  await client.api(Backup).create({ metadata: { name: "nightly", namespace }, spec: { configMap: "settings" } });
  await until("The work", async () => (await client.api(Backup).get("nightly", { namespace })).status?.lastRun);
  await client.api(Backup).delete({ name: "nightly", namespace });
  await until("The cleanup", async () => !await client.api(Backup).find({ name: "nightly", namespace }));
  assertEquals(await operator.stop(), 0);
});

Deno.test("An operator waits for a definition that is missing, and works again when one that was deleted comes back", async () => {
  await using client = plane().client();
  const deployed = await deploy(plane(), client, await example("backup"), "backup-operator");
  await removeDefinition(client, Backup.id);
  await using operator = await startProcess(deployed);
  const line = await unready(operator, /404/);
  assertMatch(line, /Cannot list backups\.example\.com .*404.*is its CustomResourceDefinition installed\?/);
  const namespace = await makeNamespace(client);
  await client.api(ConfigMap).create({ metadata: { name: "settings", namespace }, data: { a: "b" } });

  /** Has a Backup made and done. New kinds are refused as owners for up to 10 s, which the operator's retries outlast. */
  const work = async (name: string) => {
    await client.api(Backup).create({ metadata: { name, namespace }, spec: { configMap: "settings" } });
    await until(`The work on ${name}`, async () => {
      return (await client.api(Backup).get(name, { namespace })).status?.lastRun;
    });
  };
  await applyAll(client, [Backup.crd()]);
  await ready(operator);
  await work("first");

  // Its objects go first, after their finalizers.
  await removeDefinition(client, Backup.id);
  await unready(operator, /Cannot (list|watch) backups\.example\.com .*404/);
  assertEquals(await client.api(CustomResourceDefinition).find(Backup.id), undefined);
  await applyAll(client, [Backup.crd()]);
  await ready(operator);
  await work("first");
  assertEquals(await operator.stop(), 0);
});
