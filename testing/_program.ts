/**
 * Runs an API server in memory as a program, from its command line to the signal that ends it.
 *
 * ```ts
 * import { program } from "./_program.ts";
 *
 * console.assert(await program(["--help"], { print: () => {} }) === 0);
 * ```
 *
 * @module
 */
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { type ControllerName, CONTROLLERS } from "./_controllers.ts";
import { type TokenUser, tokenUsers } from "./_token_file.ts";
import { ApiServer } from "./api_server.ts";

/** Where the program writes, and what ends it. */
export interface ProgramIo {
  /** Takes lines for standard output. @default {console.log} */
  readonly print?: ((line: string) => void) | undefined;
  /** Takes lines for standard error. @default {console.error} */
  readonly complain?: ((line: string) => void) | undefined;
  /** Ends it as a signal would. @default {never} */
  readonly signal?: AbortSignal | undefined;
}

/** A command line that cannot be followed. */
class UsageError extends Error {
  override name = "UsageError";
}

const NAME = "api-server";
/** The first line of a kubeconfig that may be written over and removed. */
const MARK = "# Written by api-server of @tend/operator, which removes it when it ends.\n";
const SIGNALS = ["SIGINT", "SIGTERM"] as const;

const HELP = `Usage: ${NAME} [FLAGS]

Serves the Kubernetes API from memory on 127.0.0.1 until SIGINT or SIGTERM.

  --port N               port, 0 for a free one (default 0)
  --kubeconfig FILE      write a kubeconfig of a cluster admin; a file of another origin is left alone
  --load FILE            apply the YAML before the start; may be given several times
  --token-file FILE      users: lines of token,user,uid,"group1,group2"
  --authorization        enforce RBAC from the stored roles; implies --tls
  --tls                  HTTPS, with a certificate made at the start; kubectl sends tokens over HTTPS alone
  --client-certificates  users by client certificate, the kubeconfig's too; implies --tls
  --controllers LIST     what runs besides, * for all: ${CONTROLLERS.join(", ")} (default none)
  --controller-delay MS  after how many ms a controller meets a change (default 0)
  --sharding             take shardSelector in lists and watches
  --help                 print this`;

/** What the command line asks for. */
interface Plan {
  readonly port: number;
  readonly kubeconfig: string | undefined;
  readonly load: readonly string[];
  readonly users: Readonly<Record<string, TokenUser>>;
  readonly authorization: boolean;
  readonly tls: boolean;
  readonly clientCertificates: boolean;
  readonly controllers: readonly ControllerName[];
  readonly controllerDelay: number;
  readonly sharding: boolean;
}

/** Runs one command line and answers with the exit code: 0 after a signal, 1 after a failure, 2 if it makes no sense. */
export async function program(args: readonly string[], io: ProgramIo = {}): Promise<number> {
  const { print = console.log, complain = console.error } = io;
  try {
    const flags = read(args);
    if (flags.help) return print(HELP), 0;
    await run(await plan(flags), print, io.signal);
    return 0;
  } catch (error) {
    const usage = error instanceof UsageError;
    const message = (error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, " ");
    complain(`${NAME}: ${message}${usage ? " (see --help)" : ""}`);
    return usage ? 2 : 1;
  }
}

const text = { type: "string" } as const, flag = { type: "boolean" } as const;
const FLAGS = {
  port: text,
  kubeconfig: text,
  load: { type: "string", multiple: true },
  "token-file": text,
  authorization: flag,
  tls: flag,
  "client-certificates": flag,
  controllers: text,
  "controller-delay": text,
  sharding: flag,
  help: flag,
} as const;

type Flags = ReturnType<typeof parseArgs<{ options: typeof FLAGS }>>["values"];

function read(args: readonly string[]): Flags {
  try {
    return parseArgs({ args: [...args], options: FLAGS, strict: true, allowPositionals: false }).values;
  } catch (error) {
    // The first sentence says which flag is wrong; what follows are hints.
    throw new UsageError((error as Error).message.split(". ")[0]!.replace(/\.$/, ""));
  }
}

function wholeNumber(name: string, value: string | undefined, most: number): number {
  if (value === undefined) return 0;
  if (/^\d+$/.test(value) && Number(value) <= most) return Number(value);
  throw new UsageError(`--${name} must be an integer from 0 to ${most}: current value is ${JSON.stringify(value)}`);
}

