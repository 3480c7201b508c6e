/**
 * Says how an API server in memory is set up, asked and listened to.
 *
 * ```ts
 * import type { ApiServerOptions } from "./_api_server_options.ts";
 *
 * export const options: ApiServerOptions = { controllers: ["workloads"], controllerDelay: 100 };
 * ```
 *
 * @module
 */
import type { ClientOptions } from "../client.ts";
import type { ControllerName } from "./_controllers.ts";

/** How an `ApiServer` is set up. */
export interface ApiServerOptions {
  /** Wall time in ms since 1970. @default {() => Date.now()} */
  readonly now?: (() => number) | undefined;
  /** A number from 0 to 1: names, uids and timeouts come from it. @default {Math.random} */
  readonly random?: (() => number) | undefined;
  /** Users by bearer token; one with the group `system:masters` may do everything. @default {{}} */
  readonly users?:
    | Readonly<Record<string, { readonly name: string; readonly groups?: readonly string[]; readonly uid?: string }>>
    | undefined;
  /** True to enforce RBAC from the stored roles; else everybody may do everything. @default {false} */
  readonly authorization?: boolean | undefined;
  /**
   * What the controllers of a real cluster would do and this server does too: delete what has lost its owners
   * (`garbage-collector`) and what is in namespaces that are being deleted (`namespaces`), and run `workloads`:
   * Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs get pods, which become ready or complete without any
   * container.
   *
   * @default {[]}
   */
  readonly controllers?: readonly ControllerName[] | undefined;
  /**
   * After how many ms a controller meets a change; a new Deployment is ready after four times that.
   *
   * @default {0}
   */
  readonly controllerDelay?: number | undefined;
  /** How many events each resource keeps, to watch from and to look back in. @default {10_000} */
  readonly history?: number | undefined;
}

/** Where an `ApiServer` is to listen. */
export interface ListenOptions {
  /** The port; 0 for a free one. @default {0} */
  readonly port?: number | undefined;
  /** The address. @default {"127.0.0.1"} */
  readonly hostname?: string | undefined;
  /** True for HTTPS. @default {false} */
  readonly tls?: boolean | undefined;
}

/** Where a server listens. */
export interface Listening {
  /** The server's URL. */
  readonly url: string;
  /** The port. */
  readonly port: number;
  /** The certificate of the authority to trust, PEM; absent over HTTP. */
  readonly ca?: string;
  /** The text of a kubeconfig, of a cluster admin. */
  readonly kubeconfig: string;
}

/** How `ApiServer.client()` asks. */
export interface ApiServerClientOptions extends ClientOptions {
  /** The user that asks; without meaning beside a `token`. @default {a cluster admin} */
  readonly user?: string | undefined;
  /** The groups that the user is in. @default {[]} */
  readonly groups?: readonly string[] | undefined;
}
