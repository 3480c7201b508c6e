/**
 * Knows the messages of built-in kinds in protocol buffers: their names, and the fields in them.
 *
 * ```ts
 * import { messageOf } from "./_protobuf_types.ts";
 *
 * console.assert(messageOf("apps/v1", "Deployment") === "apps.v1.Deployment");
 * ```
 *
 * @module
 */
import data from "./_protobuf_fields.json" with { type: "json" };

/** The media type of Kubernetes objects in protocol buffers. */
export const PROTOBUF = "application/vnd.kubernetes.protobuf";

/** The four bytes that begin them. */
export const MAGIC: Uint8Array = new Uint8Array([0x6b, 0x38, 0x73, 0x00]);

/** Many values. */
export const REPEATED = 1;
/** Many values by name. */
export const MAP = 2;
/** A value that may be missing; any other is always written. */
export const POINTER = 3;
/** A message whose members are beside the others in JSON. */
export const INLINE = 4;

/** A field: its name in JSON, the type of its values, and how it is written. */
export type Field = readonly [name: string, type: string, shape: number];

/** Fields by number, of each message. */
export const MESSAGES: Readonly<Record<string, Readonly<Record<string, Field>>>> = data as unknown as Record<
  string,
  Record<string, Field>
>;

/** True for a message that is only there to hold a list: in JSON it is that list. */
export function isList(type: string): boolean {
  const fields = MESSAGES[type];
  if (fields === undefined) return false;
  return Object.keys(fields).length === 1 && fields["1"]?.[0] === "items" && fields["1"][2] === REPEATED;
}

/** The message of a kind, which may be of every version, as `Status` is; undefined if there is none. */
export function messageOf(apiVersion: string, kind: string): string | undefined {
  return [`${packageOf(apiVersion)}.${kind}`, `apis.meta.v1.${kind}`].find((type) => type in MESSAGES);
}

/** The Go package of a group, as message names have it. */
function packageOf(apiVersion: string): string {
  const [group = "", version] = apiVersion.includes("/") ? apiVersion.split("/") : ["core", apiVersion];
  return group === "meta.k8s.io" ? `apis.meta.${version}` : `${group.split(".")[0]}.${version}`;
}
