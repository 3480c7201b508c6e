/**
 * Knows the peers of the benchmark, and makes them ready to run.
 *
 * Those in Go and Rust are built once into a cache outside the checkout, by a digest of their sources.
 *
 * ```ts
 * import { PEERS } from "./_peers.ts";
 *
 * console.assert(PEERS.tend.elects);
 * ```
 *
 * @module
 */
import { DENO_FLAGS } from "../manifests.ts";

/** The names of the peers. */
export type PeerName = "tend" | "limit";

/** One operator, written with one framework. */
export interface Peer {
  readonly name: PeerName;
  /** What it is written with. */
  readonly title: string;
  /** True if it can lead under a lease. */
  readonly elects: boolean;
  /** True if it serves probes. */
  readonly probes: boolean;
  /** The file whose presence tells that nothing must be built. */
  built?(): Promise<string>;
  /** Makes it ready; the command line. */
  prepare(): Promise<string[]>;
}

/** A peer that is ready. */
export interface ReadyPeer extends Peer {
  readonly command: readonly string[];
}

const FOLDER = `${import.meta.dirname}/peers`;

/** A program of Deno from source, with the flags that the framework's manifests would start it with and all permissions. */
async function denoProgram(file: string): Promise<string[]> {
  const path = `${FOLDER}/${file}`, config = `${FOLDER}/../../deno.json`;
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["cache", "--quiet", "--config", config, path],
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`Cannot load ${path}: ${new TextDecoder().decode(stderr)}`);
  const flags = DENO_FLAGS.filter((flag) => !flag.startsWith("--allow-"));
  return [Deno.execPath(), "run", "--quiet", ...flags, "--allow-all", "--config", config, path];
}

/** All peers, the framework's own first. */
export const PEERS: Readonly<Record<PeerName, Peer>> = {
  tend: { name: "tend", title: "Tend", elects: true, probes: true, prepare: () => denoProgram("tend.ts") },
  limit: {
    name: "limit",
    title: "Deno without a framework",
    elects: false,
    probes: false,
    prepare: () => denoProgram("limit.ts"),
  },
};
