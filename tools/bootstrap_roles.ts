/**
 * Writes `testing/_bootstrap_roles.ts`: the roles and bindings for users that every cluster has from its start.
 *
 * ```sh
 * deno run -A tools/bootstrap_roles.ts https://127.0.0.1:6443 TOKEN
 * ```
 *
 * @module
 */
import https from "node:https";

const [server = "", token = ""] = Deno.args;

interface Item {
  metadata: { name: string; labels?: Record<string, string> };
  rules?: unknown[];
  roleRef?: { name: string };
  subjects?: unknown[];
}

function get(resource: string): Promise<Item[]> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept: "application/json" };
    const path = `/apis/rbac.authorization.k8s.io/v1/${resource}`;
    https.get(`${server}${path}`, { headers, rejectUnauthorized: false }, (response) => {
      let text = "";
      response.on("data", (chunk) => text += chunk);
      response.on("end", () => resolve(JSON.parse(text).items));
    }).on("error", reject);
  });
}

const USERS = ["cluster-admin", "system:discovery", "system:basic-user", "system:public-info-viewer"];

const roles = (await get("clusterroles"))
  .filter(({ metadata: { name } }) => USERS.includes(name) || name.startsWith("system:aggregate-to-"))
  .map(({ metadata: { name, labels }, rules }) => ({ name, labels, rules }));
const bindings = (await get("clusterrolebindings"))
  .filter(({ metadata: { name } }) => USERS.includes(name))
  .map(({ metadata: { name, labels }, subjects }) => ({ name, labels, subjects }));

const text = `/**
 * Lists the roles and bindings that a cluster starts with: written by tools/bootstrap_roles.ts from a real kube-apiserver, not to be edited.
 *
 * \`\`\`ts
 * import { BOOTSTRAP_ROLES } from "./_bootstrap_roles.ts";
 *
 * console.assert(BOOTSTRAP_ROLES[0]?.name === "cluster-admin");
 * \`\`\`
 *
 * @module
 */

/** A ClusterRole. */
export interface BootstrapRole {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly rules: readonly Readonly<Record<string, readonly string[]>>[];
}

/** A ClusterRoleBinding of the role with its name. */
export interface BootstrapBinding {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly subjects: readonly Readonly<Record<string, string>>[];
}

/** The roles. */
export const BOOTSTRAP_ROLES: readonly BootstrapRole[] = ${JSON.stringify(roles, null, 1)};

/** The bindings. */
export const BOOTSTRAP_BINDINGS: readonly BootstrapBinding[] = ${JSON.stringify(bindings, null, 1)};
`;
await Deno.writeTextFile(new URL("../testing/_bootstrap_roles.ts", import.meta.url), text);
