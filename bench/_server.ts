/**
 * Runs the API server that peers are measured on, and speaks to it without a framework: requests, metrics, processor time.
 *
 * @module
 */
import { dirname } from "node:path";
import { stringify } from "@std/yaml";
import { delay } from "../delay.ts";
import { ControlPlane } from "../testing/control_plane.ts";
import { Etcd } from "./_etcd.ts";
import { usage } from "./_process.ts";
import { type RequestCounts, requestCounts } from "./_server_requests.ts";

/** What is different from a control plane of tests: nothing slows a client down on purpose. */
const FLAGS: Readonly<Record<string, string | undefined>> = {
  "enable-priority-and-fairness": "false",
  // Not on by default, and a new kind may only own something when it has read of it, every 10 s.
  "enable-admission-plugins": undefined,
};

/** What of a processor a calm server takes at most; how often that is looked at, and how long it is waited for, in ms. */
const CALM = 0.1, LOOK = 500, PATIENCE = 60_000;

/** Processor time of the server's two programs, in s. */
export interface ServerTime {
  readonly api: number;
  readonly etcd: number;
}

/** A request's body. */
export interface Body {
  readonly text: string;
  /** The media type behind `application/`. */
  readonly type: string;
}

/** A body in JSON. */
export function json(value: unknown, type = "json"): Body {
  return { text: JSON.stringify(value), type };
}

/** An object that can be applied. */
export interface Applied {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** A real kube-apiserver with its etcd. */
export class Server implements AsyncDisposable {
  /** What is behind it. */
  readonly etcd: Etcd;
  readonly #plane: ControlPlane;
  readonly #http: Deno.HttpClient;
  readonly #pids: Readonly<Record<keyof ServerTime, number>>;

  private constructor(plane: ControlPlane) {
    this.etcd = new Etcd(plane.etcd);
    this.#plane = plane;
    this.#http = Deno.createHttpClient({ caCerts: [plane.ca] });
    const pid = (name: string) => Number(Deno.readTextFileSync(`${this.folder}/${name}.pid`));
    this.#pids = { api: pid("kube-apiserver"), etcd: pid("etcd") };
  }

  /** Starts both programs. */
  static async start(assets: string): Promise<Server> {
    return new Server(await ControlPlane.start({ assets, flags: FLAGS }));
  }

  /** A folder that is gone when the server is, however this process ends. */
  get folder(): string {
    return dirname(this.#plane.kubeconfig);
  }

  get url(): string {
    return this.#plane.url;
  }

  get ca(): string {
    return this.#plane.ca;
  }

  get token(): string {
    return this.#plane.admin.token!;
  }

  /** Sends a request; the text of the answer. @throws {Error} If the server refuses */
  async request(method: string, path: string, body?: Body): Promise<string> {
    const response = await fetch(this.url + path, {
      method,
      client: this.#http,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(body === undefined ? {} : { "content-type": `application/${body.type}` }),
      },
      ...(body === undefined ? {} : { body: body.text }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`Cannot ${method} ${path}: the server answered ${response.status}: ${text}`);
    return text;
  }

  /** Applies an object of any kind, by its collection. */
  async apply(collection: string, object: Applied): Promise<void> {
    const path = `${collection}/${object.metadata.name}?fieldManager=bench&force=true`;
    await this.request("PATCH", path, { text: stringify(object, { useAnchors: false }), type: "apply-patch+yaml" });
  }

  /** How many requests it has answered since it started. */
  async requests(): Promise<RequestCounts> {
    return requestCounts(await this.request("GET", "/metrics"));
  }

  /** The processor time that it has used since it started. */
  time(): ServerTime {
    return { api: usage(this.#pids.api).cpu, etcd: usage(this.#pids.etcd).cpu };
  }

  /** Waits until the programs have done what they do by themselves after the start, or until it has taken too long. */
  async calm(): Promise<void> {
    const deadline = performance.now() + PATIENCE;
    for (let last = Infinity; performance.now() < deadline;) {
      const { api, etcd } = this.time();
      if (api + etcd - last < CALM * LOOK / 1000) return;
      last = api + etcd;
      await delay(LOOK);
    }
  }

  /** Waits until the server's watch cache has all that has been written to a collection up to now. */
  async cached(collection: string): Promise<void> {
    const { metadata } = JSON.parse(await this.request("GET", `${collection}?limit=1`));
    const path = `${collection}?limit=1&resourceVersion=${metadata.resourceVersion}`;
    const deadline = performance.now() + PATIENCE;
    while (true) {
      try {
        await this.request("GET", path); // It is answered when the cache is there, or refused after 3 s.
        return;
      } catch (error) {
        if (performance.now() > deadline) throw error;
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.close();
    await this.#plane[Symbol.asyncDispose]();
  }
}
