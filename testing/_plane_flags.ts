/**
 * Spells the flags of a control plane's programs, and the lines of its token file.
 *
 * ```ts
 * import { apiServerFlags } from "./_plane_flags.ts";
 *
 * const flags = apiServerFlags({ folder: "/run/x", etcdPort: 1, peerPort: 2, port: 3 }, { "v": "4" });
 * console.assert(flags.includes("--v=4"));
 * ```
 *
 * @module
 */

/** The address of everything: loopback. */
export const HOST = "127.0.0.1";

/** What the programs are started with. */
export interface PlaneLayout {
  /** The folder of all files. */
  readonly folder: string;
  /** The port of etcd for clients. */
  readonly etcdPort: number;
  /** The port of etcd for its peers. */
  readonly peerPort: number;
  /** The port of kube-apiserver. */
  readonly port: number;
}

/** The flags of etcd, in order. */
export function etcdFlags({ folder, etcdPort, peerPort }: PlaneLayout): string[] {
  const peers = `http://${HOST}:${peerPort}`;
  const clients = `http://${HOST}:${etcdPort}`;
  return toFlags({
    "data-dir": `${folder}/etcd-data`,
    "unsafe-no-fsync": "true",
    "listen-client-urls": clients,
    "advertise-client-urls": clients,
    "listen-peer-urls": peers,
    "initial-advertise-peer-urls": peers,
    "initial-cluster": `default=${peers}`,
    "log-level": "warn",
  });
}

/** The flags of kube-apiserver, in order: its own, replaced, added to and taken away by `extra`. */
export function apiServerFlags(
  { folder, etcdPort, port }: PlaneLayout,
  extra: Readonly<Record<string, string | undefined>> = {},
): string[] {
  return toFlags({
    "etcd-servers": `http://${HOST}:${etcdPort}`,
    "bind-address": HOST,
    "advertise-address": HOST,
    "secure-port": `${port}`,
    "tls-cert-file": `${folder}/server.crt`,
    "tls-private-key-file": `${folder}/server.key`,
    "client-ca-file": `${folder}/ca.crt`,
    "token-auth-file": `${folder}/tokens.csv`,
    "anonymous-auth": "true",
    "authorization-mode": "RBAC",
    "service-account-issuer": "https://kubernetes.default.svc",
    "service-account-key-file": `${folder}/service-account.pub`,
    "service-account-signing-key-file": `${folder}/service-account.key`,
    "service-cluster-ip-range": "10.0.0.0/24",
    "disable-admission-plugins": "ServiceAccount",
    "enable-admission-plugins": "OwnerReferencesPermissionEnforcement",
    "endpoint-reconciler-type": "none",
    "allow-privileged": "true",
    ...extra,
  });
}

function toFlags(values: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    if (!/^[a-z][a-z0-9-]*$/.test(name)) {
      throw new TypeError(
        `Cannot start a control plane: a flag must be named without dashes in front: current value is ${
          Deno.inspect(name)
        }`,
      );
    }
    return value === undefined ? [] : [`--${name}=${value}`];
  });
}

/** The line of the token file that gives a user its token and groups. */
export function tokenLine(name: string, token: string, groups: readonly string[]): string {
  for (const word of [name, ...groups]) {
    if (!/^[^\s",]+$/.test(word)) {
      throw new TypeError(
        `Cannot start a control plane: users and groups must have names without spaces, commas and quotes: current value is ${
          Deno.inspect(word)
        }`,
      );
    }
  }
  return `${token},${name},${name},"${groups.join(",")}"\n`;
}
