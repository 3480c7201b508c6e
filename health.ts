/**
 * Answers probes and scrapes over HTTP: is it alive, is it ready, what has it counted.
 *
 * ```ts
 * import { HealthServer } from "@tend/operator";
 *
 * await using server = new HealthServer({
 *   readiness: { cache: () => "the cache is not synced yet" },
 * });
 * const { port } = server.listen({ hostname: "127.0.0.1", port: 0 });
 * const response = await fetch(`http://127.0.0.1:${port}/readyz?verbose`);
 * console.assert(response.status === 503);
 * console.assert((await response.text()).includes("[-]cache failed: the cache is not synced yet"));
 * ```
 *
 * | path | answers |
 * |---|---|
 * | `/healthz`, `/livez` | 200 if every liveness check passes, else 503 |
 * | `/readyz` | 200 if every readiness check passes, else 503; 404 if the server was given no readiness |
 * | `/readyz/NAME` and so on | the same for one check |
 * | `/metrics` | the metrics, or 404 if the server was given none |
 *
 * `?verbose` names each check and why it fails, in the format of the Kubernetes API server. A check that throws is
 * named by the class of the error alone: the message goes to the log, since nobody wrote it to be published.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { Guarded } from "./_guarded.ts";
import { after, race } from "./delay.ts";

/** Answers with nothing if all is well, else with the reason why not, in one line that anybody may read. */
export type Check = () => string | undefined | Promise<string | undefined>;

/** What is served at `/metrics`. */
export interface Exposition {
  /** The text. */
  readonly body: string;
  /** Its content type. */
  readonly contentType: string;
}

/** Options of {@linkcode HealthServer}. */
export interface HealthServerOptions {
  /** Collects what `/metrics` answers with. @default {undefined} */
  readonly metrics?: (() => Promise<Exposition>) | undefined;
  /** Checks of `/healthz` and `/livez` by their names, besides `ping`, which always passes. @default {{}} */
  readonly liveness?: Readonly<Record<string, Check>> | undefined;
  /** Checks of `/readyz` by their names, besides `ping`, which always passes. @default {undefined} */
  readonly readiness?: Readonly<Record<string, Check>> | undefined;
  /** Ms that a check may take; the kubelet itself waits 1 s by default. @default {800} */
  readonly checkTimeout?: number | undefined;
  /** Ms that collecting the metrics may take; Prometheus itself waits 10 s by default. @default {9_000} */
  readonly metricsTimeout?: number | undefined;
}

/** Where a server listens. */
export interface ListenAddress {
  /** Host name or IP address; `::` is every address, IPv4 included. */
  readonly hostname: string;
  /** Port; 0 is any free one. */
  readonly port: number;
}

/** Options of {@linkcode HealthServer.listen}. */
export interface ListenOptions extends ListenAddress {
  /** Called with the address once it listens. @default {undefined} */
  readonly onListen?: ((address: ListenAddress) => void) | undefined;
}

/** Ms that open requests have to end when the server closes. */
const CLOSE_GRACE = 1000;
const MAX_REASON = 300;
const TEXT = "text/plain; charset=utf-8";

/** An HTTP server of probes and metrics. */
export class HealthServer implements AsyncDisposable {
  readonly #probes = new Map<string, Map<string, Guarded<string | undefined>>>();
  readonly #metrics: Guarded<Exposition> | undefined;
  readonly #log = getLogger(["tend", "health"]);
  #listening: Deno.HttpServer<Deno.NetAddr> | undefined;
  /** Cuts the connections, and what is still waited for. */
  #force = new AbortController();
  /** The requests that are not answered to the last byte. */
  readonly #open = new Set<Promise<void>>();
  #closed: Promise<void> = Promise.resolve();

