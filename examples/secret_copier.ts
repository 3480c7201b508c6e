/**
 * Copies a Secret into every namespace with a label: a cluster-scoped `SecretCopy` says which Secret and which label.
 *
 *     deno run --allow-net --allow-env --allow-read --allow-sys=hostname examples/secret_copier.ts
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

/** Marks the copies, so that nothing else is ever overwritten or deleted. */
const COPY_OF = "example.com/copy-of";

async function remove(copy: SecretCopy, namespaces: Iterable<string>, ctx: Context): Promise<void> {
  for (const namespace of namespaces) {
    const secret = await ctx.get(Secret, { namespace, name: copy.spec.name });
    if (!secret || secret.metadata.labels?.[COPY_OF] !== copy.metadata.name) continue;
    await ctx.client.api(Secret).delete(secret, { uid: secret.metadata.uid });
  }
}

const copies = new Controller(SecretCopy)
  .watches(Namespace, (_namespace, cache) => cache.list(SecretCopy))
  .watches(
    Secret,
    (secret, cache) =>
      cache.list(SecretCopy).filter(({ spec, metadata }) =>
        secret.metadata.labels?.[COPY_OF] === metadata.name ||
        (spec.name === secret.metadata.name && spec.namespace === secret.metadata.namespace)
      ),
  )
  .rule({ apiGroups: [""], resources: ["secrets"], verbs: ["patch", "create", "delete"] })
  .reconcile(async (copy, ctx) => {
    const { namespace, name, label } = copy.spec;
    const source = await ctx.get(Secret, { namespace, name });
    if (!source) throw new Error(`Secret "${namespace}/${name}" does not exist`);

    const wanted = new Set<string>();
    for (const { metadata } of await ctx.list(Namespace, { labelSelector: label })) {
      if (metadata.name === namespace || metadata.deletionTimestamp) continue;
      const there = await ctx.get(Secret, { namespace: metadata.name, name });
      if (there && there.metadata.labels?.[COPY_OF] !== copy.metadata.name) {
        ctx.event(copy, {
          type: "Warning",
          reason: "NotACopy",
          note: `${metadata.name} has a Secret ${name} of its own`,
        });
        continue;
      }
      wanted.add(metadata.name);
      if (there && JSON.stringify(there.data) === JSON.stringify(source.data)) continue;
      await ctx.client.api(Secret).apply({
        metadata: { namespace: metadata.name, name, labels: { [COPY_OF]: copy.metadata.name } },
        type: source.type ?? "Opaque",
        data: source.data ?? {},
      }, { force: true });
    }
    await remove(copy, (copy.status?.namespaces ?? []).filter((namespace) => !wanted.has(namespace)), ctx);
    await ctx.patchStatus(copy, { namespaces: [...wanted].sort() });
  })
  .finalizer("example.com/copies", async (copy, ctx) => {
    await remove(copy, (await ctx.list(Secret)).map((secret) => secret.metadata.namespace!), ctx);
  });

/** The operator. */
export const operator = new Operator("secret-copier")
  .leaderElection("default", "secret-copier")
  .controller(copies);

if (import.meta.main) await operator.main();