async function readFile(name: string, path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    throw new UsageError(`Cannot read --${name} ${JSON.stringify(path)}: ${(error as Error).message}`);
  }
}

async function plan(flags: Flags): Promise<Plan> {
  for (const [name, value] of Object.entries(flags)) {
    if (value === "" || (Array.isArray(value) && value.includes(""))) throw new UsageError(`--${name} needs a value`);
  }
  const { authorization = false, tls = false, kubeconfig, controllers = "", "token-file": tokens } = flags;
  const { "client-certificates": clientCertificates = false } = flags;
  const port = wholeNumber("port", flags.port, 65_535);
  const controllerDelay = wholeNumber("controller-delay", flags["controller-delay"], 2 ** 31 - 1);
  let users: Record<string, TokenUser> = {};
  if (tokens !== undefined) {
    const lines = await readFile("token-file", tokens);
    try {
      users = tokenUsers(lines);
    } catch (error) {
      throw new UsageError(`Cannot use --token-file ${JSON.stringify(tokens)}: ${(error as Error).message}`);
    }
  }
  const load: string[] = [];
  for (const path of flags.load ?? []) load.push(await readFile("load", path));
  if (kubeconfig !== undefined) await mayWrite(kubeconfig);
  return {
    port,
    kubeconfig,
    load,
    users,
    authorization,
    tls: tls || authorization || clientCertificates,
    clientCertificates,
    controllers: controllersOf(controllers),
    controllerDelay,
    sharding: flags.sharding ?? false,
  };
}

function controllersOf(list: string): readonly ControllerName[] {
  const names = list.split(",").map((name) => name.trim()).filter((name) => name !== "");
  for (const name of names) {
    if (name === "*" || (CONTROLLERS as readonly string[]).includes(name)) continue;
    throw new UsageError(
      `--controllers must be of ${CONTROLLERS.join(", ")}: current value is ${JSON.stringify(name)}`,
    );
  }
  return CONTROLLERS.filter((name) => names.includes("*") || names.includes(name));
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** A kubeconfig that somebody else wrote stays as it is. */
async function mayWrite(path: string): Promise<void> {
  try {
    if (!(await Deno.stat(dirname(path))).isDirectory) throw new Error("its folder is a file");
    if ((await readIfThere(path))?.startsWith(MARK) ?? true) return;
  } catch (error) {
    throw new UsageError(`Cannot write --kubeconfig ${JSON.stringify(path)}: ${(error as Error).message}`);
  }
  throw new UsageError(`Cannot write --kubeconfig ${JSON.stringify(path)}: there is a file that ${NAME} did not write`);
}

async function run(plan: Plan, print: (line: string) => void, signal?: AbortSignal): Promise<void> {
  const { port, kubeconfig, load, tls, clientCertificates, ...options } = plan;
  using stopped = untilStopped(signal);
  await using server = new ApiServer(options);
  for (const text of load) await server.apply(text);
  const listening = await server.listen({ port, tls, clientCertificates });
  const written = `${MARK}${listening.kubeconfig}`;
  if (kubeconfig !== undefined) await Deno.writeTextFile(kubeconfig, written, { mode: 0o600 });
  try {
    print(`${NAME}: ready on ${listening.url}${kubeconfig === undefined ? "" : ` with kubeconfig ${kubeconfig}`}`);
    await stopped.promise;
  } finally {
    if (kubeconfig !== undefined) await removeOwn(kubeconfig, written);
  }
}

/** Removes a file if it still is what was written. */
async function removeOwn(path: string, written: string): Promise<void> {
  if (await readIfThere(path) === written) await Deno.remove(path);
}

function untilStopped(signal?: AbortSignal): { promise: Promise<void> } & Disposable {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = (): void => resolve();
  for (const each of SIGNALS) Deno.addSignalListener(each, stop);
  signal?.addEventListener("abort", stop);
  if (signal?.aborted) stop();
  return {
    promise,
    [Symbol.dispose]: () => {
      for (const each of SIGNALS) Deno.removeSignalListener(each, stop);
      signal?.removeEventListener("abort", stop);
    },
  };
}
