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
import type { getLogger } from "@logtape/logtape";

/** A logger of LogTape: constant messages, values as properties. */
export type Logger = ReturnType<typeof getLogger>;
