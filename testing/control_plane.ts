/**
 * Starts a real Kubernetes API server with its etcd on loopback, for tests that want the real thing.
 *
 * The two programs come from `KUBEBUILDER_ASSETS`, the folder that `setup-envtest` fills. There are no other parts of a cluster:
 * no controllers (no garbage collection, namespaces stay Terminating), no scheduler and no nodes.
 *
 * ```ts
 * import { ControlPlane } from "@tend/operator/testing";
 *
 * async function asAlice(work: (kubeconfig: string) => Promise<void>): Promise<void> {
 *   await using plane = await ControlPlane.start();
 *   await work(plane.user("alice", ["developers"]).kubeconfig);
 * }
 * ```
 *
 * @module
 */
import { Client, type ClientOptions } from "../client.ts";
import { type Duration, toMilliseconds } from "../duration.ts";
import { delay } from "../delay.ts";
import { Authority, tokenKeys } from "./_certificates.ts";
import { kubeconfigOf } from "./_kubeconfig.ts";
import { apiServerFlags, etcdFlags, HOST, type PlaneLayout, tokenLine } from "./_plane_flags.ts";
import { Supervisor } from "./_supervisor.ts";

/** How {@linkcode ControlPlane.start} starts its programs. */
export interface ControlPlaneOptions {
  /**
   * The folder with the programs `etcd` and `kube-apiserver`.
   *
   * @default The environment variable `KUBEBUILDER_ASSETS`
   */
  readonly assets?: string | undefined;
  /**
   * Flags of kube-apiserver, without dashes, that are added or take the place of its own; `undefined` takes one away.
   *
   * @default {}
   */
  readonly flags?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Users with a token, and their groups. Those that {@linkcode ControlPlane.user} makes later have a client certificate.
   *
   * @default {}
   */
  readonly users?: Readonly<Record<string, readonly string[]>> | undefined;
  /**
   * How long the programs may take until they are ready.
   *
   * @default { minutes: 1 }
   */
  readonly timeout?: Duration | undefined;
}

/** Somebody who may send requests to a {@linkcode ControlPlane}. */
export interface PlaneUser {
  /** The user's name, `system:serviceaccount:NAMESPACE:NAME` for a service account. */
  readonly name: string;
  /** The path of a kubeconfig with the server's address and this user's credentials. */
  readonly kubeconfig: string;
  /** The bearer token; `undefined` when the user has a client certificate. */
  readonly token: string | undefined;
}

/** How {@linkcode ControlPlane.serviceAccount} asks for a token. */
export interface ServiceAccountOptions {
  /**
   * How long the token is good for, at least 10 minutes.
   *
   * @default { hours: 1 }
   */
  readonly expires?: Duration | undefined;
}

/** What {@linkcode ControlPlane.pause} freezes. */
export interface PauseOptions {
  /**
   * Freezes etcd in place of kube-apiserver.
   *
   * @default {false}
   */
  readonly etcd?: boolean | undefined;
}

type Program = "etcd" | "kube-apiserver";

const PROGRAMS: readonly Program[] = ["etcd", "kube-apiserver"];
const ATTEMPTS = 5;
const POLL = 50;
const STOP_GRACE = 20_000;
const CLASH = /address already in use/;

function freePort(): number {
  using listener = Deno.listen({ hostname: HOST, port: 0 });
  return listener.addr.port;
}

/**
 * A real kube-apiserver and etcd on loopback, with TLS and RBAC.
 *
 * #### Guarantees
 * - The programs and their files are gone after disposal, and when this process ends in any other way, SIGKILL included.
 * - Each one is apart: its own ports, certificates, keys, tokens and data, in one temporary folder.
 *
 * #### Caveats
 * - Needs `sh`, and the permissions to run it, to read and write the temporary folder, and to reach loopback.
 * - etcd does not sync to disk: the data lives no longer than the object.
 */
export class ControlPlane implements AsyncDisposable {
  /** The server's address, such as `https://127.0.0.1:34567`. */
  readonly url: string;
  /** The address of etcd for its clients, such as `http://127.0.0.1:34568`. */
  readonly etcd: string;
  /** The certificate of the authority that signed the server's, PEM. */
  readonly ca: string;
  /** The user that may do everything. */
  readonly admin: PlaneUser;
  readonly #supervisor: Supervisor;
  readonly #authority: Authority;
  readonly #programs: Readonly<Record<Program, readonly string[]>>;
  readonly #users = new Map<string, PlaneUser>();
  readonly #timeout: number;