  /**
   * Takes the checks; opens nothing.
   *
   * @throws {TypeError} If a check's name is not made of printable ASCII characters without space
   * @throws {RangeError} If a timeout is not a positive number of ms
   */
  constructor(options: HealthServerOptions = {}) {
    const { metrics, liveness = {}, readiness, checkTimeout = 800, metricsTimeout = 9_000 } = options;
    assertTimeout("checkTimeout", checkTimeout);
    assertTimeout("metricsTimeout", metricsTimeout);
    const live = this.#guard(liveness, checkTimeout);
    this.#probes.set("healthz", live).set("livez", live);
    if (readiness) this.#probes.set("readyz", this.#guard(readiness, checkTimeout));
    if (metrics) this.#metrics = new Guarded(metrics, metricsTimeout, "metrics", this.#log);
  }

  /** Answers a request as the server does, without a socket. Never rejects. */
  async handle(request: Request): Promise<Response> {
    try {
      const response = await this.#answer(request);
      if (request.method !== "HEAD") return response;
      await response.body?.cancel();
      return new Response(null, { status: response.status, headers: response.headers });
    } catch (error) {
      this.#log.error("Request failed", { error });
      return text(500, "internal error");
    }
  }

  /**
   * Begins to listen and answers with the address, which has the real port.
   *
   * @throws {Error} If it listens already, or cannot listen there; the reason is in `cause`
   */
  listen(options: ListenOptions): ListenAddress {
    const { hostname, port, onListen } = options;
    if (this.#listening) throw new Error(`Cannot listen on ${format(options)}: the server is listening already`);
    const force = new AbortController();
    const server = this.#serve(hostname, port, force.signal);
    this.#listening = server;
    this.#force = force;
    const address = { hostname: server.addr.hostname, port: server.addr.port };
    onListen?.(address);
    return address;
  }

  /** Stops listening: requests that are being answered have a second to end, then every connection is cut. */
  close(): Promise<void> {
    if (this.#listening) {
      this.#closed = this.#shutDown(this.#listening);
      this.#listening = undefined;
    }
    return this.#closed;
  }

  /** The same as {@linkcode HealthServer.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #shutDown(server: Deno.HttpServer): Promise<void> {
    const expired = new AbortController();
    const cancel = after(CLOSE_GRACE, () => expired.abort());
    await race(Promise.allSettled(this.#open), expired.signal).catch(() => {});
    cancel();
    this.#force.abort();
    await server.finished;
  }

  #guard(checks: Readonly<Record<string, Check>>, timeout: number): Map<string, Guarded<string | undefined>> {
    const all: [string, Check][] = [["ping", () => undefined], ...Object.entries(checks)];
    return new Map(all.map(([name, check]) => {
      if (!/^[\x21-\x7e]+$/.test(name)) {
        throw new TypeError(
          `Cannot create HealthServer: a check's name must be of printable ASCII characters without space: ` +
            `current value is ${JSON.stringify(name)}`,
        );
      }
      return [name, new Guarded(check, timeout, name, this.#log)];
    }));
  }

  #serve(hostname: string, port: number, signal: AbortSignal): Deno.HttpServer<Deno.NetAddr> {
    const serve = (hostname: string): Deno.HttpServer<Deno.NetAddr> =>
      Deno.serve({ hostname, port, signal, onListen: () => {} }, (request, { completed }) => {
        // May reject when the client goes away first.
        const ended = completed.catch(() => {}).finally(() => this.#open.delete(ended));
        this.#open.add(ended);
        return this.handle(request);
      });
    try {
      try {
        return serve(hostname);
      } catch (error) {
        // A machine without IPv6 has no address of that kind to give.
        if (hostname !== "::" || error instanceof Deno.errors.AddrInUse) throw error;
        return serve("0.0.0.0");
      }
    } catch (cause) {
      const reason = cause instanceof Deno.errors.AddrInUse
        ? "another program listens there: choose another address (--address)"
        : cause instanceof Error
        ? cause.message
        : cause;
      throw new Error(`Cannot listen on ${format({ hostname, port })}: ${reason}`, { cause });
    }
  }

  async #answer(request: Request): Promise<Response> {
    if (!URL.canParse(request.url)) return text(400, "bad request");
    const url = new URL(request.url);
    const [, path = "", rest = ""] = /^\/([^/]*)\/?(.*)$/s.exec(url.pathname) ?? [];
    const checks = this.#probes.get(path);
    const scrape = path === "metrics" && rest === "" ? this.#metrics : undefined;
    const selected = rest === "" ? checks : select(checks, rest);
    if (!selected && !scrape) return text(404, "not found");
    if (request.method !== "GET" && request.method !== "HEAD") {
      return text(405, "method not allowed", { allow: "GET, HEAD" });
    }
    const { signal } = this.#force;
    if (selected) {
      const title = rest === "" ? path : `${path}/${[...selected.keys()][0]}`;
      return await probe(title, selected, url.searchParams.has("verbose"), signal);
    }
    const { value, problem } = await scrape!.run(signal);
    if (!value) return text(problem === "timeout" ? 503 : 500, "the metrics cannot be collected");
    return new Response(value.body, { headers: headers(value.contentType) });
  }
}

/**
 * Reads an address such as `:8080`, `127.0.0.1:8080` or `[::1]:8080`; `0` means none and gives undefined.
 *
 * Without a host it is every address of the machine; port 0 is any free port.
 *
 * @throws {SyntaxError} If it is none of these
 * @throws {RangeError} If the port is above 65535
 */
export function parseAddress(address: string): ListenAddress | undefined {
  if (address === "0") return undefined;
  const [, ipv6, host, digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]*)):([0-9]+)$/.exec(address) ?? [];
  if (digits === undefined || (ipv6 !== undefined && !URL.canParse(`http://[${ipv6}]/`))) {
    throw new SyntaxError(
      `Cannot read an address: it must be HOST:PORT, such as :8080 or [::1]:8080, or 0 for none: ` +
        `current value is ${JSON.stringify(address)}`,
    );
  }
  const port = Number(digits);
  if (port > 65535) {
    throw new RangeError(
      `Cannot read an address: its port must be at most 65535: current value is ${JSON.stringify(address)}`,
    );
  }
  return { hostname: ipv6 ?? (host || "::"), port };
}

