/** Puts into a control plane what an administrator would: definitions, roles, namespaces; and takes definitions out again. */
import { parseAll } from "@std/yaml";
import type { Client } from "../../client.ts";
import * as kinds from "../../kinds.ts";
import { ClusterRole, ClusterRoleBinding, ConfigMap, CustomResourceDefinition, Namespace } from "../../kinds.ts";
import { type KindedDraft, type KubernetesObject, Resource } from "../../resource.ts";
import type { ControlPlane } from "../../testing/control_plane.ts";
import { until } from "./_wait.ts";

const builtIn = (Object.values(kinds) as unknown[]).filter((kind): kind is Resource => kind instanceof Resource);

/** Applies objects of built-in kinds, in order, and waits until the definitions among them are served. */
export async function applyAll(client: Client, objects: readonly KindedDraft<KubernetesObject>[]): Promise<void> {
  for (const object of objects) {
    const kind = builtIn.find((one) => one.is(object));
    if (!kind) throw new TypeError(`Cannot apply ${object.kind}: it must be a built-in kind`);
    await client.api(kind).apply(object, { force: true, fieldManager: "admin", fieldValidation: "Strict" });
  }
  const names = objects.filter((object) => CustomResourceDefinition.is(object)).map(({ metadata }) => metadata.name!);
  for (const name of names) await served(client, name);
}

/** The objects of a YAML stream. */
export function objectsOf(yaml: string): KindedDraft<KubernetesObject>[] {
  return parseAll(yaml, { schema: "core" }) as KindedDraft<KubernetesObject>[];
}

/** Waits until the kind of a definition can be listed. */
export async function served(client: Client, name: string): Promise<void> {
  await until(`The server's serving ${name}`, async () => {
    const { spec, status } = await client.api(CustomResourceDefinition).get(name);
    if (!status?.conditions?.some(({ type, status }) => type === "Established" && status === "True")) return false;
    await client.request({ path: `/apis/${spec.group}/${spec.versions[0]!.name}/${spec.names.plural}?limit=1` });
    return true;
  });
}

/**
 * Waits until objects of a new kind may be named as owners that block their own deletion.
 *
 * The server's admission looks kinds up in a list that it makes anew every 10 s; until then it answers 403.
 */
export async function ownable(plane: ControlPlane, admin: Client, kind: Resource): Promise<void> {
  const name = `owner-of-${kind.id}`;
  const finalizers = { apiGroups: [kind.group], resources: [`${kind.plural}/finalizers`], verbs: ["update"] };
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create"] }, finalizers];
  await applyAll(admin, [
    ClusterRole.draft({ metadata: { name }, rules }),
    ClusterRoleBinding.draft({
      metadata: { name },
      roleRef: { apiGroup: ClusterRole.group, kind: ClusterRole.kind, name },
      subjects: [{ apiGroup: ClusterRole.group, kind: "User", name }],
    }),
  ]);
  const { apiVersion } = kind;
  const owner = { apiVersion, kind: kind.kind, name: "any", uid: crypto.randomUUID(), blockOwnerDeletion: true };
  await using client = plane.client(plane.user(name));
  const draft = ConfigMap.draft({ metadata: { name: "any", namespace: "default", ownerReferences: [owner] } });
  await until(
    `The server's knowing of ${kind.id} as owners`,
    () => client.api(ConfigMap).create(draft, { dryRun: true }),
  );
}

/** Deletes a definition with its objects, and waits until it is gone. */
export async function removeDefinition(client: Client, name: string): Promise<void> {
  const api = client.api(CustomResourceDefinition);
  await until(`The end of ${name}`, async () => {
    const found = await api.find(name);
    if (found && !found.metadata.deletionTimestamp) await api.delete(name);
    return found === undefined;
  });
}

/** Creates a namespace of a name that no other test uses. */
export async function makeNamespace(client: Client, labels: Record<string, string> = {}): Promise<string> {
  const { metadata } = await client.api(Namespace).create({ metadata: { generateName: "test-", labels } });
  return metadata.name;
}
