/**
 * Writes `testing/_builtin_resources.ts`: the groups, versions and resources that a real kube-apiserver serves.
 *
 * ```sh
 * deno run -A tools/builtin_resources.ts https://127.0.0.1:6443 TOKEN
 * ```
 *
 * @module
 */
import https from "node:https";

const [server = "", token = ""] = Deno.args;

function get<T>(path: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept: "application/json" };
    https.get(`${server}${path}`, { headers, rejectUnauthorized: false }, (response) => {
      let text = "";
      response.on("data", (chunk) => text += chunk);
      response.on("end", () => resolve(JSON.parse(text)));
    }).on("error", reject);
  });
}

interface ApiResource {
  name: string;
  singularName: string;
  namespaced: boolean;
  kind: string;
  verbs: string[];
  shortNames?: string[];
  categories?: string[];
  group?: string;
  version?: string;
  storageVersionHash?: string;
}

const ALL = "create,delete,deletecollection,get,list,patch,update,watch";

function compact(resource: ApiResource): Record<string, unknown> {
  const { name, singularName, namespaced, kind, verbs, shortNames, categories, group, version } = resource;
  return {
    name,
    ...(singularName === "" ? {} : { singularName }),
    kind,
    ...(namespaced ? { namespaced } : {}),
    ...(verbs.join() === ALL ? {} : { verbs }),
    ...(shortNames ? { shortNames } : {}),
    ...(categories ? { categories } : {}),
    ...(group ? { group } : {}),
    ...(version ? { version } : {}),
    ...(resource.storageVersionHash ? { hash: resource.storageVersionHash } : {}),
  };
}

interface Group {
  name: string;
  versions: { groupVersion: string; version: string }[];
}

interface Service {
  metadata: { name: string; labels?: Record<string, string> };
  spec: { groupPriorityMinimum: number; versionPriority: number };
}

/** The group of the APIServices themselves: it is served, and no APIService says so. */
const REGISTRATION = "apiregistration.k8s.io";

const { items: services } = await get<{ items: Service[] }>(`/apis/${REGISTRATION}/v1/apiservices`);
/** What is served from the start, by name: custom resources of the server are none of it. */
const priorities = new Map(
  services.filter(({ metadata }) => metadata.labels?.["kube-aggregator.kubernetes.io/automanaged"] === "onstart")
    .map(({ metadata, spec }) => [metadata.name, [spec.groupPriorityMinimum, spec.versionPriority]]),
);
const { groups } = await get<{ groups: Group[] }>("/apis");
const data: unknown[] = [];
for (const group of [{ name: "", versions: [{ groupVersion: "v1", version: "v1" }] }, ...groups]) {
  const versions: unknown[] = [];
  for (const { groupVersion, version } of group.versions) {
    const priority = priorities.get(`${version}.${group.name}`);
    if (!priority && group.name !== REGISTRATION) continue;
    const path = group.name === "" ? `/api/${groupVersion}` : `/apis/${groupVersion}`;
    const { resources } = await get<{ resources: ApiResource[] }>(path);
    versions.push({ version, ...(priority ? { priority } : {}), resources: resources.map(compact) });
  }
  if (versions.length > 0) data.push({ name: group.name, versions });
}

const text = `/**
 * Lists the built-in groups and resources: written by tools/builtin_resources.ts from a real kube-apiserver, not to be edited.
 *
 * \`\`\`ts
 * import { BUILTIN_GROUPS } from "./_builtin_resources.ts";
 *
 * console.assert(BUILTIN_GROUPS[0]?.name === "");
 * \`\`\`
 *
 * @module
 */
import type { GroupData } from "./_group_data.ts";

/** Groups in the order of discovery, with their versions, the preferred one first. */
export const BUILTIN_GROUPS: readonly GroupData[] = ${JSON.stringify(data, null, 1)};
`;
await Deno.writeTextFile(new URL("../testing/_builtin_resources.ts", import.meta.url), text);
