/**
 * Answers discovery: which groups, versions and resources there are, plain and aggregated, and the server's health.
 *
 * ```ts
 * import { discover } from "./_discovery.ts";
 * import { Registry } from "./_registry.ts";
 *
 * console.assert(discover(new Registry(), "/api", null)?.code === 200);
 * ```
 *
 * @module
 */
import type { Answer } from "./_call.ts";
import { negotiate } from "./_codec.ts";
import type { Fields } from "./_objects.ts";
import type { GroupInfo, Registry, ResourceInfo, VersionInfo } from "./_registry.ts";
import { noResource, notAcceptable } from "./_status.ts";

/** What `/version` says. */
export const VERSION: Readonly<Record<string, string>> = {
  major: "1",
  minor: "37",
  emulationMajor: "1",
  emulationMinor: "37",
  minCompatibilityMajor: "1",
  minCompatibilityMinor: "36",
  gitVersion: "v1.37.2",
  gitCommit: "",
  gitTreeState: "",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "deno",
  compiler: "v8",
  platform: "linux/amd64",
};

/** What has a version. */
type Versioned = Pick<VersionInfo, "version">;

function groupVersion(group: string, version: string): string {
  return group === "" ? version : `${group}/${version}`;
}

function groupDocument({ name, versions }: Pick<GroupInfo, "name"> & { versions: readonly Versioned[] }): Fields {
  const listed = versions.map(({ version }) => ({ groupVersion: groupVersion(name, version), version }));
  return { name, versions: listed, preferredVersion: listed[0] };
}

function resourceDocuments(info: ResourceInfo): Fields[] {
  const { plural, singular, namespaced, kind, verbs, shortNames, categories, hash } = info;
  const documents: Fields[] = [];
  if (verbs.length > 0) {
    documents.push({
      name: plural,
      singularName: singular,
      namespaced,
      kind,
      verbs,
      ...(shortNames.length > 0 ? { shortNames } : {}),
      ...(categories.length > 0 ? { categories } : {}),
      storageVersionHash: hash ?? hashOf(info.storage + info.version),
    });
    if (hash === undefined && !info.custom) delete documents[0]!.storageVersionHash;
  }
  for (const sub of info.subresources.values()) {
    documents.push({
      name: `${plural}/${sub.name}`,
      singularName: "",
      namespaced,
      ...(sub.group ? { group: sub.group } : {}),
      ...(sub.version ? { version: sub.version } : {}),
      kind: sub.kind,
      verbs: sub.verbs,
    });
  }
  return documents;
}

/** Eight bytes of a text, as discovery shows hashes. */
function hashOf(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const character of text) {
    hash = ((hash ^ BigInt(character.codePointAt(0)!)) * 0x100000001b3n) & 0xffffffffffffffffn;
  }
  const bytes = Array.from({ length: 8 }, (_, index) => Number((hash >> BigInt(index * 8)) & 0xffn));
  return btoa(String.fromCharCode(...bytes));
}

function aggregatedResource(info: ResourceInfo): Fields {
  const gvk = (kind: string, group?: string, version?: string): Fields =>
    info.custom || group !== undefined
      ? { group: group ?? info.group, version: version ?? info.version, kind }
      : { group: "", version: "", kind };
  const subresources = [...info.subresources.values()].map((sub) => ({
    subresource: sub.name,
    responseKind: gvk(sub.kind, sub.group, sub.version),
    verbs: sub.verbs,
  }));
  return {
    resource: info.plural,
    responseKind: gvk(info.kind),
    scope: info.namespaced ? "Namespaced" : "Cluster",
    singularResource: info.singular,
    verbs: info.verbs,
    ...(info.shortNames.length > 0 ? { shortNames: info.shortNames } : {}),
    ...(info.categories.length > 0 ? { categories: info.categories } : {}),
    ...(subresources.length > 0 ? { subresources } : {}),
  };
}

