/**
 * Copies a Secret into every namespace with a label: a cluster-scoped `SecretCopy` says which Secret and which label.
 *
 *     deno run --allow-net --allow-env=HOME,KUBECONFIG --allow-read examples/secret_copier.ts
 *
 * With `--kubeconfig FILE`, `--allow-net --allow-read=FILE` are enough; in a cluster, the flags that `manifests` writes; to
 * print `manifests`, `crds`, `rbac` or `--help`, none. `--allow-sys=hostname` puts the host's name into the lease.
 *
 * The copies follow the Secret and the namespaces' labels, and go with the `SecretCopy`.
 *
 * @module
 */
import { z } from "zod";
import { type Context, Controller, customResource, type ObjectOf, Operator } from "@tend/operator";
import { Namespace, Secret } from "@tend/operator/kinds";

/** The kind SecretCopy. */
export const SecretCopy = customResource({
  group: "example.com",
  version: "v1",
  kind: "SecretCopy",
  names: { plural: "secretcopies" },
  scope: "Cluster",
  spec: z.object({
    namespace: z.string().describe("Namespace of the Secret."),
    name: z.string().describe("Name of the Secret, and of its copies."),
    label: z.string().describe("Label of the namespaces that get a copy, whatever its value."),
  }),
  status: z.object({ namespaces: z.array(z.string()).optional() }),
  printerColumns: [{ name: "Namespaces", type: "string", jsonPath: ".status.namespaces" }],
});

/** A SecretCopy as the API server returns it. */
export type SecretCopy = ObjectOf<typeof SecretCopy>;

/** Says of a Secret whose copy it is: one without this is never overwritten or deleted. */
const COPY_OF = "example.com/copy-of";

function isCopy(secret: Secret, { metadata: { name } }: SecretCopy): boolean {
  return secret.metadata.annotations?.[COPY_OF] === name;
}

/** Deletes the copies, but for those that are still wanted: `namespace/name`. */
async function remove(copy: SecretCopy, ctx: Context, wanted: ReadonlySet<string> = new Set()): Promise<void> {
  for (const secret of await ctx.list(Secret)) {
    const { namespace, name, uid } = secret.metadata;
    if (!isCopy(secret, copy) || wanted.has(`${namespace}/${name}`)) continue;
    await ctx.client.api(Secret).delete(secret, { uid });
  }
}

const copies = new Controller(SecretCopy)
  .watches(Namespace, (_namespace, cache) => cache.list(SecretCopy))
  .watches(
    Secret,
    // Of the same name it may be the Secret, a copy, or one that was in a copy's way.
    (secret, cache) =>
      cache.list(SecretCopy).filter((copy) => isCopy(secret, copy) || copy.spec.name === secret.metadata.name),
  )
  .rule({ apiGroups: [""], resources: ["secrets"], verbs: ["create", "update", "delete"] })
  .reconcile(async (copy, ctx) => {
    const { namespace, name, label } = copy.spec;
    const secrets = ctx.client.api(Secret);
    const source = await ctx.get(Secret, { namespace, name });
    if (!source) throw new Error(`Secret "${namespace}/${name}" does not exist`);
    const { type = "Opaque", data = {} } = source;

    const wanted = new Set<string>();
    for (
      const { metadata: { name: target, deletionTimestamp } } of await ctx.list(Namespace, { labelSelector: label })
    ) {
      if (target === namespace || deletionTimestamp) continue;
      const there = await ctx.get(Secret, { namespace: target, name });
      if (there && !isCopy(there, copy)) {
        ctx.event(copy, { type: "Warning", reason: "NotACopy", note: `${target} has a Secret ${name} of its own` });
        continue;
      }
      wanted.add(`${target}/${name}`);
      if (there?.type === type) {
        // Refused if it has changed meanwhile; left out if it says so already.
        if (!sameData(there.data, data)) await secrets.replace({ ...there, data });
      } else {
        // A Secret's type cannot change.
        if (there) await secrets.delete(there, { uid: there.metadata.uid });
        const annotations = { [COPY_OF]: copy.metadata.name };
        await secrets.create({ metadata: { namespace: target, name, annotations }, type, data });
      }
    }
    await remove(copy, ctx, wanted);
    await ctx.patchStatus(copy, { namespaces: [...wanted].map((key) => key.split("/")[0]!).sort() });
  })
  .finalizer("example.com/copies", (copy, ctx) => remove(copy, ctx));

function sameData(one: Secret["data"] = {}, other: Secret["data"] = {}): boolean {
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => one[key] === other[key]);
}

/** The operator. */
export const operator = new Operator("secret-copier")
  .leaderElection("default", "secret-copier")
  .controller(copies);

if (import.meta.main) await operator.main();
