/**
 * Finds the API server and how to prove who we are to it, and notices when that changes: kubeconfig or service account.
 *
 * ```ts
 * import { Credentials } from "@tend/operator";
 *
 * const credentials = new Credentials({ server: "https://127.0.0.1:6443", token: "abc" });
 * const { server, namespace } = await credentials.resolve();
 * console.assert(server === "https://127.0.0.1:6443" && namespace === "default");
 * ```
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { type Access, checkAccess } from "./_access.ts";
import { isInCluster, SERVICE_ACCOUNT_DIR, serviceAccount } from "./_in_cluster.ts";
import { Backoff } from "./backoff.ts";
import { race } from "./delay.ts";
import type { Logger } from "./logger.ts";

/** How long what was read is taken as current, in ms. */
const FRESH = 60_000;
/** How long before their end credentials are replaced, in ms; for short-lived ones a tenth of their life. */
const MARGIN = 30_000;

/** Options of {@linkcode Credentials}; what is given stands before what a kubeconfig or service account says. */
export interface CredentialOptions {
  /** Path of a kubeconfig, or several as in `KUBECONFIG`. @default {see Credentials} */
  readonly kubeconfig?: string | undefined;
  /** A context of the kubeconfig. @default {its current-context} */
  readonly context?: string | undefined;
  /** URL of the API server; without `kubeconfig` and `context`, nothing is read from files. @default {undefined} */
  readonly server?: string | undefined;
  /** Bearer token. @default {undefined} */
  readonly token?: string | undefined;
  /** The certificates (PEM) that the server's must lead to. @default {undefined} */
  readonly ca?: string | undefined;
  /** Client certificate (PEM). @default {undefined} */
  readonly cert?: string | undefined;
  /** Key of the client certificate (PEM, not encrypted). @default {undefined} */
  readonly key?: string | undefined;
  /** Trusts any server. @default {false} */
  readonly insecureSkipTlsVerify?: boolean | undefined;
  /** The name in the server's certificate, if it is not the URL's host. @default {undefined} */
  readonly tlsServerName?: string | undefined;
  /** The namespace for whatever names none. @default {the context's or service account's, else "default"} */
  readonly namespace?: string | undefined;
  /** Reads an environment variable. @default {Deno.env.get; one without permission is not set} */
  readonly env?: ((name: string) => string | undefined) | undefined;
  /** Reads a text file. @default {Deno.readTextFileSync} */
  readonly readFile?: ((path: string) => Promise<string>) | undefined;
  /** Where the service account's files are. @default {"/var/run/secrets/kubernetes.io/serviceaccount"} */
  readonly serviceAccountDir?: string | undefined;
  /** Monotonic clock, in ms. @default {performance.now} */
  readonly now?: (() => number) | undefined;
}

/** A server and the way to it. */
export interface Connection {
  /** URL without a slash at the end. */
  readonly server: string;
  /** The namespace for whatever names none. */
  readonly namespace: string;
  /** Certificates (PEM), one each, that the server's must lead to; absent for those that the system trusts. */
  readonly ca?: readonly string[] | undefined;
  /** Client certificate (PEM). */
  readonly cert?: string | undefined;
  /** Its key (PEM); not shown by `console.log`. */
  readonly key?: string | undefined;
  /** The name in the server's certificate. */
  readonly serverName?: string | undefined;
  /** Trusts any server. */
  readonly insecure?: boolean | undefined;
  /** URL of a proxy; not shown by `console.log`, for it may hold a password. */
  readonly proxy?: string | undefined;
  /** Grows when anything but the headers changes: then existing connections are of no more use. */
  readonly generation: number;
  /** Headers that say who we are; a name may come more than once. */
  headers(): readonly (readonly [string, string])[];
}

/** Reads what a source says now; `anew` also asks for new credentials where a kept one could be given. */
type Source = (anew: boolean) => Promise<Access>;

