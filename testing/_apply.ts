/**
 * Applies objects from YAML or JavaScript to a server, as its admin.
 *
 * ```ts
 * import { documents } from "./_apply.ts";
 *
 * console.assert(documents("a: 1\n---\nb: 2\n").length === 2);
 * ```
 *
 * @module
 */
import { parseAll } from "@std/yaml";
import type { KubernetesObject } from "../resource.ts";
import { groupOf } from "../resource.ts";
import { plain } from "./_codec.ts";
import { type Fields, isObject } from "./_objects.ts";
import type { Registry } from "./_registry.ts";

/** The objects of a YAML text, of one object, or of many; lists are taken apart. */
export function documents(source: string | object | readonly object[]): Fields[] {
  const values: unknown[] = typeof source === "string"
    ? parseAll(source, { schema: "core" }) as unknown[]
    : Array.isArray(source)
    ? source
    : [source];
  return (values.map(plain)).filter(isObject).flatMap((each) => Array.isArray(each.items) ? each.items : [each]);
}

/** Applies each object in turn. */
export async function applyAll(
  registry: Registry,
  send: (request: Request) => Promise<Response>,
  source: string | object | readonly object[],
): Promise<KubernetesObject[]> {
  const applied: KubernetesObject[] = [];
  for (const object of documents(source)) applied.push(await applyOne(registry, send, object));
  return applied;
}

async function applyOne(
  registry: Registry,
  send: (request: Request) => Promise<Response>,
  object: Fields,
): Promise<KubernetesObject> {
  const { apiVersion = "", kind = "", metadata = {} } = object;
  const what = `Cannot apply ${kind} "${metadata.name}"`;
  const group = groupOf(apiVersion), version = apiVersion.slice(group === "" ? 0 : group.length + 1);
  const info = registry.byKind(group, kind, version);
  if (!info) throw new Error(`${what}: the server must know its kind: current value is "${apiVersion}, ${kind}"`);
  const namespace = info.namespaced ? `/namespaces/${metadata.namespace ?? "default"}` : "";
  const root = group === "" ? `/api/${version}` : `/apis/${apiVersion}`;
  const path = `${root}${namespace}/${info.plural}/${encodeURIComponent(metadata.name ?? "")}`;
  const write = async (subresource: string, body: Fields): Promise<KubernetesObject> => {
    const response = await send(
      new Request(`http://kubernetes${path}${subresource}?fieldManager=apply&force=true`, {
        method: "PATCH",
        headers: { "content-type": "application/apply-patch+yaml" },
        body: JSON.stringify(body),
      }),
    );
    const answer = await response.json();
    if (!response.ok) throw new Error(`${what}: the server answered ${response.status}: ${answer.message}`);
    return answer;
  };
  const { managedFields: _, resourceVersion: _r, uid: _u, creationTimestamp: _c, generation: _g, ...kept } = metadata;
  const { status, ...desired } = { ...object, metadata: kept } as Fields;
  if (status === undefined || !info.subresources.has("status")) {
    return await write("", { ...desired, ...status && { status } });
  }
  await write("", desired);
  return await write("/status", { apiVersion, kind, metadata: { name: kept.name, namespace: kept.namespace }, status });
}
