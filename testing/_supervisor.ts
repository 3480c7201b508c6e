/**
 * Runs programs that cannot outlive this process or test module, even when it is killed: a shell ends them when its input closes.
 *
 * ```ts
 * import { Supervisor } from "./_supervisor.ts";
 *
 * await using supervisor = await Supervisor.start();
 * await supervisor.run("sleeper", ["sleep", "60"]);
 * console.assert(supervisor.exitCode("sleeper") === undefined);
 * ```
 *
 * @module
 */
import { delay } from "../delay.ts";

/**
 * Reads names and runs `NAME.sh` for each in the background. At the end of its input, which is the end of whoever writes it,
 * it kills what still runs and deletes its folder; a program that starts at that moment sees the file `closing`. It ignores the
 * signals of a terminal, the programs do not.
 */
const SCRIPT = `
trap '' HUP INT TERM
cd "$0" || exit 1
while read -r name; do
  ( ( trap - HUP INT TERM; exec sh "./$name.sh" </dev/null >>"$name.log" 2>&1 )
    echo $? >"$name.exit.new"; mv "$name.exit.new" "$name.exit"
  ) &
done
: >closing
for file in *.pid; do
  [ -e "$file" ] && [ ! -e "\${file%.pid}.exit" ] && kill -9 "$(cat "$file")"
done 2>/dev/null
wait
cd / && rm -rf "$0"
`;

const POLL = 20;
/** How long a program is given to stand still, in ms. */
const FREEZE_LIMIT = 1000;

/** A folder with programs that end, and a folder that is deleted, when this object is disposed of or this process ends. */
export class Supervisor implements AsyncDisposable {
  /** The folder that the programs' files are in; deleted at the end. */
  readonly folder: string;
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  #disposed: Promise<void> | undefined;

  private constructor(folder: string) {
    this.folder = folder;
    this.#child = new Deno.Command("sh", {
      args: ["-c", SCRIPT, folder],
      stdin: "piped",
      stdout: "null",
      stderr: "null",
      // Else Deno kills the shell, and so nobody ends the programs, when only a worker or a test module dies.
      detached: true,
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
  }

  /** Makes the folder, in the system's temporary one, and starts the shell. */
  static async start(prefix = "tend-"): Promise<Supervisor> {
    return new Supervisor(await Deno.makeTempDir({ prefix }));
  }

  /** The path of a file in the folder. */
  path(name: string): string {
    return `${this.folder}/${name}`;
  }

  /** Starts a program under a name, again if it ran before; resolves when it runs. */
  async run(name: string, command: readonly string[]): Promise<void> {
    await this.#remove(`${name}.pid`);
    await this.#remove(`${name}.exit`);
    const words = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
    const pid = `echo $$ >${name}.pid.new && mv ${name}.pid.new ${name}.pid`;
    await Deno.writeTextFile(this.path(`${name}.sh`), `${pid} && [ ! -e closing ] && exec ${words}\n`);
    await this.#input.write(new TextEncoder().encode(`${name}\n`));
    while (this.#number(`${name}.pid`) === undefined && this.exitCode(name) === undefined) await delay(POLL);
  }

  /** The exit code of a program; `undefined` while it runs. A program ended by a signal has 128 and the signal's number. */
  exitCode(name: string): number | undefined {
    return this.#number(`${name}.exit`);
  }

  /** Sends a signal to a program, unless it has ended. */
  signal(name: string, signal: Deno.Signal): void {
    const pid = this.#number(`${name}.pid`);
    if (pid === undefined || this.exitCode(name) !== undefined) return;
    try {
      Deno.kill(pid, signal);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }

  /** Stops a program with SIGSTOP and waits until every thread of it stands still; where /proc does not tell, for a moment. */
  async freeze(name: string): Promise<void> {
    this.signal(name, "SIGSTOP");
    const pid = this.#number(`${name}.pid`);
    for (let waited = 0; waited < FREEZE_LIMIT && !isFrozen(pid); waited += POLL) await delay(POLL);
  }

  /** Ends a program: `signal` first, SIGKILL when it still runs `grace` ms later. */
  async end(name: string, signal: Deno.Signal = "SIGKILL", grace = 10_000): Promise<void> {
    if (this.#number(`${name}.pid`) === undefined) return;
    this.signal(name, signal);
    for (let waited = 0; this.exitCode(name) === undefined; waited += POLL) {
      if (waited >= grace) this.signal(name, "SIGKILL");
      await delay(POLL);
    }
  }

  /** What a program printed so far, from all its runs; only the end when it is long. */
  log(name: string, limit = 20_000): string {
    try {
      return Deno.readTextFileSync(this.path(`${name}.log`)).slice(-limit);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return "";
      throw error;
    }
  }

  /** Kills the programs and deletes the folder. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#disposed ??= this.#dispose();
  }

  async #dispose(): Promise<void> {
    await this.#input.close();
    await this.#child.status;
  }

  #number(file: string): number | undefined {
    try {
      return Number(Deno.readTextFileSync(this.path(file)));
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    }
  }

  async #remove(file: string): Promise<void> {
    await Deno.remove(this.path(file)).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
  }
}

/** True if all threads of a process are stopped, as Linux tells in the field behind the program's name. */
function isFrozen(pid: number | undefined): boolean {
  try {
    const threads = [...Deno.readDirSync(`/proc/${pid}/task`)];
    return threads.every(({ name }) => /\) [Tt] /.test(Deno.readTextFileSync(`/proc/${pid}/task/${name}/stat`)));
  } catch {
    return false;
  }
}
