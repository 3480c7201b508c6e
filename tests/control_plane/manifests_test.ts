import { assertEquals, assertRejects } from "@std/assert";
import { z } from "zod";
import { customResource } from "../../crd.ts";
import { ApiError } from "../../errors.ts";
import * as kinds from "../../kinds.ts";
import { manifests, toYaml } from "../../manifests.ts";
import { eventRules, leaseRules, mergeRules, ownedRules, ownerRules, scopeRules, watchRules } from "../../rbac.ts";
import { type Draft, Resource } from "../../resource.ts";
import { parseAll } from "@std/yaml";
import { sharedControlPlane } from "./_setup.ts";

const plane = sharedControlPlane();

const Site = customResource({
  group: "manifests.example.com",
  version: "v1",
  kind: "Site",
  names: { shortNames: ["st"], categories: ["all"] },
  description: "A site.\nOf two lines: yes.",
  spec: z.object({ replicas: z.int32().default(1), color: z.enum(["on", "off", "1e3"]).default("on") }),
  status: z.object({ replicas: z.int32().optional(), selector: z.string().optional() }),
  printerColumns: [
    { name: "Color", type: "string", jsonPath: ".spec.color" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
  scale: {
    specReplicasPath: ".spec.replicas",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".status.selector",
  },
  selectableFields: [".spec.color"],
  validations: [{ rule: "self.metadata.name.size() < 20", message: "must have a short name" }],
});

const rules = mergeRules([
  ...scopeRules([...watchRules(Site), ...ownerRules(Site), ...ownedRules(kinds.ConfigMap), ...eventRules()], undefined),
  ...scopeRules([{ apiGroups: [], resources: [], verbs: ["get"], nonResourceURLs: ["/metrics"] }], undefined),
  ...leaseRules("sites", "site-operator"),
]);

Deno.test("manifests() are accepted by a real server, to the last field, and its pods by the standard restricted", async () => {
  await using client = plane().client();
  const yaml = toYaml(manifests({
    ...{ name: "site-operator", version: "1.0.0", namespace: "sites", createNamespace: true, leaderElection: true },
    ...{ replicas: 2, runAsUser: 65532, rules, crds: [Site.crd()] },
  }));
  const all = Object.values(kinds).filter((kind) => kind instanceof Resource) as unknown as Resource[];
  // deno-lint-ignore no-explicit-any -- objects of several kinds
  const objects = parseAll(yaml, { schema: "core" }) as any[];
  for (const object of objects) {
    const kind = all.find((kind) => kind.is(object))!;
    await client.api(kind).create(object as Draft<kinds.Pod>, { fieldValidation: "Strict" });
  }
  const { spec } = objects.at(-1).spec.template;
  const pod = kinds.Pod.draft({ metadata: { name: "a", namespace: "sites" }, spec });
  await client.api(kinds.Pod).create(pod, { dryRun: true });

  const [container] = spec.containers;
  container.securityContext.allowPrivilegeEscalation = true;
  const refused = client.api(kinds.Pod).create(pod, { dryRun: true });
  assertEquals((await assertRejects(() => refused, ApiError, 'violates PodSecurity "restricted')).code, 403);
});
