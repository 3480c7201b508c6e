/**
 * Runs an operator once, in virtual time, through a schedule of actions and perturbations, and judges what it did.
 *
 * ```ts
 * import type { Schedule } from "./_simulation.ts";
 *
 * export const nothing: Schedule = { seed: 1, actions: [], perturbations: [] };
 * ```
 *
 * @module
 */
import { Client } from "../../client.ts";
import { configOf, type Controller, copyOf } from "../../controller.ts";
import { type OperatorDefinition, runOperator } from "../../lifecycle.ts";
import { Metrics } from "../../metrics.ts";
import { definitionOf, type Operator } from "../../operator.ts";
import type { Informers } from "../../informers.ts";
import type { KubernetesObject, Resource } from "../../resource.ts";
import { keyOf } from "../../resource.ts";
import { ApiServer } from "../api_server.ts";
import type { Facts, Invariant, Observer, Replica, Run } from "./_events.ts";
import { type Call, Network } from "./_network.ts";
import { applyPerturbation, type Perturbation, type Perturbed, textOfPerturbation } from "./_perturbations.ts";
import { Random } from "./_random.ts";
import { outside, Process, VirtualTime } from "./_virtual_time.ts";

/** What an action and an own invariant are given. */
export interface SimulatedWorld {
  /** A client of a cluster admin, that nothing goes wrong with. */
  readonly client: Client;
  /** The server. */
  readonly server: ApiServer;
  /** A number from 0 up to 1. */
  readonly random: () => number;
  /** Ms since the beginning. */
  readonly now: () => number;
}

/** Something that a user does. */
export interface Action {
  /** What, in words. */
  readonly name: string;
  /** Does it; an error of the API is taken for a refusal. */
  readonly run: (world: SimulatedWorld) => Promise<unknown> | unknown;
}

/** When an action is done. */
export interface PlannedAction {
  /** In ms since the beginning. */
  readonly at: number;
  /** Which. */
  readonly index: number;
}

/** A point between two requests of a process at which it is killed. */
export interface CrashPoint {
  /** Which replica. */
  readonly replica: number;
  /** Which of its first process' requests, from 1. */
  readonly request: number;
  /** Before it is sent, or after it took effect and before its answer comes. */
  readonly when: "before" | "after";
}

/** All that is to happen in a simulation: with the same one the same happens. */
export interface Schedule {
  /** Latencies and uids come from it. */
  readonly seed: number;
  /** What the user does. */
  readonly actions: readonly PlannedAction[];
  /** What goes wrong. */
  readonly perturbations: readonly Perturbation[];
  /** Where the first process of a replica is killed. */
  readonly crash?: CrashPoint | undefined;
}

/** What is simulated. */
export interface Plan {
  /** Makes the operator; called for every process that starts. */
  readonly operator: () => Operator | Promise<Operator>;
  /** How many replicas there are. */
  readonly replicas: number;
  /** The plurals of the kinds that it watches. */
  readonly resources: readonly string[];
  /** What the user may do. */
  readonly actions: readonly Action[];
  /** Makes the world before the operator starts. */
  readonly world: (world: SimulatedWorld) => Promise<unknown> | unknown;
  /** How long things happen, in ms. */
  readonly horizon: number;
  /** How long the operator may take until everything is right again, in ms. */
  readonly patience: number;
  /** What is to hold. */
  readonly invariants: Readonly<Record<string, Invariant>>;
  /** What is to hold at the end, by the user. */
  readonly expectations: Readonly<Record<string, (world: SimulatedWorld) => Promise<unknown> | unknown>>;
}

/** A line of the story. */
export interface TraceLine {
  /** When, in ms. */
  readonly at: number;
  /** Who. */
  readonly actor: string;
  /** What. */
  readonly text: string;
}

/** What came of a simulation. */
export interface Outcome {
  /** What did not hold, by the names of invariants. */
  readonly violations: readonly { readonly invariant: string; readonly text: string; readonly at: number }[];
  /** The story; empty unless asked for. */
  readonly trace: readonly TraceLine[];
  /** How many requests were sent by replicas. */
  readonly requests: number;
  /** How many requests the first process of each replica sent. */
  readonly firstRequests: readonly number[];
  /** How long it took in virtual time, in ms. */
  readonly took: number;
}

