import { assert, assertEquals, assertNotStrictEquals, assertThrows } from "@std/assert";
import { z } from "zod";
import * as mini from "zod/mini";
import {
  type CustomObject,
  customResource,
  type CustomResourceOptions,
  type JsonSchema,
  type ZodSchema,
} from "../crd.ts";
import type { KubernetesObject, ObjectOf } from "../resource.ts";
import { cases } from "./_crd_cases.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
function typed<_T extends true>(): void {}

const named = { group: "example.com", version: "v1", kind: "Backup" };
const plain = z.object({ text: z.string(), replicas: z.int32(), tags: z.array(z.string()) });

/** The schema that a field of a spec becomes. */
function schemaOf(zod: z.core.$ZodType): JsonSchema {
  return customResource({ ...named, spec: z.object({ value: zod }) }).schema.properties!.spec!.properties!.value!;
}

Deno.test("customResource() works as in the README and infers the types of spec, status and object", () => {
  const Backup = customResource({
    group: "example.com",
    version: "v1",
    kind: "Backup",
    spec: z.object({ schedule: z.string(), keep: z.int32().default(7) }),
    status: z.object({ lastRun: z.string().optional() }),
  });
  type Backup = ObjectOf<typeof Backup>;
  typed<Equal<Backup["spec"], { schedule: string; keep: number }>>();
  typed<Equal<NonNullable<Backup["status"]>, { lastRun?: string | undefined }>>();
  typed<Equal<Backup, CustomObject<{ schedule: string; keep: number }, { lastRun?: string | undefined }>>>();
  typed<Backup extends KubernetesObject ? true : false>();
  typed<undefined extends Backup["status"] ? true : false>();

  assertEquals(Backup.id, "backups.example.com");
  assertEquals(Backup.path("shop", "a", "status"), "/apis/example.com/v1/namespaces/shop/backups/a/status");
  assertEquals(Backup.crd(), {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "backups.example.com" },
    spec: {
      group: "example.com",
      names: { kind: "Backup", listKind: "BackupList", plural: "backups", singular: "backup" },
      scope: "Namespaced",
      versions: [{
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              apiVersion: { type: "string" },
              kind: { type: "string" },
              metadata: { type: "object" },
              spec: {
                type: "object",
                properties: {
                  schedule: { type: "string" },
                  keep: { type: "integer", format: "int32", default: 7 },
                },
                required: ["schedule"],
              },
              status: { type: "object", properties: { lastRun: { type: "string" } } },
            },
            required: ["spec"],
          },
        },
      }],
    },
  });
});

Deno.test("customResource() turns each kind of zod schema into the structural one that a real server holds equal", () => {
  for (const [name, { zod, schema }] of Object.entries(cases)) assertEquals(schemaOf(zod), schema, name);
});

Deno.test("customResource() accepts what zod accepts: the values of the table agree with zod", () => {
  for (const [name, { zod, accepts, refuses }] of Object.entries(cases)) {
    for (const value of accepts) assert(zod.safeParse(value).success, `${name}: ${Deno.inspect(value)}`);
    for (const value of refuses) assert(!zod.safeParse(value).success, `${name}: ${Deno.inspect(value)}`);
  }
});

Deno.test("customResource() marks a field as required unless zod lets it be absent", () => {
  const { schema } = customResource({
    ...named,
    spec: z.object({
      a: z.string(),
      b: z.string().optional(),
      c: z.string().default("x"),
      d: z.object({}).prefault({}),
      e: z.string().nullable(),
      f: z.string().optional().nonoptional(),
      g: z.union([z.string().optional(), z.int()]),
      h: z.exactOptional(z.string()),
    }),
  });
  assertEquals(schema.properties!.spec!.required, ["a", "e", "f"]);
});

