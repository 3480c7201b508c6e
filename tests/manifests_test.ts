import { assert, assertEquals, assertThrows } from "@std/assert";
import { parseAll } from "@std/yaml";
import { z } from "zod";
import { customResource } from "../crd.ts";
import { ConfigMap, type Deployment } from "../kinds.ts";
import { DENO_FLAGS, type ManifestInput, manifests, roleManifests, toYaml } from "../manifests.ts";
import { leaseRules, scopeRules, watchRules } from "../rbac.ts";
import type { KindedDraft, KubernetesObject } from "../resource.ts";

const Backup = customResource({
  group: "example.com",
  version: "v1",
  kind: "Backup",
  spec: z.object({ schedule: z.string().regex(/^[\d*/ ]+$/).describe("When: as `cron` has it.\nIn UTC.") }),
});
const input: ManifestInput = {
  name: "backup-operator",
  version: "1.2.0",
  namespace: "operators",
  rules: [...scopeRules(watchRules(Backup), undefined), ...leaseRules("operators", "backup-operator")],
  crds: [Backup.crd()],
  leaderElection: true,
};

function deploymentOf(more: Partial<ManifestInput> = {}): KindedDraft<Deployment> {
  return manifests({ ...input, ...more }).at(-1) as KindedDraft<Deployment>;
}
// deno-lint-ignore no-explicit-any -- a draft of any depth
const podOf = (more: Partial<ManifestInput> = {}): any => deploymentOf(more).spec!.template!.spec!;