const TOKEN = "operator-token";
const ADMIN_TOKEN = "admin-token";
const USERS = {
  [TOKEN]: { name: "operator", groups: ["system:masters"] },
  [ADMIN_TOKEN]: { name: "admin", groups: ["system:masters"] },
};
const URL_OF_SERVER = "http://kubernetes.default.svc";
/** How often it is looked whether everything is right, in ms. */
const LOOK = 25_000;

/** Runs a schedule. */
export async function simulateOnce(
  plan: Plan,
  schedule: Schedule,
  options: { readonly trace?: boolean } = {},
): Promise<Outcome> {
  const run = new Simulation(plan, schedule, options.trace ?? false);
  return await run.run();
}

/** How the server tells a replica's requests. */
const agentOf = (replica: number): string => `replica-${replica + 1}`;

interface Slot {
  replica: Running | undefined;
  starts: number;
}

interface Running extends Replica {
  readonly stop: AbortController;
  readonly client: Client;
}

class Simulation implements Perturbed {
  readonly time: VirtualTime;
  readonly network: Network;
  readonly #plan: Plan;
  readonly #schedule: Schedule;
  readonly #random: Random;
  readonly #server: ApiServer;
  readonly #observers: Observer[] = [];
  readonly #violations: Outcome["violations"][number][] = [];
  readonly #trace: TraceLine[] = [];
  readonly #tracing: boolean;
  readonly #slots: readonly Slot[];
  readonly #all: Running[] = [];
  readonly #world: SimulatedWorld;
  readonly #first: number[];
  #requests = 0;
  #definition!: OperatorDefinition;
  #facts!: Facts;

