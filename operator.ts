/**
 * Puts controllers together to one program: election, probes, metrics, signals, manifests and a command line.
 *
 * ```ts
 * import { Controller, Operator } from "@tend/operator";
 * import { ConfigMap } from "@tend/operator/kinds";
 *
 * const operator = new Operator("config-checker")
 *   .leaderElection("default", "config-checker")
 *   .controller(new Controller(ConfigMap).reconcile((config, ctx) => ctx.log.info("Seen {name}", { name: config.metadata.name })));
 * console.assert(operator.rules().length > 0);
 * ```
 *
 * A description opens no connection and reads no file; {@linkcode Operator.run} may be called as often as wanted.
 *
 * @module
 */
import { commandLine } from "./cli.ts";
import { configOf, type Controller } from "./controller.ts";
import { CustomResource } from "./crd.ts";
import type { Check } from "./health.ts";
import type { CustomResourceDefinition } from "./kinds.ts";
import { checkElection } from "./leader.ts";
import {
  type ElectionConfig,
  type ElectionOptions,
  type OperatorDefinition,
  runOperator,
  type RunOptions,
} from "./lifecycle.ts";
import { type ManifestInput, type ManifestOptions, manifests, roleManifests } from "./manifests.ts";
import { Metrics } from "./metrics.ts";
import { assertDnsLabel } from "./names.ts";
import { leaseRules, mergeRules, type RoleObject, type Rule, type ScopedRule, scopeRules } from "./rbac.ts";
import type { KindedDraft, KubernetesObject, Resource } from "./resource.ts";

export type { ElectionOptions, RunOptions } from "./lifecycle.ts";

/** Options of {@linkcode Operator}. */
export interface OperatorOptions {
  /** What `--version` prints. @default {"0.0.0"} */
  readonly version?: string | undefined;
}

/** Set by {@linkcode Operator} itself, as what was declared is for those alone who run it. */
let readDefinition: (operator: Operator) => OperatorDefinition;

/** The description of an operator; each method that adds to it answers with the operator itself. */
export class Operator {
  /** Its name: in leases, events, user agents, field managers and manifests. */
  readonly name: string;
  /** What `--version` prints. */
  readonly version: string;
  /** Its metrics; add your own to `metrics.registry`. */
  readonly metrics: Metrics = new Metrics();
  readonly #controllers: Controller<KubernetesObject>[] = [];
  readonly #readiness: Record<string, Check> = {};
  readonly #rules: ScopedRule[] = [];
  #election: ElectionConfig | undefined;
  #running = false;

  static {
    readDefinition = (operator) => ({
      name: operator.name,
      controllers: operator.#controllers,
      election: operator.#election,
      readiness: operator.#readiness,
      metrics: operator.metrics,
    });
  }

  /**
   * Describes an operator.
   *
   * @throws {TypeError} If the name is not a DNS label
   */
  constructor(name: string, options: OperatorOptions = {}) {
    assertDnsLabel(name, "operator", "name");
    this.name = name;
    this.version = options.version ?? "0.0.0";
  }

  /**
   * Adds a controller.
   *
   * @throws {TypeError} If it has no reconcile function, or one of its name, or with its finalizer on its kind, is there already
   */
  controller<T extends KubernetesObject>(controller: Controller<T>): this {
    if (!configOf(controller).reconcile) {
      this.#fail(`controller "${controller.name}" has no reconcile function: call .reconcile()`);
    }
    if (this.#controllers.some((other) => other.name === controller.name)) {
      this.#fail(`controllers need names of their own (option 'name'): current value is "${controller.name}"`);
    }
    const finalizer = configOf(controller).finalizer?.name;
    const shares = (other: Controller<KubernetesObject>): boolean =>
      other.resource.id === controller.resource.id && configOf(other).finalizer?.name === finalizer;
    if (finalizer !== undefined && this.#controllers.some(shares)) {
      this.#fail(`controllers of one kind need finalizers of their own: current value is "${finalizer}"`);
    }
    this.#controllers.push(controller as unknown as Controller<KubernetesObject>);
    return this;
  }

