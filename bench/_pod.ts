/**
 * Starts programs as in a pod: with the files of a service account where Kubernetes puts them, without touching this machine's.
 *
 * Needs `unshare`; where a mount namespace cannot be had, there is a kubeconfig that names the same files.
 *
 * ```ts
 * import { podFiles } from "./_pod.ts";
 *
 * const folder = await Deno.makeTempDir();
 * const pod = await podFiles(folder, { url: "https://127.0.0.1:6443", ca: "", token: "abc" });
 * console.log(pod.command(["true"]), pod.env);
 * ```
 *
 * @module
 */
import { stringify } from "@std/yaml";

/** The server that a pod talks to, and as who. */
export interface PodServer {
  readonly url: string;
  readonly ca: string;
  readonly token: string;
}

/** How programs are started. */
export interface Pod {
  /** True where the files are those of a pod, false where they are named by a kubeconfig. */
  readonly inCluster: boolean;
  /** The environment that leads to the server. */
  readonly env: Readonly<Record<string, string>>;
  /** The same for a program that knows kubeconfigs alone. */
  readonly kubeconfig: Readonly<Record<string, string>>;
  /** The command line that starts a program, which keeps its process id. */
  command(program: readonly string[]): string[];
}

const ACCOUNT = "/run/secrets/kubernetes.io/serviceaccount";
const SCRIPT = `mount -t tmpfs none /run && mkdir -p ${ACCOUNT} && cp "$0"/* ${ACCOUNT} && exec "$@"`;

function unshare(folder: string, program: readonly string[]): string[] {
  const user = Deno.uid() === 0 ? [] : ["--map-root-user"];
  return ["unshare", "--mount", ...user, "sh", "-c", SCRIPT, folder, ...program];
}

async function works(folder: string): Promise<boolean> {
  // Where /var/run is not /run, a pod's files would not be found.
  const [program = "", ...args] = unshare(folder, [
    "test",
    "-s",
    "/var/run/secrets/kubernetes.io/serviceaccount/token",
  ]);
  try {
    return (await new Deno.Command(program, { args, stdin: "null", stdout: "null", stderr: "null" }).output()).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Writes the files of a pod's service account, and a kubeconfig that names them, into a folder. */
export async function podFiles(folder: string, { url, ca, token }: PodServer): Promise<Pod> {
  const account = `${folder}/account`, kubeconfig = `${folder}/kubeconfig`;
  await Deno.mkdir(account);
  const write = (path: string, text: string) => Deno.writeTextFile(path, text, { mode: 0o600 });
  await write(`${account}/token`, token);
  await write(`${account}/ca.crt`, ca);
  await write(`${account}/namespace`, "default");
  await write(
    kubeconfig,
    stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "bench", cluster: { server: url, "certificate-authority": `${account}/ca.crt` } }],
      users: [{ name: "bench", user: { tokenFile: `${account}/token` } }],
      contexts: [{ name: "bench", context: { cluster: "bench", user: "bench" } }],
      "current-context": "bench",
    }),
  );
  if (!await works(account)) {
    const named = { KUBECONFIG: kubeconfig };
    return { inCluster: false, env: named, kubeconfig: named, command: (program) => [...program] };
  }
  const { hostname, port } = new URL(url);
  return {
    inCluster: true,
    env: { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
    kubeconfig: { KUBECONFIG: kubeconfig },
    command: (program) => unshare(account, program),
  };
}
