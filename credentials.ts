export interface Connection {
  readonly server: string;
  readonly namespace: string;
  readonly ca?: readonly string[] | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly serverName?: string | undefined;
  readonly insecure?: boolean | undefined;
  readonly proxy?: string | undefined;
  readonly generation: number;
  headers(): readonly (readonly [string, string])[];
}
export interface CredentialOptions {
  server?: string | undefined;
  token?: string | undefined;
  namespace?: string | undefined;
  kubeconfig?: string | undefined;
  context?: string | undefined;
  now?: (() => number) | undefined;
  ca?: string | undefined;
}
export class Credentials {
  #c: Connection;
  constructor(options: CredentialOptions = {}) {
    const { server = "http://localhost", token, namespace = "default", ca } = options;
    const headers: [string, string][] = token ? [["authorization", `Bearer ${token}`]] : [];
    this.#c = {
      server: server.replace(/\/$/, ""),
      namespace,
      generation: 1,
      ...(ca ? { ca: [ca] } : {}),
      headers: () => headers,
    };
  }
  resolve(_signal?: AbortSignal): Promise<Connection> {
    return Promise.resolve(this.#c);
  }
  refresh(_used?: Connection): Promise<Connection> {
    return Promise.resolve(this.#c);
  }
}
