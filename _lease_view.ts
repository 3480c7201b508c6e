/**
 * Judges a Lease by what was seen of it here: who holds it, and how long it has stood still on the local clock.
 *
 * Times that others wrote are never compared with local ones: clocks differ, and jump. Only change counts.
 *
 * ```ts
 * import { LeaseView } from "./_lease_view.ts";
 *
 * const view = new LeaseView(15_000);
 * view.observe(undefined, 0);
 * console.assert(view.freeIn(0) === 0);
 * ```
 *
 * @module
 */
import type { Lease } from "./kinds.ts";

/** What a Lease says of its holder. */
export type LeaseSpec = NonNullable<Lease["spec"]>;

/** What has been seen of a Lease, and since when. */
export class LeaseView {
  readonly #defaultDuration: number;
  #record: string | undefined;
  #since = 0;
  #duration = 0;
  /** Who held the lease when it was last seen; `undefined` if nobody did. */
  holder: string | undefined;

  /** Takes the ms for which a holder that names no duration is believed. */
  constructor(defaultDuration: number) {
    this.#defaultDuration = defaultDuration;
  }

  /**
   * Takes note of the lease as it is at `now`, a reading taken after the answer arrived; `undefined` if it does not exist.
   *
   * A lease that vanishes counts as changed, and its last holder as holding it: its replica may not know yet.
   */
  observe(lease: Lease | undefined, now: number): void {
    const record = lease ? JSON.stringify([lease.metadata.uid, lease.spec ?? null]) : "absent";
    if (record === this.#record) return;
    this.#record = record;
    this.#since = now;
    if (!lease) return;
    this.holder = lease.spec?.holderIdentity || undefined;
    const seconds = lease.spec?.leaseDurationSeconds;
    if (!this.holder) this.#duration = 0;
    else this.#duration = seconds && seconds > 0 ? seconds * 1000 : this.#defaultDuration;
  }

  /** Answers with the ms until the lease may be taken; 0 or less if it is free. */
  freeIn(now: number): number {
    return this.#since + this.#duration - now;
  }
}
