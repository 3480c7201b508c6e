/**
 * Tells the story of a simulation in lines of text.
 *
 * ```ts
 * import { storyOf } from "./_report.ts";
 *
 * const [line] = storyOf([{ at: 1500, actor: "user", text: "creates a" }]);
 * console.assert(line === "    1.500  user       creates a");
 * ```
 *
 * @module
 */
import type { Schedule, TraceLine } from "./_plan.ts";

/** The most lines that are told. */
const MOST_LINES = 150;

/**
 * The lines of a trace up to what is wrong, each with its time in seconds and its actor; without leases and watches that
 * nothing is wrong with.
 */
export function storyOf(trace: readonly TraceLine[]): string[] {
  const end = trace.findIndex(({ actor }) => actor === "violated");
  const lines = trace.slice(0, end < 0 ? undefined : end + 1).filter(({ actor, text }) =>
    actor === "violated" || actor === "fault" || !ROUTINE.some((routine) => routine.test(text)) || TROUBLE.test(text)
  );
  const told = lines.slice(-MOST_LINES).map(({ at, actor, text }) =>
    `${(at / 1000).toFixed(3).padStart(9)}  ${actor.padEnd(10)} ${text}`
  );
  const left = lines.length - told.length;
  return left > 0 ? [`           (${left} lines before)`, ...told] : told;
}

const ROUTINE = [/^[A-Z]+ \S*\/leases\b/, /^GET \S*[?&]watch=true\S* -> 200/];
const TROUBLE = /-> \d+ \(/;

/** A schedule as it is written into a program. */
export function textOfSchedule(schedule: Schedule): string {
  return JSON.stringify(schedule);
}
