import { assert, assertEquals, assertGreater } from "@std/assert";
import type { Client } from "../../client.ts";
import { delay } from "../../delay.ts";
import { Lease } from "../../kinds.ts";
import { Thing, thing } from "../_operator.ts";
import { applyAll } from "./_cluster.ts";
import { type OperatorProcess, ready, startProcess } from "./_process.ts";
import { startControlPlane } from "./_setup.ts";
import { until } from "./_wait.ts";

const POLICY = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
  verbs: [create, update, patch, delete, deletecollection]
- level: None
`;

/** A write, as the API server's audit log tells of it. */
interface Audited {
  readonly user: { readonly username: string };
  readonly objectRef: { readonly resource: string; readonly subresource?: string };
  readonly responseStatus: { readonly code: number };
  /** When the request came. */
  readonly requestReceivedTimestamp: string;
  /** When its answer was complete. */
  readonly stageTimestamp: string;
}

async function auditOf(path: string): Promise<Audited[]> {
  return (await Deno.readTextFile(path)).trim().split("\n").map((line) => JSON.parse(line));
}

async function holder(client: Client): Promise<string> {
  return (await client.api(Lease).find("replica", { namespace: "default" }))?.spec?.holderIdentity ?? "";
}

async function beat(client: Client): Promise<unknown> {
  return (await client.api(Thing).get("only", { namespace: "default" }) as Thing).status?.beat;
}

/** Waits until the thing has been written to `count` times more. */
async function beats(client: Client, count: number): Promise<void> {
  let last = await beat(client);
  for (let seen = 0; seen < count; seen++) {
    last = await until("A write", async () => {
      const now = await beat(client);
      return now !== last && { now };
    }, { every: 5 }).then(({ now }) => now);
  }
}

Deno.test("Of three replicas the leader that was frozen past its lease writes nothing more, by the server's audit log", async () => {
  const folder = await Deno.makeTempDir({ prefix: "tend-audit-" });
  await using _ = { [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
  await Deno.writeTextFile(`${folder}/policy.yaml`, POLICY);
  const log = `${folder}/audit.log`;
  const flags = { "audit-policy-file": `${folder}/policy.yaml`, "audit-log-path": log, "audit-log-mode": "blocking" };
  await using plane = await startControlPlane({ flags });
  await using client = plane.client();
  await applyAll(client, [Thing.crd()]);
  await client.api(Thing).create(thing("only"));

  await using stack = new AsyncDisposableStack();
  const replicas = new Map<string, OperatorProcess>();
  const program = { file: "tests/control_plane/_replica.ts", flags: ["--allow-net", "--allow-read", "--allow-env"] };
  await Promise.all(["one", "two", "three"].map(async (name) => {
    const { kubeconfig } = plane.user(name, ["system:masters"]);
    const replica = stack.use(await startProcess({ program, kubeconfig }, ["--identity", name]));
    await ready(replica);
    replicas.set(name, replica);
  }));
  const frozen = await until("A leader", async () => await holder(client) || undefined);

  await beats(client, 3);
  replicas.get(frozen)!.kill("SIGSTOP"); // Its next write would be due in a quarter of a second.
  const stopped = Date.now();
  await client.api(Thing).patch({ name: "only", namespace: "default" }, { spec: { round: 1 } });
  const next = await until("Another leader", async () => {
    const name = await holder(client);
    return name !== frozen && name;
  });
  await beats(client, 3);
  const resumed = Date.now();
  replicas.get(frozen)!.kill("SIGCONT");
  await until("The step back", async () => {
    const { text } = await replicas.get(frozen)!.get("/metrics");
    return /^leader_election_master_status\{.*\} 0$/m.test(text);
  });
  await beats(client, 5);
  await delay(500);
  assertEquals(await holder(client), next);

  const audited = await auditOf(log);
  const time = (text: string): number => Date.parse(text);
  const taken = audited.find(({ user, objectRef, responseStatus, stageTimestamp }) =>
    user.username === next && objectRef.resource === "leases" && responseStatus.code < 300 &&
    time(stageTimestamp) > stopped
  );
  assert(taken);
  assertGreater(resumed, time(taken.stageTimestamp));
  const after = audited.filter(({ requestReceivedTimestamp }) =>
    time(requestReceivedTimestamp) >= time(taken.stageTimestamp)
  );
  assertEquals(after.filter(({ user, responseStatus }) => user.username === frozen && responseStatus.code < 300), []);
  // Not even what the server would refuse, but for the lease.
  const tried = after.filter(({ user, objectRef }) => user.username === frozen && objectRef.resource !== "leases");
  assertEquals(tried, []);
  // One after the other: the writers of the status never alternate.
  const writers = audited.filter(({ objectRef }) =>
    objectRef.subresource === "status" && objectRef.resource === "things"
  )
    .map(({ user }) => user.username);
  assertEquals(writers.filter((name, index) => name !== writers[index - 1]), [frozen, next]);
});
