/**
 * Defines kinds of your own: a schema becomes a typed kind and the CustomResourceDefinition that makes a cluster serve it.
 *
 * ```ts
 * import { z } from "zod";
 * import { customResource, type ObjectOf } from "@tend/operator";
 *
 * const Backup = customResource({
 *   group: "example.com",
 *   version: "v1",
 *   kind: "Backup",
 *   spec: z.object({ schedule: z.string(), keep: z.int32().min(1).default(7) }),
 *   status: z.object({ lastRun: z.iso.datetime().optional() }),
 *   printerColumns: [{ name: "Schedule", type: "string", jsonPath: ".spec.schedule" }],
 * });
 * type Backup = ObjectOf<typeof Backup>;
 *
 * console.assert(Backup.id === "backups.example.com");
 * console.assert(Backup.crd().spec?.names?.singular === "backup");
 * ```
 *
 * @module
 */
import { assertColumns, assertScale, assertSelectable, type PrinterColumn, type ScalePaths } from "./_crd_paths.ts";
import { assertStructural, type JsonSchema, Place, type ValidationRule } from "./_structural.ts";
import { fromZod, isOptional, type ZodSchema } from "./_zod.ts";
import { CustomResourceDefinition } from "./kinds.ts";
import { isDnsLabel } from "./names.ts";
import { type KindedDraft, type KubernetesObject, Resource, type Scope } from "./resource.ts";

export type { JsonSchema, PrinterColumn, ScalePaths, ValidationRule, ZodSchema };

/** An object of a kind that {@linkcode customResource} defined. */
export interface CustomObject<Spec = unknown, Status = unknown> extends KubernetesObject {
  /** What is asked for. */
  spec: Spec;
  /** What was found; absent until it is first written. */
  status?: Status;
}

/** The further names of a kind. */
export interface CustomResourceNames {
  /** The name in paths and RBAC rules. @default {"the English plural of the kind, such as `policies`"} */
  readonly plural?: string | undefined;
  /** The name for one, in `kubectl`. @default {"the kind in lower case"} */
  readonly singular?: string | undefined;
  /** Short names for `kubectl`. @default {[]} */
  readonly shortNames?: readonly string[] | undefined;
  /** Groups such as `all` that `kubectl get` lists the kind with. @default {[]} */
  readonly categories?: readonly string[] | undefined;
}

/** What {@linkcode customResource} makes a kind of. */
export interface CustomResourceOptions<Spec extends ZodSchema = ZodSchema, Status extends ZodSchema = ZodSchema> {
  /** The API group: a domain of yours, such as `example.com`. */
  readonly group: string;
  /** The version, such as `v1`. */
  readonly version: string;
  /** The kind, such as `Backup`. */
  readonly kind: string;
  /** The schema of `spec`: of zod 4, or a ready structural one. */
  readonly spec: Spec | JsonSchema;
  /** The schema of `status`: of zod 4, or a ready structural one. @default {"an object of any fields"} */
  readonly status?: Status | JsonSchema | undefined;
  /** Whether the objects live in namespaces. @default {"Namespaced"} */
  readonly scope?: Scope | undefined;
  /** Names other than those that follow from the kind. */
  readonly names?: CustomResourceNames | undefined;
  /** Shown by `kubectl explain`. @default {"none"} */
  readonly description?: string | undefined;
  /** The columns of `kubectl get`, after the name. @default {"the age"} */
  readonly printerColumns?: readonly PrinterColumn[] | undefined;
  /** Where `kubectl scale` and autoscalers find the replicas. @default {"no `scale` subresource"} */
  readonly scale?: ScalePaths | undefined;
  /** Paths that field selectors may use, such as `.spec.color`; at most 8. @default {[]} */
  readonly selectableFields?: readonly string[] | undefined;
  /** Rules about the whole object; those about a part of it go into `.meta({ "x-kubernetes-validations": [...] })`. @default {[]} */
  readonly validations?: readonly ValidationRule[] | undefined;
}

/** A kind of your own: a {@linkcode Resource} that knows its schema. */
export class CustomResource<T extends KubernetesObject = KubernetesObject> extends Resource<T> {
  /** The structural schema of the whole object. */
  readonly schema: JsonSchema;
  #definition: KindedDraft<CustomResourceDefinition>;

  /**
   * Use {@linkcode customResource}.
   *
   * @throws {TypeError} As that does
   */
  constructor(options: CustomResourceOptions) {
    const { group, version, kind, scope = "Namespaced", names = {}, printerColumns = [], selectableFields = [] } =
      options;
    const { plural = pluralOf(String(kind).toLowerCase()), singular = String(kind).toLowerCase() } = names;
    const { shortNames = [], categories = [] } = names;
    super({ group, version, kind, plural, scope });
    const what = `resource "${kind}"`;
    assertServable(this, { singular, shortNames, categories }, new Place(what, ""));
    this.schema = rootSchema(options, what);
    assertStructural(this.schema, new Place(what, ""));
    assertColumns(printerColumns, this.schema, new Place(what, "printerColumns"));
    assertSelectable(selectableFields, this.schema, new Place(what, "selectableFields"));
    if (options.scale) assertScale(options.scale, this.schema, new Place(what, "scale"));
    this.#definition = CustomResourceDefinition.draft({
      metadata: { name: this.id },
      spec: {
        group,
        names: {
          kind,
          listKind: `${kind}List`,
          plural,
          singular,
          ...(shortNames.length > 0 ? { shortNames: [...shortNames] } : {}),
          ...(categories.length > 0 ? { categories: [...categories] } : {}),
        },
        scope,
        versions: [{
          name: version,
          served: true,
          storage: true,
          subresources: { status: {}, ...(options.scale ? { scale: { ...options.scale } } : {}) },
          ...(printerColumns.length > 0
            ? { additionalPrinterColumns: printerColumns.map((column) => ({ ...column })) }
            : {}),
          ...(selectableFields.length > 0
            ? { selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })) }
            : {}),
          schema: { openAPIV3Schema: this.schema },
        }],
      },
    });
  }

  /** The CustomResourceDefinition, with the status subresource; each call gives a copy of its own. */
  crd(): KindedDraft<CustomResourceDefinition> {
    return structuredClone(this.#definition);
  }
}

