/**
 * Gives an operator's program its command line: run, and print manifests, CRDs and RBAC.
 *
 * ```ts
 * import { Operator } from "@tend/operator";
 * import { commandLine } from "./cli.ts";
 *
 * const code = await commandLine(new Operator("backup-operator"), ["--help"]);
 * console.assert(code === 0);
 * ```
 *
 * Exit codes: 0 after an orderly end, 1 after an error, 2 for a command line that cannot be understood.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { getLogger, type LogLevel } from "@logtape/logtape";
import { seedTls } from "./_tls_seed.ts";
import { messageOf } from "./errors.ts";
import { parseAddress } from "./health.ts";
import type { RunOptions } from "./lifecycle.ts";
import { configureLogging, LOG_FORMATS, LOG_LEVELS } from "./logging.ts";
import { type ManifestOptions, toYaml } from "./manifests.ts";
import { isDnsLabel } from "./names.ts";

type Manifest = Parameters<typeof toYaml>[0][number];

/** What the command line needs of an operator. */
export interface CommandLineOperator {
  readonly name: string;
  readonly version: string;
  run(options: RunOptions): Promise<void>;
  crds(): readonly Manifest[];
  roles(options: ManifestOptions): readonly Manifest[];
  manifests(options: ManifestOptions): readonly Manifest[];
}

/** Where the command line writes. */
export interface CommandLineIo {
  /** Takes what was asked for. @default {standard output} */
  readonly print?: ((text: string) => void) | undefined;
  /** Takes logs and errors. @default {standard error} */
  readonly complain?: ((text: string) => void) | undefined;
  /** Options of the run that no flag sets. */
  readonly run?: RunOptions | undefined;
}

/** One flag: what it takes, in which commands, and what for. */
interface Flag {
  readonly value?: string;
  readonly commands: readonly string[];
  readonly help: string;
}

const COMMANDS: Readonly<Record<string, string>> = {
  run: "run the operator until SIGTERM or SIGINT (the default)",
  manifests: "print all that deploys it: CRDs, service account, RBAC, Deployment",
  crds: "print the CustomResourceDefinitions",
  rbac: "print the service account's roles and bindings",
};

const RUN = ["run"];
const FLAGS: Readonly<Record<string, Flag>> = {
  kubeconfig: {
    value: "FILE",
    commands: RUN,
    help: "kubeconfig to use instead of KUBECONFIG, the service account or ~/.kube/config",
  },
  context: { value: "NAME", commands: RUN, help: "context of the kubeconfig" },
  namespaces: {
    value: "A,B",
    commands: ["run", "manifests", "rbac"],
    help: "namespaces for controllers that name none; without it, all",
  },
  address: { value: "HOST:PORT", commands: RUN, help: "address of probes and metrics, 0 for none (default :8080)" },
  "metrics-address": { value: "HOST:PORT", commands: RUN, help: "address of the metrics alone, 0 for none" },
  "log-level": { value: "LEVEL", commands: RUN, help: `${LOG_LEVELS.join(", ")} (default info)` },
  "log-format": { value: "FORMAT", commands: RUN, help: "text or json (default text on a terminal, else json)" },
  "leader-elect": { commands: RUN, help: "lead under the declared lease (default; --no-leader-elect runs without)" },
  identity: { value: "NAME", commands: RUN, help: "identity in the lease (default: host name and a random part)" },
  "shutdown-grace": {
    value: "SECONDS",
    commands: RUN,
    help: "how long running reconciles may take to finish (default 30)",
  },
  image: { value: "IMAGE", commands: ["manifests"], help: "container image of the Deployment" },
  program: { value: "FILE", commands: ["manifests"], help: "program in the image (default operator.ts)" },
  compiled: { commands: ["manifests"], help: "the image starts the operator itself, not deno" },
  namespace: { value: "NAME", commands: ["manifests", "rbac"], help: "namespace that the operator runs in" },
  replicas: { value: "N", commands: ["manifests"], help: "replicas of the Deployment" },
  "create-namespace": { commands: ["manifests"], help: "print the Namespace, too" },
  help: { commands: Object.keys(COMMANDS), help: "print this" },
  version: { commands: Object.keys(COMMANDS), help: "print the version" },
};

type Values = Readonly<Record<string, string | boolean | undefined>>;

/** A command line that cannot be understood. */
class UsageError extends Error {
  override name = "UsageError";
}

/** Runs one command line and answers with the exit code. */
export async function commandLine(
  operator: CommandLineOperator,
  args: readonly string[],
  io: CommandLineIo = {},
): Promise<number> {
  const { print = console.log, complain = console.error } = io;
  try {
    const { command, values } = read(args);
    if (values.help) return print(help(operator.name)), 0;
    if (values.version) return print(`${operator.name} ${operator.version}`), 0;
    if (command === "run") {
      const seeded = seedTls();
      try {
        return await run(operator, values, io);
      } finally {
        await seeded;
      }
    }
    print(document(operator, command, values).trimEnd());
    return 0;
  } catch (error) {
    const usage = error instanceof UsageError;
    complain(`${operator.name}: ${oneLine(messageOf(error))}${usage ? " (see --help)" : ""}`);
    return usage ? 2 : 1;
  }
}

