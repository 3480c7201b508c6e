/** Runs an operator's file as a process of its own, as its header says, under the service account that its own RBAC is for. */
import { assert, assertEquals } from "@std/assert";
import { lines } from "../../_stream.ts";
import type { Client } from "../../client.ts";
import type { CustomResourceDefinition } from "../../kinds.ts";
import { resource, type Scope } from "../../resource.ts";
import type { ControlPlane } from "../../testing/control_plane.ts";
import { denoOk, ROOT } from "../_deno.ts";
import { applyAll, objectsOf, ownable } from "./_cluster.ts";
import { until } from "./_wait.ts";

/** One line of an operator's log. */
export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly hostname?: string;
  readonly port?: number;
  readonly key?: string;
  readonly retryIn?: number;
  readonly error?: { readonly message: string };
}

/** A running operator. */
export interface OperatorProcess extends AsyncDisposable {
  /** The address of its probes and metrics, such as `http://127.0.0.1:1234`. */
  readonly address: string;
  /** What it logged so far. */
  readonly log: readonly LogLine[];
  /** Sends it a signal. */
  kill(signal: Deno.Signal): void;
  /** Waits for its end. */
  ended(): Promise<Deno.CommandStatus>;
  /** Stops it in order; answers with its exit code. */
  stop(): Promise<number>;
  /** The text at a path of its server. */
  get(path: string): Promise<{ readonly status: number; readonly text: string }>;
}

/** A file that is an operator. */
export interface Program {
  /** Path from the root of the checkout, or an absolute one. */
  readonly file: string;
  /** The Deno flags that it is run with. */
  readonly flags: readonly string[];
}

/** An example, with the flags that its header names. */
export async function example(name: string): Promise<Program> {
  const file = `examples/${name}.ts`;
  const text = await Deno.readTextFile(`${ROOT}/${file}`);
  const command = new RegExp(`^ \\* +deno run ((?:--[\\w=,-]+ )+)${file}$`, "m").exec(text);
  if (!command) throw new Error(`The header of ${file} must say how to run it`);
  return { file, flags: command[1]!.trim().split(" ") };
}

/** What one of an operator's commands prints, as objects. */
export async function print(program: Program, ...command: string[]): Promise<ReturnType<typeof objectsOf>> {
  const { stdout } = await denoOk(["run", "--quiet", ...program.flags, program.file, ...command]);
  return objectsOf(stdout);
}

/** An operator that a control plane is prepared for. */
export interface Deployed {
  /** What to run. */
  readonly program: Program;
  /** Of the service account that has the operator's roles and nothing else. */
  readonly kubeconfig: string;
}

/** Applies what an operator's `crds` and `rbac` print, and waits until both are in effect. */
export async function deploy(
  plane: ControlPlane,
  admin: Client,
  program: Program,
  name: string,
): Promise<Deployed> {
  const definitions = await print(program, "crds");
  await applyAll(admin, [...definitions, ...await print(program, "rbac")]);
  const account = await plane.serviceAccount("default", name);
  await using client = plane.client(account);
  for (const { spec } of definitions as unknown as CustomResourceDefinition[]) {
    const { group, versions: [version], names: { kind, plural }, scope } = spec;
    const defined = resource({ group, version: version!.name, kind, plural, scope: scope as Scope });
    await until("The effect of the roles", () => client.api(defined).list({ limit: 1 }));
    await ownable(plane, admin, defined);
  }
  return { program, kubeconfig: account.kubeconfig };
}

/** Starts an operator and waits until its server listens. */
export async function startProcess(
  { program, kubeconfig }: Deployed,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<OperatorProcess> {
  const settings = ["--kubeconfig", kubeconfig, "--address", "127.0.0.1:0", "--log-format", "json", ...args];
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", ...program.flags, program.file, ...settings],
    cwd: ROOT,
    env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", ...env },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const log: LogLine[] = [];
  const listening = Promise.withResolvers<string>();
  listening.promise.catch(() => {});
  const reading = (async () => {
    for await (const text of lines(child.stderr)) {
      const line = lineOf(text);
      log.push(line);
      if (line.port !== undefined) listening.resolve(`http://${line.hostname}:${line.port}`);
    }
    listening.reject(new Error(`${program.file} has ended\n${log.map(({ message }) => message).join("\n")}`));
  })();
  const ended = async (): Promise<Deno.CommandStatus> => {
    const status = await child.status;
    await reading;
    return status;
  };
  let over = false;
  void child.status.then(() => over = true);
  const kill = (signal: Deno.Signal): void => {
    if (!over) child.kill(signal);
  };
  const end = async (): Promise<void> => {
    kill("SIGKILL");
    await ended();
  };
  try {
    const address = await listening.promise;
    return {
      address,
      log,
      kill,
      ended,
      stop: async () => (kill("SIGTERM"), (await ended()).code),
      get: async (path) => {
        const response = await fetch(address + path);
        return { status: response.status, text: await response.text() };
      },
      [Symbol.asyncDispose]: end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}

function lineOf(text: string): LogLine {
  try {
    return JSON.parse(text);
  } catch {
    return { level: "", message: text };
  }
}

/** Waits until an operator is ready. */
export async function ready(operator: OperatorProcess): Promise<void> {
  await until("The operator's readiness", async () => (await operator.get("/readyz")).status === 200, {
    explain: () => JSON.stringify(operator.log.slice(-10), undefined, 1),
  });
}

/** Makes sure that an operator got an answer to each of its requests, and was refused none, by its own metrics. */
export async function assertAllowed(operator: OperatorProcess): Promise<void> {
  const { text } = await operator.get("/metrics");
  const requests = text.split("\n").filter((line) =>
    /^rest_client_requests_total\{.*code="(2..|403|<error>)"/.test(line)
  );
  assert(requests.length > 0);
  const failed = requests.filter((line) => /code="(403|<error>)"/.test(line));
  assertEquals(failed, [], JSON.stringify(operator.log.filter(({ level }) => level !== "info"), undefined, 1));
}
