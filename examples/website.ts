/**
 * Serves a web page: a `Website` owns a ConfigMap with its page, a Deployment of web servers and a Service before them.
 *
 *     deno run --allow-net --allow-env=HOME,KUBECONFIG --allow-read examples/website.ts
 *
 * With `--kubeconfig FILE`, `--allow-net --allow-read=FILE` are enough; in a cluster, the flags that `manifests` writes; to
 * print `manifests`, `crds`, `rbac` or `--help`, none. `--allow-sys=hostname` puts the host's name into the lease.
 *
 * @module
 */
import { z } from "zod";
import { Controller, customResource, type KindedDraft, type ObjectOf, Operator } from "@tend/operator";
import { ConfigMap, Deployment, Service } from "@tend/operator/kinds";

const Condition = z.object({
  type: z.string(),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string(),
  message: z.string(),
  lastTransitionTime: z.iso.datetime(),
  observedGeneration: z.int().optional(),
});

/** The kind Website. */
export const Website = customResource({
  group: "example.com",
  version: "v1",
  kind: "Website",
  names: { shortNames: ["site"] },
  spec: z.object({
    html: z.string().max(100_000).describe("The page."),
    replicas: z.int().min(0).max(20).default(1).describe("How many web servers share the work."),
    image: z.string().default("nginxinc/nginx-unprivileged:1.29").describe("A web server that listens on port 8080."),
  }),
  status: z.object({
    readyReplicas: z.int().optional(),
    conditions: z.array(Condition).meta({
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"],
    }).optional(),
  }),
  scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.readyReplicas" },
  printerColumns: [
    { name: "Ready", type: "string", jsonPath: `.status.conditions[?(@.type=="Ready")].status` },
    { name: "Replicas", type: "integer", jsonPath: ".status.readyReplicas" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
});

/** A Website as the API server returns it. */
export type Website = ObjectOf<typeof Website>;

function page(site: Website): KindedDraft<ConfigMap> {
  return ConfigMap.draft({ metadata: { name: site.metadata.name }, data: { "index.html": site.spec.html } });
}

function servers(site: Website): KindedDraft<Deployment> {
  const labels = { "example.com/website": site.metadata.name };
  return Deployment.draft({
    metadata: { name: site.metadata.name, labels },
    spec: {
      replicas: site.spec.replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [{
            name: "web",
            image: site.spec.image,
            ports: [{ name: "http", containerPort: 8080 }],
            readinessProbe: { httpGet: { path: "/", port: "http" } },
            volumeMounts: [{ name: "page", mountPath: "/usr/share/nginx/html", readOnly: true }],
          }],
          volumes: [{ name: "page", configMap: { name: site.metadata.name } }],
        },
      },
    },
  });
}

function entrance(site: Website): KindedDraft<Service> {
  return Service.draft({
    metadata: { name: site.metadata.name },
    spec: {
      selector: { "example.com/website": site.metadata.name },
      ports: [{ name: "http", port: 80, targetPort: "http" }],
    },
  });
}

const websites = new Controller(Website)
  .owns(ConfigMap, { metadataOnly: true })
  .owns(Deployment)
  .owns(Service, { metadataOnly: true })
  .reconcile(async (site, ctx) => {
    await ctx.applyOwned(site, page(site));
    await ctx.applyOwned(site, entrance(site));
    const deployment = await ctx.applyOwned(site, servers(site));

    const readyReplicas = deployment.status?.readyReplicas ?? 0;
    const observed = deployment.status?.observedGeneration === deployment.metadata.generation;
    const ready = observed && readyReplicas >= site.spec.replicas;
    await ctx.patchStatus(site, { readyReplicas });
    await ctx.setCondition(site, {
      type: "Ready",
      status: ready,
      reason: ready ? "AllServersReady" : "ServersStarting",
      message: `${readyReplicas} of ${site.spec.replicas} servers are ready`,
    });
  });

/** The operator. */
export const operator = new Operator("website-operator")
  .leaderElection("default", "website-operator")
  .controller(websites);

if (import.meta.main) await operator.main();
