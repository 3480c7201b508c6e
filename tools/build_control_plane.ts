/**
 * Builds the real etcd and kube-apiserver that the control plane tests run on, once, into a cache outside the checkout.
 *
 * The versions are those in `tools/control_plane/`: change them there with `go get`. Where `KUBEBUILDER_ASSETS` names a folder with
 * both programs, nothing is built. Prints the folder.
 *
 * ```sh
 * deno run -A tools/build_control_plane.ts
 * ```
 *
 * @module
 */

/** One program: the module that it is built from, and how. */
interface Program {
  /** The program's name, and its folder beside this file. */
  readonly name: string;
  /** The module whose version it has. */
  readonly module: string;
  /** The package that is built. */
  readonly package: string;
}

const ETCD: Program = { name: "etcd", module: "go.etcd.io/etcd/server/v3", package: "go.etcd.io/etcd/server/v3" };
const API_SERVER: Program = {
  name: "kube-apiserver",
  module: "k8s.io/kubernetes",
  package: "k8s.io/kubernetes/cmd/kube-apiserver",
};
const PROGRESS = 15_000;

/** The version of a module in the text of a `go.mod`, such as `v3.7.3`. */
export function moduleVersion(goMod: string, module: string): string {
  for (const line of goMod.split("\n")) {
    const [path, version] = line.trim().replace(/^require /, "").split(" ");
    if (path === module && version?.startsWith("v")) return version;
  }
  throw new Error(`Cannot build the control plane: go.mod must require ${module}`);
}

type Environment = (name: string) => string | undefined;

/** A folder for what is built once: under `XDG_CACHE_HOME` or `~/.cache`. */
export function cached(name: string, env: Environment = (name) => Deno.env.get(name)): string {
  return `${env("XDG_CACHE_HOME") || `${env("HOME")}/.cache`}/tend/${name}`;
}

/** The folder that the built programs are kept in, by version. */
export function cacheFolder(
  versions: { readonly kubernetes: string; readonly etcd: string },
  env?: Environment,
): string {
  return cached(`control-plane/${versions.kubernetes}-etcd${versions.etcd.replace("v", "")}`, env);
}

/** Flags of the linker: without symbols, and with the version that the server is to report. */
export function linkerFlags(kubernetes?: string): string {
  if (kubernetes === undefined) return "-s -w";
  const [major, minor] = kubernetes.slice(1).split(".");
  const version = "k8s.io/component-base/version";
  return `-s -w -X ${version}.gitVersion=${kubernetes} -X ${version}.gitMajor=${major} -X ${version}.gitMinor=${minor}`;
}

/**
 * Answers with a folder that has both programs, which may take ten minutes the first time.
 *
 * @throws {Error} If the build fails
 */
export async function controlPlaneAssets(): Promise<string> {
  const given = Deno.env.get("KUBEBUILDER_ASSETS");
  if (given) return given;
  const kubernetes = await versionOf(API_SERVER);
  const folder = cacheFolder({ kubernetes, etcd: await versionOf(ETCD) });
  await Deno.mkdir(folder, { recursive: true });
  await buildOnce(ETCD, folder, linkerFlags());
  await buildOnce(API_SERVER, folder, linkerFlags(kubernetes));
  return folder;
}

async function buildOnce(program: Program, folder: string, ldflags: string): Promise<void> {
  const target = `${folder}/${program.name}`;
  if (await isFile(target)) return;
  console.error(`Building ${program.name} ${await versionOf(program)} into ${folder}: this happens once`);
  const instead = "KUBEBUILDER_ASSETS must name a folder with etcd and kube-apiserver";
  await buildGo({ ...program, source: sourceOf(program), target, ldflags, instead });
}

function sourceOf(program: Program): string {
  return `${import.meta.dirname}/control_plane/${program.name}`;
}

async function versionOf(program: Program): Promise<string> {
  return moduleVersion(await Deno.readTextFile(`${sourceOf(program)}/go.mod`), program.module);
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** What {@linkcode buildGo} builds. */
export interface GoBuild {
  /** The program's name. */
  readonly name: string;
  /** The folder with its `go.mod`. */
  readonly source: string;
  /** The package. */
  readonly package: string;
  /** The file that is written. */
  readonly target: string;
  /** Flags of the linker. */
  readonly ldflags: string;
  /** What helps where there is no Go. */
  readonly instead?: string;
}

function start({ name, source, package: built, ldflags, instead }: GoBuild, output: string): Deno.ChildProcess {
  try {
    return new Deno.Command("go", {
      args: ["build", "-v", "-trimpath", "-buildvcs=false", "-ldflags", ldflags, "-o", output, built],
      cwd: source,
      env: { CGO_ENABLED: "0" },
      stdout: "null",
      stderr: "piped",
    }).spawn();
  } catch (cause) {
    if (!(cause instanceof Deno.errors.NotFound)) throw cause;
    throw new Error(
      `Cannot build ${name}: it needs Go in PATH${instead === undefined ? "" : `, or ${instead}`}`,
      { cause },
    );
  }
}

/**
 * Builds a program under a name of its own and renames it, so that what is there is whole.
 *
 * @throws {Error} If the build fails, or there is no Go
 */
export async function buildGo(program: GoBuild): Promise<void> {
  const partial = `${program.target}.${crypto.randomUUID()}`;
  const started = performance.now();
  const elapsed = (): string => `${Math.round((performance.now() - started) / 1000)} s`;
  const child = start(program, partial);
  let lines = 0;
  let last = "";
  const timer = setInterval(() => console.error(`${program.name}: ${lines} packages, ${elapsed()}`), PROGRESS);
  try {
    for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) {
      lines += chunk.split("\n").length - 1;
      last = (last + chunk).slice(-2000);
    }
    const { code } = await child.status;
    if (code !== 0) throw new Error(`Cannot build ${program.name}: go build ended with exit code ${code}\n${last}`);
    await Deno.rename(partial, program.target);
    console.error(`Built ${program.name} in ${elapsed()}`);
  } finally {
    clearInterval(timer);
    if (await isFile(partial)) await Deno.remove(partial);
  }
}

if (import.meta.main) console.log(await controlPlaneAssets());
