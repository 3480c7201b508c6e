/** Stands between a client and a server, passes bytes on as they are, and fails as networks do. */
import { createConnection, createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

/** Real timers, also under fake time: what is on the network takes real time. */
const [setReal, clearReal] = [setTimeout, clearTimeout];

/** One connection and its onward half. */
interface Flow {
  readonly near: Socket;
  readonly far: Socket;
  /** True once everything that comes is thrown away. */
  lost: boolean;
}

/** A TCP proxy on a port of loopback. */
export class TcpProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #flows = new Set<Flow>();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  #opened = 0;
  #lag = 0;
  #stalled = false;

  private constructor(target: number) {
    this.#server = createServer((near) => this.#accept(near, target));
  }

  /** Listens; passes on to a port of loopback. */
  static async to(target: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", () => resolve()));
    return proxy;
  }

  /** Its port. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** How many connections are open. */
  get open(): number {
    return this.#flows.size;
  }

  /** How many connections there have been. */
  get opened(): number {
    return this.#opened;
  }

  /** Holds everything back, on connections of now and later, until {@linkcode TcpProxy.flow}. */
  stall(): void {
    this.#stalled = true;
    for (const { near, far } of this.#flows) near.pause(), far.pause();
  }

  /** Passes on what was held back, and all else, at once again. */
  flow(): void {
    this.#stalled = false;
    this.#lag = 0;
    for (const { near, far } of this.#flows) near.resume(), far.resume();
  }

  /** Passes everything on this many ms later, each way, until {@linkcode TcpProxy.flow}. */
  delay(ms: number): void {
    this.#lag = ms;
  }

  /** Resets the connections of now, both halves: their ends see an error. */
  reset(): void {
    for (const { near, far } of this.#flows) near.resetAndDestroy(), far.resetAndDestroy();
  }

  /** Loses from now on what comes on the connections of now, as when a router forgets them: neither end sees a sign. */
  cut(): void {
    for (const flow of this.#flows) flow.lost = true;
  }

  #accept(near: Socket, target: number): void {
    const far = createConnection({ host: "127.0.0.1", port: target });
    const flow: Flow = { near, far, lost: false };
    this.#flows.add(flow);
    this.#opened++;
    for (const [from, to] of [[near, far], [far, near]] as const) {
      from.setNoDelay(true);
      from.on("data", (chunk: Uint8Array) => this.#pass(flow, () => to.write(chunk)));
      from.on("end", () => this.#pass(flow, () => to.end()));
      from.on("error", () => {}); // its close follows
      from.on("close", () => {
        // Of a lost connection, the other end does not learn.
        if (!flow.lost) this.#pass(flow, () => to.destroy());
        if (near.destroyed && far.destroyed) this.#flows.delete(flow);
      });
      if (this.#stalled) from.pause();
    }
  }

  #pass(flow: Flow, pass: () => void): void {
    if (flow.lost) return;
    if (this.#lag === 0) return pass();
    const timer = setReal(() => {
      this.#timers.delete(timer);
      if (!flow.lost) pass();
    }, this.#lag);
    this.#timers.add(timer);
  }

  /** Closes all. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) clearReal(timer);
    for (const { near, far } of this.#flows) near.destroy(), far.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
