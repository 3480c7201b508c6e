/**
 * Names the type of the loggers that the framework takes and hands out: LogTape's.
 *
 * ```ts
 * import type { Logger } from "@tend/operator";
 *
 * export function note(log: Logger, name: string): void {
 *   log.info("Seen {name}", { name });
 * }
 * ```
 *
 * @module
 */
import type * as logtape from "@logtape/logtape";

/** A logger of LogTape: constant messages, values as properties. */
export type Logger = (typeof logtape)["getLogger"] extends (category?: string) => infer L ? L : never;
