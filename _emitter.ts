/**
 * Tells listeners of events, in order and one at a time, and freezes what is told.
 *
 * ```ts
 * import { getLogger } from "@logtape/logtape";
 * import { Emitter } from "./_emitter.ts";
 *
 * const emitter = new Emitter<string>(getLogger(["tend"]));
 * using _ = emitter.subscribe((event) => console.log(event));
 * emitter.send("hello");
 * emitter.drain();
 * ```
 *
 * @module
 */
import type { Logger } from "./logger.ts";

/** What is called with each event. */
export type Listener<E> = (event: E) => void;

/** One listener's place. */
export interface Subscription<E> extends Disposable {
  /** Tells this listener alone, at once. */
  send(event: E): void;
}

/** Queues events and tells them to all listeners. */
export class Emitter<E> {
  readonly #log: Logger;
  /** Each listener, with how many events had been sent before it came: those are not for it. */
  readonly #listeners: Map<object, { readonly tell: Listener<E>; readonly from: number }> = new Map();
  #events: E[] = [];
  #sent = 0;
  #draining = false;

  /** Takes where a listener that throws is logged. */
  constructor(log: Logger) {
    this.#log = log;
  }

  /** True if anybody listens. */
  get heard(): boolean {
    return this.#listeners.size > 0;
  }

  /** Adds a listener, until it is disposed of; the same function may be added twice. */
  subscribe(listener: Listener<E>): Subscription<E> {
    const id = {};
    const tell = (event: E): void => {
      const fail = (error: unknown): void => this.#log.error("A listener threw", { error });
      try {
        // One that is asynchronous, which its type allows, would end the process otherwise.
        const answer: unknown = listener(event);
        if (answer instanceof Promise) answer.catch(fail);
      } catch (error) {
        fail(error);
      }
    };
    this.#listeners.set(id, { tell, from: this.#sent });
    return {
      send: (event) => this.#listeners.has(id) && tell(event),
      [Symbol.dispose]: () => void this.#listeners.delete(id),
    };
  }

  /** Queues an event. */
  send(event: E): void {
    this.#events.push(event);
    this.#sent++;
  }

  /** Tells what is queued; within a listener, leaves it to the call that the listener is in. */
  drain(): void {
    if (this.#draining) return;
    this.#draining = true;
    for (let at = 0; at < this.#events.length; at++) {
      const number = this.#sent - this.#events.length + at;
      for (const { tell, from } of this.#listeners.values()) if (number >= from) tell(this.#events[at]!);
    }
    this.#events = [];
    this.#draining = false;
  }
}

/** Freezes a value, deep down; one that is frozen is taken to be so all the way. */
export function freeze<V>(value: V): V {
  freezeAt(value, 0);
  return value;
}

/** So deep the engine may call itself; an object may be deeper than its stack. */
const MAX_CALLS = 200;

function freezeAt(value: unknown, depth: number): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  if (depth > MAX_CALLS) return freezeDeep(value);
  Object.freeze(value);
  if (Array.isArray(value)) { for (const part of value) freezeAt(part, depth + 1); }
  else for (const key in value) freezeAt((value as Record<string, unknown>)[key], depth + 1);
}

/** The same without calling itself. */
function freezeDeep(value: object): void {
  const work: unknown[] = [value];
  while (work.length > 0) {
    const next = work.pop();
    if (typeof next !== "object" || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const part of Object.values(next)) work.push(part);
  }
}
