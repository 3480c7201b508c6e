/**
 * Starts, stops and kills the replicas of an operator, each as a process of its own.
 *
 * ```ts
 * import type { Replicas } from "./_replicas.ts";
 *
 * export const killTheFirst = (replicas: Replicas): void => replicas.crash(0, 1000);
 * ```
 *
 * @module
 */
import { Client } from "../../client.ts";
import type { Informers } from "../../informers.ts";
import { runOperator } from "../../lifecycle.ts";
import { Metrics } from "../../metrics.ts";
import { definitionOf } from "../../operator.ts";
import type { Chronicle } from "./_chronicle.ts";
import type { Replica } from "./_events.ts";
import type { Call, Network } from "./_network.ts";
import { observed } from "./_observed.ts";
import type { CrashPoint, Plan, Schedule } from "./_plan.ts";
import { Random } from "./_random.ts";
import { Process, type VirtualTime } from "./_virtual_time.ts";

/** What replicas run in. */
export interface Surroundings {
  /** What is simulated. */
  readonly plan: Plan;
  /** What is to happen. */
  readonly schedule: Schedule;
  /** The clock. */
  readonly time: VirtualTime;
  /** The wires; there once the first replica starts. */
  readonly network: () => Network;
  /** What is told of them. */
  readonly chronicle: Chronicle;
  /** The server's URL. */
  readonly server: string;
  /** The token that they ask with. */
  readonly token: string;
}

interface Slot {
  replica: Running | undefined;
  starts: number;
  /** How many requests its first process has sent. */
  requests: number;
}

interface Running extends Replica {
  readonly stop: AbortController;
}

/** By which `User-Agent` the server tells a replica's requests. */
export function agentOf(replica: number): string {
  return `replica-${replica + 1}`;
}

/** The replicas. */
export class Replicas {
  readonly #surroundings: Surroundings;
  readonly #slots: readonly Slot[];
  readonly #all: Running[] = [];

