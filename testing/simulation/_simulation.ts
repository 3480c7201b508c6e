/**
 * Runs an operator once, in virtual time, through a schedule of actions and perturbations, and judges what it did.
 *
 * ```ts
 * import type { Plan, Schedule } from "./_plan.ts";
 * import { simulateOnce } from "./_simulation.ts";
 *
 * export async function holds(plan: Plan, schedule: Schedule): Promise<boolean> {
 *   return (await simulateOnce(plan, schedule)).violations.length === 0;
 * }
 * ```
 *
 * @module
 */
import { configOf } from "../../controller.ts";
import { toMilliseconds } from "../../duration.ts";
import type { OperatorDefinition } from "../../lifecycle.ts";
import { definitionOf } from "../../operator.ts";
import type { Resource } from "../../resource.ts";
import { ApiServer } from "../api_server.ts";
import { Chronicle } from "./_chronicle.ts";
import type { Facts } from "./_events.ts";
import { type Call, Network } from "./_network.ts";
import { readChunk, watchKind } from "./_observed.ts";
import { applyPerturbation, type Perturbed, textOfPerturbation } from "./_perturbations.ts";
import type { Action, Outcome, Plan, Schedule, SimulatedWorld } from "./_plan.ts";
import { Random } from "./_random.ts";
import { agentOf, Replicas } from "./_replicas.ts";
import { outside, type Process, VirtualTime } from "./_virtual_time.ts";

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
  return await new Simulation(plan, schedule, options.trace ?? false).run();
}

/** What is not right yet. */
interface Wrong {
  readonly invariant: string;
  readonly text: string;
}

class Simulation implements Perturbed {
  readonly time: VirtualTime;
  readonly network: Network;
  readonly #plan: Plan;
  readonly #schedule: Schedule;
  readonly #random: Random;
  readonly #server: ApiServer;
  readonly #chronicle: Chronicle;
  readonly #replicas: Replicas;
  readonly #world: SimulatedWorld;
  #requests = 0;

