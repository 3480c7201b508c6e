/**
 * Writes everything that deploys an operator: definitions, service account, permissions and a Deployment, as YAML.
 *
 * ```ts
 * import { Operator, toYaml } from "@tend/operator";
 *
 * const operator = new Operator("backup-operator");
 * const objects = operator.manifests({ image: "registry.example.com/backup-operator:1.0.0" });
 * console.assert(objects.map((object) => object.kind).join() === "ServiceAccount,Deployment");
 * console.assert(toYaml(objects).startsWith("apiVersion: v1\nkind: ServiceAccount\n"));
 * ```
 *
 * # Guarantees
 *
 * - The Deployment meets the Pod Security Standard "restricted"; its root file system is read-only.
 * - The kubelet's patience outlasts the operator's own shutdown.
 * - The Deno flags allow what an operator in a cluster uses, and nothing else: any network, the service account's files and
 *   the variables named in {@linkcode DENO_FLAGS}. What your own code needs beyond is added by `denoFlags`.
 *
 * # Caveats
 *
 * The image must name a numeric user that is not root (`USER 65532`), or `runAsUser` must be given.
 *
 * @module
 */
import { type Duration, toMilliseconds } from "./duration.ts";
import { type CustomResourceDefinition, Deployment, Namespace, ServiceAccount } from "./kinds.ts";
import { assertDnsLabel, assertNamespaces, labelValue } from "./names.ts";
import { type RoleObject, roles, type ScopedRule } from "./rbac.ts";
import type { DraftMeta, KindedDraft, KubernetesObject } from "./resource.ts";
import { writeYaml } from "./yaml.ts";

/** What the container may use and is guaranteed, by resource, such as `{ cpu: "10m", memory: "128Mi" }`. */
export interface ContainerResources {
  /** What is guaranteed. */
  readonly requests?: Readonly<Record<string, string>> | undefined;
  /** What is the most. */
  readonly limits?: Readonly<Record<string, string>> | undefined;
}

