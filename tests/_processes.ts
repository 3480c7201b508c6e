/** Looks at the processes of this machine, to see that tests leave none. */

/** A running process. */
export interface Process {
  readonly pid: number;
  readonly command: string;
}

/** All running processes: from `/proc`, or from `ps` where there is none. Those that have ended but were not waited for are left out. */
export async function processes(): Promise<Process[]> {
  try {
    return await Array.fromAsync(fromProc());
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return await fromPs();
  }
}

/** The command lines of running processes that have the text in them. */
export async function processesWith(text: string): Promise<string[]> {
  return (await processes()).map(({ command }) => command).filter((command) => command.includes(text));
}

/** Whether a process runs. */
export async function runs(pid: number): Promise<boolean> {
  return (await processes()).some((process) => process.pid === pid);
}

async function* fromProc(): AsyncGenerator<Process> {
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const line = await Deno.readTextFile(`/proc/${name}/cmdline`).catch(() => ""); // It may have ended just now.
    if (line !== "") yield { pid: Number(name), command: line.replaceAll("\0", " ").trim() };
  }
}

async function fromPs(): Promise<Process[]> {
  const { stdout } = await new Deno.Command("ps", { args: ["-axo", "pid=,stat=,args="] }).output();
  return new TextDecoder().decode(stdout).split("\n").flatMap((line) => {
    const [, pid, state = "Z", command = ""] = /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    return state.startsWith("Z") ? [] : [{ pid: Number(pid), command }];
  });
}
