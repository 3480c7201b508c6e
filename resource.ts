/**
 * Describes kinds: where a kind is served, how its objects look on the wire, what identifies one, and who owns it.
 *
 * ```ts
 * import { type KubernetesObject, resource } from "@tend/operator";
 *
 * interface Certificate extends KubernetesObject {
 *   spec: { dnsNames: string[]; secretName: string };
 * }
 * const Certificate = resource<Certificate>({
 *   group: "cert-manager.io",
 *   version: "v1",
 *   kind: "Certificate",
 *   plural: "certificates",
 *   scope: "Namespaced",
 * });
 * console.assert(Certificate.path("shop", "web") === "/apis/cert-manager.io/v1/namespaces/shop/certificates/web");
 * ```
 *
 * @module
 */
import { assertGroup, assertKind, assertPathSegment, assertPlural, assertVersion } from "./names.ts";

/** An entry of `metadata.ownerReferences`. */
export interface OwnerReference {
  /** The owner's API version, such as `apps/v1`. */
  apiVersion: string;
  /** The owner's kind. */
  kind: string;
  /** The owner's name. */
  name: string;
  /** The owner's uid; the garbage collector goes by this. */
  uid: string;
  /** True for the one owner that manages the object. */
  controller?: boolean;
  /** True if the owner may not vanish before this object in a foreground deletion. */
  blockOwnerDeletion?: boolean;
}

/** An entry of `metadata.managedFields`. */
export interface ManagedFieldsEntry {
  /** The field manager. */
  manager?: string;
  /** `Apply` or `Update`. */
  operation?: string;
  /** The API version that the fields are named in. */
  apiVersion?: string;
  /** When the entry last changed. */
  time?: string;
  /** Always `FieldsV1`. */
  fieldsType?: string;
  /** The set of fields. */
  fieldsV1?: Record<string, unknown>;
  /** The subresource that was written, such as `status`. */
  subresource?: string;
}

/** The metadata of an object that a server returned. */
export interface ObjectMeta {
  /** Unique among the objects of the kind in the namespace. */
  name: string;
  /** Absent for cluster-scoped objects. */
  namespace?: string;
  /** Unique in the life of the cluster. */
  uid: string;
  /** Changes with every write. */
  resourceVersion: string;
  /** Grows when the desired state changes; not every kind has it. */
  generation?: number;
  /** When the object was created (RFC 3339). */
  creationTimestamp: string;
  /** When deletion was asked for; the finalizers still hold the object. */
  deletionTimestamp?: string;
  /** Seconds of a graceful deletion. */
  deletionGracePeriodSeconds?: number;
  /** Prefix of a name that the server made. */
  generateName?: string;
  /** What selectors go by. */
  labels?: Record<string, string>;
  /** Anything else that is kept with the object. */
  annotations?: Record<string, string>;
  /** What must be cleaned up before the object may vanish. */
  finalizers?: string[];
  /** Whose deletion deletes this object. */
  ownerReferences?: OwnerReference[];
  /** Who set which field; not kept in caches. */
  managedFields?: ManagedFieldsEntry[];
}

/** An object as a server returns it: the raw JSON. */
export interface KubernetesObject {
  /** Group and version, such as `apps/v1`, or `v1`. */
  apiVersion: string;
  /** The kind, such as `Deployment`. */
  kind: string;
  /** What identifies and describes the object. */
  metadata: ObjectMeta;
}

/** Everything optional, all the way down. */
export type DeepPartial<T> = T extends readonly (infer U)[] ? DeepPartial<U>[]
  : T extends object ? { [K in keyof T]?: DeepPartial<T[K]> }
  : T;

/** The metadata that a client writes. */
export type DraftMeta = Partial<ObjectMeta>;

/** An object as a client writes it: the server, or the schema's defaults, fill the rest in. */
export type Draft<T> = DeepPartial<Omit<T, "apiVersion" | "kind" | "metadata">> & {
  /** Filled in from the resource. */
  apiVersion?: string;
  /** Filled in from the resource. */
  kind?: string;
  /** At least a name, or a `generateName`. */
  metadata: DraftMeta;
};

/** A draft that says of what kind it is. */
export type KindedDraft<T> = Draft<T> & { apiVersion: string; kind: string };

/** Whether the objects of a kind live in namespaces. */
export type Scope = "Namespaced" | "Cluster";

/** What {@linkcode resource} needs to know of a kind. */
export interface ResourceDefinition {
  /** The API group; empty for the core group. */
  readonly group: string;
  /** The version, such as `v1`. */
  readonly version: string;
  /** The kind, such as `Deployment`. */
  readonly kind: string;
  /** The name in paths and RBAC rules, such as `deployments`. */
  readonly plural: string;
  /** Whether the objects live in namespaces. @default {"Namespaced"} */
  readonly scope?: Scope | undefined;
}

/** A kind: where it is served and, for TypeScript, how its objects look. */
export class Resource<T extends KubernetesObject = KubernetesObject> implements ResourceDefinition {
  /** The API group; empty for the core group. */
  readonly group: string;
  /** The version, such as `v1`. */
  readonly version: string;
  /** The kind, such as `Deployment`. */
  readonly kind: string;
  /** The name in paths and RBAC rules, such as `deployments`. */
  readonly plural: string;
  /** Whether the objects live in namespaces. */
  readonly scope: Scope;
  /** Carries the type of the objects; never set. */
  declare readonly object?: T;
  readonly #apiVersion: string;