  constructor(plan: Plan, schedule: Schedule, tracing: boolean) {
    this.#plan = plan;
    this.#schedule = schedule;
    this.#random = new Random(schedule.seed, "latency");
    const uids = new Random(schedule.seed, "uids");
    const time = this.time = new VirtualTime({ random: uids.next });
    const chronicle = this.#chronicle = new Chronicle(() => time.now, tracing);
    this.#server = new ApiServer({
      now: () => time.epoch + time.now,
      random: uids.next,
      users: USERS,
      controllers: ["garbage-collector", "namespaces", ...(plan.workloads ? ["workloads" as const] : [])],
      controllerDelay: 50,
    });
    this.network = new Network({
      server: this.#server.fetch,
      time,
      random: this.#random.next,
      onSent: (call) => this.#onSent(call),
      onServed: (call) => this.#onServed(call),
      onRead: (process, chunk) => readChunk(chronicle, process, chunk),
    });
    const network = (): Network => this.network;
    this.#replicas = new Replicas({ plan, schedule, time, network, chronicle, server: URL_OF_SERVER, token: TOKEN });
    this.#world = {
      client: this.#server.client({ now: () => time.now }),
      server: this.#server,
      random: new Random(schedule.seed, "actions").next,
      now: () => time.now,
    };
  }

  async run(): Promise<Outcome> {
    const { time } = this;
    const { horizon, patience, replicas, operator } = this.#plan;
    time.install();
    try {
      await outside(async () => {
        const definition = definitionOf(await operator());
        await this.#finish(this.#prepare(definition));
        this.#setUp(definition);
        for (let index = 0; index < replicas; index++) {
          time.after(this.#random.between(0, 2000), () => this.#replicas.start(index));
        }
        await time.advance(horizon);
        this.#heal();
        const wrong = await this.#judge(patience);
        if (wrong !== undefined) this.#chronicle.report(wrong.invariant, wrong.text);
        await this.#replicas.end();
        this.network.cut("reset");
      });
    } finally {
      await this.#finish(this.#server.close());
      time[Symbol.dispose]();
    }
    const { violations, trace } = this.#chronicle;
    const { firstRequests } = this.#replicas;
    return { violations, trace, requests: this.#requests, firstRequests, took: time.now };
  }

  process(replica: number): Process | undefined {
    return this.#replicas.process(replica);
  }

  crash(replica: number, restart: number): void {
    this.#replicas.crash(replica, restart);
  }

  stop(replica: number, restart: number): void {
    this.#replicas.stop(replica, restart);
  }

  compact(): void {
    this.#server.compact();
  }

  lag(replica: number, ms: number): Disposable {
    return this.#server.faults.lag({ client: agentOf(replica) }, { ms });
  }

  /** Waits for something of the world, while time goes by. */
  async #finish<T>(work: Promise<T>): Promise<T> {
    let done = false;
    const settle = (): void => void (done = true);
    work.then(settle, settle);
    await this.time.run(() => done, 3_600_000);
    if (!done) throw new Error("Cannot simulate: what was to be done takes more than an hour");
    return await work;
  }

  async #prepare({ controllers, election }: OperatorDefinition): Promise<void> {
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
    await this.#plan.world(this.#world);
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const fetch = (path: string): Promise<Response> =>
      this.#server.fetch(new Request(`${URL_OF_SERVER}${path}`, { headers }));
    for (const kind of kinds.values()) void watchKind(this.#chronicle, kind, fetch);
  }

  #setUp({ election, controllers }: OperatorDefinition): void {
    const { time } = this;
    const facts: Facts = {
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
      leaseDuration: toMilliseconds(election?.leaseDuration ?? 15_000, "leaseDuration"),
      grace: 30_000,
      replicas: () => this.#replicas.running,
      stored: async (resource) => (await this.#world.client.api(resource).list()).items,
      open: (process) => this.network.open(process),
    };
    for (const [name, invariant] of Object.entries(this.#plan.invariants)) {
      this.#chronicle.observers.push(invariant(facts, (text) => this.#chronicle.report(name, text)));
    }
    const { actions, perturbations } = this.#schedule;
    for (const { at, index } of actions) time.after(at, () => this.#act(this.#plan.actions[index]!));
    for (const perturbation of perturbations) {
      time.after(perturbation.at, () => {
        this.#chronicle.tell("fault", textOfPerturbation(perturbation));
        applyPerturbation(this, perturbation);
      });
    }
  }

  async #act({ name, run }: Action): Promise<void> {
    this.#chronicle.tell("user", name);
    try {
      await run(this.#world);
    } catch (error) {
      this.#chronicle.tell("user", `is refused: ${error instanceof Error ? error.message : error}`);
    }
  }

  /** Lets everything be well again. */
  #heal(): void {
    this.#chronicle.tell("world", "nothing goes wrong any more");
    this.network.troubles.clear();
    this.network.delays.clear();
    this.#server.faults.clear();
    for (const process of this.#replicas.processes) process.resume();
  }

  /** Looks until everything is right; answers with what is not when the patience is over. */
  async #judge(patience: number): Promise<Wrong | undefined> {
    const { time } = this;
    const end = time.now + patience;
    let wrong: Wrong | undefined;
    do {
      await time.advance(LOOK);
      wrong = this.#replicas.complete
        ? await this.#finish(this.#wrong())
        : { invariant: "everythingIsReconciled", text: "not all replicas run" };
    } while (wrong !== undefined && time.now < end && this.#chronicle.violations.length === 0);
    return wrong;
  }

  async #wrong(): Promise<Wrong | undefined> {
    const { invariants, expectations } = this.#plan;
    const names = Object.keys(invariants);
    const judges = [
      ...this.#chronicle.observers.map((observer, index) => [names[index]!, () => observer.atEnd?.()] as const),
      ...Object.entries(expectations).map(([name, expect]) =>
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

  #onSent(call: Call): void {
    this.#requests++;
    this.#replicas.passed(call, "before");
    if (!call.process.dead) this.#chronicle.notify((observer) => observer.sent?.(call));
  }

  #onServed(call: Call): void {
    const chronicle = this.#chronicle;
    if (chronicle.tracing) {
      const { method, path, body, code, fault, sent } = call;
      const text = `${method} ${path}${body === "" ? "" : ` ${body.slice(0, 200)}`}`;
      const late = call.served! - sent > 100 ? `, sent at ${(sent / 1000).toFixed(3)}` : "";
      chronicle.tell(call.process.name, `${text} -> ${code}${fault === "" ? "" : ` (${fault})`}${late}`);
    }
    chronicle.notify((observer) => observer.served?.(call));
    this.#replicas.passed(call, "after");
  }
}