Deno.test("manifests() lists what to apply in an order that works", () => {
  const list = (objects: KindedDraft<KubernetesObject>[]): string[] =>
    objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`);
  assertEquals(list(manifests({ ...input, createNamespace: true })), [
    "Namespace /operators",
    "CustomResourceDefinition /backups.example.com",
    "ServiceAccount operators/backup-operator",
    "ClusterRole /backup-operator",
    "ClusterRoleBinding /backup-operator",
    "Role operators/backup-operator",
    "RoleBinding operators/backup-operator",
    "Deployment operators/backup-operator",
  ]);
  assertEquals(list(manifests({ name: "a", rules: [] })), ["ServiceAccount default/a", "Deployment default/a"]);
  assertEquals<unknown>(roleManifests(input), manifests(input).slice(2, 6));
});

Deno.test("manifests() puts the recommended labels on everything, and the user's", () => {
  for (const { kind, metadata } of manifests({ ...input, createNamespace: true, labels: { team: "x" } })) {
    const { "pod-security.kubernetes.io/enforce": _, ...labels } = metadata.labels!;
    assertEquals(labels, {
      team: "x",
      "app.kubernetes.io/name": "backup-operator",
      "app.kubernetes.io/component": "operator",
      "app.kubernetes.io/version": "1.2.0",
    }, kind);
  }
});

Deno.test("manifests() writes a Deployment of the Pod Security Standard restricted", () => {
  const pod = podOf();
  assertEquals(pod.securityContext, { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
  assertEquals(pod.containers[0].securityContext, {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    readOnlyRootFilesystem: true,
  });
  assertEquals(podOf({ runAsUser: 65532 }).securityContext.runAsUser, 65532);
  assertEquals(pod.containers[0].resources, {
    requests: { cpu: "10m", memory: "128Mi" },
    limits: { memory: "512Mi" },
  });
});

Deno.test("B65: manifests() gives a pod more time to end than the operator takes to drain", () => {
  assertEquals(podOf().terminationGracePeriodSeconds, 45);
  const patient = podOf({ shutdownGrace: { minutes: 2, milliseconds: 1 } });
  assertEquals(patient.terminationGracePeriodSeconds, 136);
  assertEquals(patient.containers[0].args.at(-1), "--shutdown-grace=121");
});

Deno.test("manifests() probes /healthz and /readyz on the operator's port", () => {
  const { ports, livenessProbe, readinessProbe } = podOf({ port: 9000 }).containers[0];
  assertEquals(ports, [{ name: "http", containerPort: 9000 }]);
  assertEquals(livenessProbe.httpGet, { path: "/healthz", port: "http" });
  assertEquals(readinessProbe.httpGet, { path: "/readyz", port: "http" });
});

Deno.test("manifests() runs the program with the narrow flags, or the image's own entry point", () => {
  const args = (more: Partial<ManifestInput>): string[] => podOf(more).containers[0].args;
  assertEquals(args({}), ["run", ...DENO_FLAGS, "operator.ts", "run"]);
  assert(!DENO_FLAGS.some((flag) => flag === "-A" || flag === "--allow-all"));
  assertEquals(
    args({ program: "main.ts", denoFlags: ["--allow-run=git"], args: ["--log-level=debug"], namespaces: ["a", "b"] }),
    ["run", ...DENO_FLAGS, "--allow-run=git", "main.ts", "run", "--namespaces=a,b", "--log-level=debug"],
  );
  assertEquals(args({ program: false, port: 9000 }), ["run", "--address=:9000"]);
  assertEquals(podOf().containers[0].image, "backup-operator:1.2.0");
  assertEquals(podOf({ image: "example.com/b:1" }).containers[0].image, "example.com/b:1");
});

Deno.test("manifests() lets a new replica stand by before the old one goes only if they elect a leader", () => {
  assertEquals(deploymentOf().spec!.strategy!.type, "RollingUpdate");
  assertEquals(deploymentOf({ leaderElection: false }).spec!.strategy, { type: "Recreate" });
  assertEquals(podOf().topologySpreadConstraints, undefined);
  assertEquals(podOf({ replicas: 2 }).topologySpreadConstraints.length, 1);
});

Deno.test("manifests() refuses what cannot be deployed, and says why", () => {
  const bad: [change: Partial<ManifestInput>, error: typeof TypeError | typeof RangeError, message: string][] = [
    [{ name: "Backup" }, TypeError, "'name' must be a DNS label"],
    [{ namespace: "a/b" }, TypeError, "'namespace' must be a DNS label"],
    [{ namespaces: ["A"] }, TypeError, "'namespaces' must be a DNS label"],
    [{ image: "" }, TypeError, "'image' must be a reference without spaces"],
    [{ image: "a b" }, TypeError, "'image' must be a reference without spaces"],
    [{ replicas: -1 }, RangeError, "'replicas' must be a whole number of at least 0"],
    [{ replicas: 1.5 }, RangeError, "'replicas' must be a whole number of at least 0"],
    [{ replicas: 2, leaderElection: false }, RangeError, "'replicas' must be at most 1 without leader election"],
    [{ port: 80 }, RangeError, "'port' must be from 1024"],
    [{ port: 70_000 }, RangeError, "'port' must be from 1024"],
    [{ runAsUser: 0 }, RangeError, "'runAsUser' must be a user that is not root"],
    [{ shutdownGrace: -1 }, RangeError, "Cannot read 'shutdownGrace'"],
  ];
  for (const [change, kind, message] of bad) assertThrows(() => manifests({ ...input, ...change }), kind, message);
});

Deno.test("toYaml() writes documents that read back as they were, whatever their texts look like", () => {
  const words = [
    "yes",
    "on",
    "n",
    "~",
    "null",
    "",
    "012",
    "0x1f",
    "1e3",
    "1_000",
    "2026-01-02",
    "- a",
    "a: b",
    "#",
    "<<",
  ];
  const texts = [...words, "two\nlines\n", " padded ", "\u00e9\u2028\t", "'\"", "x".repeat(200)];
  const map = ConfigMap.draft({
    metadata: { name: "texts" },
    data: Object.fromEntries(texts.map((text) => [text, text])),
  });
  assertEquals<unknown>(parseAll(toYaml([map]), { schema: "core" }), [map]);
});

Deno.test("toYaml() writes each object's kind first, leaves out what is undefined, and uses no anchors", () => {
  const shared = { a: "b" };
  const yaml = toYaml([
    {
      spec: 1,
      metadata: { name: "a", labels: shared, annotations: shared, uid: undefined },
      kind: "A",
      apiVersion: "v1",
    },
    { apiVersion: "v1", kind: "B", metadata: { name: "b" } },
  ] as unknown as KindedDraft<KubernetesObject>[]);
  assertEquals(yaml.split("\n"), [
    ...["apiVersion: v1", "kind: A", "metadata:", "  name: a", "  labels:", "    a: b", "  annotations:", "    a: b"],
    ...["spec: 1", "---", "apiVersion: v1", "kind: B", "metadata:", "  name: b", ""],
  ]);
});

Deno.test("toYaml() writes manifests that read back as the objects", () => {
  const objects = manifests({ ...input, createNamespace: true, replicas: 2 });
  assertEquals(parseAll(toYaml(objects), { schema: "core" }), JSON.parse(JSON.stringify(objects)));
});