type Checks = ReadonlyMap<string, Guarded<string | undefined>>;

function select(checks: Checks | undefined, encoded: string): Checks | undefined {
  let name: string;
  try {
    name = decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
  const check = checks?.get(name);
  return check && new Map([[name, check]]);
}

async function probe(title: string, checks: Checks, verbose: boolean, signal: AbortSignal): Promise<Response> {
  const results = await Promise.all(
    [...checks].map(async ([name, check]) => ({ name, reason: await reasonOf(check, signal) })),
  );
  const passed = results.every(({ reason }) => reason === undefined);
  if (passed && !verbose) return text(200, "ok");
  const lines = results.map(({ name, reason }) =>
    reason === undefined ? `[+]${name} ok` : `[-]${name} failed: ${verbose ? reason : "reason withheld"}`
  );
  lines.push(`${title} check ${passed ? "passed" : "failed"}`);
  return text(passed ? 200 : 503, lines.join("\n"));
}

async function reasonOf(check: Guarded<string | undefined>, signal: AbortSignal): Promise<string | undefined> {
  const { value, problem } = await check.run(signal);
  if (problem === "timeout") return `it did not answer within ${check.timeout} ms`;
  if (problem !== undefined) return `it threw ${problem}`;
  if (value === undefined || value === null) return undefined;
  const line = String(value).replace(/[\s\p{Cc}]+/gu, " ").trim();
  return line.slice(0, MAX_REASON) || "it gave no reason";
}

function text(status: number, body: string, extra: Record<string, string> = {}): Response {
  return new Response(`${body}\n`, { status, headers: { ...headers(TEXT), ...extra } });
}

function headers(contentType: string): Record<string, string> {
  return { "content-type": contentType, "cache-control": "no-store", "x-content-type-options": "nosniff" };
}

function format({ hostname, port }: ListenAddress): string {
  return hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`;
}

function assertTimeout(name: string, value: number): void {
  if (Number.isFinite(value) && value > 0) return;
  throw new RangeError(
    `Cannot create HealthServer: '${name}' must be a positive number of ms: current value is ${value}`,
  );
}
