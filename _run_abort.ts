/**
 * Aborts a run, whose signal is made only if it is asked for: most runs never look at it.
 *
 * ```ts
 * import { RunAbort } from "./_run_abort.ts";
 *
 * const abort = new RunAbort();
 * abort.abort(new Error("too late"));
 * console.assert(abort.aborted && abort.signal.reason.message === "too late");
 * ```
 *
 * @module
 */

/** An `AbortController` whose signal costs nothing until it is read. */
export class RunAbort {
  #controller: AbortController | undefined;
  #reason: { readonly value: unknown } | undefined;

  /** True once it was aborted. */
  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  /** Aborts when the run is aborted. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason) this.#controller.abort(this.#reason.value);
    }
    return this.#controller.signal;
  }

  /** Aborts; the first reason stays. */
  abort(reason: unknown): void {
    this.#reason ??= { value: reason };
    this.#controller?.abort(reason);
  }
}
