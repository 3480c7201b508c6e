/** Runs the conformance suite over a real kube-apiserver. */
import type { Client } from "../../client.ts";
import type { ControlPlane } from "../../testing/control_plane.ts";
import type { Answered } from "../_api.ts";
import { conformance } from "../conformance/_areas.ts";
import {
  type Capability,
  type ConformanceServer,
  exchange,
  type Form,
  forward,
  USERS,
} from "../conformance/_server.ts";
import { startControlPlane } from "./_setup.ts";

/** A real server, with an HTTP client that trusts it. */
class Real implements ConformanceServer {
  readonly name: Form = "control plane";
  readonly capabilities: ReadonlySet<Capability> = new Set<Capability>();
  #plane: ControlPlane | undefined;
  #http: Deno.HttpClient | undefined;

  get #started(): ControlPlane {
    if (this.#plane === undefined) throw new Error("Cannot use the server: it is there in tests only");
    return this.#plane;
  }

  async start(): Promise<void> {
    this.#plane = await startControlPlane({ users: Object.fromEntries(USERS.map((name) => [name, []])) });
    this.#http = Deno.createHttpClient({ caCerts: [this.#plane.ca] });
  }

  async stop(): Promise<void> {
    this.#http?.close();
    await this.#plane?.[Symbol.asyncDispose]();
  }

  client(user?: string): Client {
    const plane = this.#started;
    return plane.client(user === undefined ? plane.admin : plane.user(user));
  }

  readonly fetch = (request: Request): Promise<Response> => {
    const { url, admin } = this.#started;
    return forward(request, url, admin.token!, this.#http);
  };

  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answered> {
    return exchange(this, method, path, body, headers);
  }

  restart(): Promise<void> {
    return this.#started.restart();
  }

  compact(): void {
    throw new Error("Cannot compact: a real server does so by the clock");
  }
}

conformance(new Real());