  /**
   * Lets one replica work at a time: the holder of a Lease. The others keep their caches warm.
   *
   * RBAC: `get` and `update` on that Lease, `create` on leases, in its namespace.
   *
   * @throws {TypeError} If namespace, name or identity are none, or a lease is set already
   * @throws {RangeError} If it does not hold that leaseDuration > renewDeadline > retryPeriod × 1.2 > 0
   */
  leaderElection(namespace: string, name: string = this.name, options: ElectionOptions = {}): this {
    const election = { ...options, namespace, name };
    checkElection(election);
    if (this.#election) this.#fail("'leaderElection' may be set once");
    this.#election = election;
    return this;
  }

  /** Adds an RBAC rule beyond those of the controllers: in a namespace, or cluster-wide. @throws {TypeError} If malformed */
  rule(rule: Rule, namespace?: string): this {
    this.#rules.push(...scopeRules([rule], namespace === undefined ? undefined : [namespace]));
    return this;
  }

  /**
   * Adds a check to `/readyz`: it answers with, or throws, the reason why the operator is not ready.
   *
   * @throws {TypeError} If the name is not a DNS label, or there is a check of that name already
   */
  readinessCheck(name: string, check: Check): this {
    assertDnsLabel(name, "readiness check", "name");
    if (Object.hasOwn(this.#readiness, name)) {
      this.#fail(`readiness checks need names of their own: current value is "${name}"`);
    }
    this.#readiness[name] = check;
    return this;
  }

  /** The RBAC rules that it needs, merged and sorted; for controllers without namespaces of their own, in `namespaces`. */
  rules(options: { readonly namespaces?: readonly string[] | undefined } = {}): ScopedRule[] {
    const { namespace, name } = this.#election ?? {};
    return mergeRules([
      ...this.#controllers.flatMap((controller) => controller.rules(options)),
      ...(namespace === undefined ? [] : leaseRules(namespace, name!)),
      ...this.#rules,
    ]);
  }

  /** The kinds that it reconciles, owns and watches, each once. */
  kinds(): Resource[] {
    const kinds = new Map<string, Resource>();
    for (const controller of this.#controllers) {
      const sources = configOf(controller).sources.map((source) => source.resource);
      for (const kind of [controller.resource as Resource, ...sources]) {
        kinds.set(kind.id, kind);
      }
    }
    return [...kinds.values()];
  }

  /** The CustomResourceDefinitions of its kinds that were made by `customResource()`. */
  crds(): KindedDraft<CustomResourceDefinition>[] {
    return this.kinds().filter((kind) => kind instanceof CustomResource).map((kind) => kind.crd());
  }

  /** The service account's roles and bindings: what `operator.ts rbac` prints. */
  roles(options: ManifestOptions = {}): RoleObject[] {
    return roleManifests(this.#manifestInput(options));
  }

  /** All that deploys it: Namespace if asked for, CRDs, service account, roles and bindings, Deployment. */
  manifests(options: ManifestOptions = {}): KindedDraft<KubernetesObject>[] {
    return manifests(this.#manifestInput(options));
  }

  /**
   * Runs until it is stopped: by the signal, by SIGTERM or SIGINT. May be called again afterwards.
   *
   * It never ends the process, but for a second SIGTERM or SIGINT.
   *
   * @throws {TypeError} If it is running already, or has no controllers
   * @throws {LeadershipLostError} If the lease is lost and `exitOnLoss` is set
   * @throws {Error} If reconciles ignored their abort and may still be running
   */
  async run(options: RunOptions = {}): Promise<void> {
    const refuse = (rule: string): never => {
      throw new TypeError(`Cannot run operator "${this.name}": ${rule}`);
    };
    if (this.#running) refuse("it is running already, and would reconcile everything twice at once");
    if (this.#controllers.length === 0) refuse("it has no controllers: call .controller()");
    this.#running = true;
    try {
      await runOperator(definitionOf(this), options);
    } finally {
      this.#running = false;
    }
  }

  /**
   * Does what the command line asks for: `run` (the default), `manifests`, `crds`, `rbac`, `--help` or `--version`.
   *
   * Sets the exit code: 0 after an orderly end, 2 for a command line that cannot be understood. After an error, or when
   * reconciles ignored their abort, it ends the process with code 1, whatever may still be running.
   */
  async main(args: readonly string[] = Deno.args): Promise<void> {
    const code = await commandLine(this, args);
    if (code === 1) Deno.exit(code);
    Deno.exitCode = code;
  }

  #manifestInput(options: ManifestOptions): ManifestInput {
    return {
      ...options,
      name: this.name,
      version: this.version,
      rules: this.rules({ namespaces: options.namespaces }),
      crds: this.crds(),
      leaderElection: this.#election !== undefined,
    };
  }

  #fail(rule: string): never {
    throw new TypeError(`Cannot define operator "${this.name}": ${rule}`);
  }
}

/** Answers with what was declared of an operator so far. */
export function definitionOf(operator: Operator): OperatorDefinition {
  return readDefinition(operator);
}
