/** Runs Deno as a process of its own, as a user would. */

/** How a process ended. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a process is started. */
export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** The folder of this checkout. */
export const ROOT: string = `${import.meta.dirname}/..`;

/** A process that runs longer, in ms, is killed: tests end even when what they start does not. */
const PATIENCE = 180_000;

/** Runs this Deno with arguments, without colours, in the checkout unless told otherwise. */
export async function deno(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { cwd = ROOT, env = {} } = options;
  const overdue = new AbortController();
  const timer = setTimeout(() => overdue.abort(), PATIENCE);
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd,
    env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", ...env },
    stdin: "null",
    signal: overdue.signal,
  }).output().finally(() => clearTimeout(timer));
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

/** As {@linkcode deno}, for what must succeed. */
export async function denoOk(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const ran = await deno(args, options);
  if (ran.code !== 0) throw new Error(`deno ${args.join(" ")} ended with ${ran.code}\n${ran.stdout}\n${ran.stderr}`);
  return ran;
}

/** A module as `deno info --json` tells it. */
export interface ModuleInfo {
  readonly specifier: string;
  readonly error?: string;
  readonly dependencies?: readonly {
    readonly specifier: string;
    readonly isDynamic?: boolean;
    readonly code?: { readonly specifier?: string; readonly error?: string };
    readonly type?: { readonly specifier?: string; readonly error?: string };
  }[];
}

/** Every module that importing these files of the checkout may load, types and dynamic imports included. */
export async function moduleGraph(files: readonly string[]): Promise<readonly ModuleInfo[]> {
  const root = await Deno.realPath(ROOT);
  const entry = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    const imports = files.map((file) => `import ${JSON.stringify(new URL(`file://${root}/${file}`).href)};\n`);
    await Deno.writeTextFile(entry, imports.join(""));
    const { stdout } = await denoOk(["info", "--json", "--config", `${root}/deno.json`, entry]);
    return JSON.parse(stdout).modules.filter(({ specifier }: ModuleInfo) => !specifier.endsWith(entry));
  } finally {
    await Deno.remove(entry);
  }
}

/** A folder for `DENO_DIR` that is apart but for the npm packages that were downloaded before; disposing of it deletes it. */
export async function ownDenoDir(): Promise<{ readonly path: string } & AsyncDisposable> {
  const { stdout } = await denoOk(["info", "--json"]);
  const path = await Deno.makeTempDir({ prefix: "tend-deno-dir-" });
  await Deno.symlink(JSON.parse(stdout).npmCache, `${path}/npm`);
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}
