/**
 * Reads the service account that a pod runs under: the server from the environment, the rest from its files.
 *
 * ```ts
 * import { clusterServer } from "./_in_cluster.ts";
 *
 * console.assert(clusterServer("fd00:10::1", "443") === "https://[fd00:10::1]:443");
 * ```
 *
 * @module
 */
import type { Access } from "./_access.ts";
import { messageOf } from "./errors.ts";
import type { Logger } from "./logger.ts";

/** Where Kubernetes puts the files. */
export const SERVICE_ACCOUNT_DIR = "/var/run/secrets/kubernetes.io/serviceaccount";

type Env = (name: string) => string | undefined;
type ReadFile = (path: string) => Promise<string>;

/** True in a pod with a service account. */
export async function isInCluster(dir: string, env: Env, readFile: ReadFile): Promise<boolean> {
  if (!env("KUBERNETES_SERVICE_HOST")) return false;
  try {
    await readFile(`${dir}/token`);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw cannotRead(`${dir}/token`, error);
  }
}

/** The server's URL; IPv6 addresses get their brackets. */
export function clusterServer(host: string, port: string | undefined): string {
  const name = host.trim().replace(/^\[(.*)\]$/, "$1");
  return `https://${name.includes(":") ? `[${name}]` : name}:${port?.trim() || "443"}`;
}

/** Answers with what reads the files, and fails if there is no token or a file cannot be read. */
export function serviceAccount(dir: string, env: Env, readFile: ReadFile, log: Logger): () => Promise<Access> {
  let warned = false;
  return async () => {
    const [token, ca, namespace] = await Promise.all([
      read(`${dir}/token`, readFile),
      optional(`${dir}/ca.crt`, readFile),
      optional(`${dir}/namespace`, readFile),
    ]);
    if (token === "") {
      throw new Error(`Cannot use the service account: ${dir}/token must not be empty: current value is ""`);
    }
    if (!namespace && !warned) log.warn("No namespace in {dir}: taking default", { dir });
    warned = true;
    return {
      origin: `the service account in ${dir}`,
      server: clusterServer(env("KUBERNETES_SERVICE_HOST") ?? "", env("KUBERNETES_SERVICE_PORT")),
      namespace: namespace || undefined,
      ca,
      headers: [["authorization", `Bearer ${token}`]],
    };
  };
}

async function read(path: string, readFile: ReadFile): Promise<string> {
  try {
    return (await readFile(path)).trim();
  } catch (error) {
    throw cannotRead(path, error);
  }
}

async function optional(path: string, readFile: ReadFile): Promise<string | undefined> {
  try {
    return (await readFile(path)).trim();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw cannotRead(path, error);
  }
}

function cannotRead(path: string, cause: unknown): Error {
  return new Error(`Cannot use the service account: ${path} could not be read: ${messageOf(cause)}`, { cause });
}
