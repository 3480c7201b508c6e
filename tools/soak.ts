/**
 * Runs an operator on a real control plane for long, with churn, restarts and resets, and tells whether it stays right and small.
 *
 *     deno task soak [--minutes N] [--objects N]
 *
 * Prints a line each minute. At the end all objects must be right, a quiet world must stay quiet, and heap, resident memory, sockets
 * and timers of the operator's process must be flat: their medians over the last quarter not above those over the second one.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { lines } from "../_stream.ts";
import type { Api, Client } from "../client.ts";
import { delay } from "../delay.ts";
import { isNotFound } from "../errors.ts";
import { ConfigMap } from "../kinds.ts";
import { ControlPlane } from "../testing/control_plane.ts";
import type { TcpProxy } from "../tests/_tcp_proxy.ts";
import { applyAll, makeNamespace } from "../tests/control_plane/_cluster.ts";
import { proxied, proxyTo } from "../tests/control_plane/_faults.ts";
import { until } from "../tests/control_plane/_wait.ts";
import { Parcel, type Sample } from "./_soak_operator.ts";
import { controlPlaneAssets } from "./build_control_plane.ts";

/** Time between two changes of the world, two resets, two restarts of the server and two samples, in ms. */
const [CHANGE, RESET, RESTART, SAMPLE] = [60, 17_000, 70_000, 5000];
/** How long the operator may take to put everything right at the end, in ms. */
const CATCH_UP = 120_000;
/** How long nothing may happen after that, in ms. */
const QUIET = 5000;
/** How long the operator may take to end, in ms. */
const STOP = 45_000;
const MIB = 1024 * 1024;

/** By how much the end may be above the beginning: a share of it, and a sum. */
const ALLOWED = {
  heap: { share: 0.1, sum: 3 * MIB },
  resident: { share: 0.2, sum: 30 * MIB },
  sockets: { share: 0, sum: 8 },
  timers: { share: 0.1, sum: 10 },
};

/** The operator's process. */
class Subject implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #answers: AsyncGenerator<string>;
  readonly #input: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;

  constructor(kubeconfig: string, namespace: string) {
    const program = new URL("_soak_operator.ts", import.meta.url).pathname;
    this.#child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "-A", "--v8-flags=--expose-gc", program, kubeconfig, namespace],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#answers = lines(this.#child.stdout);
    this.#input = this.#child.stdin.getWriter();
  }

  /** Asks how it is. */
  async sample(): Promise<Sample> {
    await this.#input.write(new TextEncoder().encode("sample\n"));
    const { value, done } = await this.#answers.next();
    if (done) throw new Error("The operator has ended");
    return JSON.parse(value);
  }

  /** Ends it in order; answers with its exit code, or with nothing if it goes on for too long. */
  async stop(): Promise<number | undefined> {
    await this.#input.close();
    const patience = new AbortController();
    const ended = this.#child.status.then(({ code }) => code);
    const late = delay(STOP, patience.signal).then(() => undefined, () => undefined);
    const code = await Promise.race([ended, late]);
    patience.abort();
    return code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await this.#child.status;
    await this.#answers.return(undefined);
  }
}

/** What there should be: names, each with the round that it is in. */
class World {
  readonly rounds = new Map<string, number>();
  readonly #parcels: Api;
  readonly #namespace: string;
  #made = 0;

  constructor(client: Client, namespace: string) {
    this.#parcels = client.api(Parcel) as unknown as Api;
    this.#namespace = namespace;
  }

  /** Creates, changes or deletes an object, some names again and again; what the server does not take is tried later. */
  async change(objects: number): Promise<void> {
    const names = [...this.rounds.keys()];
    const name = names[Math.floor(Math.random() * names.length)];
    const dice = Math.random();
    try {
      if (name === undefined || (names.length < objects && dice < 0.6)) await this.#create(`parcel-${this.#made++}`);
      else if (dice < 0.75) await this.#change(name);
      else await this.#delete(name, dice < 0.9);
    } catch {
      await delay(500); // The server is away.
    }
  }

