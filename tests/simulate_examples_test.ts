import { assert, assertEquals } from "@std/assert";
import { Backup, operator as backupOperator } from "../examples/backup.ts";
import { operator as secretCopier, SecretCopy } from "../examples/secret_copier.ts";
import { operator as websiteOperator, Website } from "../examples/website.ts";
import { ConfigMap, Deployment, Namespace, Secret, Service } from "../kinds.ts";
import { simulate, type SimulatedWorld, type SimulateOptions } from "../testing/mod.ts";

const namespace = "default";
const QUICK: SimulateOptions = { seeds: 10, crashes: 50 };

Deno.test("The backup example survives what can go wrong", async () => {
  const source = (name: string, value: string) => ConfigMap.draft({ metadata: { name, namespace }, data: { value } });
  const backup = (name: string, configMap: string) =>
    Backup.draft({ metadata: { name, namespace }, spec: { configMap, everyMinutes: 5 } });
  const report = await simulate(backupOperator, {
    ...QUICK,
    world: [source("settings", "one"), source("other", "one"), backup("daily", "settings")],
    actions: {
      "change what is copied": ({ client }) => client.api(ConfigMap).patch("settings", { data: { value: "two" } }),
      "copy something else": ({ client }) => client.api(Backup).patch("daily", { spec: { configMap: "other" } }),
      "make another backup": ({ client }) => client.api(Backup).create(backup("weekly", "settings")),
      "delete the first": ({ client }) => client.api(Backup).delete("daily"),
    },
    invariants: {
      "copies are what backups name": async ({ client }) => {
        const sources = await client.api(ConfigMap).list({ namespace });
        for (const { metadata, spec } of (await client.api(Backup).list({ namespace })).items) {
          const copy = await client.api(ConfigMap).get({ name: `${metadata.name}-copy`, namespace });
          const origin = sources.items.find((each) => each.metadata.name === spec.configMap);
          assertEquals(copy.data, origin?.data);
        }
      },
      "no mark outlives its backup": async ({ client }) => {
        const names = (await client.api(Backup).list({ namespace })).items.map(({ metadata }) => metadata.name);
        for (const { metadata } of (await client.api(ConfigMap).list({ namespace })).items) {
          const mark = metadata.annotations?.["example.com/backed-up-by"];
          assert(mark === undefined || names.includes(mark), `${metadata.name} is marked by ${mark}, which is gone`);
        }
      },
    },
  });
  assert(report.crashes > 20, Deno.inspect(report));
});

Deno.test("The website example survives what can go wrong", async () => {
  const site = (name: string, replicas: number) =>
    Website.draft({ metadata: { name, namespace }, spec: { html: "<p>one", replicas, image: "web" } });
  const report = await simulate(websiteOperator, {
    ...QUICK,
    workloads: true,
    world: [site("a", 2), site("b", 1)],
    actions: {
      "scale a": ({ client }) => client.api(Website).patch("a", { spec: { replicas: 3 } }),
      "somebody changes the page of b": ({ client }) =>
        client.api(ConfigMap).patch("b", { data: { "index.html": "<p>not mine" } }),
      "delete the service of a": ({ client }) => client.api(Service).delete("a"),
      "delete b": ({ client }) => client.api(Website).delete("b"),
    },
    invariants: {
      "each site has what it needs, and nothing is left of others": async ({ client }) => {
        const sites = (await client.api(Website).list({ namespace })).items;
        const names = sites.map(({ metadata }) => metadata.name);
        const labelled = { labelSelector: "example.com/website" };
        const deployments = (await client.api(Deployment).list({ namespace, ...labelled })).items;
        assertEquals(deployments.map(({ metadata }) => metadata.name), names);
        for (const { metadata: { name }, spec, status } of sites) {
          const page = await client.api(ConfigMap).get({ name, namespace });
          assertEquals(page.data, { "index.html": spec.html });
          assert(await client.api(Service).find({ name, namespace }), `${name} has no service`);
          assertEquals(deployments.find(({ metadata }) => metadata.name === name)?.spec?.replicas, spec.replicas);
          assertEquals(status?.readyReplicas, spec.replicas);
        }
      },
    },
  });
  assert(report.crashes > 20, Deno.inspect(report));
});

Deno.test("The secret copier example survives what can go wrong", async () => {
  const team = (name: string) => Namespace.draft({ metadata: { name, labels: { team: "" } } });
  const wanted = async ({ client }: SimulatedWorld): Promise<void> => {
    const source = await client.api(Secret).get({ name: "token", namespace });
    const copies = (await client.api(SecretCopy).list()).items.length;
    for (const { metadata } of (await client.api(Namespace).list({ labelSelector: "team" })).items) {
      const copy = await client.api(Secret).find({ name: "token", namespace: metadata.name });
      assertEquals(copy?.data, copies > 0 ? source.data : undefined, `in ${metadata.name}`);
    }
  };
  const report = await simulate(secretCopier, {
    ...QUICK,
    world: [
      team("a"),
      team("b"),
      Secret.draft({ metadata: { name: "token", namespace }, stringData: { value: "one" } }),
      SecretCopy.draft({ metadata: { name: "token" }, spec: { namespace, name: "token", label: "team" } }),
    ],
    actions: {
      "change the secret": ({ client }) => client.api(Secret).patch("token", { stringData: { value: "two" } }),
      "somebody deletes a copy": ({ client }) => client.api(Secret).delete("token", { namespace: "a" }),
      "make a namespace": ({ client }) => client.api(Namespace).create(team("c")),
      "delete the copies": ({ client }) => client.api(SecretCopy).delete("token"),
    },
    invariants: { "namespaces have their copies": wanted },
  });
  assert(report.crashes > 20, Deno.inspect(report));
});
