/**
 * Keeps track of runs that go on after their spell or their time is over, because they ignore their abort.
 *
 * ```ts
 * import { UnderWay } from "./_under_way.ts";
 *
 * const underWay = new UnderWay();
 * const [first, second] = [{}, {}];
 * const run = Promise.resolve();
 * underWay.track("shop/web", first, run);
 * console.assert(underWay.earlier("shop/web", second) !== undefined);
 * await run;
 * await underWay.ended();
 * console.assert(underWay.earlier("shop/web", second) === undefined);
 * ```
 *
 * @module
 */

/** A run that was begun and has not ended. */
export interface TrackedRun {
  /** Says that its time is over: it no longer keeps others of its key waiting. */
  abandon(): void;
}

interface Run extends TrackedRun {
  readonly key: string;
  readonly spell: object;
  readonly ended: Promise<void>;
  abandoned: boolean;
}

/** The runs of one controller, over all its spells. */
export class UnderWay {
  readonly #runs: Set<Run> = new Set();

  /** How many have not ended. */
  get size(): number {
    return this.#runs.size;
  }

  /** Takes a run that was begun for a key in a spell; its failure is the caller's affair. */
  track(key: string, spell: object, promise: Promise<unknown>): TrackedRun {
    const end = (): void => void this.#runs.delete(run);
    const run: Run = {
      ...{ key, spell, abandoned: false },
      ended: promise.then(end, end),
      abandon: () => void (run.abandoned = true),
    };
    this.#runs.add(run);
    return run;
  }

  /** Resolves when the runs of that key have ended that other spells began; undefined if there are none. */
  earlier(key: string, spell: object): Promise<void> | undefined {
    const runs = this.#select((run) => run.key === key && run.spell !== spell && !run.abandoned);
    return runs.length === 0 ? undefined : Promise.all(runs.map(({ ended }) => ended)).then(() => {});
  }

  /** Resolves when all runs have ended that are going on now. */
  async ended(): Promise<void> {
    await Promise.all(this.#select(() => true).map(({ ended }) => ended));
  }

  #select(which: (run: Run) => boolean): Run[] {
    const runs: Run[] = [];
    for (const run of this.#runs) if (which(run)) runs.push(run);
    return runs;
  }
}
