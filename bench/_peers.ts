/**
 * Knows the peers of the benchmark, and makes them ready to run.
 *
 * Those in Go and Rust are built once into a cache outside the checkout, by a digest of their sources.
 *
 * ```ts
 * import { PEERS } from "./_peers.ts";
 *
 * console.assert(PEERS.tend.elects && !PEERS.limit.elects);
 * ```
 *
 * @module
 */
import { DENO_FLAGS } from "../manifests.ts";
import { buildGo, cached, linkerFlags } from "../tools/build_control_plane.ts";
import type { Work } from "./peers/_kit.ts";

/** The names of the peers. */
export type PeerName = "tend" | "controller-runtime" | "kube-rs" | "limit-go" | "limit";

/** One operator, written with one framework. */
export interface Peer {
  readonly name: PeerName;
  /** What it can do in a reconcile. */
  readonly works: readonly Work[];
  /** True if it can lead under a lease. */
  readonly elects: boolean;
  /** True if it serves probes. */
  readonly probes: boolean;
  /** True if it finds the files of a pod by itself; else it gets a kubeconfig that names them. */
  readonly inCluster: boolean;
  /** True if it is there without a long build. */
  isBuilt(): Promise<boolean>;
  /** Makes it ready; the command line. @throws {Error} If it cannot be built */
  prepare(): Promise<string[]>;
}

/** A peer that is ready. */
export interface ReadyPeer extends Peer {
  readonly command: readonly string[];
}

const FOLDER = `${import.meta.dirname}/peers`;
const ALL: readonly Work[] = ["noop", "status", "owned"];

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** The files below a folder, in order, but for what builds leave. */
async function filesBelow(folder: string): Promise<string[]> {
  const paths: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (name === "target") continue;
    const path = `${folder}/${name}`;
    paths.push(...isDirectory ? await filesBelow(path) : [path]);
  }
  return paths.sort();
}

/** Where the program is that is built from some folders: another place for other sources. */
async function target(name: PeerName, folders: readonly string[]): Promise<string> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (const folder of folders) {
    for (const path of await filesBelow(`${FOLDER}/${folder}`)) {
      parts.push(new TextEncoder().encode(path.slice(FOLDER.length)), await Deno.readFile(path));
    }
  }
  const bytes = await new Blob(parts).arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex().slice(0, 16);
  return `${cached("bench")}/${name}-${digest}`;
}

/** A peer from sources that are built. */
function built(
  name: PeerName,
  folders: readonly string[],
  build: (source: string, target: string) => Promise<void>,
): Pick<Peer, "name" | "isBuilt" | "prepare"> {
  return {
    name,
    isBuilt: async () => await exists(await target(name, folders)),
    prepare: async () => {
      const program = await target(name, folders);
      if (!await exists(program)) {
        await Deno.mkdir(cached("bench"), { recursive: true });
        await build(`${FOLDER}/${folders[0]}`, program);
      }
      return [program];
    },
  };
}

function go(name: PeerName, folder: string): Pick<Peer, "name" | "isBuilt" | "prepare"> {
  return built(name, [folder, "protocol_go"], async (source, target) => {
    console.error(`Building ${name} into ${target}: this happens once`);
    await buildGo({ name, source, package: ".", target, ldflags: linkerFlags() });
  });
}

function rust(name: PeerName, folder: string, program: string): Pick<Peer, "name" | "isBuilt" | "prepare"> {
  return built(name, [folder], async (source, target) => {
    console.error(`Building ${name} into ${target}: this happens once, and takes minutes`);
    const output = `${cached("bench")}/target`;
    const args = ["build", "--release", "--locked", "--target-dir", output];
    let ended: Deno.CommandOutput;
    try {
      ended = await new Deno.Command("cargo", { args, cwd: source, stdout: "null", stderr: "piped" }).output();
    } catch (cause) {
      if (!(cause instanceof Deno.errors.NotFound)) throw cause;
      throw new Error(`Cannot build ${name}: it needs cargo in PATH`, { cause });
    }
    if (!ended.success) {
      const said = new TextDecoder().decode(ended.stderr).slice(-4000);
      throw new Error(`Cannot build ${name}: cargo ended with exit code ${ended.code}\n${said}`);
    }
    const partial = `${target}.${crypto.randomUUID()}`;
    await Deno.copyFile(`${output}/release/${program}`, partial);
    await Deno.rename(partial, target);
  });
}

/** From source, with the flags that the framework's manifests would start it with, and all permissions. */
function deno(name: PeerName, file: string): Pick<Peer, "name" | "isBuilt" | "prepare"> {
  return {
    name,
    isBuilt: () => Promise.resolve(true),
    prepare: async () => {
      const path = `${FOLDER}/${file}`, config = `${FOLDER}/../../deno.json`;
      const args = ["cache", "--quiet", "--config", config, path];
      const { success, stderr } = await new Deno.Command(Deno.execPath(), { args, stderr: "piped" }).output();
      if (!success) throw new Error(`Cannot load ${path}: ${new TextDecoder().decode(stderr)}`);
      const flags = DENO_FLAGS.filter((flag) => !flag.startsWith("--allow-"));
      return [Deno.execPath(), "run", "--quiet", ...flags, "--allow-all", "--config", config, path];
    },
  };
}

/** All peers, the framework's own first. */
export const PEERS: Readonly<Record<PeerName, Peer>> = {
  tend: { ...deno("tend", "tend.ts"), works: [...ALL, "delay"], elects: true, probes: true, inCluster: true },
  "controller-runtime": {
    ...go("controller-runtime", "controller_runtime"),
    works: ALL,
    elects: true,
    probes: true,
    inCluster: true,
  },
  "kube-rs": {
    ...rust("kube-rs", "kube_rs", "bench-kube-rs"),
    works: ALL,
    elects: true,
    probes: true,
    inCluster: true,
  },
  "limit-go": { ...go("limit-go", "limit_go"), works: ["noop"], elects: false, probes: true, inCluster: false },
  limit: { ...deno("limit", "limit.ts"), works: ALL, elects: false, probes: false, inCluster: true },
};