  /** Starts none. */
  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    const { replicas } = surroundings.plan;
    this.#slots = Array.from({ length: replicas }, () => ({ replica: undefined, starts: 0, requests: 0 }));
  }

  /** Those that run. */
  get running(): readonly Replica[] {
    return this.#all.filter((replica) => replica.ended === undefined && !replica.process.dead);
  }

  /** All processes that there ever were. */
  get processes(): readonly Process[] {
    return this.#all.map(({ process }) => process);
  }

  /** True if every replica runs, or is just ending. */
  get complete(): boolean {
    return this.#slots.every((slot) => slot.replica !== undefined);
  }

  /** How many requests the first process of each replica has sent. */
  get firstRequests(): readonly number[] {
    return this.#slots.map(({ requests }) => requests);
  }

  /** The process that is a replica now. */
  process(replica: number): Process | undefined {
    return this.#slots[replica]?.replica?.process;
  }

  /** Kills one, and starts another in its place after some ms. */
  crash(replica: number, restart: number): void {
    const slot = this.#slots[replica]!;
    const running = slot.replica;
    if (!running) return;
    const { time, network } = this.#surroundings;
    slot.replica = undefined;
    running.process.kill();
    network().cut("reset", running.process);
    time.after(restart, () => this.start(replica));
  }

  /** Lets one end in order, and starts another in its place some ms after its end. */
  stop(replica: number, restart: number): void {
    const { time } = this.#surroundings;
    const slot = this.#slots[replica]!;
    const running = slot.replica;
    if (!running || running.stopping !== undefined) return;
    this.#stop(running);
    const wait = (): void => {
      if (slot.replica !== running) return; // killed meanwhile
      if (running.ended === undefined) return void time.after(100, wait);
      slot.replica = undefined;
      time.after(restart, () => this.start(replica));
    };
    wait();
  }

  /** Lets all end in order; reports those that do not. */
  async end(): Promise<void> {
    const { time, chronicle } = this.#surroundings;
    const running = this.running as readonly Running[];
    for (const replica of running) this.#stop(replica);
    const over = ({ ended, process }: Running): boolean => ended !== undefined || process.dead;
    await time.run(() => running.every(over), 120_000);
    for (const replica of running) {
      if (!over(replica)) chronicle.report("stopsInOrder", `${replica.process.name} does not end`);
    }
    for (const process of this.processes) process.kill();
  }

  /** Starts one. */
  start(index: number): void {
    const { plan, schedule, time, network, chronicle, server, token } = this.#surroundings;
    const slot = this.#slots[index]!;
    if (slot.replica) return;
    const process = new Process(slot.starts === 0 ? agentOf(index) : `${agentOf(index)}.${slot.starts + 1}`);
    slot.starts++;
    chronicle.tell(process.name, "starts");
    const random = new Random(schedule.seed, process.name).next;
    const now = (): number => time.now;
    const fetch = (request: Request): Promise<Response> => network().fetch(process, request);
    const client = new Client({ server, token, userAgent: agentOf(index), fetch, now, random });
    const stop = new AbortController();
    let caches: Informers | undefined;
    const replica: Running = { process, caches: () => caches?.all() ?? [], stop };
    slot.replica = replica;
    this.#all.push(replica);
    const work = async (): Promise<void> => {
      const { controllers, ...definition } = definitionOf(await plan.operator());
      const seen = controllers.map((controller) => observed(controller, process, chronicle, now));
      const metrics = new Metrics();
      // the one place that is told when a term begins and ends
      metrics.leader = () => ({ set: (leading) => this.#led(process, leading) });
      const onCaches = (given: Informers): void => void (caches = given);
      try {
        const options = { client, signal: stop.signal, signals: false, identity: process.name, now, random };
        await runOperator({ ...definition, controllers: seen, metrics, onCaches }, options);
      } finally {
        await client.close();
      }
    };
    process.enter(() => {
      work().then(() => this.#ended(replica), (error) => this.#ended(replica, error));
    });
  }

  /** Takes note of a request before it is sent, or after it was served: it may be where a process is to be killed. */
  passed(call: Call, when: CrashPoint["when"]): void {
    const index = this.#slots.findIndex((slot) => slot.replica?.process === call.process);
    const slot = this.#slots[index];
    if (!slot || slot.starts !== 1) return;
    if (when === "before") slot.requests = call.number;
    const { schedule: { crash }, chronicle } = this.#surroundings;
    if (crash?.replica !== index || crash.request !== call.number || crash.when !== when) return;
    const { process, number, method, path } = call;
    chronicle.tell("fault", `${process.name} is killed ${when} its request ${number}: ${method} ${path}`);
    this.crash(index, 1_000);
  }

  #stop(replica: Running): void {
    const { time, chronicle } = this.#surroundings;
    chronicle.tell(replica.process.name, "is asked to end");
    replica.process.enter(() => {
      replica.stopping = time.now;
      replica.stop.abort(new DOMException("The process was asked to end.", "AbortError"));
    });
  }

  #ended(replica: Running, failure?: unknown): void {
    const { time, chronicle } = this.#surroundings;
    const { name } = replica.process;
    replica.ended = time.now;
    if (failure !== undefined) replica.failure = failure;
    chronicle.tell(name, failure === undefined ? "has ended" : `has ended with ${failure}`);
    // what settles at the same instant belongs to the end
    time.after(0, () => {
      chronicle.notify((observer) => observer.stopped?.(replica));
      if (replica.stopping === undefined) chronicle.report("stopsInOrder", `${name} ends by itself: ${failure}`);
    });
  }

  #led(process: Process, leading: boolean): void {
    const { chronicle } = this.#surroundings;
    chronicle.tell(process.name, leading ? "leads" : "does not lead any more");
    chronicle.notify((observer) => observer.led?.(process, leading));
  }
}
