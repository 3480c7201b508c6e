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

/** One line of JSON: time, level, logger, message, then the record's properties. */
export function jsonLine(record: LogRecord): string {
  const { timestamp, level, category, properties } = record;
  const line: Record<string, unknown> = {
    time: new Date(timestamp).toISOString(),
    level,
    logger: category.join("."),
    message: message(record),
  };
  for (const [key, value] of Object.entries(properties)) {
    const name = Object.hasOwn(line, key) || key === "__proto__" ? `${key}_` : key;
    line[name] = value;
  }
  return JSON.stringify(plain(line, []));
}

/** One line for people: time of day, level, logger, message, then the properties that the message does not show. */
export function textLine(record: LogRecord): string {
  const { timestamp, level, category, properties, rawMessage } = record;
  const shown = typeof rawMessage === "string" ? rawMessage : "";
  const rest = Object.entries(properties)
    .filter(([key, value]) => value !== undefined && !shown.includes(`{${key}}`))
    .map(([key, value]) => `${key}=${value instanceof Error ? errorText(value) : inline(value)}`);
  const time = new Date(timestamp).toISOString().slice(11, 23);
  return oneLine(
    [time, level.toUpperCase().padEnd(7), category.slice(1).join("."), message(record), ...rest].join(" "),
  );
}

/** The message with its properties filled in. */
function message(record: LogRecord): string {
  return record.message.map((part, index) => {
    if (index % 2 === 0 || typeof part === "string") return part;
    return part instanceof Error ? part.message : inline(part);
  }).join("");
}

/** How deep what is logged may go, so that a hostile object costs no line. */
const MAX_DEPTH = 30;
/** The longest text in what is logged, in characters. */
const MAX_TEXT = 32_768;

/** The same as what JSON can hold; `within` are the objects around it. */
function plain(value: unknown, within: readonly unknown[]): unknown {
  if (typeof value === "bigint") return String(value);
  if (typeof value === "string") return cut(value);
  if (typeof value === "function" || typeof value === "symbol") return inline(value);
  if (typeof value !== "object" || value === null) return value;
  if (within.includes(value)) return "[circular]";
  if (within.length > MAX_DEPTH) return "[deeper]";
  const inner = [...within, value];
  try {
    if (value instanceof Error) return plain(errorFields(value), inner);
    if (value instanceof Map || value instanceof Set) return inline(value);
    if ("toJSON" in value && typeof value.toJSON === "function") return plain(value.toJSON(), inner);
    if (Array.isArray(value)) return value.map((item) => plain(item, inner));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item, inner)]));
  } catch (error) {
    // A getter or toJSON of what is logged must not cost the whole line.
    return `[not readable: ${error instanceof Error ? error.message : error}]`;
  }
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}... (${text.length} characters)`;
}

function errorFields(error: Error): Record<string, unknown> {
  const { name, message, stack, cause } = error;
  return {
    name,
    message,
    stack,
    ...(cause === undefined ? {} : { cause }),
    ...(error instanceof AggregateError ? { errors: error.errors } : {}),
  };
}

/** An error's message, its causes unless the message has them, and where in a program it comes from. */
function errorText(error: Error): string {
  let text = error.message || error.name;
  const seen = new Set<unknown>([error]);
  for (let cause = error.cause; cause !== undefined && !seen.has(cause); cause = (cause as Error | null)?.cause) {
    seen.add(cause);
    const reason = cause instanceof Error ? cause.message : inline(cause);
    // What could not be done for it is said by the message already; the rest is the news.
    if (!text.includes(reason.replace(/^Cannot [^:]+: /, ""))) text += ` (cause: ${reason})`;
  }
  if (error instanceof AggregateError) {
    text += ` (${error.errors.map((one) => one instanceof Error ? one.message : inline(one)).join("; ")})`;
  }
  const place = placeOf(error);
  return `${JSON.stringify(text)}${place === undefined ? "" : ` at ${place}`}`;
}

/** The innermost place in a stack that is not in the framework's own folder, where there is one. */
function placeOf({ stack = "" }: Error): string | undefined {
  const own = places(new Error().stack ?? "")[0]?.replace(/[^/]+$/, "");
  return places(stack).find((place) => own === undefined || place.replace(/[^/]+$/, "") !== own);
}

function places(stack: string): string[] {
  return [...stack.matchAll(/^\s+at .*?((?:file|https?):\S+?:\d+:\d+)\)?$/gm)].map(([, place]) => place!);
}

function inline(value: unknown): string {
  return typeof value === "string" && /^[\w./:-]+$/.test(value)
    ? value
    : Deno.inspect(value, { breakLength: Infinity, depth: 6, strAbbreviateSize: MAX_TEXT });
}

/** Escapes what would break the line, or steer the terminal. */
function oneLine(text: string): string {
  // deno-lint-ignore no-control-regex -- those are what it is about
  return text.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]/g, (character) => JSON_ESCAPES[character] ?? hex(character));
}

const JSON_ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function hex(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