function read(args: readonly string[]): { command: string; values: Values } {
  const options = Object.fromEntries(
    Object.entries(FLAGS).map(([name, { value }]) => [name, { type: value ? "string" as const : "boolean" as const }]),
  );
  let parsed;
  try {
    parsed = parseArgs({ args: [...args], options, allowPositionals: true, allowNegative: true, strict: true });
  } catch (error) {
    // The first sentence says which flag is wrong; what follows are hints about "--".
    throw new UsageError(oneLine((error as Error).message.split(". ")[0]!.replace(/\.$/, "")));
  }
  const { positionals, values } = parsed;
  const [command = "run", ...rest] = positionals;
  if (!Object.hasOwn(COMMANDS, command) || rest.length > 0) {
    throw new UsageError(
      `Unknown command ${JSON.stringify(positionals.join(" "))}: it must be one of ${Object.keys(COMMANDS).join(", ")}`,
    );
  }
  for (const [name, value] of Object.entries(values)) {
    const { commands } = FLAGS[name]!;
    if (!commands.includes(command)) throw new UsageError(`--${name} has no meaning for the command "${command}"`);
    if (value === "") throw new UsageError(`--${name} needs a value`);
    if (value === false && name !== "leader-elect") throw new UsageError(`Unknown option '--no-${name}'`);
  }
  if (values.compiled && values.program !== undefined) throw new UsageError("--program has no meaning with --compiled");
  return { command, values: values as Values };
}

function document(operator: CommandLineOperator, command: string, values: Values): string {
  if (command === "crds") return toYaml(operator.crds());
  const options: ManifestOptions = {
    image: word("image", values.image),
    program: values.compiled === true ? false : word("program", values.program),
    namespace: label("namespace", values.namespace),
    namespaces: labels("namespaces", values.namespaces),
    replicas: integer("replicas", values.replicas),
    createNamespace: values["create-namespace"] === true,
  };
  try {
    return toYaml(command === "rbac" ? operator.roles(options) : operator.manifests(options));
  } catch (error) {
    // A number that is well-formed may still be none that this operator can have.
    throw error instanceof RangeError && values.replicas !== undefined ? new UsageError(error.message) : error;
  }
}

async function run(operator: CommandLineOperator, values: Values, io: CommandLineIo): Promise<number> {
  const { complain = console.error } = io;
  const level = oneOf("log-level", values["log-level"], LOG_LEVELS) as LogLevel | undefined;
  const format = oneOf("log-format", values["log-format"], LOG_FORMATS);
  const grace = integer("shutdown-grace", values["shutdown-grace"]);
  const options: RunOptions = {
    connection: { kubeconfig: text(values.kubeconfig), context: text(values.context) },
    namespaces: labels("namespaces", values.namespaces),
    address: address("address", values.address ?? ":8080"),
    metricsAddress: address("metrics-address", values["metrics-address"]),
    leaderElection: values["leader-elect"] !== false,
    identity: text(values.identity),
    shutdownGrace: grace === undefined ? undefined : grace * 1000,
    ...io.run,
  };
  const restore = await configureLogging({ level, format, write: complain });
  const log = getLogger(["tend", "operator"]);
  // A promise that nobody awaits must neither end the process nor go unseen.
  const onUnhandled = (event: PromiseRejectionEvent): void => {
    event.preventDefault();
    log.error("A promise that nobody awaits was rejected", { error: event.reason });
  };
  globalThis.addEventListener("unhandledrejection", onUnhandled);
  try {
    await operator.run(options);
    return 0;
  } catch (error) {
    log.fatal("Operator {operator} ended with an error", { operator: operator.name, error });
    return 1;
  } finally {
    globalThis.removeEventListener("unhandledrejection", onUnhandled);
    await restore();
  }
}

function text(value: string | boolean | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function refuse(name: string, rule: string, value: unknown): never {
  throw new UsageError(`--${name} must be ${rule}: current value is ${JSON.stringify(value)}`);
}

/** Errors of the command line are told in one line, which steers no terminal. */
function oneLine(text: string): string {
  return text.replace(/\s*[\r\n]\s*/g, " ").replace(/\p{Cc}/gu, "?");
}

function oneOf<T extends string>(name: string, value: Values[string], choices: readonly T[]): T | undefined {
  if (value === undefined || choices.includes(value as T)) return value as T | undefined;
  return refuse(name, `one of ${choices.join(", ")}`, value);
}

function integer(name: string, value: Values[string]): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  return /^\d+$/.test(String(value)) && Number.isSafeInteger(number * 1000)
    ? number
    : refuse(name, "a whole number of at least 0", value);
}

function word(name: string, value: Values[string]): string | undefined {
  return value === undefined || /^\S+$/.test(String(value)) ? text(value) : refuse(name, "without spaces", value);
}

function label(name: string, value: Values[string]): string | undefined {
  return value === undefined || isDnsLabel(value) ? text(value) : refuse(name, "a namespace's name", value);
}

function labels(name: string, value: Values[string]): string[] | undefined {
  const names = text(value)?.split(",").map((one) => one.trim());
  return names === undefined || names.every(isDnsLabel)
    ? names && [...new Set(names)]
    : refuse(name, "names of namespaces joined by commas", value);
}

function address(name: string, value: Values[string]): string | undefined {
  if (value === undefined) return undefined;
  try {
    parseAddress(String(value));
    return String(value);
  } catch (error) {
    return refuse(name, `an address such as :8080, or 0 for none (${(error as Error).message})`, value);
  }
}

function help(name: string): string {
  const flags = Object.entries(FLAGS).map(([flag, { value, help, commands }]) => {
    const only = commands.includes("run") ? "" : ` [${commands.join(", ")}]`;
    return `  ${`--${flag}${value ? ` ${value}` : ""}`.padEnd(28)} ${help}${only}`;
  });
  const commands = Object.entries(COMMANDS).map(([command, help]) => `  ${command.padEnd(28)} ${help}`);
  return [`Usage: ${name} [command] [flags]`, "", "Commands:", ...commands, "", "Flags:", ...flags].join("\n");
}