  /**
   * Use {@linkcode resource}.
   *
   * @throws {TypeError} If a part of the definition is not a valid name
   */
  constructor(definition: ResourceDefinition) {
    const { group, version, kind, plural, scope = "Namespaced" } = definition;
    const what = `resource "${kind}"`;
    assertGroup(group, what);
    assertVersion(version, what);
    assertKind(kind, what);
    assertPlural(plural, what);
    if (scope !== "Namespaced" && scope !== "Cluster") {
      throw new TypeError(
        `Cannot define ${what}: 'scope' must be "Namespaced" or "Cluster": current value is ${Deno.inspect(scope)}`,
      );
    }
    this.group = group;
    this.version = version;
    this.kind = kind;
    this.plural = plural;
    this.scope = scope;
    this.#apiVersion = group === "" ? version : `${group}/${version}`;
  }

  /** Group and version as objects carry them. */
  get apiVersion(): string {
    return this.#apiVersion;
  }

  /** True if the objects live in namespaces. */
  get namespaced(): boolean {
    return this.scope === "Namespaced";
  }

  /** Plural and group, as in a CustomResourceDefinition's name, such as `deployments.apps`, or `pods`. */
  get id(): string {
    return this.group === "" ? this.plural : `${this.plural}.${this.group}`;
  }

  /**
   * Answers with the path of the collection, of one object, or of its subresource, each segment encoded once.
   *
   * @throws {TypeError} If a segment could change the path: empty, `.`, `..`, or with `/` or `%`
   */
  path(namespace?: string, name?: string, subresource?: string): string {
    let path = this.group === "" ? `/api/${this.version}` : `/apis/${this.group}/${this.version}`;
    if (this.namespaced && namespace !== undefined) path += `/namespaces/${segment(namespace, "namespace")}`;
    path += `/${this.plural}`;
    if (name !== undefined) path += `/${segment(name, "name")}`;
    if (subresource !== undefined) path += `/${segment(subresource, "subresource")}`;
    return path;
  }

  /** Completes a draft with `apiVersion` and `kind`, for {@linkcode Context.applyOwned} and manifests. */
  draft(draft: Draft<T>): KindedDraft<T> {
    return { ...draft, apiVersion: this.apiVersion, kind: this.kind };
  }

  /** True if the object, or owner reference, is of this kind: group and kind count, the version does not. */
  is(object: { readonly apiVersion: string; readonly kind: string }): boolean {
    if (object.kind !== this.kind) return false;
    return object.apiVersion === this.#apiVersion || groupOf(object.apiVersion) === this.group;
  }
}

/** The type of the objects of a kind, as in `type Backup = ObjectOf<typeof Backup>`. */
export type ObjectOf<R> = R extends Resource<infer T> ? T : never;

/**
 * Describes any kind that the cluster serves.
 *
 * @throws {TypeError} If a part of the definition is not a valid name
 */
export function resource<T extends KubernetesObject = KubernetesObject>(definition: ResourceDefinition): Resource<T> {
  return new Resource<T>(definition);
}

function segment(value: string, what: string): string {
  assertPathSegment(value, what);
  return encodeURIComponent(value).replaceAll("%3A", ":");
}

/** The group in an `apiVersion`: empty for the core group. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}

/** Namespace and name of an object. */
export interface ObjectRef {
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string | undefined;
  /** The object's name. */
  readonly name: string;
}

/** Answers with the key of a namespace and name: `namespace/name`, or `name` for cluster-scoped objects. */
export function toKey(ref: ObjectRef): string {
  return ref.namespace ? `${ref.namespace}/${ref.name}` : ref.name;
}

/** Answers with an object's key, through {@linkcode toKey}. */
export function keyOf(object: { readonly metadata: ObjectRef }): string {
  return toKey(object.metadata);
}

/** Reads a key back. */
export function fromKey(key: string): ObjectRef {
  const slash = key.indexOf("/");
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** The owner that manages the object, if one does. */
export function controllerOf(object: { readonly metadata: DraftMeta }): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true);
}

/**
 * Makes the controller reference from a child to its owner.
 *
 * @throws {TypeError} If the owner lacks `apiVersion`, `kind`, `metadata.name` or `metadata.uid`
 */
export function ownerReference(owner: KubernetesObject): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  for (const [path, value] of Object.entries({ apiVersion, kind, name: metadata?.name, uid: metadata?.uid })) {
    if (!value) {
      throw new TypeError(
        `Cannot refer to an owner: its '${path}' must be set: current value is ${Deno.inspect(value)}`,
      );
    }
  }
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true, blockOwnerDeletion: true };
}

/**
 * Makes sure that the garbage collector will find the owner of a child: a cluster-scoped owner may own anything, a
 * namespaced one only what is in its own namespace.
 *
 * @throws {TypeError} If it would not
 */
export function assertCanOwn(
  owner: KubernetesObject,
  child: { readonly kind: string; readonly metadata: DraftMeta },
): void {
  const { namespace } = owner.metadata;
  if (!namespace || child.metadata.namespace === namespace) return;
  const where = child.metadata.namespace ? `namespace "${child.metadata.namespace}"` : "no namespace (cluster-scoped)";
  throw new TypeError(
    `Cannot make ${owner.kind} "${keyOf(owner)}" the owner of ${child.kind} "${child.metadata.name}": ` +
      `a child must be in its owner's namespace "${namespace}": current value is ${where}`,
  );
}

/**
 * Orders two resource versions of one kind: negative if `a` is older, 0 if they are the same, positive if it is newer.
 *
 * They are whole numbers (KEP-5504); what is not counts as newer, so that nothing is ever discarded by mistake.
 */
export function compareVersions(a: string, b: string): number {
  if (a === b) return 0;
  if (!/^\d+$/.test(a) || !/^\d+$/.test(b)) return 1;
  return a.length - b.length || (a < b ? -1 : 1);
}