/**
 * Defines a kind of your own from schemas of its `spec` and `status`; the types of its objects follow from them.
 *
 * ## How zod reads as a structural schema
 *
 * - `z.object()`: unknown fields are pruned by the server, as zod strips them; so are those of `z.strictObject()`, which
 *   `kubectl` reports. `z.looseObject()`, `z.any()` and `z.unknown()` keep them.
 * - `.default()` and `.prefault()`: set by the server; the field is not required. `.nullable()`: `nullable`.
 * - `z.record(z.string(), V)`: `additionalProperties`. `z.record(z.enum([...]), V)`: named fields.
 * - `z.union([z.int(), z.string()])`: `x-kubernetes-int-or-string`.
 * - Unions and discriminated unions of one type, such as of objects: their fields outside, what tells the alternatives
 *   apart in `anyOf`. A field that several alternatives have must be of one type in all of them.
 * - `.describe()` and `.meta()`: descriptions, titles, `x-kubernetes-list-type`, `x-kubernetes-list-map-keys`,
 *   `x-kubernetes-map-type`, `x-kubernetes-validations` and validations such as `maxProperties` or `format: "duration"`.
 *   With `x-kubernetes-validations`, a refinement may stand beside them.
 * - Times and dates are strings: `z.iso.datetime()`, `z.iso.date()`.
 *
 * Everything that a structural schema cannot say is refused: transforms, coercion, refinements without a rule, classes,
 * dates, bigints, recursion, tuples of different items, unions of different types.
 *
 * @throws {TypeError} If a name is not valid, a schema is missing or cannot be a structural one, or a path leads nowhere
 */
export function customResource<
  Spec extends ZodSchema,
  Status extends ZodSchema = ZodSchema<Record<string, unknown>>,
>(
  options: CustomResourceOptions<Spec, Status>,
): CustomResource<CustomObject<Spec["_zod"]["output"], Status["_zod"]["output"]>> {
  return new CustomResource(options);
}

/** The English plural of a kind in lower case. */
function pluralOf(singular: string): string {
  if (/sis$/.test(singular)) return singular.replace(/is$/, "es");
  if (/(s|x|z|ch|sh)$/.test(singular)) return `${singular}es`;
  if (/[^aeiou]y$/.test(singular)) return singular.replace(/y$/, "ies");
  return `${singular}s`;
}

/** Checks what the server asks of definitions beyond the names of any kind. */
function assertServable(
  { group, version, plural, id }: Resource,
  names: { singular: string; shortNames: readonly string[]; categories: readonly string[] },
  place: Place,
): void {
  const show = (value: unknown): string => `current value is ${Deno.inspect(value)}`;
  if (!group.includes(".")) {
    place.field("group").refuse(`must be a domain with a dot, such as example.com: ${show(group)}`);
  }
  if (/(^|\.)(k8s|kubernetes)\.io$/.test(group)) {
    place.field("group").refuse(`must not be of Kubernetes itself, whose groups need an approval: ${show(group)}`);
  }
  const label = (value: unknown): boolean => isDnsLabel(value) && /^[a-z]/.test(String(value));
  if (!label(version)) place.field("version").refuse(`must start with a letter: ${show(version)}`);
  const rule = "must be a DNS label that starts with a letter";
  const { singular, shortNames, categories } = names;
  for (const [field, values] of Object.entries({ plural: [plural], singular: [singular], shortNames, categories })) {
    if (!Array.isArray(values)) place.field("names").field(field).refuse(`must be a list: ${show(values)}`);
    for (const value of values) if (!label(value)) place.field("names").field(field).refuse(`${rule}: ${show(value)}`);
  }
  if (id.length > 253) place.field("group").refuse(`must leave plural and group at most 253 characters: ${show(id)}`);
}

function rootSchema(options: CustomResourceOptions, what: string): JsonSchema {
  const { spec, status, description, validations = [] } = options;
  const properties: Record<string, JsonSchema> = {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { type: "object" },
    spec: schemaOf(spec, new Place(what, "spec")),
    status: status === undefined
      ? { type: "object", "x-kubernetes-preserve-unknown-fields": true }
      : schemaOf(status, new Place(what, "status")),
  };
  return {
    ...(description === undefined ? {} : { description }),
    type: "object",
    properties,
    ...(isOptional(spec) || properties.spec!.default !== undefined ? {} : { required: ["spec"] }),
    ...(validations.length > 0 ? { "x-kubernetes-validations": validations.map((rule) => ({ ...rule })) } : {}),
  };
}

function schemaOf(schema: ZodSchema | JsonSchema, place: Place): JsonSchema {
  if (typeof schema !== "object" || schema === null) {
    place.refuse(`must be a schema of zod 4, or a structural OpenAPI v3 one: current value is ${Deno.inspect(schema)}`);
  }
  if ("_def" in schema && !("_zod" in schema)) place.refuse("must be a schema of zod 4: this one is of an older zod");
  const structural = "_zod" in schema ? fromZod(schema, place) : structuredClone(schema);
  if (structural.type !== "object") {
    place.refuse(`must be an object: current type is ${Deno.inspect(structural.type)}`);
  }
  return structural;
}
