/**
 * Runs one peer: starts it, hears what it says, measures it, stops it.
 *
 * @module
 */
import { epoch } from "./_clock.ts";
import { type Usage, usage } from "./_process.ts";
import { lines } from "../_stream.ts";

/** What a peer said, and what it had used when it did. */
export interface Said {
  readonly event: string;
  /** When, in ms since 1970, by the peer's clock. */
  readonly at: number;
  readonly objects?: number;
  readonly revision?: number;
  readonly usage: Usage;
}

/** What a peer has counted since it started. */
export interface Totals {
  readonly reconciles: number;
  readonly errors: number;
  readonly writes: number;
}

/** How a peer is started. */
export interface SubjectOptions {
  readonly name: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Called when it is gone. */
  readonly onEnd?: () => void;
}

/** How long a peer may take to answer, and to stop, in ms. */
const ANSWER = 30_000, STOP = 60_000;
const KEPT = 20_000;

/** A running peer; killed at the end if it was not stopped. */
export class Subject implements AsyncDisposable {
  readonly name: string;
  /** Its process. */
  readonly pid: number;
  /** When it was started, in ms since 1970. */
  readonly started: number;
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #waiting = new Map<string, PromiseWithResolvers<Record<string, unknown>>>();
  readonly #ended: Promise<unknown>;
  #cpu = 0;
  #errors = "";
  #gone: string | undefined;

  constructor({ name, command: [program = "", ...args], env, onEnd = () => {} }: SubjectOptions) {
    this.name = name;
    // Nothing of this process' environment but what programs need: no kubeconfig of its own.
    const kept = ["PATH", "HOME", "DENO_DIR", "XDG_CACHE_HOME", "TMPDIR"];
    const own = Object.fromEntries(kept.flatMap((key) => Deno.env.has(key) ? [[key, Deno.env.get(key)!]] : []));
    this.started = epoch();
    this.#child = new Deno.Command(program, {
      args,
      env: { ...own, DENO_NO_UPDATE_CHECK: "1", ...env },
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.pid = this.#child.pid;
    this.#input = this.#child.stdin.getWriter();
    this.#input.closed.catch(() => {}); // It may die before it has read all.
    this.#ended = Promise.all([this.#hear(), this.#collect(), this.#child.status]).then(([, , { code, signal }]) => {
      onEnd();
      this.#gone = signal ?? `exit code ${code}`;
      for (const [event, waiting] of this.#waiting) waiting.reject(this.#failure(`said no "${event}"`));
    });
  }

  /** Waits for `first` or `done`: for the next one that was not waited for yet. */
  async hear(event: "first" | "done", limit: number): Promise<Said> {
    return await this.#wait(event, limit) as unknown as Said;
  }

  /** Sets what it says `done` to. */
  async expect(objects: number, revision: number): Promise<void> {
    await this.#command(`expect ${objects} ${revision}`);
  }

  async totals(): Promise<Totals> {
    await this.#command("totals");
    return await this.#wait("totals", ANSWER) as unknown as Totals;
  }

  /** From the sending of updates to the start of their reconciles, in ms, since this was last asked. */
  async latencies(): Promise<number[]> {
    await this.#command("latencies");
    return (await this.#wait("latencies", ANSWER)).ms as number[];
  }

  /** What it has used up to now: never less processor time than before, though threads that end take theirs along. */
  usage(): Usage {
    const used = usage(this.pid);
    this.#cpu = Math.max(this.#cpu, used.cpu);
    return { ...used, cpu: this.#cpu };
  }

  /** Ends it: in order by default, which must succeed; with SIGKILL without a word. */
  async stop(signal?: "SIGTERM" | "SIGKILL"): Promise<void> {
    if (signal === undefined) await this.#input.close().catch(() => {});
    else this.signal(signal);
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, STOP);
    await Promise.race([this.#ended, promise]);
    clearTimeout(timer);
    if (this.#gone === undefined) throw this.#failure(`has not stopped within ${STOP} ms`);
    if (signal !== "SIGKILL" && this.#gone !== "exit code 0") throw this.#failure("did not stop in order");
  }

  /** Sends a signal, unless it is gone. */
  signal(signal: Deno.Signal): void {
    try {
      this.#child.kill(signal);
    } catch {
      // It is gone.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#gone !== undefined) return;
    this.signal("SIGKILL");
    await this.#ended;
  }

  async #command(line: string): Promise<void> {
    try {
      await this.#input.write(new TextEncoder().encode(`${line}\n`));
    } catch {
      await this.#ended; // What it said at its end tells more than a broken pipe.
      throw this.#failure(`did not take "${line}"`);
    }
  }

  #slot(event: string): PromiseWithResolvers<Record<string, unknown>> {
    let slot = this.#waiting.get(event);
    if (slot === undefined) {
      this.#waiting.set(event, slot = Promise.withResolvers());
      slot.promise.catch(() => {}); // Whoever waits gets it, too.
    }
    return slot;
  }

  async #wait(event: string, limit: number): Promise<Record<string, unknown>> {
    if (this.#gone !== undefined && !this.#waiting.has(event)) throw this.#failure(`said no "${event}"`);
    const { promise, reject } = this.#slot(event);
    const timer = setTimeout(() => reject(this.#failure(`said no "${event}" within ${limit} ms`)), limit);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(event);
    }
  }

  async #hear(): Promise<void> {
    for await (const line of lines(this.#child.stdout)) {
      let said: Record<string, unknown>;
      try {
        said = JSON.parse(line);
      } catch {
        this.#errors += `(standard output) ${line}\n`;
        continue;
      }
      const timed = said.event === "first" || said.event === "done";
      this.#slot(String(said.event)).resolve(timed ? { ...said, usage: this.#used() } : said);
    }
  }

  /** What it has used, if it is still there to tell. */
  #used(): Usage | undefined {
    try {
      return this.usage();
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    }
  }

  async #collect(): Promise<void> {
    for await (const chunk of this.#child.stderr.pipeThrough(new TextDecoderStream())) {
      this.#errors = (this.#errors + chunk).slice(-KEPT);
    }
  }

  #failure(what: string): Error {
    const end = this.#gone === undefined ? "it still runs" : `it has ended with ${this.#gone}`;
    return new Error(`The peer ${this.name} ${what}; ${end}\n${this.#errors}`);
  }
}
