/**
 * Serves probes and metrics over Deno's own HTTP server: `/healthz`, `/livez`, `/readyz`, `/metrics`.
 *
 * ```ts
 * import { HealthServer } from "@tend/operator";
 *
 * const server = new HealthServer({ readiness: { cache: () => "not synced yet" } });
 * const response = await server.handle(new Request("http://localhost/readyz?verbose"));
 * console.assert(response.status === 503);
 * console.assert((await response.text()).startsWith("[-]cache failed: not synced yet\n"));
 * ```
 *
 * # Guarantees
 *
 * - Only GET and HEAD of these paths are answered; bodies are never read.
 * - A check that throws or hangs counts as failed, and delays no other.
 *
 * @module
 */
import { after } from "./delay.ts";

/** Answers with, or throws, the reason why something is not well; undefined when it is. */
export type Check = () => string | undefined | Promise<string | undefined>;

/** Options of {@linkcode HealthServer}. */
export interface HealthServerOptions {
  /** What `/metrics` answers with. @default {no such path} */
  readonly metrics?: (() => Promise<{ readonly body: string; readonly contentType: string }>) | undefined;
  /** Checks of `/healthz` and `/livez`: whether the process should live on. @default {{}} */
  readonly liveness?: Readonly<Record<string, Check>> | undefined;
  /** Checks of `/readyz`: whether the process does its work. @default {{}} */
  readonly readiness?: Readonly<Record<string, Check>> | undefined;
  /** How long one check may take, in ms. @default {5000} */
  readonly checkTimeout?: number | undefined;
}

/** Where a server listens. */
export interface HealthServerAddress {
  /** The interface's address. */
  readonly hostname: string;
  /** The port; 0 chooses a free one. */
  readonly port: number;
}

/** How long open connections are waited for at the end, in ms. */
const CLOSE_LIMIT = 1000;

const TEXT = {
  "content-type": "text/plain; charset=utf-8",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
};

/** An HTTP server for the kubelet and Prometheus. */
export class HealthServer implements AsyncDisposable {
  readonly #options: HealthServerOptions;
  readonly #servers: Set<Deno.HttpServer<Deno.NetAddr>> = new Set();

  /** Opens nothing. */
  constructor(options: HealthServerOptions = {}) {
    this.#options = options;
  }

  /** Answers one request, with or without a socket. */
  async handle(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const answer = this.#route(pathname);
    if (!answer) return new Response("404 page not found\n", { status: 404, headers: TEXT });
    if (request.method !== "GET" && request.method !== "HEAD") {
      return new Response("405 method not allowed\n", { status: 405, headers: { ...TEXT, allow: "GET, HEAD" } });
    }
    const response = await answer(searchParams.has("verbose"));
    if (request.method === "GET") return response;
    await response.body?.cancel();
    return new Response(null, { status: response.status, headers: response.headers });
  }

  #route(path: string): ((verbose: boolean) => Promise<Response>) | undefined {
    const { metrics, liveness = {}, readiness = {} } = this.#options;
    if (path === "/metrics" && metrics) return () => expose(metrics);
    const [, root, name, ...rest] = path.split("/");
    const checks = root === "healthz" || root === "livez" ? liveness : root === "readyz" ? readiness : undefined;
    if (!checks || rest.length > 0) return undefined;
    if (name === undefined) return (verbose) => this.#report(root!, checks, verbose);
    return Object.hasOwn(checks, name)
      ? (verbose) => this.#report(root!, { [name]: checks[name]! }, verbose)
      : undefined;
  }

  async #report(name: string, checks: Readonly<Record<string, Check>>, verbose: boolean): Promise<Response> {
    const results = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => ({ name, problem: await this.#run(check) })),
    );
    const failed = results.some(({ problem }) => problem !== undefined);
    const status = failed ? 503 : 200;
    if (!failed && !verbose) return new Response("ok", { status, headers: TEXT });
    const lines = results.map(({ name, problem }) =>
      problem === undefined ? `[+]${name} ok` : `[-]${name} failed: ${problem}`
    );
    return new Response(`${[...lines, `${name} check ${failed ? "failed" : "passed"}`].join("\n")}\n`, {
      status,
      headers: TEXT,
    });
  }

  /** The problem that a check finds, in one line; its own if it throws or takes too long. */
  async #run(check: Check): Promise<string | undefined> {
    const limit = this.#options.checkTimeout ?? 5000;
    const { promise: expired, resolve } = Promise.withResolvers<string>();
    const cancel = after(limit, () => resolve(`the check took longer than ${limit} ms`));
    try {
      const problem = await Promise.race([Promise.resolve().then(check), expired]);
      return problem === undefined ? undefined : oneLine(problem);
    } catch (error) {
      return oneLine(error instanceof Error ? error.message : String(error));
    } finally {
      cancel();
    }
  }

  /**
   * Listens for HTTP; on all interfaces if `hostname` says so.
   *
   * @throws {Error} If the port is taken, or may not be listened on
   */
  listen(address: HealthServerAddress): HealthServerAddress {
    const server = Deno.serve({
      ...address,
      onListen: () => {},
      onError: () => new Response("500 internal server error\n", { status: 500, headers: TEXT }),
    }, (request) => this.handle(request));
    this.#servers.add(server);
    return { hostname: server.addr.hostname, port: server.addr.port };
  }

  /** Stops listening; answers under way are waited for, but not for long. */
  async close(): Promise<void> {
    await Promise.all([...this.#servers].map(async (server) => {
      this.#servers.delete(server);
      const { promise: expired, resolve } = Promise.withResolvers<void>();
      const cancel = after(CLOSE_LIMIT, resolve);
      await Promise.race([server.shutdown(), expired]);
      cancel();
    }));
  }

  /** Closes the server. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

async function expose(metrics: NonNullable<HealthServerOptions["metrics"]>): Promise<Response> {
  const { body, contentType } = await metrics();
  return new Response(body, { headers: { ...TEXT, "content-type": contentType } });
}

function oneLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, " ");
}

/**
 * Reads an address such as `:8080`, `127.0.0.1:8080` or `[::1]:8080`; undefined for `0`, which turns a server off.
 *
 * No host stands for all interfaces.
 *
 * @throws {SyntaxError} If it is no address
 */
export function parseAddress(address: string): HealthServerAddress | undefined {
  if (address === "0") return undefined;
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]\s]*)):(\d{1,5})$/.exec(address);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) {
    throw new SyntaxError(
      `Cannot read an address: it must be host:port, :port, or 0 for none: current value is ${Deno.inspect(address)}`,
    );
  }
  return { hostname: match[1] ?? (match[2] || "0.0.0.0"), port };
}
