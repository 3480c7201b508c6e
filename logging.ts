/**
 * Writes an operator's log for a program: readable lines on a terminal, JSON elsewhere.
 *
 * ```ts
 * import { configureLogging } from "./logging.ts";
 *
 * await configureLogging({ level: "warning", format: "json", write: (line) => console.error(line) });
 * ```
 *
 * A library must not configure logging: only {@linkcode Operator.main} calls this, and only if the program has not done so.
 *
 * @module
 */
import { configure, getConfig, type LogLevel, type LogRecord, reset } from "@logtape/logtape";

/** Levels that a log can be limited to, from the most to the least talkative. */
export const LOG_LEVELS: readonly LogLevel[] = ["trace", "debug", "info", "warning", "error", "fatal"];

/** How lines look. */
export const LOG_FORMATS = ["text", "json"] as const;

/** Options of {@linkcode configureLogging}. */
export interface LoggingOptions {
  /** The lowest level that is written. @default {"info"} */
  readonly level?: LogLevel | undefined;
  /** @default {"text" on a terminal, else "json"} */
  readonly format?: (typeof LOG_FORMATS)[number] | undefined;
  /** Takes each line. @default {standard error} */
  readonly write?: ((line: string) => void) | undefined;
}

/** Configures logging, unless the program has done so; answers with how to undo it. */
export async function configureLogging(options: LoggingOptions = {}): Promise<() => Promise<void>> {
  if (getConfig() !== null) return () => Promise.resolve();
  const { level = "info", format = Deno.stderr.isTerminal() ? "text" : "json", write = console.error } = options;
  const line = format === "json" ? jsonLine : textLine;
  await configure({
    sinks: { program: (record) => write(line(record)) },
    loggers: [
      { category: "tend", lowestLevel: level, sinks: ["program"] },
      { category: ["logtape", "meta"], lowestLevel: "error", sinks: ["program"] },
    ],
  });
  return reset;
}

/** The message with its properties filled in. */
function text(record: LogRecord): string {
  return record.message.map((part, index) =>
    index % 2 === 0 ? part : typeof part === "string" ? part : Deno.inspect(part)
  )
    .join("");
}

function plain(value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return {
    name: value.name,
    message: value.message,
    stack: value.stack,
    ...(value.cause === undefined ? {} : { cause: plain(value.cause) }),
  };
}

/** One line of JSON: time, level, logger, message, then the record's properties. */
export function jsonLine(record: LogRecord): string {
  const { timestamp, level, category, properties } = record;
  const line: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(properties)) line[key] = plain(value);
  Object.assign(line, {
    time: new Date(timestamp).toISOString(),
    level,
    logger: category.join("."),
    message: text(record),
  });
  const { time, level: _, logger, message, ...rest } = line;
  return safeJson({ time, level, logger, message, ...rest });
}

/** JSON of anything, also of what has cycles or big integers. */
function safeJson(value: Record<string, unknown>): string {
  try {
    return JSON.stringify(value);
  } catch {
    return JSON.stringify(Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        typeof item === "string" ? item : Deno.inspect(item),
      ]),
    ));
  }
}

/** One line for people: time of day, level, logger, message, then the properties that the message does not show. */
export function textLine(record: LogRecord): string {
  const { timestamp, level, category, properties, rawMessage } = record;
  const shown = typeof rawMessage === "string" ? rawMessage : "";
  const rest = Object.entries(properties)
    .filter(([key, value]) => value !== undefined && !shown.includes(`{${key}}`))
    .map(([key, value]) => `${key}=${value instanceof Error ? `"${value.message}"` : inline(value)}`);
  const time = new Date(timestamp).toISOString().slice(11, 23);
  return [time, level.toUpperCase().padEnd(7), category.slice(1).join("."), text(record), ...rest].join(" ");
}

function inline(value: unknown): string {
  return typeof value === "string" && /^[\w./:-]+$/.test(value)
    ? value
    : Deno.inspect(value, { breakLength: Infinity });
}
