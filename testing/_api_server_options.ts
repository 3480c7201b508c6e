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
import { type ControllerName, CONTROLLERS } from "./_controllers.ts";

/** How an `ApiServer` is set up. */
export interface ApiServerOptions {
  /** Wall time in ms since 1970. @default {() => Date.now()} */
  readonly now?: (() => number) | undefined;
  /** A number from 0 up to 1: names, uids, tokens and timeouts come from it. @default {Math.random} */
  readonly random?: (() => number) | undefined;
  /** A new uid for an object. @default {a UUID from `random`} */
  readonly uid?: (() => string) | undefined;
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
  /**
   * True to take `shardSelector` in lists and watches, as with the feature `ShardedListAndWatch`; else it is not looked at.
   *
   * @default {false}
   */
  readonly sharding?: boolean | undefined;
  /**
   * How many requests `ApiServer.requests` keeps at least: 0 for none, `Infinity` for all. Of bodies no more than 16 million
   * characters are kept: what came before is forgotten.
   *
   * @default {1000}
   */
  readonly keepRequests?: number | undefined;
}

/** Where an `ApiServer` is to listen. */
export interface ListenOptions {
  /** The port; 0 for a free one. @default {0} */
  readonly port?: number | undefined;
  /** The address. @default {"127.0.0.1"} */
  readonly hostname?: string | undefined;
  /** True for HTTPS. @default {false} */
  readonly tls?: boolean | undefined;
  /**
   * True to ask for client certificates, over HTTPS: the name of the subject is the user's, its organizations are the groups.
   * Kubeconfigs then carry certificates. Connections are HTTP/1.1 alone, and slower.
   *
   * @default {false}
   */
  readonly clientCertificates?: boolean | undefined;
  /**
   * Path of a file to write a kubeconfig of a cluster admin to, readable by its owner alone; it is removed when the server
   * closes.
   *
   * @default {none}
   */
  readonly kubeconfigFile?: string | undefined;
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
  /**
   * Writes a kubeconfig of any user, with a client certificate if the server asks for those, else with a token. No roles are
   * given.
   */
  readonly kubeconfigOf: (user: string, groups?: readonly string[]) => string;
}

/** How `ApiServer.client()` asks. */
export interface ApiServerClientOptions extends ClientOptions {
  /** The user that asks; without meaning beside a `token`. @default {a cluster admin} */
  readonly user?: string | undefined;
  /** The groups that the user is in. @default {[]} */
  readonly groups?: readonly string[] | undefined;
  /** What faults and expectations know the client by. @default {what its user agent begins with} */
  readonly name?: string | undefined;
}

/** How an API server restarts. */
export interface RestartOptions {
  /** For how many ms it is down. @default {0} */
  readonly for?: number | undefined;
}

function isIntegerFrom(least: number): (value: unknown) => boolean {
  return (value) => Number.isInteger(value) && (value as number) >= least;
}

function isMilliseconds(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value < 2 ** 31;
}

const isBoolean = (value: unknown): boolean => typeof value === "boolean";
const isFunction = (value: unknown): boolean => typeof value === "function";

/** The rule of an option: what it must be, and whether a value is that. */
type Rule = readonly [says: string, holds: (value: unknown) => boolean];

const OPTIONS: Readonly<Record<keyof ApiServerOptions, Rule>> = {
  now: ["a function", isFunction],
  random: ["a function", isFunction],
  uid: ["a function", isFunction],
  users: ["an object of users with a name and no more than groups and a uid, by token", areUsers],
  authorization: ["a boolean", isBoolean],
  controllers: [`an array of ${CONTROLLERS.join(", ")}`, areControllers],
  controllerDelay: ["a number of ms from 0 on, below 2^31", isMilliseconds],
  history: ["a positive integer", isIntegerFrom(1)],
  sharding: ["a boolean", isBoolean],
  keepRequests: ["an integer from 0 on, or Infinity", (value) => value === Infinity || isIntegerFrom(0)(value)],
};

const ADDRESS: Readonly<Record<keyof ListenOptions, Rule>> = {
  port: ["an integer from 0 to 65535", (value) => isIntegerFrom(0)(value) && (value as number) <= 65_535],
  hostname: ["a host name or address", (value) => typeof value === "string" && value !== ""],
  tls: ["a boolean", isBoolean],
  clientCertificates: ["a boolean", isBoolean],
  kubeconfigFile: ["a path", (value) => typeof value === "string" && value !== ""],
};

const RESTART: Readonly<Record<keyof RestartOptions, Rule>> = {
  for: ["a number of ms from 0 on, below 2^31", isMilliseconds],
};

function areControllers(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => (CONTROLLERS as readonly unknown[]).includes(each));
}

function areUsers(value: unknown): boolean {
  return typeof value === "object" && value !== null &&
    Object.values(value).every((user) =>
      typeof user?.name === "string" && user.name !== "" && (user.uid === undefined || typeof user.uid === "string") &&
      (user.groups === undefined ||
        (Array.isArray(user.groups) && user.groups.every((each: unknown) => typeof each === "string")))
    );
}

/** @throws {RangeError | TypeError} If an option is not what it must be */
export function checkOptions(options: ApiServerOptions): void {
  check("create ApiServer", OPTIONS, options);
}

/** @throws {RangeError | TypeError} If an option is not what it must be */
export function checkAddress(options: ListenOptions): void {
  check("listen", ADDRESS, options);
}

/** @throws {RangeError | TypeError} If an option is not what it must be */
export function checkRestart(options: RestartOptions): void {
  check("restart", RESTART, options);
}

function check(what: string, rules: Readonly<Record<string, Rule>>, options: object): void {
  for (const [name, value] of Object.entries(options)) {
    const [says, holds] = Object.hasOwn(rules, name) ? rules[name]! : [];
    if (!says || !holds) {
      throw new TypeError(
        `Cannot ${what}: the options are ${Object.keys(rules).join(", ")}: current option is '${name}'`,
      );
    }
    if (value === undefined || holds(value)) continue;
    const message = `Cannot ${what}: '${name}' must be ${says}: current value is ${shown(value)}`;
    throw typeof value === "number" ? new RangeError(message) : new TypeError(message);
  }
}

/** A value in an error message; tokens and their users are nobody's business. */
function shown(value: unknown): string {
  if (typeof value === "number") return String(value);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return "an object";
  return JSON.stringify(value) ?? typeof value;
}