Deno.test("customResource() requires the spec unless it is optional or has a default", () => {
  const required = (spec: z.ZodType): unknown => customResource({ ...named, spec }).schema.required;
  assertEquals(required(z.object({})), ["spec"]);
  assertEquals(required(z.object({}).optional()), undefined);
  assertEquals(required(z.object({ a: z.string().default("x") }).prefault({})), undefined);
  assertEquals(customResource({ ...named, spec: { type: "object" } }).schema.required, ["spec"]);
  assertEquals(customResource({ ...named, spec: { type: "object", default: {} } }).schema.required, undefined);
});

Deno.test("customResource() takes descriptions and annotations from .describe() and .meta(), also under wrappers", () => {
  assertEquals(schemaOf(z.string().describe("A text.").min(1).optional()), {
    type: "string",
    minLength: 1,
    description: "A text.",
  });
  assertEquals(schemaOf(z.string().describe("inner").optional().describe("outer")).description, "outer");
  assertEquals(schemaOf(z.object({}).meta({ title: "T", id: "ignored", "x-kubernetes-map-type": "atomic" })), {
    type: "object",
    title: "T",
    "x-kubernetes-map-type": "atomic",
  });
});

Deno.test("customResource() takes descriptions and annotations from schemas of zod/mini, which have no .meta() of their own", () => {
  const text = mini.string().check(mini.minLength(1)).register(mini.globalRegistry, { description: "A text." });
  assertEquals(schemaOf(text), { type: "string", minLength: 1, description: "A text." });
  const named = mini.object({}).register(mini.globalRegistry, { title: "T", "x-kubernetes-map-type": "atomic" });
  assertEquals(schemaOf(named), { type: "object", title: "T", "x-kubernetes-map-type": "atomic" });
});

Deno.test("B35: customResource() always enables the status subresource", () => {
  const Bare = customResource({ ...named, spec: z.object({}) });
  typed<Equal<NonNullable<ObjectOf<typeof Bare>["status"]>, Record<string, unknown>>>();
  assertEquals(Bare.crd().spec?.versions?.[0]?.subresources, { status: {} });
  assertEquals(Bare.schema.properties!.status, { type: "object", "x-kubernetes-preserve-unknown-fields": true });
});

Deno.test("customResource() takes ready OpenAPI schemas, with the types that are given for them", () => {
  const spec = { type: "object", properties: { size: { type: "integer" } }, required: ["size"] };
  const Disk = customResource<ZodSchema<{ size: number }>>({ ...named, kind: "Disk", spec });
  typed<Equal<ObjectOf<typeof Disk>["spec"], { size: number }>>();
  assertEquals(Disk.schema.properties!.spec, spec);
  spec.required.push("changed");
  assertEquals(Disk.schema.properties!.spec!.required, ["size"]);
});

