/**
 * Reads what a process can say of itself into `process_*` metrics: at each scrape, with no timer, and only as allowed.
 *
 * ```ts
 * import { addProcessMetrics } from "./_process_metrics.ts";
 * import { Registry } from "./registry.ts";
 *
 * const registry = new Registry();
 * addProcessMetrics(registry);
 * console.assert((await registry.text()).includes("process_resident_memory_bytes"));
 * ```
 *
 * @module
 */
import type { Registry } from "./registry.ts";

/** Where the numbers come from. */
export interface ProcessSource {
  /** Seconds of CPU time so far. */
  cpu(): number | Promise<number>;
  /** Resident memory in bytes. */
  resident(): number;
  /** When the process started, in seconds since 1970. */
  startTime(): number;
  /** True if the files in `/proc` can be read without asking anybody. */
  allowed(): boolean;
  /** A file's text. */
  readFile(path: string): string;
  /** How many entries a directory has. */
  countEntries(path: string): number;
}

const PERMISSIONS: readonly Deno.PermissionName[] = ["read", "write", "net", "env", "sys", "run", "ffi"];

/** What Prometheus' own clients report for "unlimited". */
const UNLIMITED = 2 ** 64 - 1;

/** This process. */
export const THIS_PROCESS: ProcessSource = {
  cpu: async () => {
    // Loaded at the first scrape: it is of no use before.
    const { default: process } = await import("node:process");
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  },
  resident: () => Deno.memoryUsage().rss,
  startTime: () => performance.timeOrigin / 1000,
  // Deno takes /proc/self for as good as all permissions, and on a terminal would stop to ask for them.
  allowed: () => PERMISSIONS.every((name) => Deno.permissions.querySync({ name }).state === "granted"),
  readFile: (path) => Deno.readTextFileSync(path),
  countEntries: (path) => Iterator.from(Deno.readDirSync(path)).reduce((count) => count + 1, 0),
};

interface Measure {
  readonly name: string;
  readonly help: string;
  /** The value now; not a number, or an exception, if it cannot be had. */
  readonly read: (source: ProcessSource) => number;
}

const GAUGES: readonly Measure[] = [
  {
    name: "process_resident_memory_bytes",
    help: "Resident memory size in bytes.",
    read: (source) => source.resident(),
  },
  {
    name: "process_start_time_seconds",
    help: "Start time of the process since unix epoch in seconds.",
    read: (source) => source.startTime(),
  },
];

const PROC_GAUGES: readonly Measure[] = [
  {
    name: "process_open_fds",
    help: "Number of open file descriptors.",
    // One of them is the listing's own.
    read: (source) => source.countEntries("/proc/self/fd") - 1,
  },
  {
    name: "process_max_fds",
    help: "Maximum number of open file descriptors.",
    read: (source) => readLimit(source, "Max open files"),
  },
  {
    name: "process_virtual_memory_bytes",
    help: "Virtual memory size in bytes.",
    read: (source) => readVirtualMemory(source),
  },
  {
    name: "process_virtual_memory_max_bytes",
    help: "Maximum amount of virtual memory available in bytes.",
    read: (source) => readLimit(source, "Max address space"),
  },
];

/** Adds the process metrics to a registry; those that cannot be read have no sample. */
export function addProcessMetrics(registry: Registry, source: ProcessSource = THIS_PROCESS): void {
  registry.counter({
    name: "process_cpu_seconds_total",
    help: "Total user and system CPU time spent in seconds.",
    collect: async (counter) => {
      const seconds = await source.cpu();
      counter.reset();
      counter.inc(seconds);
    },
  });
  for (const measure of GAUGES) addGauge(registry, measure, source);
  for (const measure of PROC_GAUGES) {
    const read = (): number => source.allowed() ? measure.read(source) : NaN;
    addGauge(registry, { ...measure, read }, source);
  }
}

function addGauge(registry: Registry, { name, help, read }: Measure, source: ProcessSource): void {
  registry.gauge({
    name,
    help,
    collect: (gauge) => {
      const value = attempt(() => read(source));
      if (Number.isFinite(value)) gauge.set(value);
      else gauge.remove();
    },
  });
}

function attempt(read: () => number): number {
  try {
    return read();
  } catch {
    return NaN; // no such file here, or not allowed
  }
}

function readLimit(source: ProcessSource, name: string): number {
  const line = source.readFile("/proc/self/limits").split("\n").find((line) => line.startsWith(name));
  const soft = line?.slice(name.length).trim().split(/\s+/)[0];
  return soft === "unlimited" ? UNLIMITED : Number(soft);
}

function readVirtualMemory(source: ProcessSource): number {
  const stat = source.readFile("/proc/self/stat");
  // The command's name, in parentheses, may hold spaces and parentheses itself; the state follows as field 3.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[23 - 3]);
}
