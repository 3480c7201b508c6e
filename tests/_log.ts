/** Collects what is logged during a test. */
import { configure, type LogRecord, reset } from "@logtape/logtape";

/** What was logged so far, until it is disposed of. */
export interface Collected extends AsyncDisposable {
  readonly records: readonly LogRecord[];
  /** The messages of a level, with their values. */
  texts(level: LogRecord["level"]): string[];
}

/** Collects the framework's log; one test at a time. */
export async function collectLog(): Promise<Collected> {
  const records: LogRecord[] = [];
  await configure({
    sinks: { memory: (record) => void records.push(record) },
    loggers: [
      { category: "tend", sinks: ["memory"], lowestLevel: "debug" },
      { category: ["logtape", "meta"], lowestLevel: "error" },
    ],
    reset: true,
  });
  const text = ({ message }: LogRecord): string =>
    message.map((part, at) => at % 2 === 0 || typeof part === "string" ? part : JSON.stringify(part)).join("");
  return {
    records,
    texts: (level) => records.filter((record) => record.level === level).map(text),
    [Symbol.asyncDispose]: () => reset(),
  };
}
