import { assertEquals } from "@std/assert";
import * as kinds from "../kinds.ts";
import type {
  CustomResourceDefinition,
  Deployment,
  Json,
  Lease,
  LimitRange,
  Model,
  Secret,
  Service,
} from "../kinds.ts";
import { type ObjectMeta, type ObjectOf, Resource } from "../resource.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
function typed<_T extends true>(): void {}

const resources = Object.entries(kinds).filter((entry): entry is [string, Resource] => entry[1] instanceof Resource);

Deno.test("kinds.ts types objects as they are on the wire", () => {
  typed<Equal<Deployment["metadata"], ObjectMeta>>();
  typed<Equal<Deployment["apiVersion"], string>>();
  typed<Equal<NonNullable<Deployment["spec"]>["replicas"], number | undefined>>();
  typed<Equal<ObjectOf<typeof kinds.Deployment>, Deployment>>();
  // Times are text, also those with microseconds.
  typed<Equal<NonNullable<Lease["spec"]>["renewTime"], string | undefined>>();
  typed<
    Equal<
      NonNullable<NonNullable<Deployment["status"]>["conditions"]>[number]["lastTransitionTime"],
      string | undefined
    >
  >();
  // What is an integer or a string stays both; data and quantities are text.
  typed<Equal<NonNullable<NonNullable<Service["spec"]>["ports"]>[number]["targetPort"], number | string | undefined>>();
  typed<Equal<Secret["data"], { [key: string]: string } | undefined>>();
  // The models rename properties; the wire does not.
  typed<"default" extends keyof NonNullable<LimitRange["spec"]>["limits"][number] ? true : false>();
  typed<Equal<Json<Model<"V1JSONSchemaProps">>["x-kubernetes-list-map-keys"], string[] | undefined>>();
  typed<Equal<Json<Model<"V1JSONSchemaProps">>["enum"], unknown[] | undefined>>();
  typed<Equal<CustomResourceDefinition["spec"]["scope"], string>>();
  // Metadata inside of a template need not be complete.
  typed<Equal<undefined extends NonNullable<Deployment["spec"]>["template"]["metadata"] ? true : false, true>>();
});

Deno.test("kinds.ts drafts may leave out what the server fills in", () => {
  const draft = kinds.Deployment.draft({
    metadata: { name: "web" },
    spec: { template: { spec: { containers: [{ name: "web", ports: [{ containerPort: 80 }] }] } } },
  });
  assertEquals([draft.apiVersion, draft.kind], ["apps/v1", "Deployment"]);
});

Deno.test("kinds.ts names each kind after itself, but for the Event of the core group", () => {
  for (const [name, resource] of resources) assertEquals(resource.kind, name === "CoreEvent" ? "Event" : name);
  assertEquals(kinds.CoreEvent.path("a"), "/api/v1/namespaces/a/events");
  assertEquals(kinds.Event.path("a"), "/apis/events.k8s.io/v1/namespaces/a/events");
});

Deno.test("kinds.ts has each kind once, under a path of its own", () => {
  const paths = resources.map(([, resource]) => resource.path());
  assertEquals(paths.length, 59);
  assertEquals(new Set(paths).size, paths.length);
});

Deno.test("kinds.ts knows which kinds are cluster-scoped", () => {
  const cluster = resources.filter(([, resource]) => !resource.namespaced).map(([name]) => name).sort();
  assertEquals(cluster, [
    ...["APIService", "CSIDriver", "CSINode", "CertificateSigningRequest", "ClusterRole", "ClusterRoleBinding"],
    ...["CustomResourceDefinition", "DeviceClass", "FlowSchema", "IPAddress", "IngressClass"],
    ...[
      "MutatingAdmissionPolicy",
      "MutatingAdmissionPolicyBinding",
      "MutatingWebhookConfiguration",
      "Namespace",
      "Node",
    ],
    ...[
      "PersistentVolume",
      "PriorityClass",
      "PriorityLevelConfiguration",
      "ResourceSlice",
      "RuntimeClass",
      "ServiceCIDR",
    ],
    ...[
      "StorageClass",
      "ValidatingAdmissionPolicy",
      "ValidatingAdmissionPolicyBinding",
      "ValidatingWebhookConfiguration",
    ],
    ...["VolumeAttachment", "VolumeAttributesClass"],
  ]);
});

Deno.test("kinds.ts runs without @kubernetes/client-node, where a module that needs it does not", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const config = `${folder}/deno.json`;
    await Deno.writeTextFile(config, '{ "imports": { "@kubernetes/client-node": "./missing.ts" } }');
    const run = async (name: string, code: string): Promise<boolean> => {
      await Deno.writeTextFile(`${folder}/${name}`, code);
      const args = ["run", "--no-check", "--no-lock", "--config", config, `${folder}/${name}`];
      return (await new Deno.Command(Deno.execPath(), { args, stdout: "null", stderr: "null" }).output()).success;
    };
    const url = new URL("../kinds.ts", import.meta.url);
    assertEquals(await run("kinds.ts", `import { Pod } from "${url}"; if (Pod.id !== "pods") Deno.exit(1);`), true);
    assertEquals(await run("client.ts", 'import "@kubernetes/client-node";'), false);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
