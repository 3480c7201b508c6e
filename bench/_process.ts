/**
 * Reads from Linux what a process has used: time of the processor, and memory.
 *
 * ```ts
 * import { usage } from "./_process.ts";
 *
 * const { cpu, rss, peak } = usage(Deno.pid);
 * console.assert(cpu > 0 && rss > 0 && peak >= rss / 2);
 * ```
 *
 * @module
 */

/** What a process has used. */
export interface Usage {
  /** Time of the processor since it started, in s. */
  readonly cpu: number;
  /** Resident memory, in MiB. */
  readonly rss: number;
  /** The most resident memory that it ever had, in MiB. */
  readonly peak: number;
}

/** The kernel's unit of processor time in `/proc/PID/stat`: 1/100 s on every Linux. */
const TICKS = 100;

/** The processor time of a process in s, by the text of its `/proc/PID/stat`; the program's name may have spaces in it. */
export function cpuOf(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/**
 * A line such as `VmHWM:  1024 kB` of the text of `/proc/PID/status`, in MiB.
 *
 * @throws {Deno.errors.NotFound} If there is none
 */
export function mebibytesOf(status: string, field: string): number {
  const [, kibibytes] = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status) ?? [];
  // Of one that has ended, and was not waited for yet, this is what is left out.
  if (kibibytes === undefined) throw new Deno.errors.NotFound(`Cannot read the memory of a process: no ${field}`);
  return Number(kibibytes) / 1024;
}

/** The processor time of all threads that still run, in s: finer than ticks, but without threads that have ended. */
function cpuOfThreads(pid: number): number {
  let nanoseconds = 0;
  for (const { name } of Deno.readDirSync(`/proc/${pid}/task`)) {
    try {
      nanoseconds += Number(Deno.readTextFileSync(`/proc/${pid}/task/${name}/schedstat`).split(" ")[0]);
    } catch {
      // It has ended just now.
    }
  }
  return nanoseconds / 1e9;
}

/** What a process has used up to now. @throws {Deno.errors.NotFound} If it is gone */
export function usage(pid: number): Usage {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  const cpu = Math.max(cpuOf(Deno.readTextFileSync(`/proc/${pid}/stat`)), cpuOfThreads(pid));
  return { cpu, rss: mebibytesOf(status, "VmRSS"), peak: mebibytesOf(status, "VmHWM") };
}