  async #create(name: string): Promise<void> {
    const { apiVersion, kind } = Parcel;
    this.rounds.set(name, 0);
    const metadata = { name, namespace: this.#namespace };
    await this.#parcels.apply({ apiVersion, kind, metadata, spec: { round: 0 } } as never, { force: true });
  }

  async #change(name: string): Promise<void> {
    const round = (this.rounds.get(name) ?? 0) + 1;
    this.rounds.set(name, round);
    const target = { name, namespace: this.#namespace };
    await this.#parcels.patch(target, { spec: { round } });
  }

  async #delete(name: string, again: boolean): Promise<void> {
    this.rounds.delete(name);
    const target = { name, namespace: this.#namespace };
    const gone = async () => await this.#parcels.find(target) === undefined;
    await this.#parcels.delete(target).catch((error) => {
      if (!isNotFound(error)) throw error;
    });
    if (!again) return;
    await until("The end of an object", gone, { patience: 20_000 });
    await this.#create(name);
  }

  /** Brings the server to what should be, where a change was lost between the two. */
  async enforce(): Promise<void> {
    for (const { metadata: { name } } of (await this.#parcels.list({ namespace: this.#namespace })).items) {
      if (!this.rounds.has(name)) await this.#delete(name, false);
    }
    for (const [name, round] of this.rounds) {
      const { apiVersion, kind } = Parcel;
      const metadata = { name, namespace: this.#namespace };
      await this.#parcels.apply({ apiVersion, kind, metadata, spec: { round } } as never, { force: true });
    }
  }
}

/** What is not as it should be: of the objects, their status, their children. */
async function wrong(client: Client, namespace: string, { rounds }: World): Promise<string[]> {
  const { items } = await client.api(Parcel).list({ namespace });
  const maps = await client.api(ConfigMap).list({ namespace });
  const children = new Map(maps.items.map(({ metadata, data }) => [metadata.name, data?.round]));
  const problems: string[] = [];
  for (const { metadata, spec, status } of items as unknown as Parcel[]) {
    const { name, deletionTimestamp } = metadata;
    const round = rounds.get(name);
    if (round === undefined) problems.push(`${name} is there`);
    if (deletionTimestamp) problems.push(`${name} is not gone`);
    if (spec.round !== round || status?.seen !== round) {
      problems.push(`${name} is of round ${status?.seen}, not ${round}`);
    }
    if (children.get(name) !== `${round}`) problems.push(`the child of ${name} is of round ${children.get(name)}`);
    children.delete(name);
  }
  if (items.length !== rounds.size) problems.push(`there are ${items.length} objects, not ${rounds.size}`);
  return [...problems, ...[...children.keys()].map((name) => `the child of ${name} is left`)];
}

/** Goes on until the time is over, with the same pause in between; an error ends it. */
async function every(ms: number, over: AbortSignal, work: () => Promise<void> | void): Promise<void> {
  while (!over.aborted) {
    await delay(ms, over).catch(() => {});
    if (!over.aborted) await work();
  }
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
}

/** The table's line for a minute. */
function row(minute: string, objects: number, samples: readonly Sample[], before: Sample, ms: number): string {
  const last = samples.at(-1)!;
  const of = (field: keyof Sample): number => median(samples.map((sample) => sample[field]));
  const cells = [
    minute,
    objects,
    last.reconciles,
    (of("heap") / MIB).toFixed(1),
    (of("resident") / MIB).toFixed(0),
    of("sockets"),
    of("timers"),
    ((last.requests - before.requests) / ms * 1000).toFixed(1),
  ];
  return cells.map((cell) => `${cell}`.padStart(10)).join(" ");
}

let passed = 0, failed = 0;

function check(what: string, problem: string | undefined): void {
  if (problem === undefined) passed++;
  else failed++;
  console.log(`${problem === undefined ? "ok" : "FAILED"}: ${what}${problem === undefined ? "" : `: ${problem}`}`);
}

function checkFlat(samples: readonly Sample[]): void {
  const quarter = Math.floor(samples.length / 4);
  for (
    const [field, { share, sum }] of Object.entries(ALLOWED) as [keyof typeof ALLOWED, { share: number; sum: number }][]
  ) {
    const of = (some: readonly Sample[]): number => median(some.map((sample) => sample[field]));
    const [first, last] = [of(samples.slice(quarter, 2 * quarter)), of(samples.slice(-quarter))];
    const most = first * (1 + share) + sum;
    check(`${field} is flat: ${first}, then ${last}`, last <= most ? undefined : `it may be ${most} at most`);
  }
}

async function soak(plane: ControlPlane, proxy: TcpProxy, minutes: number, objects: number): Promise<void> {
  await using client = plane.client();
  await applyAll(client, [Parcel.crd()]);
  const namespace = await makeNamespace(client);
  const world = new World(client, namespace);
  await using subject = new Subject((await proxied(plane, proxy)).kubeconfig, namespace);
  const samples = [await subject.sample()];
  const header = ["minute", "objects", "reconciles", "heap MB", "RSS MB", "sockets", "timers", "requests/s"];
  console.log(header.map((cell) => cell.padStart(10)).join(" "));

  const over = AbortSignal.timeout(minutes * 60_000);
  let resets = 0, restarts = 0, changes = 0, told = 0;
  const began = performance.now();
  let since = began;
  const tell = (): void => {
    const [now, fresh] = [performance.now(), samples.slice(told + 1)];
    if (fresh.length === 0) return;
    console.log(row(((now - began) / 60_000).toFixed(1), world.rounds.size, fresh, samples[told]!, now - since));
    [told, since] = [samples.length - 1, now];
  };
  await Promise.all([
    every(CHANGE, over, async () => (changes++, await world.change(objects))),
    every(RESET, over, () => (resets++, proxy.reset())),
    every(RESTART, over, () => plane.restart(restarts++ % 2 === 0 ? "SIGTERM" : "SIGKILL")),
    every(SAMPLE, over, async () => {
      samples.push(await subject.sample());
      if (performance.now() - since > 60_000 - SAMPLE / 2) tell();
    }),
  ]);
  tell();
  console.log(`${changes} changes, ${resets} resets, ${restarts} restarts of the API server`);

  await world.enforce();
  let problems: string[] = [];
  const started = performance.now();
  await until("That all is right", async () => {
    problems = await wrong(client, namespace, world);
    return problems.length === 0;
  }, { patience: CATCH_UP, every: 500 }).catch(() => {});
  const took = ((performance.now() - started) / 1000).toFixed(1);
  const some = problems.length === 0 ? undefined : `${problems.length} are not: ${problems.slice(0, 10).join("; ")}`;
  check(`all ${world.rounds.size} objects, their statuses and their children are right after ${took} s`, some);
  const still = await subject.sample();
  await delay(QUIET);
  const quiet = await subject.sample();
  const more = quiet.reconciles - still.reconciles;
  check("a quiet world is left alone", more === 0 ? undefined : `${more} reconciles in ${QUIET} ms`);
  checkFlat(samples.slice(1));
  const code = await subject.stop();
  const end = code === undefined ? `it still runs after ${STOP} ms` : `its exit code is ${code}`;
  check("the operator ends in order", code === 0 ? undefined : end);
}

const { values } = parseArgs({
  args: Deno.args,
  options: { minutes: { type: "string", default: "10" }, objects: { type: "string", default: "200" } },
});
const [minutes, objects] = [Number(values.minutes), Number(values.objects)];
if (!(minutes > 0) || !(objects > 0)) {
  console.error(
    `Cannot soak: --minutes and --objects must be positive numbers: current values are ${values.minutes} and ${values.objects}`,
  );
  Deno.exit(2);
}
await using plane = await ControlPlane.start({ assets: await controlPlaneAssets() });
await using proxy = await proxyTo(plane);
await soak(plane, proxy, minutes, objects);
console.log(`${failed === 0 ? "ok" : "FAILED"} | ${passed} passed | ${failed} failed`);
Deno.exitCode = failed === 0 ? 0 : 1;