  constructor(plan: Plan, schedule: Schedule, tracing: boolean) {
    this.#plan = plan;
    this.#schedule = schedule;
    this.#tracing = tracing;
    this.#random = new Random(schedule.seed, "latency");
    const uids = new Random(schedule.seed, "uids");
    const time = this.time = new VirtualTime({ random: uids.next });
    this.#server = new ApiServer({
      now: () => time.epoch + time.now,
      random: uids.next,
      users: USERS,
      controllers: ["garbage-collector", "namespaces"],
      controllerDelay: 50,
    });
    this.network = new Network({
      server: this.#server.fetch,
      time,
      random: this.#random.next,
      onSent: (call) => this.#onSent(call),
      onServed: (call) => this.#onServed(call),
      onRead: (process, chunk) => this.#onRead(process, chunk),
    });
    this.#slots = Array.from({ length: plan.replicas }, () => ({ replica: undefined, starts: 0 }));
    this.#first = this.#slots.map(() => 0);
    this.#world = {
      client: this.#server.client({ now: () => time.now }),
      server: this.#server,
      random: new Random(schedule.seed, "actions").next,
      now: () => time.now,
    };
  }

  async run(): Promise<Outcome> {
    const { time } = this;
    const { horizon, patience, world } = this.#plan;
    time.install();
    try {
      await outside(async () => {
        this.#definition = definitionOf(await this.#plan.operator());
        await this.#finish(this.#prepare(world));
        this.#setUp();
        this.#slots.forEach((_, index) => time.after(this.#random.between(0, 2000), () => this.#start(index)));
        await time.advance(horizon);
        this.#heal();
        const stopped = await this.#judge(patience);
        if (stopped !== undefined) this.#report(stopped.invariant, stopped.text);
        await this.#end();
      });
    } finally {
      await this.#finish(this.#server.close());
      time[Symbol.dispose]();
    }
    return {
      violations: this.#violations,
      trace: this.#trace,
      requests: this.#requests,
      firstRequests: this.#first,
      took: time.now,
    };
  }

  /** Waits for something of the world, while time goes by. */
  async #finish(work: Promise<unknown>): Promise<void> {
    let done = false;
    let failed: { readonly error: unknown } | undefined;
    work.then(() => done = true, (error) => {
      done = true;
      failed = { error };
    });
    await this.time.run(() => done, 3_600_000);
    if (!done) throw new Error("Cannot simulate: what was to be done takes more than an hour");
    if (failed) throw failed.error;
  }

  async #prepare(world: Plan["world"]): Promise<void> {
    const { controllers, election } = this.#definition;
    const kinds = new Map<string, Resource>();
    for (const controller of controllers) {
      const sources = configOf(controller).sources.map((source) => source.resource);
      for (const kind of [controller.resource as Resource, ...sources]) kinds.set(kind.id, kind);
    }
    const crds = [...kinds.values()].flatMap((kind) => "crd" in kind ? [(kind.crd as () => object)()] : []);
    await this.#server.apply(crds);
    if (election && election.namespace !== "default") {
      await this.#server.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: election.namespace } });
    }
    await world(this.#world);
    for (const kind of kinds.values()) this.#watch(kind);
  }

  #setUp(): void {
    const { time } = this;
    const { election, controllers } = this.#definition;
    const open = (process: Process): number => this.network.open(process);
    this.#facts = {
      now: () => time.now,
      server: this.#server,
      controllers: controllers.map((controller) => {
        const { finalizer, firstDelay, predicates, labelSelector, fieldSelector, namespaces } = configOf(controller);
        return {
          name: controller.name,
          resource: controller.resource as Resource,
          finalizer: finalizer?.name,
          firstDelay,
          selective: predicates.length > 0 || [labelSelector, fieldSelector, namespaces].some(Boolean),
        };
      }),
      lease: election && `/apis/coordination.k8s.io/v1/namespaces/${election.namespace}/leases`,
      leaseDuration: 15_000,
      grace: 30_000,
      replicas: () => this.#all.filter((replica) => replica.ended === undefined && !replica.process.dead),
      stored: async (resource) => (await this.#world.client.api(resource).list()).items,
      open,
    };
    for (const [name, invariant] of Object.entries(this.#plan.invariants)) {
      this.#observers.push(invariant(this.#facts, (text) => this.#report(name, text)));
    }
    const { actions, perturbations } = this.#schedule;
    for (const { at, index } of actions) time.after(at, () => this.#act(this.#plan.actions[index]!));
    for (const perturbation of perturbations) {
      time.after(perturbation.at, () => {
        this.#tell("fault", textOfPerturbation(perturbation));
        applyPerturbation(this, perturbation);
      });
    }
  }

  /** Lets everything be well again. */
  #heal(): void {
    this.#tell("world", "nothing goes wrong any more");
    this.network.troubles.clear();
    this.network.delays.clear();
    this.#server.faults.clear();
    for (const { process } of this.#all) process.resume();
  }

  /** Looks until everything is right; answers with what is not when the patience is over. */
  async #judge(patience: number): Promise<{ readonly invariant: string; readonly text: string } | undefined> {
    const { time } = this;
    const end = time.now + patience;
    let wrong: { readonly invariant: string; readonly text: string } | undefined;
    do {
      await time.advance(LOOK);
      wrong = undefined;
      if (this.#slots.some((slot) => slot.replica === undefined)) {
        wrong = { invariant: "replicas", text: "not all replicas run" };
        continue;
      }
      const judging = this.#wrong();
      await this.#finish(judging);
      wrong = await judging;
    } while (wrong !== undefined && time.now < end && this.#violations.length === 0);
    return wrong;
  }

  async #wrong(): Promise<{ readonly invariant: string; readonly text: string } | undefined> {
    const names = Object.keys(this.#plan.invariants);
    const judges = [
      ...this.#observers.map((observer, index) => [names[index]!, () => observer.atEnd?.()] as const),
      ...Object.entries(this.#plan.expectations).map(([name, expect]) =>
        [name, async () => void await expect(this.#world)] as const
      ),
    ];
    for (const [invariant, judge] of judges) {
      try {
        const text = await judge();
        if (text !== undefined) return { invariant, text };
      } catch (error) {
        return { invariant, text: error instanceof Error ? error.message : String(error) };
      }
    }
    return undefined;
  }

  /** Stops all replicas in order. */
  async #end(): Promise<void> {
    const running = this.#facts.replicas() as readonly Running[];
    for (const replica of running) this.#stop(replica);
    await this.time.run(() => running.every((replica) => replica.ended !== undefined || replica.process.dead), 120_000);
    for (const replica of running) {
      if (replica.ended === undefined) this.#report("stopsInOrder", `${replica.process.name} does not end`);
    }
    for (const { process } of this.#all) process.kill();
    this.network.cut("reset");
  }

  #report(invariant: string, text: string): void {
    this.#tell("violated", `${invariant}: ${text}`);
    this.#violations.push({ invariant, text, at: this.time.now });
  }

  #tell(actor: string, text: string): void {
    if (this.#tracing) this.#trace.push({ at: this.time.now, actor, text });
  }

  process(replica: number): Process | undefined {
    return this.#slots[replica]?.replica?.process;
  }

  compact(): void {
    this.#server.compact();
  }

  lag(replica: number, ms: number): Disposable {
    return this.#server.faults.lag({ client: agentOf(replica) }, { ms });
  }

  crash(replica: number, restart: number): void {
    const slot = this.#slots[replica]!;
    const running = slot.replica;
    if (!running) return;
    slot.replica = undefined;
    running.process.kill();
    this.network.cut("reset", running.process);
    this.time.after(restart, () => this.#start(replica));
  }

  stop(replica: number, restart: number): void {
    const slot = this.#slots[replica]!;
    const running = slot.replica;
    if (!running || running.stopping !== undefined) return;
    this.#stop(running);
    const wait = (): void => {
      if (slot.replica !== running) return; // killed meanwhile
      if (running.ended === undefined) return void this.time.after(100, wait);
      slot.replica = undefined;
      this.time.after(restart, () => this.#start(replica));
    };
    wait();
  }

  #stop(replica: Running): void {
    this.#tell(replica.process.name, "is asked to end");
    replica.process.enter(() => {
      replica.stopping = this.time.now;
      replica.stop.abort(new DOMException("The process was asked to end.", "AbortError"));
    });
  }

  #start(index: number): void {
    const slot = this.#slots[index]!;
    if (slot.replica) return;
    const { time } = this;
    const process = new Process(slot.starts === 0 ? `replica-${index + 1}` : `replica-${index + 1}.${slot.starts + 1}`);
    slot.starts++;
    this.#tell(process.name, "starts");
    const random = new Random(this.#schedule.seed, process.name).next;
    const client = new Client({
      server: URL_OF_SERVER,
      token: TOKEN,
      userAgent: agentOf(index),
      fetch: (request) => this.network.fetch(process, request),
      now: () => time.now,
      random,
    });
    const stop = new AbortController();
    let caches: Informers | undefined;
    const replica: Running = { process, caches: () => caches?.all() ?? [], stop, client };
    slot.replica = replica;
    this.#all.push(replica);
    const work = async (): Promise<void> => {
      const { controllers, ...definition } = definitionOf(await this.#plan.operator());
      const watched = controllers.map((controller) => this.#watched(controller, process));
      const metrics = new Metrics();
      // the one place that is told when a term begins and ends
      metrics.leader = () => ({ set: (leading) => this.#led(process, leading) });
      const onCaches = (given: Informers): void => void (caches = given);
      try {
        await runOperator({ ...definition, controllers: watched, metrics, onCaches }, {
          client,
          signal: stop.signal,
          signals: false,
          identity: process.name,
          now: () => time.now,
          random,
        });
      } finally {
        await client.close();
      }
    };
    process.enter(() => {
      work().then(() => this.#ended(replica), (error) => this.#ended(replica, error));
    });
  }

  #ended(replica: Running, failure?: unknown): void {
    replica.ended = this.time.now;
    if (failure !== undefined) replica.failure = failure;
    this.#tell(replica.process.name, failure === undefined ? "has ended" : `has ended with ${failure}`);
    // what settles at the same instant belongs to the end
    this.time.after(0, () => {
      for (const observer of this.#observers) observer.stopped?.(replica);
      if (replica.stopping === undefined) {
        this.#report("stopsInOrder", `${replica.process.name} ends by itself: ${failure}`);
      }
    });
  }

  #led(process: Process, leading: boolean): void {
    this.#tell(process.name, leading ? "leads" : "does not lead any more");
    for (const observer of this.#observers) observer.led?.(process, leading);
  }

  /** A controller whose runs are seen from outside. */
  #watched(controller: Controller<KubernetesObject>, process: Process): Controller<KubernetesObject> {
    const { reconcile, finalizer } = configOf(controller);
    type Reconcile = NonNullable<typeof reconcile>;
    const seen = (inner: Reconcile, cleanup: boolean): Reconcile => async (object, ctx) => {
      const run: Run = {
        process,
        controller: controller.name,
        key: keyOf(object),
        object,
        cleanup,
        signal: ctx.signal,
        began: this.time.now,
      };
      const what = `${cleanup ? "cleanup" : "reconcile"} of ${run.controller} ${run.key}`;
      this.#tell(process.name, `${what} begins, at generation ${object.metadata.generation ?? "-"}`);
      for (const observer of this.#observers) observer.began?.(run);
      try {
        const action = await inner(object, ctx);
        run.requeued = action !== undefined && "after" in (action as object);
        return action;
      } catch (error) {
        run.error = error ?? new Error("nothing was thrown");
        throw error;
      } finally {
        run.ended = this.time.now;
        this.#tell(process.name, `${what} ends${run.error === undefined ? "" : ` with ${run.error}`}`);
        for (const observer of this.#observers) observer.ended?.(run);
      }
    };
    return copyOf(controller, {
      ...(reconcile ? { reconcile: seen(reconcile, false) } : {}),
      ...(finalizer ? { finalizer: { ...finalizer, cleanup: seen(finalizer.cleanup, true) } } : {}),
    });
  }

  async #act({ name, run }: Action): Promise<void> {
    this.#tell("user", name);
    try {
      await run(this.#world);
    } catch (error) {
      this.#tell("user", `is refused: ${error instanceof Error ? error.message : error}`);
    }
  }

  #onSent(call: Call): void {
    this.#requests++;
    const index = this.#slots.findIndex((slot) => slot.replica?.process === call.process);
    if (index >= 0 && this.#slots[index]!.starts === 1) {
      this.#first[index] = call.number;
      this.#crashAt(index, call, "before");
    }
    for (const observer of this.#observers) observer.sent?.(call);
  }

  #onServed(call: Call): void {
    if (this.#tracing) {
      const { method, path, body, code, fault, sent } = call;
      const text = `${method} ${path}${body === "" ? "" : ` ${body.slice(0, 300)}`}`;
      const late = `sent at ${(sent / 1000).toFixed(3)}`;
      this.#tell(call.process.name, `${text} -> ${code}${fault === "" ? "" : ` (${fault})`}, ${late}`);
    }
    for (const observer of this.#observers) observer.served?.(call);
    const index = this.#slots.findIndex((slot) => slot.replica?.process === call.process);
    if (index >= 0 && this.#slots[index]!.starts === 1) this.#crashAt(index, call, "after");
  }

  #crashAt(index: number, call: Call, when: CrashPoint["when"]): void {
    const { crash } = this.#schedule;
    if (!crash || crash.replica !== index || crash.request !== call.number || crash.when !== when) return;
    this.#tell(
      "fault",
      `${call.process.name} is killed ${when} its request ${call.number}: ${call.method} ${call.path}`,
    );
    this.crash(index, 1_000);
  }

  #onRead(process: Process, chunk: Uint8Array): void {
    let bookmark = true;
    for (const line of new TextDecoder().decode(chunk).split("\n")) {
      if (line === "" || line.startsWith('{"type":"BOOKMARK"')) continue;
      bookmark = false;
      if (!line.startsWith('{"type":"DELETED"')) continue;
      const { metadata } = JSON.parse(line).object;
      this.#tell(process.name, `reads that ${metadata.name} (${metadata.uid}) is gone`);
      for (const observer of this.#observers) observer.readDeletion?.(process, metadata.uid);
    }
    if (bookmark) return;
    for (const observer of this.#observers) observer.read?.(process);
  }

  /** Sees all objects of a kind come and go. */
  async #watch(kind: Resource): Promise<void> {
    const tell = (event: "stored" | "gone", object: KubernetesObject): void => {
      for (const observer of this.#observers) observer[event]?.(object, kind);
    };
    const path = `${kind.path()}?watch=true`;
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const { body } = await this.#server.fetch(new Request(`${URL_OF_SERVER}${path}`, { headers }));
    let rest = "";
    for await (const text of body!.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        const { type, object } = JSON.parse(line);
        if (type === "DELETED") tell("gone", object);
        else if (type !== "BOOKMARK" && type !== "ERROR") tell("stored", object);
      }
    }
  }
}