/**
 * Keeps the way to one API server current.
 *
 * Taken from the first of: `server` in the options; `kubeconfig` or `context` in the options; the files in `KUBECONFIG`;
 * the service account, in a cluster; `~/.kube/config`. Files are read at the first use, at most once a minute after that, and
 * at once by {@linkcode Credentials.refresh}. As long as credentials are valid, failing to replace them is only logged.
 */
export class Credentials {
  readonly #options: CredentialOptions;
  readonly #now: () => number;
  readonly #log: Logger = getLogger(["tend", "credentials"]);
  /** Between tries that failed or, after a 401, brought nothing new. */
  readonly #backoff = new Backoff({ first: 1000, max: 60_000, jitter: 0 });
  #source: Source | undefined;
  #static = false;
  #connection: Connection | undefined;
  #reading: Promise<Connection> | undefined;
  /** When to read again. */
  #freshUntil = -Infinity;
  /** When the credentials end by the wall clock, and by the monotonic one. */
  #expires: number | undefined;
  #validUntil = Infinity;
  /** When to ask for new ones, in good time before they end. */
  #renewAt = Infinity;
  /** Not to be read before, unless there is nothing else. */
  #notBefore = -Infinity;
  /** Why the last reading failed. */
  #failure: unknown;

  /** Reads nothing. */
  constructor(options: CredentialOptions = {}) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /**
   * Answers with the connection to use now.
   *
   * @throws {Error} If there is none, naming the file, context and field that is wrong
   * @throws The signal's reason, as soon as it aborts
   */
  resolve(signal?: AbortSignal): Promise<Connection> {
    const promise = this.#current();
    return signal ? race(promise, signal) : promise;
  }

