/**
 * Knows which resources are served: the built-in ones, and those of CustomResourceDefinitions as they come and go.
 *
 * ```ts
 * import { Registry } from "./_registry.ts";
 *
 * console.assert(new Registry().find("apps", "v1", "deployments")?.kind === "Deployment");
 * ```
 *
 * @module
 */
import { compareKubeVersions } from "./_crds.ts";
import { BUILTIN_GROUPS } from "./_builtin_resources.ts";
import type { ResourceData } from "./_group_data.ts";
import type { GroupInfo, ResourceInfo, SubresourceInfo, VersionInfo } from "./_resource_info.ts";

export type { GroupInfo, ResourceInfo, SubresourceInfo, VersionInfo } from "./_resource_info.ts";

const ALL_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/** Two groups, one storage: the group whose collection holds the objects. */
const SHARED: Readonly<Record<string, string>> = { "events.events.k8s.io": "events" };

function builtin(group: string, version: string, data: readonly ResourceData[]): VersionInfo {
  const resources = new Map<string, ResourceInfo>();
  const subresources = new Map<string, Map<string, SubresourceInfo>>();
  for (const each of data) {
    const [plural, name] = each.name.split("/") as [string, string?];
    if (name === undefined) continue;
    if (!subresources.has(plural)) subresources.set(plural, new Map());
    const { kind, verbs = ALL_VERBS } = each;
    subresources.get(plural)!.set(name, { name, kind, group: each.group, version: each.version, verbs });
  }
  for (const each of data) {
    if (each.name.includes("/")) continue;
    const id = group === "" ? each.name : `${each.name}.${group}`;
    const apiVersion = group === "" ? version : `${group}/${version}`;
    resources.set(each.name, {
      group,
      version,
      apiVersion,
      kind: each.kind,
      listKind: `${each.kind}List`,
      plural: each.name,
      singular: each.singularName ?? "",
      namespaced: each.namespaced ?? false,
      shortNames: each.shortNames ?? [],
      categories: each.categories ?? [],
      verbs: each.verbs ?? ALL_VERBS,
      subresources: subresources.get(each.name) ?? new Map(),
      storage: SHARED[id] ?? id,
      encoding: apiVersion,
      hash: each.hash,
    });
  }
  return { version, resources };
}

const BUILTIN: ReadonlyMap<string, GroupInfo> = new Map(
  BUILTIN_GROUPS.map(({ name, versions }) => [
    name,
    { name, versions: versions.map(({ version, resources }) => builtin(name, version, resources)) },
  ]),
);

/** A group and version as an APIService announces it. */
export interface Announced {
  readonly group: string;
  readonly version: string;
  /** Those of the group and of the version. */
  readonly priority: readonly [group: number, version: number];
  /** True if another server is to serve it. */
  readonly remote: boolean;
}

/** The group of the APIServices: it announces itself. */
const REGISTRATION = "apiregistration.k8s.io";

function byGroup(a: Announced, b: Announced): number {
  const [left, right] = [a, b].map(({ version, group }) => `${version}.${group}`) as [string, string];
  return b.priority[0] - a.priority[0] || (left < right ? -1 : left > right ? 1 : 0);
}

function byVersion(a: Announced, b: Announced): number {
  return b.priority[1] - a.priority[1] || compareKubeVersions(a.version, b.version);
}

/** The resources of one server. */
export class Registry {
  readonly #custom = new Map<string, GroupInfo>();
  readonly #announced = new Map<string, Announced>();
  readonly #remote = new Set<string>();

  /** The groups in the order of discovery: built-in ones first. */
  groups(): GroupInfo[] {
    return [...BUILTIN.values(), ...[...this.#custom.values()].filter(({ name }) => !BUILTIN.has(name))];
  }

  /** True for a group that cannot be taken away. */
  isBuiltin(group: string): boolean {
    return BUILTIN.has(group);
  }

  /** A group, if it is served. */
  group(name: string): GroupInfo | undefined {
    return BUILTIN.get(name) ?? this.#custom.get(name);
  }

  /** A version of a group, if it is served. */
  version(group: string, version: string): VersionInfo | undefined {
    return this.group(group)?.versions.find((each) => each.version === version);
  }

  /** A resource, if it is served. */
  find(group: string, version: string, plural: string): ResourceInfo | undefined {
    return this.version(group, version)?.resources.get(plural);
  }

  /** The resource of a kind, in the version given or any. */
  byKind(group: string, kind: string, version?: string): ResourceInfo | undefined {
    for (const each of this.group(group)?.versions ?? []) {
      if (version !== undefined && each.version !== version) continue;
      for (const info of each.resources.values()) if (info.kind === kind && info.plural !== "bindings") return info;
    }
    return undefined;
  }

  /** Every resource in its preferred version. */
  *resources(): Generator<ResourceInfo> {
    const seen = new Set<string>();
    for (const group of this.groups()) {
      for (const { resources } of group.versions) {
        for (const info of resources.values()) {
          if (seen.has(info.storage)) continue;
          seen.add(info.storage);
          yield info;
        }
      }
    }
  }

  /** Takes what the APIService with a name announces from now on; nothing once it is gone. */
  announce(name: string, announced: Announced | undefined): void {
    if (announced?.remote && announced.group !== REGISTRATION) this.#remote.add(name);
    else this.#remote.delete(name);
    if (announced) this.#announced.set(name, announced);
    else this.#announced.delete(name);
  }

  /** True if another server is to serve this group and version. */
  isRemote(group: string, version: string): boolean {
    return this.#remote.size > 0 && this.#remote.has(`${version}.${group}`);
  }

  /** What is announced, by group, in the order of discovery: the groups but the first one, their versions by preference. */
  announced(): Announced[][] {
    const groups = new Map<string, Announced[]>();
    const own = { group: REGISTRATION, version: "v1", priority: [Infinity, 1], remote: false } as const;
    for (const each of [own, ...[...this.#announced.values()].sort(byGroup)]) {
      if (each.group === "" || (each !== own && each.group === REGISTRATION)) continue;
      if (!groups.has(each.group)) groups.set(each.group, []);
      groups.get(each.group)!.push(each);
    }
    return [...groups.values()].map((versions) => versions.sort(byVersion));
  }

  /** Serves exactly these custom groups from now on. */
  setCustom(groups: Iterable<GroupInfo>): void {
    this.#custom.clear();
    for (const group of groups) this.#custom.set(group.name, group);
  }
}