Deno.test("customResource() writes names, scope, columns, scale, selectable fields, rules and description", () => {
  const Site = customResource({
    ...named,
    kind: "Site",
    scope: "Cluster",
    names: { plural: "sitez", singular: "sitey", shortNames: ["st"], categories: ["all"] },
    description: "A site.",
    spec: plain,
    status: z.object({ replicas: z.int32(), selector: z.string() }),
    printerColumns: [
      { name: "Text", type: "string", jsonPath: ".spec.text", priority: 1, description: "The text." },
      { name: "Ready", type: "string", jsonPath: ".spec.tags[0]" },
      { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    ],
    scale: {
      specReplicasPath: ".spec.replicas",
      statusReplicasPath: ".status.replicas",
      labelSelectorPath: ".status.selector",
    },
    selectableFields: [".spec.text"],
    validations: [{ rule: "self.metadata.name.size() < 10", message: "name too long" }],
  });
  assertEquals(Site.namespaced, false);
  assertEquals(Site.plural, "sitez");
  const { names, scope, versions } = Site.crd().spec!;
  assertEquals(scope, "Cluster");
  assertEquals(names, {
    kind: "Site",
    listKind: "SiteList",
    plural: "sitez",
    singular: "sitey",
    shortNames: ["st"],
    categories: ["all"],
  });
  const { schema, ...version } = versions![0]!;
  assertEquals(version, {
    name: "v1",
    served: true,
    storage: true,
    subresources: {
      status: {},
      scale: {
        specReplicasPath: ".spec.replicas",
        statusReplicasPath: ".status.replicas",
        labelSelectorPath: ".status.selector",
      },
    },
    additionalPrinterColumns: [
      { name: "Text", type: "string", jsonPath: ".spec.text", priority: 1, description: "The text." },
      { name: "Ready", type: "string", jsonPath: ".spec.tags[0]" },
      { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    ],
    selectableFields: [{ jsonPath: ".spec.text" }],
  });
  assertEquals(schema!.openAPIV3Schema!.description, "A site.");
  assertEquals(Site.schema["x-kubernetes-validations"], [
    { rule: "self.metadata.name.size() < 10", message: "name too long" },
  ]);
});

Deno.test("customResource() makes the English plural of the kind", () => {
  const plurals = {
    Backup: "backups",
    Policy: "policies",
    Class: "classes",
    Gateway: "gateways",
    Box: "boxes",
    Branch: "branches",
    Analysis: "analyses",
    ReplicaSet: "replicasets",
  };
  for (const [kind, plural] of Object.entries(plurals)) {
    assertEquals(customResource({ ...named, kind, spec: z.object({}) }).plural, plural);
  }
});

Deno.test("CustomResource.crd() gives a copy at each call", () => {
  const Backup = customResource({ ...named, spec: plain });
  assertNotStrictEquals(Backup.crd(), Backup.crd());
  delete Backup.crd().spec!.versions;
  assertEquals(Backup.crd().spec!.versions!.length, 1);
});

class Custom {}
interface Tree {
  children?: Tree[] | undefined;
}
const tree: z.ZodType<Tree> = z.object({
  get children() {
    return z.array(tree).optional();
  },
});
const itself: z.ZodType = z.lazy(() => z.object({ again: itself.optional() }));
const keyed = (meta: Record<string, unknown>, item: z.ZodType = z.object({ name: z.string() })): z.ZodType =>
  z.array(item).meta(meta);

Deno.test("customResource() refuses what a structural schema cannot say, and names the path", () => {
  const bad: [name: string, zod: z.ZodType, path: string, message: string][] = [
    ["transform", z.string().transform(Number), "", "must not be a transform"],
    ["preprocess", z.preprocess(Number, z.number()), "", "must not be a transform"],
    ["pipe", z.string().pipe(z.string()), "", "must not be a transform"],
    ["codec", z.stringbool(), "", "must not be a transform"],
    ["refinement", z.string().refine(() => true), "", "must not have a refinement"],
    ["refinement of an object", z.object({}).superRefine(() => {}), "", "must not have a refinement"],
    ["refinement of a list", z.array(z.string()).refine(() => true), "", "must not have a refinement"],
    ["custom", z.custom(), "", "must not be z.custom()"],
    ["instance", z.instanceof(Custom), "", "must not be z.custom()"],
    ["map", z.map(z.string(), z.string()), "", "must not be a Map"],
    ["set", z.set(z.string()), "", "must not be a Set"],
    ["bigint", z.bigint(), "", "must not be a bigint"],
    ["int64", z.int64(), "", "must not be a bigint"],
    ["date", z.date(), "", "must not be a Date"],
    ["symbol", z.symbol(), "", "must not be a symbol"],
    ["undefined", z.undefined(), "", "must not be z.undefined()"],
    ["undefined in a union", z.union([z.string(), z.undefined()]), "|1", "must not be z.undefined()"],
    ["void", z.void(), "", "must not be z.void()"],
    ["never", z.never(), "", "must not be z.never()"],
    ["NaN", z.nan(), "", "must not be NaN"],
    ["null", z.null(), "", "must not be z.null()"],
    ["promise", z.promise(z.string()), "", "must not be a Promise"],
    ["file", z.file(), "", "must not be a File"],
    ["catch", z.string().catch("x"), "", "must not be a .catch()"],
    ["coercion", z.coerce.number(), "", "must not be coerced"],
    ["trim", z.string().trim(), "", "must not change its value"],
    ["case", z.string().toLowerCase(), "", "must not change its value"],
    ["recursion", tree, ".children[]", "must not contain itself"],
    ["lazy recursion", itself, ".again", "must not contain itself"],
    ["any JSON", z.json(), "|3[]", "must not contain itself"],
    ["tuple", z.tuple([z.string(), z.int()]), "", "must not be a tuple of different items"],
    ["mixed union", z.union([z.string(), z.boolean()]), "", "must not be of several types (string | boolean)"],
    ["number or text", z.union([z.number(), z.string()]), "", "must not be of several types (number | string)"],
    ["mixed literals", z.literal(["a", true]), "", "must be one of some strings, numbers or booleans"],
    ["infinite literal", z.literal(Infinity), "", "must be one of some strings, numbers or booleans"],
    ["lookahead", z.string().regex(/^(?=a)/), "", "RE2 has no lookahead"],
    ["lookbehind", z.string().regex(/(?<=a)b/), "", "RE2 has no lookbehind"],
    ["backreference", z.string().regex(/(a)\1/), "", "RE2 has no backreferences"],
    ["sticky", z.string().regex(/a/y), "", "RE2 has no flag like y"],
    ["many repeats", z.string().regex(/a{1,2000}/), "", "RE2 repeats at most 1000 times"],
    ["property of unicode", z.string().regex(/\p{Emoji}/u), "", "RE2 has no \\p{Emoji}"],
    ["web token", z.jwt(), "", "must not have the format 'jwt'"],
    ["emoji", z.emoji(), "", "must not have the format 'emoji'"],
    ["own format", z.stringFormat("even", (text) => text.length % 2 === 0), "", "must not have the format 'even'"],
    ["protocol", z.url({ protocol: /^ftp$/ }), "", "must not check the protocol"],
    ["normal URL", z.url({ normalize: true }), "", "must not normalize its URL"],
    ["fraction", z.number().multipleOf(0.1), "", "must be a multiple of a whole number"],
    [
      "check of a property",
      z.array(z.string()).check(z.property("length", z.int())),
      "",
      "must not have the check 'property'",
    ],
    ["catchall", z.object({ a: z.string() }).catchall(z.string()), "", "must not have a .catchall()"],
    ["keys of a pattern", z.record(z.string().regex(/^a/), z.string()), "", "must have keys of z.string()"],
    ["loose record", z.looseRecord(z.enum(["a"]), z.string()), "", "must not be a loose record"],
    ["value of a map", z.record(z.string(), z.date()), "{}", "must not be a Date"],
    ["item", z.array(z.object({ at: z.date() })), "[].at", "must not be a Date"],
    ["odd name", z.object({ "a b": z.date() }), '["a b"]', "must not be a Date"],
    ["optional item", z.array(z.string().optional()), "[]", "must not be optional"],
    ["null by default", z.string().nullable().default(null), "", "must not have null for a default"],
    ["random default", z.number().default(() => Math.random()), "", "must have a default that is always the same"],
    ["wrong default", z.int().default("x" as unknown as number), "", "must have a default that it accepts"],
    ["default with more", z.object({}).default({ a: 1 } as never), "", "must have a default that it accepts"],
    ["default that is no JSON", z.unknown().default(1n), "", "must have a default that is JSON"],
    [
      "default in one alternative",
      z.union([z.object({ a: z.string().default("x"), b: z.string() }), z.object({ c: z.string() })]),
      ".a",
      "must not have a default in one alternative alone",
    ],
    [
      "a field of several types",
      z.union([z.object({ a: z.string() }), z.object({ a: z.int() })]),
      ".a",
      "must not be of several types (string | integer)",
    ],
    [
      "a field that may be null in one alternative",
      z.union([z.object({ a: z.string() }), z.object({ a: z.string().nullable(), b: z.string() })]),
      ".a",
      "must be nullable in all alternatives or in none",
    ],
    [
      "map or fields",
      z.union([z.object({ a: z.string() }), z.record(z.string(), z.string())]),
      "",
      "must not be a map",
    ],
    [
      "maps",
      z.union([z.record(z.string(), z.string()), z.record(z.string(), z.int())]),
      "",
      "must not be maps of different values",
    ],
    ["one of two equal", z.xor([z.string(), z.string()]), "", "must have alternatives that differ"],
    ["intersection", z.intersection(z.object({ a: z.string() }), z.object({ a: z.int() })), ".a", "must not differ"],
    [
      "intersection of texts",
      z.intersection(z.string(), z.string().min(2)),
      "",
      "must be an intersection of plain objects",
    ],
    [
      "unknown extension",
      z.string().meta({ "x-kubernetes-foo": 1 }),
      "",
      'must not have the keyword "x-kubernetes-foo"',
    ],
    ["word of JSON Schema", z.string().meta({ const: "a" }), "", "must not have 'const' in its .meta()"],
    ["map without keys", keyed({ "x-kubernetes-list-type": "map" }), "", "must have 'x-kubernetes-list-map-keys'"],
    [
      "map with an unknown key",
      keyed({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id"] }),
      "",
      'must have items with a scalar field for the list map key "id"',
    ],
    [
      "map with an optional key",
      keyed(
        { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] },
        z.object({ name: z.string().optional() }),
      ),
      "",
      'must have items that require, or default, the list map key "name"',
    ],
    ["set of objects", keyed({ "x-kubernetes-list-type": "set" }), "", "must have items that are scalars"],
    ["list type of a text", z.string().meta({ "x-kubernetes-list-type": "set" }), "", "must be an array"],
    [
      "rule",
      z.string().meta({ "x-kubernetes-validations": [{ rule: "" }] }),
      "",
      "must have validations with a 'rule'",
    ],
  ];
  for (const [name, zod, path, message] of bad) {
    const error = assertThrows(() => schemaOf(zod), TypeError);
    const start = `Cannot define resource "Backup": 'spec.value${path}' `;
    assert(error.message.startsWith(start) && error.message.includes(message), `${name}: ${error.message}`);
  }
});

Deno.test("customResource() refuses ready schemas that a server would refuse, or take for weaker ones", () => {
  const text = { type: "string" };
  const bad: [schema: Record<string, unknown>, path: string, message: string][] = [
    [{ $ref: "#/x" }, "", 'must not have the keyword "$ref"'],
    [{ type: "string", minLenght: 1 }, "", 'must not have the keyword "minLenght"'],
    [{ type: "text" }, "", "must have a 'type'"],
    [{ pattern: "a" }, "", "must have a 'type'"],
    [{ type: "string", pattern: "(?=a)" }, "", "must have an RE2 'pattern'"],
    [{ type: "string", "x-kubernetes-int-or-string": true }, "", "must have no 'type'"],
    [{ type: "object", properties: { a: text }, additionalProperties: text }, "", "must not have both"],
    [{ type: "object", additionalProperties: false }, "", "must not have 'additionalProperties: false'"],
    [{ type: "string", properties: { a: text } }, "", "must have the type object"],
    [{ type: "array" }, "", "must have 'items'"],
    [{ type: "string", items: text }, "", "must have 'items'"],
    [{ type: "object", properties: { a: text }, required: ["b"] }, "", 'must have a schema for the field "b"'],
    [{ type: "object", "x-kubernetes-embedded-resource": true }, "", "must be an object with 'properties'"],
    [{ type: "string", anyOf: [text] }, ".anyOf", "must not have 'type'"],
    [{ type: "object", anyOf: [{ properties: { b: {} } }] }, ".anyOf", 'must not name the field "b"'],
    [{ type: "object", not: { default: 1 } }, ".not", "must not have 'default'"],
    [{ type: "object", allOf: [{ additionalProperties: {} }] }, ".allOf", "must not have 'additionalProperties'"],
    [{ type: "array", items: { type: "string", nullabel: true } }, "[]", 'must not have the keyword "nullabel"'],
  ];
  for (const [schema, path, message] of bad) {
    const spec = { type: "object", properties: { value: schema } } as JsonSchema;
    const error = assertThrows(() => customResource({ ...named, spec }), TypeError);
    const start = `Cannot define resource "Backup": 'spec.value${path}' ${message}`;
    assert(error.message.startsWith(start), error.message);
  }
});

Deno.test("customResource() refuses wrong names, paths and missing schemas at construction", () => {
  const column = { name: "Text", type: "string", jsonPath: ".spec.text" };
  const scale = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" };
  const bad: [options: Record<string, unknown>, message: string][] = [
    [{ spec: undefined }, "'spec' must be a schema of zod 4"],
    [{ spec: { _def: {} } }, "'spec' must be a schema of zod 4: this one is of an older zod"],
    [{ spec: z.string() }, `'spec' must be an object: current type is "string"`],
    [{ status: z.string() }, `'status' must be an object: current type is "string"`],
    [{ group: "" }, "'group' must be a domain with a dot"],
    [{ group: "example" }, "'group' must be a domain with a dot"],
    [{ group: "Example.com" }, "'group' must be a DNS subdomain"],
    [{ group: "x.k8s.io" }, "'group' must not be of Kubernetes itself"],
    [{ version: "1" }, "'version' must start with a letter"],
    [{ version: undefined }, "'version' must be a version"],
    [{ kind: "backup" }, "'kind' must be a kind in camel case"],
    [{ kind: undefined }, "'kind' must be a kind in camel case"],
    [{ scope: "Namespace" }, "'scope' must be"],
    [{ names: { plural: "Backups" } }, "'plural' must be a DNS label"],
    [{ names: { singular: "a b" } }, "'names.singular' must be a DNS label"],
    [{ names: { shortNames: ["1b"] } }, "'names.shortNames' must be a DNS label that starts with a letter"],
    [{ names: { categories: "all" } }, "'names.categories' must be a list"],
    [{ printerColumns: [{ ...column, jsonPath: ".spec.other" }] }, "'printerColumns.Text' must have a 'jsonPath'"],
    [{ printerColumns: [{ ...column, jsonPath: "spec.text" }] }, "'printerColumns.Text' must have a 'jsonPath'"],
    [{ printerColumns: [{ ...column, type: "text" }] }, "'printerColumns.Text' must have a type of string"],
    [{ printerColumns: [{ ...column, format: "x" }] }, "'printerColumns.Text' must have a known format"],
    [{ printerColumns: [{ ...column, priority: -1 }] }, "'printerColumns.Text' must have a priority"],
    [{ printerColumns: [column, column] }, "'printerColumns' must have names, each of its own"],
    [{ selectableFields: [".spec.tags"] }, "'selectableFields' must be paths of strings"],
    [{ selectableFields: [".metadata.name"] }, "'selectableFields' must be paths of strings"],
    [{ selectableFields: [".spec.text", ".spec.text"] }, "'selectableFields' must not repeat a path"],
    [{ selectableFields: Array(9).fill(".spec.text") }, "'selectableFields' must be at most 8"],
    [{ scale: { ...scale, specReplicasPath: ".spec.text" } }, "'scale.specReplicasPath' must be the path of a field"],
    [{ scale: { ...scale, statusReplicasPath: ".spec.replicas" } }, "'scale.statusReplicasPath' must be the path"],
    [{ scale: { ...scale, labelSelectorPath: "selector" } }, "'scale.labelSelectorPath' must be the path"],
    [{ validations: [{ message: "x" }] }, "'.' must have validations with a 'rule'"],
  ];
  for (const [options, message] of bad) {
    const all = { ...named, spec: plain, ...options } as unknown as CustomResourceOptions;
    const error = assertThrows(() => customResource(all), TypeError);
    assert(error.message.startsWith("Cannot define resource ") && error.message.includes(message), error.message);
  }
});
