/**
 * Warns of what may stay in a pod's spec, but had better not.
 *
 * ```ts
 * import { templateWarnings } from "./_pods_warnings.ts";
 *
 * const spec = { containers: [{ name: "main", env: [{ name: "A" }, { name: "A" }] }] };
 * console.assert(templateWarnings(spec, {}, "spec", "metadata").length === 1);
 * ```
 *
 * @module
 */
import { validateName } from "./_metadata.ts";
import { equal, type Fields } from "./_objects.ts";
import { nanosOf, written } from "./_pods_resources.ts";

const WHOLE = 1_000_000_000n;

/** Labels of nodes that have other names now, and since when. */
const OLD_LABELS: Readonly<Record<string, readonly [since: string, name: string]>> = {
  "beta.kubernetes.io/os": ["v1.14", "kubernetes.io/os"],
  "beta.kubernetes.io/arch": ["v1.14", "kubernetes.io/arch"],
  "failure-domain.beta.kubernetes.io/zone": ["v1.17", "topology.kubernetes.io/zone"],
  "failure-domain.beta.kubernetes.io/region": ["v1.17", "topology.kubernetes.io/region"],
  "beta.kubernetes.io/instance-type": ["v1.17", "node.kubernetes.io/instance-type"],
};

/** Annotations that do nothing any more, by how their names begin. */
const OLD_ANNOTATIONS: readonly (readonly [prefix: string, text: string])[] = [
  [
    "container.apparmor.security.beta.kubernetes.io/",
    'deprecated since v1.30; use the "appArmorProfile" field instead',
  ],
  ["scheduler.alpha.kubernetes.io/critical-pod", 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ["security.alpha.kubernetes.io/sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
  ["security.alpha.kubernetes.io/unsafe-sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
  ["seccomp.security.alpha.kubernetes.io/pod", 'non-functional in v1.27+; use the "seccompProfile" field instead'],
  [
    "container.seccomp.security.alpha.kubernetes.io/",
    'non-functional in v1.27+; use the "seccompProfile" field instead',
  ],
];

/** Sources of volumes that are no longer served. */
const OLD_VOLUMES: Readonly<Record<string, string>> = {
  gitRepo: "gitRepo: deprecated in v1.11, and disabled by default in v1.33+",
  photonPersistentDisk: "photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+",
  scaleIO: "scaleIO: deprecated in v1.16, non-functional in v1.22+",
  flocker: "flocker: deprecated in v1.22, non-functional in v1.25+",
  storageos: "storageOS: deprecated in v1.22, non-functional in v1.25+",
  quobyte: "quobyte: deprecated in v1.22, non-functional in v1.25+",
  glusterfs: "glusterfs: deprecated in v1.25, non-functional in v1.26+",
  cephfs: "cephfs: deprecated in v1.28, non-functional in v1.31+",
  rbd: "rbd: deprecated in v1.28, non-functional in v1.31+",
};

const NO_SELECTOR = "a null labelSelector results in matching no pod";

function oldLabel(key: string, at: string, verb = ""): string[] {
  const found = Object.hasOwn(OLD_LABELS, key) ? OLD_LABELS[key]! : undefined;
  return found ? [`${at}: ${verb}deprecated since ${found[0]}; use "${found[1]}" instead`] : [];
}

/** The items of a list, with the path of each. */
function itemsOf(list: unknown, at: string): [Fields, string][] {
  return ((list ?? []) as Fields[]).map((each, index) => [each, `${at}[${index}]`]);
}

/** What is said of where a pod may be placed. */
function placement({ nodeSelector, affinity = {}, topologySpreadConstraints }: Fields, at: string): string[] {
  const found: string[] = [];
  for (const key in OLD_LABELS) {
    if (nodeSelector?.[key] !== undefined) found.push(...oldLabel(key, `${at}.nodeSelector[${key}]`));
  }
  const { requiredDuringSchedulingIgnoredDuringExecution: required, preferredDuringSchedulingIgnoredDuringExecution } =
    affinity.nodeAffinity ?? {};
  const node = `${at}.affinity.nodeAffinity`;
  const preferred = itemsOf(
    preferredDuringSchedulingIgnoredDuringExecution,
    `${node}.preferredDuringSchedulingIgnoredDuringExecution`,
  ).map(([each, path]): [Fields, string] => [each.preference ?? {}, `${path}.preference`]);
  const terms = itemsOf(
    required?.nodeSelectorTerms,
    `${node}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`,
  );
  for (const [term, path] of [...terms, ...preferred]) {
    for (const [{ key }, where] of itemsOf(term.matchExpressions, `${path}.matchExpressions`)) {
      found.push(...oldLabel(key, `${where}.key`, `${key} is `));
    }
  }
  for (
    const [{ topologyKey, labelSelector }, path] of itemsOf(
      topologySpreadConstraints,
      `${at}.topologySpreadConstraints`,
    )
  ) {
    found.push(...oldLabel(topologyKey, `${path}.topologyKey`, `${topologyKey} is `));
    if (!labelSelector) found.push(`${path}.labelSelector: ${NO_SELECTOR}`);
  }
  for (const kind of ["podAffinity", "podAntiAffinity"]) {
    const rules: Fields = affinity[kind] ?? {}, path = `${at}.affinity.${kind}`;
    const [first, second] = ["required", "preferred"].map((word) => `${word}DuringSchedulingIgnoredDuringExecution`);
    const all = [
      ...itemsOf(rules[first!], `${path}.${first}`),
      ...itemsOf(rules[second!], `${path}.${second}`)
        .map(([each, where]): [Fields, string] => [each.podAffinityTerm ?? {}, `${where}.podAffinityTerm`]),
    ];
    for (const [term, where] of all) if (!term.labelSelector) found.push(`${where}.labelSelector: ${NO_SELECTOR}`);
  }
  return found;
}

function volumes(list: unknown, at: string): string[] {
  return itemsOf(list, at).flatMap(([volume, path]) => {
    const found = Object.keys(OLD_VOLUMES).filter((kind) => volume[kind]).map((kind) => `${path}.${OLD_VOLUMES[kind]}`);
    const size = volume.ephemeral?.volumeClaimTemplate?.spec?.resources?.requests?.storage;
    if (size === undefined || nanosOf(size) % WHOLE === 0n) return found;
    const field = `${path}.ephemeral.volumeClaimTemplate.spec.resources.requests[storage]`;
    return [
      ...found,
      `${field}: fractional byte value ${JSON.stringify(written(size))} is invalid, must be an integer`,
    ];
  });
}

function variables(container: Fields, at: string): string[] {
  const names = new Set<string>();
  return itemsOf(container.env, `${at}.env`).flatMap(([{ name, value = "" }, path]) => {
    const hides = names.has(name) && !String(value).includes(`$(${name})`);
    names.add(name);
    const hidden = JSON.stringify(name);
    return hides ? [`${path}: hides previous definition of ${hidden}, which may be dropped when using apply`] : [];
  });
}

/** What is said of two ports of one number and protocol. */
function overlap(port: Fields, other: Fields): string | undefined {
  const { hostPort = 0, hostIP = "" } = port, { hostPort: otherPort = 0, hostIP: otherIP = "" } = other;
  if (hostPort === otherPort && hostIP === otherIP) return "duplicate";
  if (hostPort === 0 || otherPort === 0) return "overlapping";
  return hostPort === otherPort && (hostIP === "") !== (otherIP === "") ? "dangerously ambiguous" : undefined;
}

/** Ports of containers that others have, too. */
function ports(spec: Fields, at: string): string[] {
  const found: string[] = [];
  const seen = new Map<string, [Fields, string][]>();
  for (const [container, path] of itemsOf(spec.containers, `${at}.containers`)) {
    for (const [port, where] of itemsOf(container.ports, `${path}.ports`)) {
      const key = `${port.containerPort}/${port.protocol}`;
      const others = seen.get(key) ?? [];
      for (const [other, there] of others) {
        const how = overlap(port, other);
        if (how) found.push(`${where}: ${how} port definition with ${there}`);
      }
      seen.set(key, [...others, [port, where]]);
    }
  }
  return found;
}

function fractions(container: Fields, at: string): string[] {
  return ["limits", "requests"].flatMap((side) =>
    ["memory", "ephemeral-storage"].flatMap((name) => {
      const quantity = container.resources?.[side]?.[name];
      if (quantity === undefined || nanosOf(quantity) % WHOLE === 0n) return [];
      const shown = JSON.stringify(written(quantity));
      return [`${at}.resources.${side}[${name}]: fractional byte value ${shown} is invalid, must be an integer`];
    })
  );
}

/** What a pod, or a template of pods, is warned of. */
export function templateWarnings(spec: Fields = {}, annotations: Fields = {}, at: string, meta: string): string[] {
  const found = placement(spec, at);
  for (const [prefix, text] of OLD_ANNOTATIONS) {
    for (const key in annotations) {
      if (key === prefix || prefix.endsWith("/") && key.startsWith(prefix)) {
        found.push(`${meta}.annotations[${key}]: ${text}`);
      }
    }
  }
  found.push(...volumes(spec.volumes, `${at}.volumes`));
  const secrets = new Set<string>();
  for (const [{ name = "" }, path] of itemsOf(spec.imagePullSecrets, `${at}.imagePullSecrets`)) {
    if (name === "") found.push(`${path}.name: invalid empty name ""`);
    else if (secrets.has(name)) found.push(`${path}.name: duplicate name ${JSON.stringify(name)}`);
    secrets.add(name);
  }
  for (const list of ["initContainers", "containers"]) {
    for (const [container, path] of itemsOf(spec[list], `${at}.${list}`)) {
      found.push(...fractions(container, path), ...variables(container, path));
    }
  }
  return [...found, ...ports(spec, at)];
}

function hostnameWarnings(name: string, of: string): string[] {
  const wrong = validateName(name, "label");
  if (wrong.length === 0) return [];
  const why = "which can result in surprising behavior; a DNS label is recommended";
  return [`metadata.name: this is used in ${of}, ${why}: [${wrong.join(" ")}]`];
}

/** What a pod is warned of; a change of what is warned of already says nothing new. */
export function podWarnings({ spec, metadata }: Fields, old?: Fields): string[] {
  if (old) return [];
  const named = hostnameWarnings(metadata.name, "the Pod's hostname");
  return [...named, ...templateWarnings(spec, metadata.annotations, "spec", "metadata")];
}

/** What the name of something whose name becomes that of pods is warned of. */
export function nameWarnings({ metadata }: Fields, old?: Fields): string[] {
  return old ? [] : hostnameWarnings(metadata.name, "Pod names and hostnames");
}

/** What a kind with a template of pods is warned of, where the template is new. */
export function workloadWarnings({ spec }: Fields, old?: Fields): string[] {
  const template = spec?.template;
  if (!template || old && equal(template, old.spec?.template)) return [];
  return templateWarnings(
    template.spec,
    template.metadata?.annotations,
    "spec.template.spec",
    "spec.template.metadata",
  );
}