  private constructor(supervisor: Supervisor, assets: string, options: ControlPlaneOptions) {
    const { flags, users = {}, timeout = { minutes: 1 } } = options;
    const layout: PlaneLayout = {
      folder: supervisor.folder,
      etcdPort: freePort(),
      peerPort: freePort(),
      port: freePort(),
    };
    this.#supervisor = supervisor;
    this.#timeout = toMilliseconds(timeout, "timeout");
    this.#authority = new Authority("control-plane");
    this.#programs = {
      etcd: [`${assets}/etcd`, ...etcdFlags(layout)],
      "kube-apiserver": [`${assets}/kube-apiserver`, ...apiServerFlags(layout, flags)],
    };
    this.url = `https://${HOST}:${layout.port}`;
    this.etcd = `http://${HOST}:${layout.etcdPort}`;
    this.ca = this.#authority.cert;
    this.admin = this.#tokenUser("admin", crypto.randomUUID());
    for (const name of Object.keys(users)) this.#users.set(name, this.#tokenUser(name, crypto.randomUUID()));
    this.#writeFiles(users);
  }

  /**
   * Starts both programs; resolves when the server is ready.
   *
   * @throws {TypeError} If no folder with the programs is given
   * @throws {Error} If a program ends or is not ready in time; the message has the end of its output
   */
  static async start(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
    const { assets = Deno.env.get("KUBEBUILDER_ASSETS") } = options;
    if (!assets) {
      throw new TypeError(
        "Cannot start a control plane: 'assets' or KUBEBUILDER_ASSETS must name a folder with etcd and kube-apiserver: current value is undefined",
      );
    }
    const folder = await Deno.realPath(assets);
    for (let attempt = 1;; attempt++) {
      const supervisor = await Supervisor.start("tend-control-plane-");
      try {
        const plane = new ControlPlane(supervisor, folder, options);
        await plane.#start("etcd");
        await plane.#start("kube-apiserver");
        await plane.#ready();
        return plane;
      } catch (error) {
        const clash = PROGRAMS.some((name) => CLASH.test(supervisor.log(name)));
        await supervisor[Symbol.asyncDispose]();
        if (!clash || attempt === ATTEMPTS) throw error;
      }
    }
  }

  /** The path of the kubeconfig of {@linkcode admin}. */
  get kubeconfig(): string {
    return this.admin.kubeconfig;
  }

  /**
   * Answers with a user of this name: the one from the `users` option, or one with a new client certificate.
   *
   * Roles are not given: bind them to the user or its groups.
   *
   * @param groups The groups of a user that was not in the `users` option
   */
  user(name: string, groups: readonly string[] = []): PlaneUser {
    const known = this.#users.get(name);
    if (known !== undefined) return known;
    const { cert, key } = this.#authority.client(name, groups);
    return { name, token: undefined, kubeconfig: this.#writeKubeconfig(name, { cert, key }) };
  }

  /**
   * Answers with a service account and a token that the server issued for it; makes the account when it is not there.
   *
   * @throws {Error} If the server refuses, as when the namespace is not there
   */
  async serviceAccount(namespace: string, name: string, options: ServiceAccountOptions = {}): Promise<PlaneUser> {
    const { expires = { hours: 1 } } = options;
    const accounts = `/api/v1/namespaces/${encodeURIComponent(namespace)}/serviceaccounts`;
    const made = await this.#request("POST", accounts, { body: { metadata: { name } } });
    if (!made.ok && made.status !== 409) throw refused(`make service account ${namespace}/${name}`, made);
    const issued = await this.#request("POST", `${accounts}/${encodeURIComponent(name)}/token`, {
      body: { spec: { expirationSeconds: Math.ceil(toMilliseconds(expires, "expires") / 1000) } },
    });
    if (!issued.ok) throw refused(`get a token for service account ${namespace}/${name}`, issued);
    const { token } = (issued.body as { status: { token: string } }).status;
    const user = `system:serviceaccount:${namespace}:${name}`;
    return { name: user, token, kubeconfig: this.#writeKubeconfig(user, { token }, namespace) };
  }

  /** A client that sends requests as a user, the admin by default. Dispose of it before this object. */
  client(user: PlaneUser = this.admin, options: ClientOptions = {}): Client {
    return new Client({ ...options, kubeconfig: user.kubeconfig });
  }

  /** Ends kube-apiserver, so that connections are refused: by SIGTERM, it finishes its requests first. etcd goes on. */
  async stop(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    await this.#supervisor.end("kube-apiserver", signal, STOP_GRACE);
  }

  /**
   * Starts kube-apiserver again, on the same port and data, ending it first when it runs; resolves when it is ready.
   *
   * @throws {Error} If it ends or is not ready in time
   */
  async restart(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    await this.stop(signal);
    await this.#start("kube-apiserver");
    await this.#ready();
  }

  /**
   * Freezes kube-apiserver: connections stay open and are accepted, nothing is answered. With `etcd`, freezes etcd and not
   * kube-apiserver, which then answers from its watch caches what it can, and nothing else.
   */
  async pause(options: PauseOptions = {}): Promise<void> {
    const { etcd = false } = options;
    await this.#supervisor.freeze(etcd ? "etcd" : "kube-apiserver");
  }

  /** Lets what is paused go on, etcd and kube-apiserver. */
  resume(): void {
    for (const name of PROGRAMS) this.#supervisor.signal(name, "SIGCONT");
  }

  /** The end of what both programs printed. */
  logs(): string {
    return PROGRAMS.map((name) => `--- ${name}\n${this.#supervisor.log(name)}`).join("\n");
  }

  /** Kills both programs and deletes all files, kubeconfigs included. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#supervisor[Symbol.asyncDispose]();
  }

  async #start(name: Program): Promise<void> {
    await this.#supervisor.run(name, this.#programs[name]);
  }

  /** Waits until the server says that it is ready and has made the namespace `default`. */
  async #ready(): Promise<void> {
    const deadline = AbortSignal.timeout(this.#timeout);
    for (const path of ["/readyz", "/api/v1/namespaces/default"]) {
      while (!await this.#answers(path, deadline)) {
        const ended = PROGRAMS.find((name) => this.#supervisor.exitCode(name) !== undefined);
        if (ended !== undefined) throw new Error(`Cannot start a control plane: ${ended} ended\n${this.logs()}`);
        if (deadline.aborted) {
          throw new Error(`Cannot start a control plane: it is not ready in ${this.#timeout} ms\n${this.logs()}`);
        }
        await delay(POLL);
      }
    }
  }

  async #answers(path: string, signal: AbortSignal): Promise<boolean> {
    try {
      return (await this.#request("GET", path, { signal })).ok;
    } catch {
      return false; // Not listening yet: the caller looks at the program and asks again.
    }
  }

  /** One exchange as the admin, on a connection of its own. */
  async #request(
    method: string,
    path: string,
    options: { body?: unknown; signal?: AbortSignal } = {},
  ): Promise<Answer> {
    const { body, signal = AbortSignal.timeout(this.#timeout) } = options;
    using client = Deno.createHttpClient({ caCerts: [this.ca] });
    const response = await fetch(this.url + path, {
      method,
      client,
      signal,
      headers: { authorization: `Bearer ${this.admin.token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { ok: response.ok, status: response.status, body: text.startsWith("{") ? JSON.parse(text) : text };
  }

  #tokenUser(name: string, token: string): PlaneUser {
    return { name, token, kubeconfig: this.#writeKubeconfig(name, { token }) };
  }

  #writeKubeconfig(
    user: string,
    credentials: { token?: string; cert?: string; key?: string },
    namespace = "default",
  ): string {
    const path = this.#supervisor.path(`kubeconfig-${user.replaceAll(/[^a-z0-9.-]+/gi, "-")}-${crypto.randomUUID()}`);
    const config = kubeconfigOf({ server: this.url, ca: this.ca, user, namespace, ...credentials });
    Deno.writeTextFileSync(path, config, { mode: 0o600 });
    return path;
  }

  #writeFiles(users: Readonly<Record<string, readonly string[]>>): void {
    const server = this.#authority.server([HOST, "localhost", "kubernetes.default.svc"]);
    const { publicKey, privateKey } = tokenKeys();
    const tokens = Object.entries(users).map(([name, groups]) =>
      tokenLine(name, this.#users.get(name)?.token ?? "", groups)
    );
    const files: Record<string, string> = {
      "ca.crt": this.ca,
      "server.crt": server.cert,
      "server.key": server.key,
      "service-account.pub": publicKey,
      "service-account.key": privateKey,
      "tokens.csv": tokenLine("admin", this.admin.token ?? "", ["system:masters"]) + tokens.join(""),
    };
    for (const [name, content] of Object.entries(files)) {
      Deno.writeTextFileSync(this.#supervisor.path(name), content, { mode: 0o600 });
    }
  }
}

interface Answer {
  readonly ok: boolean;
  readonly status: number;
  readonly body: unknown;
}

function refused(what: string, { status, body }: Answer): Error {
  const message = (body as { message?: unknown }).message ?? body;
  return new Error(`Cannot ${what}: the server answered ${status}: ${message}`);
}