  /**
   * Reads again at once, for the server refused (401) the connection that was used; concurrent calls share one reading.
   *
   * Answers with the same connection if there is no other yet.
   */
  async refresh(used?: Connection): Promise<Connection> {
    const current = this.#connection;
    if (!current || (used && used !== current)) return await this.resolve();
    if (this.#static || (!this.#reading && this.#now() < this.#notBefore)) return current;
    return await this.#read(true);
  }

  #current(): Promise<Connection> {
    const now = this.#now();
    const current = this.#connection;
    if (current && (this.#static || now < this.#freshUntil)) return Promise.resolve(current);
    if (now >= this.#notBefore) return this.#read(now >= this.#renewAt);
    return current && now < this.#validUntil
      ? Promise.resolve(current)
      : this.#reading ?? Promise.reject(this.#failure);
  }

  #read(anew: boolean): Promise<Connection> {
    this.#reading ??= this.#readNow(anew).finally(() => this.#reading = undefined);
    return this.#reading;
  }

  async #readNow(anew: boolean): Promise<Connection> {
    const before = this.#connection;
    let access: Access;
    try {
      this.#source ??= await this.#find();
      access = checkAccess(overlay(await this.#source(anew), this.#options));
    } catch (error) {
      this.#failure = error;
      this.#holdOff();
      if (!before || this.#now() >= this.#validUntil) throw error;
      this.#log.warn("Credentials could not be read again; those at hand are used on: {error}", { error });
      return before;
    }
    const now = this.#now();
    if (access.expires !== this.#expires || access.expires === undefined) this.#measure(access.expires, now);
    this.#freshUntil = Math.min(now + FRESH, this.#renewAt);
    this.#connection = toConnection(access, this.#options.namespace, before);
    if (anew && this.#connection === before) this.#holdOff();
    else this.#recover();
    return this.#connection;
  }

  /** Sets by the monotonic clock when credentials that are new now end by the wall clock, and when to renew them. */
  #measure(expires: number | undefined, now: number): void {
    const life = expires === undefined ? Infinity : expires - Date.now();
    this.#expires = expires;
    // what is over on arrival may be so because clocks differ: the server will tell
    this.#validUntil = life > 0 ? now + life : Infinity;
    this.#renewAt = now + (life > 0 ? life - Math.min(MARGIN, life / 10) : FRESH);
  }

  #holdOff(): void {
    this.#notBefore = this.#now() + this.#backoff.next();
  }

  #recover(): void {
    this.#backoff.reset();
    this.#notBefore = -Infinity;
    this.#failure = undefined;
  }

  async #find(): Promise<Source> {
    const { server, kubeconfig, context, serviceAccountDir = SERVICE_ACCOUNT_DIR } = this.#options;
    const env = this.#options.env ?? readEnv;
    const { readFile = readText } = this.#options;
    if (server !== undefined && kubeconfig === undefined && context === undefined) {
      this.#static = true;
      return () => Promise.resolve({ origin: "options", server, headers: [] });
    }
    const fromFiles = async (paths: string): Promise<Source> => {
      // In a cluster there is none to read.
      const { Kubeconfig } = await import("./_kubeconfig.ts");
      const config = new Kubeconfig({ paths, context, env, readFile });
      return (anew) => config.read(anew);
    };
    const paths = kubeconfig ?? (env("KUBECONFIG") || undefined);
    if (paths !== undefined) return await fromFiles(paths);
    if (context === undefined && await isInCluster(serviceAccountDir, env, readFile)) {
      return serviceAccount(serviceAccountDir, env, readFile, this.#log);
    }
    const home = env("HOME") ?? env("USERPROFILE");
    const file = `${home}/.kube/config`;
    if (home !== undefined && await exists(file, readFile)) return await fromFiles(file);
    throw new Error(
      `Cannot find an API server: there must be a kubeconfig (KUBECONFIG or ~/.kube/config) or, in a cluster, ` +
        `KUBERNETES_SERVICE_HOST and ${serviceAccountDir}/token, and the permission to read them: current value is none`,
    );
  }
}

function readEnv(name: string): string | undefined {
  try {
    return Deno.env.get(name);
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return undefined;
    throw error;
  }
}

/** The files are few and small: threads that read them would cost more memory and time than they do. */
function readText(path: string): Promise<string> {
  return new Promise((resolve) => resolve(Deno.readTextFileSync(path)));
}

async function exists(path: string, readFile: (path: string) => Promise<string>): Promise<boolean> {
  try {
    await readFile(path);
    return true;
  } catch (error) {
    return !(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotCapable);
  }
}

/** What the options say stands before what was read; other credentials in the options replace those read. */
function overlay(access: Access, options: CredentialOptions): Access {
  const { server, token, ca, cert, key, insecureSkipTlsVerify, tlsServerName } = options;
  const headers = token === undefined ? access.headers : [
    ...access.headers.filter(([name]) => name !== "authorization"),
    ["authorization", `Bearer ${token.trim()}`] as const,
  ];
  return {
    ...access,
    headers,
    ...(server !== undefined ? { server } : {}),
    ...(ca !== undefined ? { ca } : {}),
    ...(cert !== undefined ? { cert } : {}),
    ...(key !== undefined ? { key } : {}),
    ...(insecureSkipTlsVerify !== undefined ? { insecure: insecureSkipTlsVerify } : {}),
    ...(tlsServerName !== undefined ? { serverName: tlsServerName } : {}),
  };
}

/** Answers with the connection, the one before if nothing changed. */
function toConnection(access: Access, namespace: string | undefined, before: Connection | undefined): Connection {
  const { server, certificates, cert, key, serverName, insecure, proxy } = access;
  const { headers } = access;
  const fixed = {
    server,
    namespace: namespace ?? access.namespace ?? "default",
    ca: certificates,
    cert,
    serverName,
    insecure,
  };
  const same = before !== undefined && before.key === key && before.proxy === proxy &&
    JSON.stringify(fixed) === JSON.stringify({ ...before, generation: undefined });
  if (same && JSON.stringify(headers) === JSON.stringify(before.headers())) return before;
  const connection = { ...fixed, generation: same ? before.generation : (before?.generation ?? 0) + 1 };
  Object.defineProperty(connection, "key", { value: key, enumerable: false });
  Object.defineProperty(connection, "proxy", { value: proxy, enumerable: false });
  Object.defineProperty(connection, "headers", { value: () => headers, enumerable: false });
  return connection as Connection;
}
