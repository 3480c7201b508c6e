/**
 * Lists zod schemas with the structural schema that each becomes, and values that it accepts and refuses.
 *
 * A real kube-apiserver was asked about each value; the two servers of the tests can be held to the same table.
 *
 * @module
 */
import { z } from "zod";
import type { JsonSchema } from "../crd.ts";

/** A schema of one value, and what becomes of it; an undefined value is an absent one. */
export interface SchemaCase {
  /** The schema of zod. */
  zod: z.ZodType;
  /** The same as a structural schema. */
  schema: JsonSchema;
  /** What both accept. */
  accepts: unknown[];
  /** What both refuse. */
  refuses: unknown[];
}

/** The cases by name. */
export const cases: Readonly<Record<string, SchemaCase>> = {
  "text": { zod: z.string(), schema: { type: "string" }, accepts: ["", "a"], refuses: [1, null, true, [], {}] },
  "text of a length": {
    zod: z.string().min(2).max(3),
    schema: { type: "string", minLength: 2, maxLength: 3 },
    accepts: ["ab", "abc"],
    refuses: ["a", "abcd"],
  },
  "text of an exact length": {
    zod: z.string().length(2),
    schema: { type: "string", minLength: 2, maxLength: 2 },
    accepts: ["ab"],
    refuses: ["a", "abc"],
  },
  "text with a pattern": {
    zod: z.string().regex(/^[a-z]+$/),
    schema: { type: "string", pattern: "^[a-z]+$" },
    accepts: ["ab"],
    refuses: ["", "A", "a\n"],
  },
  "text with several patterns": {
    zod: z.string().regex(/^a/).regex(/b$/i),
    schema: { type: "string", pattern: "^a", allOf: [{ pattern: "(?i)b$" }] },
    accepts: ["ab", "aXB"],
    refuses: ["a", "b"],
  },
  "text with parts": {
    zod: z.string().startsWith("a.").endsWith("z").includes("("),
    schema: { type: "string", pattern: "^a\\..*", allOf: [{ pattern: ".*z$" }, { pattern: "\\(" }] },
    accepts: ["a.(z"],
    refuses: ["ab(z", "a.z", "a.("],
  },
  "text in lower case": {
    zod: z.string().lowercase(),
    schema: { type: "string", pattern: "^[^A-Z]*$" },
    accepts: ["ab1"],
    refuses: ["aB"],
  },
  "a unicode pattern": {
    zod: z.string().regex(/^\p{L}+\u00e9$/u),
    schema: { type: "string", pattern: "^\\p{L}+\\x{00e9}$" },
    accepts: ["日é"],
    refuses: ["1é", "é"],
  },
  "email": {
    zod: z.email(),
    schema: {
      type: "string",
      format: "email",
      pattern:
        "^(?:[A-Za-z0-9_'+\\-]+\\.)*[A-Za-z0-9_'+\\-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
    },
    accepts: ["a.b+c@example.com"],
    refuses: ["a", ".a@example.com", "a@b", "Bob <a@example.com>"],
  },
  "uuid": {
    zod: z.uuid(),
    schema: {
      type: "string",
      format: "uuid",
      pattern:
        "^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}|00000000-0000-0000-0000-000000000000|ffffffff-ffff-ffff-ffff-ffffffffffff)$",
    },
    accepts: ["123e4567-e89b-42d3-a456-426614174000", "00000000-0000-0000-0000-000000000000"],
    refuses: ["123e4567-e89b-02d3-a456-426614174000", "x"],
  },
  "guid": {
    zod: z.guid(),
    schema: {
      type: "string",
      format: "uuid",
      pattern: "^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})$",
    },
    accepts: ["123e4567-e89b-02d3-0456-426614174000"],
    refuses: ["123e4567e89b02d30456426614174000"],
  },
  "url": {
    zod: z.url(),
    schema: { type: "string", format: "uri", pattern: "^[a-zA-Z][a-zA-Z0-9+.-]*:/*[^/]" },
    accepts: ["https://example.com/a?b#c", "mailto:a@example.com"],
    refuses: ["/a", "example.com", "", "http://"],
  },
  "web address": {
    zod: z.httpUrl(),
    schema: {
      type: "string",
      format: "uri",
      pattern:
        "^https?://(?:[^/?#@]*@)?(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\\.)+[a-zA-Z]{2,63}(?::[0-9]+)?(?:[/?#].*)?$",
    },
    accepts: ["https://example.com/a", "http://a.example.com:8080?x"],
    refuses: ["ftp://example.com", "http://localhost", "http://"],
  },
  "ipv4": {
    zod: z.ipv4(),
    schema: {
      type: "string",
      format: "ipv4",
      pattern:
        "^(?:(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9])\\.){3}(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9])$",
    },
    accepts: ["10.0.0.1"],
    refuses: ["10.0.0", "::1", "::ffff:10.0.0.1", "010.0.0.1"],
  },
  "ipv6": {
    zod: z.ipv6(),
    schema: {
      type: "string",
      format: "ipv6",
      pattern:
        "^(([0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,7}:|([0-9a-fA-F]{1,4}:){1,6}:[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,5}(:[0-9a-fA-F]{1,4}){1,2}|([0-9a-fA-F]{1,4}:){1,4}(:[0-9a-fA-F]{1,4}){1,3}|([0-9a-fA-F]{1,4}:){1,3}(:[0-9a-fA-F]{1,4}){1,4}|([0-9a-fA-F]{1,4}:){1,2}(:[0-9a-fA-F]{1,4}){1,5}|[0-9a-fA-F]{1,4}:((:[0-9a-fA-F]{1,4}){1,6})|:((:[0-9a-fA-F]{1,4}){1,7}|:))$",
    },
    accepts: ["::1", "fd00::1"],
    refuses: ["10.0.0.1", "::g"],
  },
  "cidrv4": {
    zod: z.cidrv4(),
    schema: {
      type: "string",
      format: "cidr",
      pattern:
        "^((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9])\\.){3}(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9])/([0-9]|[1-2][0-9]|3[0-2])$",
    },
    accepts: ["10.0.0.0/8"],
    refuses: ["10.0.0.0/33", "fd00::/8"],
  },
  "cidrv6": {
    zod: z.cidrv6(),
    schema: {
      type: "string",
      format: "cidr",
      pattern:
        "^(([0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,7}:|([0-9a-fA-F]{1,4}:){1,6}:[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,5}(:[0-9a-fA-F]{1,4}){1,2}|([0-9a-fA-F]{1,4}:){1,4}(:[0-9a-fA-F]{1,4}){1,3}|([0-9a-fA-F]{1,4}:){1,3}(:[0-9a-fA-F]{1,4}){1,4}|([0-9a-fA-F]{1,4}:){1,2}(:[0-9a-fA-F]{1,4}){1,5}|[0-9a-fA-F]{1,4}:((:[0-9a-fA-F]{1,4}){1,6})|:((:[0-9a-fA-F]{1,4}){1,7}|:))/(12[0-8]|1[01][0-9]|[1-9]?[0-9])$",
    },
    accepts: ["fd00::/8"],
    refuses: ["10.0.0.0/8"],
  },
  "mac": {
    zod: z.mac(),
    schema: { type: "string", pattern: "^(?:[0-9A-F]{2}:){5}[0-9A-F]{2}$|^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$" },
    accepts: ["00:1a:2b:3c:4d:5e"],
    refuses: ["00-1a-2b-3c-4d-5e"],
  },
  "base64": {
    zod: z.base64(),
    schema: { type: "string", pattern: "^(?:[0-9a-zA-Z+/]{4})*(?:[0-9a-zA-Z+/]{2}==|[0-9a-zA-Z+/]{3}=)?$" },
    accepts: ["", "aGk=", "aGkh"],
    refuses: ["aGk", "a-_="],
  },
  "base64url": {
    zod: z.base64url(),
    schema: { type: "string", pattern: "^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2,3})?$" },
    accepts: ["", "aGk", "a-_k"],
    refuses: ["aGk=", "a"],
  },
  "hostname": {
    zod: z.hostname(),
    schema: {
      type: "string",
      maxLength: 253,
      pattern:
        "^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*\\.?$",
    },
    accepts: ["example.com", "localhost"],
    refuses: ["-a", "a..b", "a_b"],
  },
  "phone number": {
    zod: z.e164(),
    schema: { type: "string", pattern: "^\\+[1-9]\\d{6,14}$" },
    accepts: ["+4930123456"],
    refuses: ["030123456"],
  },
  "time stamp": {
    zod: z.iso.datetime(),
    schema: {
      type: "string",
      format: "date-time",
      pattern:
        "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?(?:Z))$",
    },
    accepts: ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.123456Z"],
    refuses: ["2026-01-02T03:04:05+01:00", "2026-02-30T03:04:05Z", "2026-01-02", "now"],
  },
  "time stamp with offset": {
    zod: z.iso.datetime({ offset: true }),
    schema: {
      type: "string",
      format: "date-time",
      pattern:
        "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?(?:Z|([+-](?:[01]\\d|2[0-3]):[0-5]\\d)))$",
    },
    accepts: ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05+01:00"],
    refuses: ["2026-01-02T03:04:05"],
  },
  "local time stamp": {
    zod: z.iso.datetime({ local: true }),
    schema: {
      type: "string",
      pattern:
        "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?(?:Z)|(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d+)?)?)$",
    },
    accepts: ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05", "2026-01-02T03:04"],
    refuses: ["2026-01-02T25:04"],
  },
  "date": {
    zod: z.iso.date(),
    schema: {
      type: "string",
      format: "date",
      pattern:
        "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))$",
    },
    accepts: ["2024-02-29"],
    refuses: ["2026-02-29", "2026-1-1"],
  },
  "time": {
    zod: z.iso.time(),
    schema: { type: "string", pattern: "^(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d+)?)?$" },
    accepts: ["03:04:05", "03:04"],
    refuses: ["24:00"],
  },
  "ISO duration": {
    zod: z.iso.duration(),
    schema: {
      type: "string",
      pattern:
        "^P(?:\\d+W|(?:\\d+Y(?:\\d+M)?(?:\\d+D)?|\\d+M(?:\\d+D)?|\\d+D)(?:T(?:\\d+H(?:\\d+M)?(?:\\d+(?:[.,]\\d+)?S)?|\\d+M(?:\\d+(?:[.,]\\d+)?S)?|\\d+(?:[.,]\\d+)?S))?|T(?:\\d+H(?:\\d+M)?(?:\\d+(?:[.,]\\d+)?S)?|\\d+M(?:\\d+(?:[.,]\\d+)?S)?|\\d+(?:[.,]\\d+)?S))$",
    },
    accepts: ["P1W", "P1Y2M3D", "PT1H", "P1DT1.5S", "P3M", "PT5M2S"],
    refuses: ["P", "PT", "P1DT", "P1W2D", "1h"],
  },
  "Go duration": {
    zod: z.string().meta({ format: "duration" }),
    schema: { type: "string", format: "duration" },
    accepts: ["1h30m", "5s"],
    refuses: [],
  },
  "custom format": {
    zod: z.stringFormat("hexa", /^[0-9a-f]+$/),
    schema: { type: "string", pattern: "^[0-9a-f]+$" },
    accepts: ["0f"],
    refuses: ["g"],
  },
  "hash": {
    zod: z.hash("md5"),
    schema: { type: "string", pattern: "^[0-9a-fA-F]{32}$" },
    accepts: ["d41d8cd98f00b204e9800998ecf8427e"],
    refuses: ["d4"],
  },
  "template": {
    zod: z.templateLiteral(["v", z.int()]),
    schema: { type: "string", pattern: "^v-?\\d+$" },
    accepts: ["v1", "v-12"],
    refuses: ["v", "1"],
  },
  "number": { zod: z.number(), schema: { type: "number" }, accepts: [0, 1.5, -3], refuses: ["1", null] },
  "number in bounds": {
    zod: z.number().gt(0).lte(1.5),
    schema: { type: "number", minimum: 0, exclusiveMinimum: true, maximum: 1.5 },
    accepts: [0.1, 1.5],
    refuses: [0, 1.6],
  },
  "number of steps": {
    zod: z.number().multipleOf(2),
    schema: { type: "number", multipleOf: 2 },
    accepts: [-4, 2],
    refuses: [1.2, 3],
  },
  "number of two steps": {
    zod: z.number().multipleOf(2).multipleOf(3),
    schema: { type: "number", multipleOf: 2, allOf: [{ multipleOf: 3 }] },
    accepts: [6],
    refuses: [2, 3],
  },
  "whole number": {
    zod: z.int(),
    schema: { type: "integer", format: "int64", minimum: -9007199254740991, maximum: 9007199254740991 },
    accepts: [0, -5, 9007199254740991],
    refuses: [1.5, "1"],
  },
  "whole number in bounds": {
    zod: z.int32().min(1).max(10),
    schema: { type: "integer", format: "int32", minimum: 1, maximum: 10 },
    accepts: [1, 10],
    refuses: [0, 11, 1.5],
  },
  "positive whole number": {
    zod: z.int().positive(),
    schema: { type: "integer", format: "int64", minimum: 0, maximum: 9007199254740991, exclusiveMinimum: true },
    accepts: [1],
    refuses: [0, -1],
  },
  "unsigned": {
    zod: z.uint32(),
    schema: { type: "integer", minimum: 0, maximum: 4294967295 },
    accepts: [0, 4294967295],
    refuses: [-1, 4294967296],
  },
  "whole number of 32 bits": {
    zod: z.int32(),
    schema: { type: "integer", format: "int32" },
    accepts: [2147483647, -2147483648],
    refuses: [2147483648, 1.5],
  },
  "float": {
    zod: z.float32(),
    schema: { type: "number", format: "float" },
    accepts: [1.5],
    refuses: [1e39],
  },
  "boolean": { zod: z.boolean(), schema: { type: "boolean" }, accepts: [true, false], refuses: ["true", 1, null] },
  "choice of texts": {
    zod: z.enum(["a", "b"]),
    schema: { type: "string", enum: ["a", "b"] },
    accepts: ["a"],
    refuses: ["c", null],
  },
  "choice of numbers": {
    zod: z.literal([1, 2]),
    schema: { type: "integer", enum: [1, 2] },
    accepts: [1],
    refuses: [3, "1"],
  },
  "choice of fractions": {
    zod: z.literal([1, 2.5]),
    schema: { type: "number", enum: [1, 2.5] },
    accepts: [2.5],
    refuses: [3],
  },
  "literal": { zod: z.literal("a"), schema: { type: "string", enum: ["a"] }, accepts: ["a"], refuses: ["b"] },
  "literal boolean": {
    zod: z.literal(true),
    schema: { type: "boolean", enum: [true] },
    accepts: [true],
    refuses: [false],
  },
  "choice of texts and numbers": {
    zod: z.literal(["auto", 1]),
    schema: { "x-kubernetes-int-or-string": true, enum: ["auto", 1] },
    accepts: ["auto", 1],
    refuses: ["b", 2],
  },
  "nullable": {
    zod: z.string().min(2).nullable(),
    schema: { type: "string", minLength: 2, nullable: true },
    accepts: [null, "ab"],
    refuses: ["a", undefined],
  },
  "nullable choice": {
    zod: z.enum(["a"]).nullable(),
    schema: { type: "string", nullable: true, allOf: [{ enum: ["a"] }] },
    accepts: [null, "a"],
    refuses: ["b"],
  },
  "nullable number": {
    zod: z.int32().min(3).nullable(),
    schema: { type: "integer", format: "int32", minimum: 3, nullable: true },
    accepts: [null, 3],
    refuses: [2],
  },
  "nullable object": {
    zod: z.object({ a: z.string() }).nullable(),
    schema: { type: "object", properties: { a: { type: "string" } }, required: ["a"], nullable: true },
    accepts: [null, { a: "x" }],
    refuses: [{}],
  },
  "nullable list": {
    zod: z.array(z.string()).min(1).nullable(),
    schema: { type: "array", items: { type: "string" }, minItems: 1, nullable: true },
    accepts: [null, ["x"]],
    refuses: [[]],
  },
  "nullable union": {
    zod: z.union([z.string().min(2), z.string().regex(/^x$/), z.null()]),
    schema: { type: "string", anyOf: [{ minLength: 2 }, { pattern: "^x$" }], nullable: true },
    accepts: [null, "ab", "x"],
    refuses: ["y"],
  },
  "nullable union of objects": {
    zod: z.union([z.object({ a: z.string() }), z.object({ b: z.string() }), z.null()]),
    schema: {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
      nullable: true,
    },
    accepts: [null, { a: "x" }, { b: "x" }],
    refuses: [{}],
  },
  "optional": { zod: z.string().optional(), schema: { type: "string" }, accepts: [undefined, "a"], refuses: [1] },
  "defaulted": {
    zod: z.int32().min(1).default(3),
    schema: { type: "integer", format: "int32", minimum: 1, default: 3 },
    accepts: [undefined, 4],
    refuses: [0],
  },
  "nullable with default": {
    zod: z.string().nullable().default("a"),
    schema: { type: "string", nullable: true, default: "a" },
    accepts: [undefined, null, "b"],
    refuses: [1],
  },
  "nested defaults": {
    zod: z.object({ a: z.object({ b: z.string().default("x") }).prefault({}) }).prefault({}),
    schema: {
      type: "object",
      properties: { a: { type: "object", properties: { b: { type: "string", default: "x" } }, default: {} } },
      default: {},
    },
    accepts: [undefined, {}, { a: {} }, { a: { b: "y" } }],
    refuses: [{ a: { b: 1 } }],
  },
  "default object": {
    zod: z.object({ a: z.string(), b: z.int32().optional() }).default({ a: "x" }),
    schema: {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "integer", format: "int32" } },
      required: ["a"],
      default: { a: "x" },
    },
    accepts: [undefined, { a: "y", b: 1 }],
    refuses: [{}],
  },
  "object": {
    zod: z.object({ a: z.string(), b: z.string().optional() }),
    schema: { type: "object", properties: { a: { type: "string" }, b: { type: "string" } }, required: ["a"] },
    accepts: [{ a: "x" }, { a: "x", b: "y" }, { a: "x", c: 1 }],
    refuses: [{}, { b: "x" }, { a: null }],
  },
  "empty object": { zod: z.object({}), schema: { type: "object" }, accepts: [{}], refuses: [1, []] },
  "loose object": {
    zod: z.looseObject({ a: z.string() }),
    schema: {
      type: "object",
      "x-kubernetes-preserve-unknown-fields": true,
      properties: { a: { type: "string" } },
      required: ["a"],
    },
    accepts: [{ a: "x", b: { c: 1 } }],
    refuses: [{}],
  },
  "map": {
    zod: z.record(z.string(), z.string()),
    schema: { type: "object", additionalProperties: { type: "string" } },
    accepts: [{}, { a: "x" }],
    refuses: [{ a: 1 }],
  },
  "map by catchall": {
    zod: z.object({}).catchall(z.int32()),
    schema: { type: "object", additionalProperties: { type: "integer", format: "int32" } },
    accepts: [{ a: 1 }],
    refuses: [{ a: "x" }],
  },
  "map of named keys": {
    zod: z.record(z.enum(["a", "b"]), z.string()),
    schema: { type: "object", properties: { a: { type: "string" }, b: { type: "string" } }, required: ["a", "b"] },
    accepts: [{ a: "x", b: "y" }],
    refuses: [{ a: "x" }],
  },
  "map of some named keys": {
    zod: z.partialRecord(z.enum(["a", "b"]), z.string()),
    schema: { type: "object", properties: { a: { type: "string" }, b: { type: "string" } } },
    accepts: [{}, { a: "x" }],
    refuses: [{ a: 1 }],
  },
  "map of anything": {
    zod: z.record(z.string(), z.unknown()),
    schema: { type: "object", additionalProperties: { "x-kubernetes-preserve-unknown-fields": true, nullable: true } },
    accepts: [{ a: 1, b: null, c: [{}] }],
    refuses: [1],
  },
  "map of lists": {
    zod: z.record(z.string(), z.array(z.object({ a: z.string() }))),
    schema: {
      type: "object",
      additionalProperties: {
        type: "array",
        items: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
      },
    },
    accepts: [{ x: [{ a: "b" }] }],
    refuses: [{ x: [{}] }],
  },
  "bounded map": {
    zod: z.record(z.string(), z.string()).meta({ maxProperties: 1 }),
    schema: { type: "object", additionalProperties: { type: "string" }, maxProperties: 1 },
    accepts: [{ a: "x" }],
    refuses: [],
  },
  "anything": {
    zod: z.unknown(),
    schema: { "x-kubernetes-preserve-unknown-fields": true, nullable: true },
    accepts: [1, "a", null, { a: [1] }, [1, "a"], true],
    refuses: [],
  },
  "list": {
    zod: z.array(z.string()).min(1).max(2),
    schema: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 2 },
    accepts: [["a"], ["a", "b"]],
    refuses: [[], ["a", "b", "c"], [1]],
  },
  "list of nullable": {
    zod: z.array(z.string().nullable()),
    schema: { type: "array", items: { type: "string", nullable: true } },
    accepts: [[null, "a"]],
    refuses: [[1]],
  },
  "set": {
    zod: z.array(z.string()).meta({ "x-kubernetes-list-type": "set" }),
    schema: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    accepts: [["a", "b"]],
    refuses: [],
  },
  "list map": {
    zod: z.array(z.object({ name: z.string(), n: z.int32().optional() })).meta({
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    }),
    schema: {
      type: "array",
      items: {
        type: "object",
        properties: { name: { type: "string" }, n: { type: "integer", format: "int32" } },
        required: ["name"],
      },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    },
    accepts: [[{ name: "a" }, { name: "b" }]],
    refuses: [[{}]],
  },
  "pair": {
    zod: z.tuple([z.number(), z.number()]),
    schema: { type: "array", items: { type: "number" }, minItems: 2, maxItems: 2 },
    accepts: [[1, 2]],
    refuses: [[1], [1, 2, 3]],
  },
  "tuple with rest": {
    zod: z.tuple([z.string()], z.string()),
    schema: { type: "array", items: { type: "string" }, minItems: 1 },
    accepts: [["a"], ["a", "b"]],
    refuses: [[]],
  },
  "int or text": {
    zod: z.union([z.int(), z.string()]),
    schema: { "x-kubernetes-int-or-string": true, minimum: -9007199254740991, maximum: 9007199254740991 },
    accepts: [1, "a", "50%"],
    refuses: [1.5, true, null],
  },
  "checked int or text": {
    zod: z.union([z.int32().min(1), z.string().regex(/^\d+%$/)]),
    schema: { "x-kubernetes-int-or-string": true, minimum: 1, maximum: 2147483647, pattern: "^\\d+%$" },
    accepts: [1, "50%"],
    refuses: [0, "a", 1.5],
  },
  "int or word": {
    zod: z.union([z.int32().min(0), z.enum(["auto", "none"])]),
    schema: { "x-kubernetes-int-or-string": true, minimum: 0, maximum: 2147483647, pattern: "^(?:auto|none)$" },
    accepts: [0, "auto"],
    refuses: [-1, "a", 1.5],
  },
  "nullable int or word": {
    zod: z.union([z.int32().min(0), z.literal("auto"), z.null()]),
    schema: {
      "x-kubernetes-int-or-string": true,
      minimum: 0,
      maximum: 2147483647,
      pattern: "^(?:auto)$",
      nullable: true,
    },
    accepts: [0, "auto", null],
    refuses: [-1, "a"],
  },
  "union of texts": {
    zod: z.union([z.ipv4(), z.ipv6()]),
    schema: {
      type: "string",
      anyOf: [{
        format: "ipv4",
        pattern:
          "^(?:(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9])\\.){3}(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9])$",
      }, {
        format: "ipv6",
        pattern:
          "^(([0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,7}:|([0-9a-fA-F]{1,4}:){1,6}:[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,5}(:[0-9a-fA-F]{1,4}){1,2}|([0-9a-fA-F]{1,4}:){1,4}(:[0-9a-fA-F]{1,4}){1,3}|([0-9a-fA-F]{1,4}:){1,3}(:[0-9a-fA-F]{1,4}){1,4}|([0-9a-fA-F]{1,4}:){1,2}(:[0-9a-fA-F]{1,4}){1,5}|[0-9a-fA-F]{1,4}:((:[0-9a-fA-F]{1,4}){1,6})|:((:[0-9a-fA-F]{1,4}){1,7}|:))$",
      }],
    },
    accepts: ["10.0.0.1", "::1"],
    refuses: ["x"],
  },
  "exclusive union": {
    zod: z.xor([z.string().startsWith("a"), z.string().endsWith("z")]),
    schema: { type: "string", oneOf: [{ pattern: "^a.*" }, { pattern: ".*z$" }] },
    accepts: ["ab", "bz"],
    refuses: ["az", "b"],
  },
  "union of literals": {
    zod: z.union([z.literal("a"), z.literal("b"), z.enum(["c"])]),
    schema: { type: "string", enum: ["a", "b", "c"] },
    accepts: ["a", "c"],
    refuses: ["d"],
  },
  "union with optional": {
    zod: z.union([z.string().optional(), z.string().min(3)]),
    schema: { type: "string" },
    accepts: [undefined, "a"],
    refuses: [1],
  },
  "union of lists": {
    zod: z.union([z.array(z.string()).max(1), z.array(z.string().regex(/^x/))]),
    schema: { type: "array", items: { type: "string" }, anyOf: [{ maxItems: 1 }, { items: { pattern: "^x" } }] },
    accepts: [["a"], ["x1", "x2"]],
    refuses: [["a", "b"]],
  },
  "discriminated union": {
    zod: z.discriminatedUnion("type", [
      z.object({ type: z.literal("s3"), bucket: z.string().min(3), size: z.int32().min(1) }),
      z.object({ type: z.literal("gcs"), project: z.string(), size: z.int32().min(10).optional() }),
      z.object({ type: z.enum(["none", "later"]) }),
    ]),
    schema: {
      type: "object",
      properties: {
        type: { type: "string", enum: ["s3", "gcs", "none", "later"] },
        bucket: { type: "string", minLength: 3 },
        size: {
          type: "integer",
          anyOf: [{ format: "int32", minimum: 1, maximum: 2147483647 }, {
            format: "int32",
            minimum: 10,
            maximum: 2147483647,
          }],
        },
        project: { type: "string" },
      },
      anyOf: [{
        required: ["type", "bucket", "size"],
        properties: { type: { enum: ["s3"] }, size: { format: "int32", minimum: 1, maximum: 2147483647 } },
      }, {
        required: ["type", "project"],
        properties: { type: { enum: ["gcs"] }, size: { format: "int32", minimum: 10, maximum: 2147483647 } },
      }, { required: ["type"], properties: { type: { enum: ["none", "later"] } } }],
    },
    accepts: [{ type: "s3", bucket: "abc", size: 1 }, { type: "gcs", project: "p" }, { type: "none" }],
    refuses: [{ type: "s3" }, { type: "s3", bucket: "a", size: 1 }, { type: "gcs", project: "p", size: 5 }, {
      type: "x",
    }, {}],
  },
  "strict union": {
    zod: z.union([
      z.strictObject({ a: z.string().optional() }),
      z.strictObject({ b: z.string() }),
      z.strictObject({ c: z.string() }),
    ]),
    schema: {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" }, c: { type: "string" } },
      anyOf: [{ not: { anyOf: [{ required: ["b"] }, { required: ["c"] }] } }, {
        required: ["b"],
        not: { anyOf: [{ required: ["a"] }, { required: ["c"] }] },
      }, { required: ["c"], not: { anyOf: [{ required: ["a"] }, { required: ["b"] }] } }],
    },
    accepts: [{}, { a: "x" }, { b: "x" }],
    refuses: [{ a: "x", b: "y" }, { b: "x", c: "y" }],
  },
  "nested union": {
    zod: z.object({
      target: z.union([
        z.object({ a: z.object({ n: z.int32().min(1) }) }),
        z.object({ a: z.object({ n: z.int32().max(-1) }), b: z.string() }),
      ]),
    }),
    schema: {
      type: "object",
      properties: {
        target: {
          type: "object",
          properties: {
            a: {
              type: "object",
              properties: {
                n: {
                  type: "integer",
                  anyOf: [{ format: "int32", minimum: 1, maximum: 2147483647 }, {
                    format: "int32",
                    minimum: -2147483648,
                    maximum: -1,
                  }],
                },
              },
              anyOf: [{ required: ["n"], properties: { n: { format: "int32", minimum: 1, maximum: 2147483647 } } }, {
                required: ["n"],
                properties: { n: { format: "int32", minimum: -2147483648, maximum: -1 } },
              }],
            },
            b: { type: "string" },
          },
          anyOf: [{
            required: ["a"],
            properties: {
              a: { required: ["n"], properties: { n: { format: "int32", minimum: 1, maximum: 2147483647 } } },
            },
          }, {
            required: ["a", "b"],
            properties: {
              a: { required: ["n"], properties: { n: { format: "int32", minimum: -2147483648, maximum: -1 } } },
            },
          }],
        },
      },
      required: ["target"],
    },
    accepts: [{ target: { a: { n: 1 } } }, { target: { a: { n: -1 }, b: "x" } }],
    refuses: [{ target: { a: { n: 0 } } }, { target: { a: { n: -1 } } }, {}],
  },
  "intersection": {
    zod: z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })),
    schema: { type: "object", properties: { a: { type: "string" }, b: { type: "string" } }, required: ["a", "b"] },
    accepts: [{ a: "x", b: "y" }],
    refuses: [{ a: "x" }],
  },
  "lazy": {
    zod: z.lazy(() => z.string().min(1)),
    schema: { type: "string", minLength: 1 },
    accepts: ["a"],
    refuses: [""],
  },
  "read only, branded": {
    zod: z.string().min(1).brand("x").readonly(),
    schema: { type: "string", minLength: 1 },
    accepts: ["a"],
    refuses: [""],
  },
  "immutable by rule": {
    zod: z.string().meta({ "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "must not change" }] }),
    schema: { type: "string", "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "must not change" }] },
    accepts: ["a"],
    refuses: [],
  },
  "refined with a rule": {
    zod: z.object({ min: z.int32(), max: z.int32() }).refine((v) => v.min <= v.max).meta({
      "x-kubernetes-validations": [{ rule: "self.min <= self.max", message: "min above max" }],
    }),
    schema: {
      type: "object",
      properties: { min: { type: "integer", format: "int32" }, max: { type: "integer", format: "int32" } },
      required: ["min", "max"],
      "x-kubernetes-validations": [{ rule: "self.min <= self.max", message: "min above max" }],
    },
    accepts: [{ min: 1, max: 2 }],
    refuses: [{ min: 2, max: 1 }],
  },
  "described": {
    zod: z.string().describe("A text.").min(1).optional(),
    schema: { description: "A text.", type: "string", minLength: 1 },
    accepts: ["a", undefined],
    refuses: [""],
  },
  "quantity": {
    zod: z.union([z.int(), z.string()]).meta({ pattern: "^[0-9]+(m|Mi|Gi)?$", description: "A quantity." }),
    schema: {
      "x-kubernetes-int-or-string": true,
      minimum: -9007199254740991,
      maximum: 9007199254740991,
      pattern: "^[0-9]+(m|Mi|Gi)?$",
      description: "A quantity.",
    },
    accepts: [1, "100m"],
    refuses: [],
  },
  "embedded resource": {
    zod: z.looseObject({}).meta({ "x-kubernetes-embedded-resource": true }),
    schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-embedded-resource": true },
    accepts: [{ apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec: {} }],
    refuses: [],
  },
};
