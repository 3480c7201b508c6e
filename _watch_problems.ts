/**
 * Says once what keeps a watch from its work, in words that name the kind, the verb and the namespace, and when it is over.
 *
 * ```ts
 * import { Problems } from "./_watch_problems.ts";
 * import { ConfigMap } from "./kinds.ts";
 *
 * const problems = new Problems(ConfigMap, { onProblem: (problem) => console.log(problem?.message) });
 * problems.failed(new Error("no route to host"), { verb: "list", accepted: false, failures: 3 });
 * ```
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { ApiError, isApiError, isNotFound, messageOf } from "./errors.ts";
import type { Logger } from "./logger.ts";
import type { Resource } from "./resource.ts";

/** So many failures in a row are a problem, whatever they are. */
const PERSISTENT = 3;
/** Answers that do not pass by themselves. */
const REFUSALS = [400, 401, 403, 404, 405, 406, 415, 422];

/** Options of {@linkcode Problems}. */
export interface ProblemsOptions {
  /** The namespace to look in. @default {all namespaces} */
  readonly namespace?: string | undefined;
  /** Takes a new problem, or nothing when it is over. @default {nobody} */
  readonly onProblem?: ((problem: Error | undefined) => void) | undefined;
  /** Where to log. @default {the logger of the category "tend", "watcher"} */
  readonly log?: Logger | undefined;
}

/** How a request failed. */
export interface Failure {
  /** What was asked for. */
  verb: "list" | "watch";
  /** True if a watch had been accepted before. */
  accepted: boolean;
  /** Failures in a row, with this one. */
  failures: number;
}

/** Keeps track of the problem of one watch. */
export class Problems {
  readonly #resource: Resource;
  readonly #options: ProblemsOptions;
  readonly #log: Logger;
  /** What has been reported: verb and answer. */
  #reported: string | undefined;
  /** True while watches are accepted but do not last: to be accepted is then no sign of health. */
  #flapping = false;

  /** Takes the kind that is watched. */
  constructor(resource: Resource, options: ProblemsOptions = {}) {
    this.#resource = resource;
    this.#options = options;
    this.#log = options.log ?? getLogger(["tend", "watcher"]);
  }

  /** Takes in a failure; reports it if it does not pass by itself, or has not passed for a while. */
  failed(error: unknown, { verb, accepted, failures }: Failure): void {
    this.#flapping ||= accepted;
    const { id: resource } = this.#resource;
    const { namespace } = this.#options;
    if (failures < PERSISTENT && !(isApiError(error) && REFUSALS.includes(error.code))) {
      this.#log.debug("A watch failed: trying again", { verb, resource, namespace, failures, error });
      return;
    }
    const report = `${verb} ${isApiError(error) ? error.code : ""}`;
    if (report === this.#reported) return;
    this.#reported = report;
    const problem = new Error(`Cannot ${verb} ${this.#where()}: ${reason(error)}`, { cause: error });
    this.#log.warn("A kind cannot be watched: trying again until it can", { verb, resource, namespace, problem });
    this.#tell(problem);
  }

  /** Takes in that a watch was accepted. */
  accepted(): void {
    if (!this.#flapping) this.well();
  }

  /** Takes in that all is well. */
  well(): void {
    this.#flapping = false;
    if (this.#reported === undefined) return;
    this.#reported = undefined;
    const { id: resource } = this.#resource;
    this.#log.info("A kind can be watched again", { resource, namespace: this.#options.namespace });
    this.#tell(undefined);
  }

  #tell(problem: Error | undefined): void {
    try {
      this.#options.onProblem?.(problem);
    } catch (error) {
      this.#log.error("The listener for problems threw", { error });
    }
  }

  #where(): string {
    const { id, apiVersion, kind, namespaced } = this.#resource;
    const { namespace } = this.#options;
    const what = `${id} (${apiVersion} ${kind})`;
    if (!namespaced) return what;
    return namespace === undefined ? `${what} in all namespaces` : `${what} in namespace "${namespace}"`;
  }
}

function reason(error: unknown): string {
  if (isNotFound(error)) {
    return "the server answered 404: it does not serve this kind; is its CustomResourceDefinition installed?";
  }
  if (error instanceof ApiError) {
    const answer = `the server answered ${error.code}: ${error.status.message || error.reason}`;
    const hint = HINTS[error.code];
    return hint === undefined ? answer : `${answer}; ${hint}`;
  }
  return messageOf(error);
}

/** What to look at, by the code of the answer. */
const HINTS: Readonly<Record<number, string>> = {
  401: "are the credentials of the kubeconfig, or the service account's token, those of this cluster?",
  403: "are the roles that the operator's command 'rbac' prints applied?",
};