/** A group of which not all versions may be served. */
interface AnnouncedGroup {
  readonly name: string;
  readonly versions: readonly (VersionInfo | Versioned)[];
}

/** What is announced and served; of what another server is to serve nothing more is known. */
function known(registry: Registry): AnnouncedGroup[] {
  return registry.announced().flatMap((announced) => {
    const versions = announced.flatMap(({ group, version, remote }) =>
      remote ? { version } : registry.version(group, version) ?? []
    );
    return versions.length > 0 ? { name: announced[0]!.group, versions } : [];
  });
}

function aggregated(groups: readonly AnnouncedGroup[]): Fields {
  const versionDocument = (each: VersionInfo | Versioned): Fields =>
    "resources" in each
      ? {
        version: each.version,
        resources: [...each.resources.values()].map(aggregatedResource),
        freshness: "Current",
      }
      : { version: each.version, freshness: "Stale" };
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === "" ? {} : { name },
      versions: versions.map(versionDocument),
    })),
  };
}

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** Answers a discovery path; undefined if it is none. */
export function discover(registry: Registry, path: string, accept: string | null, host = ""): Answer | undefined {
  const parts = path.split("/").filter((part) => part !== "");
  const [root, group, version, ...rest] = parts;
  if (rest.length > 0) return undefined;
  if ((root === "api" || root === "apis") && group === undefined) {
    const wanted = negotiate(accept, new Set(["APIGroupDiscoveryList"]));
    if (wanted === undefined) {
      const types = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
      throw notAcceptable(`only the following media types are accepted: ${types}`, {});
    }
    if (wanted.as === "APIGroupDiscoveryList") {
      const body = aggregated(root === "api" ? [registry.group("")!] : known(registry));
      return { code: 200, body, headers: { "content-type": AGGREGATED } };
    }
    if (root === "api") {
      const serverAddressByClientCIDRs = [{ clientCIDR: "0.0.0.0/0", serverAddress: host }];
      return { code: 200, body: { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs } };
    }
    const groups = registry.announced().map((versions) => groupDocument({ name: versions[0]!.group, versions }));
    return { code: 200, body: { kind: "APIGroupList", apiVersion: "v1", groups } };
  }
  if (root === "api" && version === undefined) return versionDocument(registry, "", group!);
  if (root === "apis" && group !== undefined) {
    if (version !== undefined) return registry.group(group) && versionDocument(registry, group, version);
    const announced = registry.announced().find(([first]) => first!.group === group);
    const found = announced ? { name: group, versions: announced } : registry.group(group);
    if (!found) return undefined;
    return { code: 200, body: { kind: "APIGroup", apiVersion: "v1", ...groupDocument(found) } };
  }
  return undefined;
}

function versionDocument(registry: Registry, group: string, version: string): Answer | undefined {
  const found = registry.version(group, version);
  if (!found) {
    if (registry.isBuiltin(group)) throw noResource();
    return undefined;
  }
  const resources = [...found.resources.values()].flatMap(resourceDocuments);
  const body: Fields = {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: groupVersion(group, version),
    resources,
  };
  if (group === "") delete body.apiVersion;
  return { code: 200, body };
}

const ALIVE = ["ping", "log", "etcd"];

/** The health checks by path. */
export const CHECKS: Readonly<Record<string, readonly string[]>> = {
  healthz: ALIVE,
  livez: ALIVE,
  readyz: [...ALIVE, "etcd-readiness", "informer-sync", "shutdown"],
};

/** Answers a health path; undefined if it is none. */
export function health(path: string, query: URLSearchParams): string | undefined {
  const [, root = "", check, ...rest] = path.split("/");
  const checks = Object.hasOwn(CHECKS, root) ? CHECKS[root]! : undefined;
  if (checks === undefined || rest.length > 0) return undefined;
  if (check !== undefined) return checks.includes(check) ? "ok" : undefined;
  if (!query.has("verbose")) return "ok";
  return `${checks.map((each) => `[+]${each} ok\n`).join("")}${root} check passed\n`;
}