/** How to deploy an operator. */
export interface ManifestOptions {
  /** The container image. @default {the operator's name and version} */
  readonly image?: string | undefined;
  /** The namespace that it runs in. @default {"default"} */
  readonly namespace?: string | undefined;
  /** The namespaces for controllers that name none. @default {all} */
  readonly namespaces?: readonly string[] | undefined;
  /** How many replicas; more than one need leader election. @default {1} */
  readonly replicas?: number | undefined;
  /** Whether to write the Namespace, too. @default {false} */
  readonly createNamespace?: boolean | undefined;
  /** The port of probes and metrics. @default {8080} */
  readonly port?: number | undefined;
  /** How long running reconciles may take to finish after the stop. @default {30 s} */
  readonly shutdownGrace?: Duration | undefined;
  /** The program in the image; false if the image's entry point is the operator itself, as one that was compiled. @default {"operator.ts"} */
  readonly program?: string | false | undefined;
  /** Further Deno flags, such as `--allow-net=example.com`; without meaning if `program` is false. @default {[]} */
  readonly denoFlags?: readonly string[] | undefined;
  /** Further arguments of the operator, such as `--log-level=debug`. @default {[]} */
  readonly args?: readonly string[] | undefined;
  /** Requests and limits. @default {10m of cpu and 128Mi requested, 512Mi at most} */
  readonly resources?: ContainerResources | undefined;
  /** The user to run as. @default {that of the image} */
  readonly runAsUser?: number | undefined;
  /** Labels of all objects, beside the recommended ones. @default {{}} */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** The operator that {@linkcode manifests} deploys, and how. */
export interface ManifestInput extends ManifestOptions {
  /** The operator's name. */
  readonly name: string;
  /** Its version. @default {"latest"} */
  readonly version?: string | undefined;
  /** The permissions that it needs. */
  readonly rules: readonly ScopedRule[];
  /** The definitions of its kinds. @default {[]} */
  readonly crds?: readonly KindedDraft<CustomResourceDefinition>[] | undefined;
  /** Whether replicas elect a leader; without that, an old replica stops before a new one starts. @default {false} */
  readonly leaderElection?: boolean | undefined;
}

/**
 * The Deno flags of an operator that runs in a cluster.
 *
 * The young part of the heap is kept at 4 MiB in place of V8's 16: with a cache of 50,000 objects that saved 60 MiB, and cost
 * no CPU.
 */
export const DENO_FLAGS: readonly string[] = [
  "--no-prompt",
  "--cached-only",
  "--v8-flags=--max-semi-space-size=4",
  "--allow-net",
  "--allow-env=HOSTNAME,KUBERNETES_SERVICE_HOST,KUBERNETES_SERVICE_PORT",
  "--allow-read=/var/run/secrets/kubernetes.io/serviceaccount",
];

const PORT = 8080;
/** How long running reconciles may take to finish after a stop where nothing else is said, in ms. */
export const SHUTDOWN_GRACE = 30_000;
/** Seconds that the operator may take beyond its grace, to send events, release its lease and close. */
const BEYOND_GRACE = 15;

/** The recommended labels of an operator's objects. */
function labelsOf({ name, version, labels }: ManifestInput): Record<string, string> {
  return {
    ...labels,
    "app.kubernetes.io/name": name,
    "app.kubernetes.io/component": "operator",
    ...(version === undefined ? {} : { "app.kubernetes.io/version": labelValue(version) }),
  };
}

function check(input: ManifestInput): void {
  const { name, namespace = "default", image, replicas = 1, port = PORT, leaderElection = false, runAsUser } = input;
  const what = `the manifests of operator "${name}"`;
  assertDnsLabel(name, what, "name");
  assertDnsLabel(namespace, what, "namespace");
  assertNamespaces(input.namespaces, what);
  const fail = (Kind: typeof TypeError | typeof RangeError, rule: string, value: unknown): never => {
    throw new Kind(`Cannot define ${what}: ${rule}: current value is ${Deno.inspect(value)}`);
  };
  if (image !== undefined && !/^[^\s]+$/.test(image)) {
    fail(TypeError, "'image' must be a reference without spaces", image);
  }
  if (!Number.isInteger(replicas) || replicas < 0) {
    fail(RangeError, "'replicas' must be a whole number of at least 0", replicas);
  }
  if (replicas > 1 && !leaderElection) {
    fail(RangeError, "'replicas' must be at most 1 without leader election: all would work at once", replicas);
  }
  if (!Number.isInteger(port) || port < 1024 || port > 65535) {
    fail(RangeError, "'port' must be from 1024, as below that only root may listen, to 65535", port);
  }
  if (runAsUser !== undefined && (!Number.isInteger(runAsUser) || runAsUser < 1)) {
    fail(RangeError, "'runAsUser' must be a user that is not root", runAsUser);
  }
}

/** Writes the roles and bindings of the operator's service account. @throws {TypeError} If a name is none */
export function roleManifests(input: ManifestInput): RoleObject[] {
  check(input);
  const { name, namespace = "default", rules } = input;
  return roles(rules, { name, serviceAccount: name, namespace, labels: labelsOf(input) });
}

/**
 * Writes everything that deploys an operator, in the order to apply it: Namespace, definitions, service account, roles and
 * bindings, Deployment.
 *
 * @throws {TypeError} If a name or the image is none
 * @throws {RangeError} If replicas, port or user are out of range, or several replicas have no leader election
 */
export function manifests(input: ManifestInput): KindedDraft<KubernetesObject>[] {
  check(input);
  const { name, namespace = "default", createNamespace = false, crds = [] } = input;
  const labels = labelsOf(input);
  const metadata: DraftMeta = { name, namespace, labels };
  return [
    ...(createNamespace ? [Namespace.draft({ metadata: { name: namespace, labels: namespaceLabels(labels) } })] : []),
    ...crds.map((crd) => ({ ...crd, metadata: { ...crd.metadata, labels: { ...crd.metadata.labels, ...labels } } })),
    ServiceAccount.draft({ metadata, automountServiceAccountToken: false }),
    ...roleManifests(input),
    deployment(input, metadata),
  ];
}

function namespaceLabels(labels: Record<string, string>): Record<string, string> {
  return { ...labels, "pod-security.kubernetes.io/enforce": "restricted" };
}

function deployment(input: ManifestInput, metadata: DraftMeta): KindedDraft<Deployment> {
  const { name, replicas = 1, leaderElection = false, runAsUser } = input;
  const selector = { "app.kubernetes.io/name": name, "app.kubernetes.io/component": "operator" };
  const spread = {
    maxSkew: 1,
    topologyKey: "kubernetes.io/hostname",
    whenUnsatisfiable: "ScheduleAnyway",
    labelSelector: { matchLabels: selector },
  };
  return Deployment.draft({
    metadata,
    spec: {
      replicas,
      selector: { matchLabels: selector },
      // With an election the new replica stands by until the old one lets go; without, two must not work at once.
      strategy: leaderElection
        ? { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }
        : { type: "Recreate" },
      template: {
        metadata: { labels: { ...metadata.labels } },
        spec: {
          serviceAccountName: name,
          automountServiceAccountToken: true,
          enableServiceLinks: false,
          terminationGracePeriodSeconds: Math.ceil(graceOf(input) / 1000) + BEYOND_GRACE,
          securityContext: {
            runAsNonRoot: true,
            ...(runAsUser === undefined ? {} : { runAsUser, runAsGroup: runAsUser }),
            seccompProfile: { type: "RuntimeDefault" },
          },
          ...(replicas > 1 ? { topologySpreadConstraints: [spread] } : {}),
          containers: [container(input)],
        },
      },
    },
  });
}

function graceOf({ shutdownGrace = SHUTDOWN_GRACE }: ManifestInput): number {
  return toMilliseconds(shutdownGrace, "shutdownGrace");
}

type Container = NonNullable<NonNullable<Deployment["spec"]>["template"]["spec"]>["containers"][number];

function container(input: ManifestInput): Container {
  const { name, version = "latest", image = `${name}:${version}`, port = PORT, resources = {} } = input;
  const { requests = { cpu: "10m", memory: "128Mi" }, limits = { memory: "512Mi" } } = resources;
  const probe = (path: string, periodSeconds: number) => ({
    httpGet: { path, port: "http" },
    periodSeconds,
    timeoutSeconds: 5,
    failureThreshold: 3,
  });
  return {
    name: "operator",
    image,
    args: argsOf(input),
    ports: [{ name: "http", containerPort: port }],
    livenessProbe: { ...probe("/healthz", 20), initialDelaySeconds: 15 },
    readinessProbe: probe("/readyz", 10),
    resources: { requests: { ...requests }, limits: { ...limits } },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      readOnlyRootFilesystem: true,
    },
  };
}

function argsOf(input: ManifestInput): string[] {
  const { program = "operator.ts", denoFlags = [], args = [], namespaces = [], port = PORT } = input;
  const grace = graceOf(input);
  return [
    ...(program === false ? [] : ["run", ...DENO_FLAGS, ...denoFlags, program]),
    "run",
    ...(port === PORT ? [] : [`--address=:${port}`]),
    ...(namespaces.length === 0 ? [] : [`--namespaces=${namespaces.join(",")}`]),
    ...(grace === SHUTDOWN_GRACE ? [] : [`--shutdown-grace=${Math.ceil(grace / 1000)}`]),
    ...args,
  ];
}

/** Writes objects as one YAML stream, each with `apiVersion`, `kind` and `metadata` first. */
export function toYaml(objects: readonly KindedDraft<KubernetesObject>[]): string {
  return objects.map(({ apiVersion, kind, metadata, ...rest }) => {
    // Through JSON, which leaves out what is undefined: YAML has no word for that.
    const plain: unknown = JSON.parse(JSON.stringify({ apiVersion, kind, metadata, ...rest }));
    return writeYaml(plain);
  }).join("---\n");
}
