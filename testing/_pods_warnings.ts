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

const APPARMOR = "container.apparmor.security.beta.kubernetes.io/";
const SECCOMP = "seccomp.security.alpha.kubernetes.io/pod";
const WHOLE = 1_000_000_000n;

function duplicates(container: Fields, at: string): string[] {
  const found: string[] = [];
  const names = new Set<string>();
  for (const [index, { name, value = "" }] of ((container.env ?? []) as Fields[]).entries()) {
    const hides = names.has(name) && !String(value).includes(`$(${name})`);
    if (hides) {
      found.push(
        `${at}.env[${index}]: hides previous definition of ${
          JSON.stringify(name)
        }, which may be dropped when using apply`,
      );
    }
    names.add(name);
  }
  const ports = (container.ports ?? []) as Fields[];
  for (const [index, port] of ports.entries()) {
    const same = (each: Fields) =>
      each.containerPort === port.containerPort && each.protocol === port.protocol &&
      (each.hostPort ?? 0) === (port.hostPort ?? 0) && (each.hostIP ?? "") === (port.hostIP ?? "");
    const first = ports.findIndex(same);
    if (first < index) {
      found.push(`${at}.ports[${index}]: duplicate port definition with ${at}.ports[${first}]`);
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
  const found: string[] = [];
  for (const [index, { name }] of ((spec.imagePullSecrets ?? []) as Fields[]).entries()) {
    if (!name) found.push(`${at}.imagePullSecrets[${index}].name: invalid empty name ""`);
  }
  for (const list of ["initContainers", "containers"]) {
    for (const [index, container] of ((spec[list] ?? []) as Fields[]).entries()) {
      const path = `${at}.${list}[${index}]`;
      found.push(...fractions(container, path), ...duplicates(container, path));
    }
  }
  for (const key in annotations) {
    if (!key.startsWith(APPARMOR)) continue;
    found.push(`${meta}.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`);
  }
  if (annotations[SECCOMP] !== undefined) {
    found.push(`${meta}.annotations[${SECCOMP}]: non-functional in v1.27+; use the "seccompProfile" field instead`);
  }
  return found;
}

/** What a pod is warned of; a change of what is warned of already says nothing new. */
export function podWarnings({ spec, metadata }: Fields, old?: Fields): string[] {
  if (old) return [];
  return templateWarnings(spec, metadata?.annotations, "spec", "metadata");
}

/** What the name of something whose name becomes that of pods is warned of. */
export function nameWarnings({ metadata }: Fields, old?: Fields): string[] {
  if (old) return [];
  const wrong = validateName(metadata.name, "label");
  if (wrong.length === 0) return [];
  return [
    "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; " +
    `a DNS label is recommended: [${wrong.join(" ")}]`,
  ];
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
