/**
 * Says how events behave: one storage, two groups, and stricter rules in the newer one.
 *
 * ```ts
 * import { EVENTS } from "./_kinds_events.ts";
 *
 * console.assert(EVENTS.createOnUpdate);
 * ```
 *
 * @module
 */
import { builtinSchema } from "./_builtin.ts";
import { causesOf, named } from "./_checks.ts";
import { decodeGo } from "./_go_decode.ts";
import type { Behaviour } from "./_kind.ts";
import { validatePrefix, validateQualified } from "./_metadata.ts";
import { equal, type Fields, ordered } from "./_objects.ts";
import { type Cause, cause } from "./_status.ts";

const V1 = "events.k8s.io/v1";

/** What core events call what the newer ones call otherwise. */
const NAMES: Readonly<Record<string, string>> = {
  deprecatedCount: "count",
  deprecatedFirstTimestamp: "firstTimestamp",
  deprecatedLastTimestamp: "lastTimestamp",
  deprecatedSource: "source",
  note: "message",
  regarding: "involvedObject",
  reportingController: "reportingComponent",
};

const OLD_NAMES = Object.fromEntries(Object.entries(NAMES).map(([name, old]) => [old, name]));

function renamed(object: Fields, names: Readonly<Record<string, string>>, group: string, apiVersion: string): Fields {
  const converted: Fields = {};
  for (const [member, value] of Object.entries(object)) converted[names[member] ?? member] = value;
  const decoded = decodeGo(converted, builtinSchema(group, "v1", "Event")!).object;
  return ordered(decoded, apiVersion, "Event");
}

/** The event as core has it. */
function toCore(object: Fields, apiVersion: string): Fields {
  return apiVersion === V1 ? renamed(object, NAMES, "", "v1") : object;
}

const MAX = 128;

function tooLong(field: string, value: string | undefined, max = MAX): Cause[] {
  return (value ?? "").length > max ? [cause.invalid(field, "", `can have at most ${max} characters`)] : [];
}

function needed(field: string, value: string | undefined): Cause[] {
  return value ? [] : [cause.required(field)];
}

function validateNamespace(event: Fields): Cause[] {
  const about = event.involvedObject?.namespace ?? "";
  const own = event.metadata.namespace ?? "";
  const system = event.eventTime && own === "kube-system";
  const fits = about === "" ? own === "default" || system : event.eventTime ? true : about === own;
  return fits ? [] : [cause.invalid("involvedObject.namespace", about, "does not match event.namespace")];
}

function validateSeries({ series }: Fields): Cause[] {
  if (!series) return [];
  return [
    ...((series.count ?? 0) < 2 ? [cause.invalid("series.count", "", "should be at least 2")] : []),
    ...(series.lastObservedTime ? [] : [cause.required("series.lastObservedTime")]),
  ];
}

function validate(object: Fields, apiVersion: string): Cause[] {
  const event = toCore(object, apiVersion);
  const causes = validateNamespace(event);
  const controller = event.reportingComponent ?? "";
  const name = apiVersion === V1 ? "reportingController" : "reportingComponent";
  if (event.eventTime) {
    causes.push(
      ...needed(name, controller),
      ...validateQualified(controller).map((why) => cause.invalid(name, controller, why)),
      ...needed("reportingInstance", event.reportingInstance),
      ...tooLong("reportingInstance", event.reportingInstance),
      ...needed("action", event.action),
      ...tooLong("action", event.action),
      ...needed("reason", event.reason),
      ...tooLong("reason", event.reason),
      ...tooLong("message", event.message, 1024),
    );
  }
  if (apiVersion !== V1) return causes;
  const own = event.metadata.name ?? "";
  if (event.metadata.generateName) causes.push(...validatePrefix(event.metadata.generateName, "subdomain"));
  if (own !== "") causes.push(...causesOf(named("subdomain"), own, "metadata.name"));
  causes.push(...validateSeries(event));
  if (!event.eventTime) causes.push(cause.required("eventTime"));
  if (event.type !== "Normal" && event.type !== "Warning") {
    causes.push(cause.invalid("type", "", `has invalid value: ${event.type ?? ""}`));
  }
  const unset = (field: string, set: unknown): Cause[] => set ? [cause.invalid(field, "", "needs to be unset")] : [];
  causes.push(
    ...unset("firstTimestamp", event.firstTimestamp),
    ...unset("lastTimestamp", event.lastTimestamp),
    ...unset("count", event.count),
    ...unset("source", event.source?.component || event.source?.host),
  );
  return causes;
}

const REFERENCE: Readonly<Record<string, string>> = {
  kind: "Kind",
  namespace: "Namespace",
  name: "Name",
  uid: "UID",
  apiVersion: "APIVersion",
  resourceVersion: "ResourceVersion",
  fieldPath: "FieldPath",
};

const STRUCTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  involvedObject: REFERENCE,
  related: REFERENCE,
  source: { component: "Component", host: "Host" },
};

/** A value as the internal type prints it. */
function printed(member: string, value: Fields | undefined): unknown {
  const names = STRUCTS[member];
  if (!names || value === undefined) return value;
  return Object.fromEntries(Object.entries(names).map(([name, shown]) => [shown, value[name] ?? ""]));
}

const FIXED = [
  "involvedObject",
  "reason",
  "message",
  "source",
  "firstTimestamp",
  "lastTimestamp",
  "count",
  "type",
  "eventTime",
  "action",
  "related",
  "reportingComponent",
  "reportingInstance",
];

function validateUpdate(object: Fields, old: Fields, apiVersion: string): Cause[] {
  if (apiVersion !== V1) return [];
  const event = toCore(object, apiVersion), before = toCore(old, apiVersion);
  const changed = FIXED.filter((member) => !equal(event[member], before[member]));
  return changed.map((member) => {
    const field = member === "reportingComponent" ? "reportingController" : member;
    return cause.invalid(field, printed(member, event[member]), "field is immutable");
  });
}

/** What field selectors may ask of the object that an event is about. */
const ABOUT = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];

/** What field selectors may ask of events of both groups. */
const COMMON = ["reason", "type"];

/** The behaviour. */
export const EVENTS: Behaviour = {
  createOnUpdate: true,
  names: "path",
  bareFinalizers: true,
  errorGroup: "",
  validate,
  validateUpdate,
  toStorage: toCore,
  fromStorage: (object, apiVersion) => apiVersion === V1 ? renamed(object, OLD_NAMES, "events.k8s.io", V1) : object,
  selectableIn: {
    v1: [...ABOUT.map((each) => `involvedObject.${each}`), ...COMMON, "reportingComponent", "source"],
    [V1]: [...ABOUT.map((each) => `regarding.${each}`), ...COMMON, "reportingController"],
  },
  // The source of an event is a component, be it named in the old way or in the new one.
  selectedForm: (object) => ({ ...object, source: object.source?.component || object.reportingComponent }),
};
