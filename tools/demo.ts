/**
 * Shows an operator at work: an API server in memory, `examples/backup.ts` run against it as a user would, and what happens.
 *
 *     deno task demo [--keep]
 *
 * `--keep` leaves server and operator running until Ctrl-C and prints what to try with kubectl.
 *
 * @module
 */
import { lines } from "../_stream.ts";
import { aborted, delay } from "../delay.ts";
import type { Client, KubernetesObject, Resource } from "../mod.ts";
import { ConfigMap, Event, Lease } from "../kinds.ts";
import { ApiServer } from "../testing/mod.ts";
import { Backup, operator } from "../examples/backup.ts";

const NAMESPACE = "shop";
const FLAGS = ["--allow-net", "--allow-env=HOME,KUBECONFIG", "--allow-read"];
/** The demo gives up on anything that takes longer than this, in ms. */
const PATIENCE = 20_000;

/** Aborts on Ctrl-C. */
const interrupted = new AbortController();

const color = Deno.stdout.isTerminal() && !Deno.noColor;
const started = performance.now();

function say(who: "you" | "operator" | "server" | "demo", text: string): void {
  const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(5);
  const shade = { you: 36, operator: 32, server: 90, demo: 33 }[who];
  const name = who.padEnd(9);
  console.log(`${seconds}s  ${color ? `\x1b[${shade}m${name}\x1b[0m` : name} ${text}`);
}

/** Calls back with each object of a kind as it comes, changes and goes. */
async function follow<T extends KubernetesObject>(
  client: Client,
  resource: Resource<T>,
  signal: AbortSignal,
  seen: (before: T | undefined, after: T | undefined) => void,
): Promise<void> {
  const known = new Map<string, T>();
  const key = ({ metadata }: T): string => `${metadata.namespace}/${metadata.name}`;
  const api = client.api(resource);
  const list = await api.list();
  for (const object of list.items) known.set(key(object), object);
  const resourceVersion = list.metadata.resourceVersion!;
  try {
    for await (const { type, object } of api.watch({ resourceVersion, signal })) {
      if (type === "BOOKMARK") continue;
      const before = known.get(key(object));
      if (type === "DELETED") known.delete(key(object));
      else known.set(key(object), object);
      seen(before, type === "DELETED" ? undefined : object);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Tells what changed of a Backup. */
function tellBackup(before: Backup | undefined, after: Backup | undefined): void {
  const name = `Backup ${NAMESPACE}/${(after ?? before)!.metadata.name}`;
  const finalizers = (object?: Backup): string => object?.metadata.finalizers?.join() ?? "";
  if (!after) {
    // The removal of the last finalizer is seen as the deletion alone.
    say("operator", `${name}: cleaned up, removed the finalizer ${finalizers(before)}`);
    return say("server", `${name} is gone`);
  }
  if (finalizers(after) !== finalizers(before)) {
    say("operator", `${name}: added the finalizer ${finalizers(after)}`);
  }
  if (after.status?.lastRun !== before?.status?.lastRun) {
    const { copy, lastRun } = after.status ?? {};
    say("operator", `${name}: wrote status ${JSON.stringify({ copy, lastRun })}`);
  }
}

/** Tells what changed of a ConfigMap. */
function tellConfigMap(before: ConfigMap | undefined, after: ConfigMap | undefined): void {
  const { metadata } = (after ?? before)!;
  const name = `ConfigMap ${metadata.namespace}/${metadata.name}`;
  const owner = metadata.ownerReferences?.[0];
  if (owner) {
    if (!after) return say("server", `${name} went with its owner ${owner.name}`);
    return say("operator", `${name}: applied ${JSON.stringify(after.data)} as a child of ${owner.kind} ${owner.name}`);
  }
  const mark = (object?: ConfigMap): string | undefined => object?.metadata.annotations?.["example.com/backed-up-by"];
  if (after && mark(after) !== mark(before)) {
    say("operator", `${name}: ${mark(after) ? `marked as backed up by ${mark(after)}` : "took its mark off"}`);
  }
}

/** Runs the example as `deno run` and tells what its log says about failures; answers with how to stop it. */
function startOperator(kubeconfig: string): { address: Promise<string>; stop: () => Promise<number> } {
  const args = ["run", "--quiet", ...FLAGS, "examples/backup.ts"];
  const settings = ["--kubeconfig", kubeconfig, "--address", "127.0.0.1:0", "--log-format", "json"];
  say("you", `deno ${args.join(" ")} --kubeconfig …`);
  const child = new Deno.Command(Deno.execPath(), {
    args: [...args, ...settings],
    stdout: "null",
    stderr: "piped",
    detached: true, // A Ctrl-C reaches this process alone, which then stops the operator.
  }).spawn();
  let over = false;
  const { promise: address, resolve, reject } = Promise.withResolvers<string>();
  const log = (async () => {
    for await (const line of lines(child.stderr)) {
      const record = parse(line);
      if (record?.port) resolve(`http://${record.hostname}:${record.port}`);
      if (record?.retryIn) {
        say(
          "operator",
          `${record.key} failed: ${record.error?.message}; next try in ${Math.round(record.retryIn / 1000)} s`,
        );
      } else if (!record || ["error", "fatal"].includes(record.level)) say("operator", line);
    }
    over = true;
    reject(new Error("The operator has ended"));
  })();
  address.catch(() => {});
  return {
    address,
    stop: async () => {
      if (!over) child.kill("SIGTERM");
      const { code } = await child.status;
      await log;
      return code;
    },
  };
}

interface LogLine {
  level: string;
  hostname?: string;
  port?: number;
  key?: string;
  retryIn?: number;
  error?: { message: string };
}

function parse(line: string): LogLine | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Waits, unless interrupted. */
function pause(ms: number): Promise<void> {
  return delay(ms, interrupted.signal);
}

/** Waits until a check holds. */
async function until(what: string, check: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE;
  while (!await check()) {
    if (performance.now() > deadline) throw new Error(`Cannot go on: ${what} did not happen within ${PATIENCE} ms`);
    await pause(100);
  }
}

async function metricLines(address: string): Promise<string[]> {
  const text = await (await fetch(`${address}/metrics`)).text();
  const wanted =
    /^(controller_runtime_reconcile_total|leader_election_master_status|workqueue_retries_total|rest_client_requests_total\{.*PATCH)/;
  return text.split("\n").filter((line) => wanted.test(line) && !line.endsWith(" 0"));
}

async function show(server: ApiServer, kubeconfig: string): Promise<ReturnType<typeof startOperator>> {
  const client = server.client();
  const end = new AbortController();
  const backups = client.api(Backup);
  const configMaps = client.api(ConfigMap);
  const configMap = (name: string, data: Record<string, string>): Promise<ConfigMap> => {
    say("you", `create ConfigMap ${NAMESPACE}/${name} ${JSON.stringify(data)}`);
    return configMaps.create({ metadata: { name, namespace: NAMESPACE }, data });
  };
  const backup = (name: string, configMap: string): Promise<Backup> => {
    say("you", `create Backup ${NAMESPACE}/${name} of ConfigMap ${configMap}`);
    return backups.create({ metadata: { name, namespace: NAMESPACE }, spec: { configMap } });
  };
  const ran = (name: string, copied = true) => async (): Promise<boolean> =>
    ((await backups.find(name, { namespace: NAMESPACE }))?.status?.lastRun !== undefined) === copied;

  say("you", `apply CustomResourceDefinition ${Backup.id}`);
  await server.apply(operator.crds());
  await server.apply([{ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } }]);
  const watches = [
    follow(client, Backup, end.signal, tellBackup),
    follow(client, ConfigMap, end.signal, tellConfigMap),
    follow(client, Event, end.signal, (before, after) => {
      if (after && !before) say("operator", `Event ${after.reason} on ${after.regarding?.name}: ${after.note}`);
    }),
    follow(client, Lease, end.signal, (before, after) => {
      const holder = after?.spec?.holderIdentity;
      if (after && holder !== before?.spec?.holderIdentity) {
        say(
          "operator",
          holder
            ? `holds the lease ${after.metadata.namespace}/${after.metadata.name} as ${holder}`
            : "released the lease",
        );
      }
    }),
  ];
  const process = startOperator(kubeconfig);
  const stop = async (): Promise<number> => {
    const code = await process.stop();
    say("demo", `the operator ended with code ${code}`);
    end.abort();
    await Promise.all(watches);
    return code;
  };
  try {
    const address = await process.address;
    say("operator", `serves probes and metrics on ${address}`);

    await configMap("settings", { color: "blue" });
    await backup("nightly", "settings");
    await until("the first copy", ran("nightly"));
    await backup("broken", "prices");

    await pause(1500);
    say("you", `change Backup ${NAMESPACE}/nightly: spec.configMap = colors`);
    await configMap("colors", { sky: "grey" });
    await backups.patch({ name: "nightly", namespace: NAMESPACE }, { spec: { configMap: "colors" } });

    await pause(5_000);
    await configMap("prices", { apple: "1" });
    say("demo", "the next try of shop/broken will find it");
    await until("the retry", ran("broken"));

    say("you", `delete Backup ${NAMESPACE}/nightly`);
    await backups.delete({ name: "nightly", namespace: NAMESPACE });
    await until("the cleanup", async () => !await backups.find("nightly", { namespace: NAMESPACE }));
    await until("garbage collection", async () => !await configMaps.find("nightly-copy", { namespace: NAMESPACE }));

    say("demo", "some of its metrics:");
    for (const line of await metricLines(address)) console.log(`                   ${line}`);
    return { ...process, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

function interrupt(): void {
  interrupted.abort();
}

if (import.meta.main) {
  for (const signal of SIGNALS) Deno.addSignalListener(signal, interrupt);
  const keep = Deno.args.includes("--keep");
  const directory = await Deno.makeTempDir({ prefix: "tend-demo-" });
  const kubeconfig = `${directory}/kubeconfig`;
  try {
    await using server = new ApiServer({ controllers: ["garbage-collector", "namespaces"] });
    const { url, kubeconfig: text } = await server.listen();
    await Deno.writeTextFile(kubeconfig, text);
    say("server", `a Kubernetes API server in memory on ${url}`);
    const { stop } = await show(server, kubeconfig);
    if (keep) {
      const commands = [
        "get backups -A",
        "describe backup broken -n shop",
        "get configmaps -n shop",
        "delete backup broken -n shop",
      ];
      say("demo", "still running; try, and end it with Ctrl-C:");
      for (const command of commands) console.log(`    kubectl --kubeconfig ${kubeconfig} ${command}`);
      await aborted(interrupted.signal);
    }
    Deno.exitCode = await stop();
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    Deno.exitCode = 130;
  } finally {
    for (const signal of SIGNALS) Deno.removeSignalListener(signal, interrupt);
    await Deno.remove(directory, { recursive: true });
  }
}
