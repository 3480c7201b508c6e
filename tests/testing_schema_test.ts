import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { builtinSchema, emptyObject } from "../testing/_builtin.ts";
import { defaultBuiltin } from "../testing/_builtin_defaults.ts";
import { withDefaults } from "../testing/_defaults.ts";
import { errorsText } from "../testing/_field_error.ts";
import { fitsFormat } from "../testing/_formats.ts";
import { DecodeError, decodeGo } from "../testing/_go_decode.ts";
import { prune } from "../testing/_prune.ts";
import { canonicalQuantity, quantityValue } from "../testing/_quantity.ts";
import type { Schema } from "../testing/_schema.ts";
import { checkSchema } from "../testing/_structural.ts";
import { yamlError } from "../testing/_yaml_error.ts";
import { validate, type ValidateOptions } from "../testing/_validate.ts";

function spec(properties: Record<string, Schema>, more: Schema = {}): Schema {
  return { type: "object", properties: { spec: { type: "object", properties, ...more } } };
}

function problems(value: unknown, schema: Schema, options: ValidateOptions = {}): string[] {
  return validate(value, schema, options).map(({ field, message, reason }) => `${field}: ${message} (${reason})`);
}

Deno.test("validate() reports wrong values in the real server's words", () => {
  const cases: [Schema, unknown, string][] = [
    [
      { type: "integer" },
      "x",
      'Invalid value: "string": spec.f in body must be of type integer: "string" (FieldValueTypeInvalid)',
    ],
    [
      { type: "object" },
      [],
      'Invalid value: "array": spec.f in body must be of type object: "array" (FieldValueTypeInvalid)',
    ],
    [
      { "x-kubernetes-int-or-string": true },
      true,
      'Invalid value: "boolean": spec.f in body must be of type integer,string: "boolean" (FieldValueTypeInvalid)',
    ],
    [
      { type: "integer", minimum: 1 },
      0,
      "Invalid value: 0: spec.f in body should be greater than or equal to 1 (FieldValueInvalid)",
    ],
    [
      { type: "number", minimum: 0, exclusiveMinimum: true },
      0,
      "Invalid value: 0: spec.f in body should be greater than 0 (FieldValueInvalid)",
    ],
    [
      { type: "integer", maximum: 10 },
      11,
      "Invalid value: 11: spec.f in body should be less than or equal to 10 (FieldValueInvalid)",
    ],
    [
      { type: "integer", multipleOf: 5 },
      7,
      "Invalid value: 7: spec.f in body should be a multiple of 5 (FieldValueInvalid)",
    ],
    [
      { type: "string", enum: ["Red", "Green"] },
      "Blue",
      'Unsupported value: "Blue": supported values: "Red", "Green" (FieldValueNotSupported)',
    ],
    [
      { type: "string", pattern: "^[a-z]+$" },
      "A",
      "Invalid value: \"A\": spec.f in body should match '^[a-z]+$' (FieldValueInvalid)",
    ],
    [
      { type: "string", minLength: 3 },
      "ab",
      'Invalid value: "ab": spec.f in body should be at least 3 chars long (FieldValueInvalid)',
    ],
    [{ type: "string", maxLength: 3 }, "abcd", "Too long: may not be more than 3 bytes (FieldValueTooLong)"],
    [
      { type: "object", minProperties: 1 },
      {},
      "Invalid value: 0: spec.f in body should have at least 1 properties (FieldValueInvalid)",
    ],
    [
      { type: "object", maxProperties: 2 },
      { a: 1, b: 2, c: 3 },
      "Too many: 3: must have at most 2 items (FieldValueTooMany)",
    ],
    [
      { type: "string", format: "date-time" },
      "yesterday",
      'Invalid value: "yesterday": spec.f in body must be of type date-time: "yesterday" (FieldValueTypeInvalid)',
    ],
  ];
  for (const [schema, value, message] of cases) {
    assertEquals(problems({ spec: { f: value } }, spec({ f: schema })), [`spec.f: ${message}`]);
  }
});

Deno.test("validate() counts characters, not bytes", () => {
  assertEquals(problems({ spec: { f: "äöü" } }, spec({ f: { type: "string", maxLength: 3 } })), []);
});

Deno.test("validate() names missing fields, at the root and below", () => {
  const schema: Schema = {
    ...spec({ c: { type: "object", required: ["d"] } }, { required: ["a"] }),
    required: ["spec"],
  };
  assertEquals(problems({}, schema), ["spec: Required value (FieldValueRequired)"]);
  assertEquals(problems({ spec: { c: {} } }, schema), [
    "spec.c.d: Required value (FieldValueRequired)",
    "spec.a: Required value (FieldValueRequired)",
  ]);
});

Deno.test("validate() reports combined schemas without a field", () => {
  const oneOf = spec({ a: { type: "string" }, b: { type: "string" } }, {
    oneOf: [{ required: ["a"] }, { required: ["b"] }],
  });
  const message = (found: string) =>
    `<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). ${found} (FieldValueInvalid)`;
  assertEquals(problems({ spec: {} }, oneOf), [
    message("Found none valid"),
    "spec.a: Required value (FieldValueRequired)",
  ]);
  assertEquals(problems({ spec: { a: "x", b: "x" } }, oneOf), [message("Found 2 valid alternatives")]);
  assertEquals(problems({ spec: { a: "x" } }, oneOf), []);
  const not = spec({ n: { type: "string", not: { enum: ["bad"] } } });
  assertEquals(problems({ spec: { n: "bad" } }, not), [
    '<nil>: Invalid value: "": "spec.n" must not validate the schema (not) (FieldValueInvalid)',
  ]);
  const format = spec({ i: { type: "integer", format: "int32" } });
  assertEquals(problems({ spec: { i: 3e9 } }, format), [
    '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.i (FieldValueInvalid)',
  ]);
});

Deno.test("validate() of a status names its fields below status, and its messages do not", () => {
  const schema: Schema = { type: "object", properties: { ready: { type: "integer" } } };
  assertEquals(problems({ ready: "x" }, schema, { field: "status" }), [
    'status.ready: Invalid value: "string": ready in body must be of type integer: "string" (FieldValueTypeInvalid)',
  ]);
});

Deno.test("validate() lets stay what did not change", () => {
  const schema = spec({ a: { type: "string" }, b: { type: "string" } });
  const previous = { spec: { a: 1, b: "x" } };
  assertEquals(problems({ spec: { a: 1, b: "y" } }, schema, { previous }), []);
  assertEquals(problems({ spec: { a: 2, b: "x" } }, schema, { previous }).length, 1);
});

Deno.test("validate() refuses items that come twice in sets and list maps", () => {
  const schema = spec({
    set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
    map: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: { type: "object" },
    },
  });
  assertEquals(problems({ spec: { set: ["a", "b", "a", "a"], map: [{ name: "x" }, { name: "x" }] } }, schema), [
    'spec.set[2]: Duplicate value: "a" (FieldValueDuplicate)',
    'spec.map[1]: Duplicate value: {"name":"x"} (FieldValueDuplicate)',
  ]);
});

Deno.test("validate() asks embedded resources for a version and a kind", () => {
  const schema = spec({ t: { type: "object", "x-kubernetes-embedded-resource": true } });
  assertEquals(problems({ spec: { t: {} } }, schema).length, 2);
  assertEquals(problems({ spec: { t: { apiVersion: "v1", kind: "Pod" } } }, schema), []);
});

Deno.test("errorsText() puts several errors in brackets", () => {
  const error = { field: "spec.a", reason: "FieldValueRequired", message: "Required value" };
  assertEquals(errorsText([error]), "spec.a: Required value");
  assertEquals(errorsText([error, error]), "[spec.a: Required value, spec.a: Required value]");
});

Deno.test("fitsFormat() knows the formats of the real server", () => {
  const cases: [string, string[], string[]][] = [
    ["date", ["2020-02-29"], ["2020-13-01", "2021-02-29", "x"]],
    ["date-time", ["2020-01-01T00:00:00Z", "2020-01-01T00:00:00.5+02:00"], ["yesterday", "2020-01-01"]],
    ["ipv4", ["1.2.3.4"], ["1.2.3", "1.2.3.256"]],
    ["ipv6", ["::1", "2001:db8::1"], ["1.2.3.4", ":::", "1::2::3"]],
    ["cidr", ["10.0.0.0/8", "fd00::/64"], ["10.0.0.0", "10.0.0.0/33"]],
    ["uri", ["https://example.com/a", "/path"], ["not a uri", ""]],
    ["byte", ["aGk="], ["***", "a", ""]],
    ["duration", ["1h30m", "500ms", "2 days"], ["soon", ""]],
    ["uuid", ["123e4567-e89b-12d3-a456-426614174000"], ["x"]],
    ["email", ["a@example.com"], ["x", "a@"]],
    ["hostname", ["a.example.com"], ["a_b", "-a"]],
    ["mac", ["01:23:45:67:89:ab"], ["01:23"]],
    ["nope", ["anything"], []],
  ];
  for (const [format, good, bad] of cases) {
    for (const text of good) assert(fitsFormat(format, text), `${format}: ${text}`);
    for (const text of bad) assert(!fitsFormat(format, text), `${format}: ${text}`);
  }
});

Deno.test("prune() drops unknown fields and names them", () => {
  const schema = spec({
    free: {
      type: "object",
      "x-kubernetes-preserve-unknown-fields": true,
      properties: { k: { type: "object", properties: {} } },
    },
    list: { type: "array", items: { type: "object", properties: { a: { type: "string" } } } },
  });
  const object = {
    metadata: { name: "a", nope: 1 },
    spec: { free: { x: { y: [1] }, k: { z: 1 } }, list: [{ a: "1", b: "2" }], x: 1 },
    other: 1,
  };
  const before = JSON.stringify(object);
  assertEquals(prune(object, schema), {
    object: { metadata: { name: "a" }, spec: { free: { x: { y: [1] }, k: {} }, list: [{ a: "1" }] } },
    unknown: ["metadata.nope", "other", "spec.free.k.z", "spec.list[0].b", "spec.x"],
  });
  assertEquals(JSON.stringify(object), before);
  const clean = { metadata: {}, spec: {} };
  assertStrictEquals(prune(clean, schema).object, clean);
});

Deno.test("prune() drops nulls that may not be, unless a default takes their place", () => {
  const schema = spec({
    n: { type: "string", nullable: true },
    d: { type: "string", default: "x" },
    s: { type: "string" },
  });
  const { object } = prune({ spec: { n: null, d: null, s: null } }, schema);
  assertEquals(object, { spec: { n: null, d: null } });
  assertEquals(withDefaults<unknown>(object, schema), { spec: { n: null, d: "x" } });
  assertEquals(prune({ spec: null }, schema).object, {});
});

Deno.test("withDefaults() fills in below what is there, and below what it filled in", () => {
  const schema: Schema = {
    type: "object",
    properties: {
      a: { type: "object", default: {}, properties: { b: { type: "integer", default: 1 } } },
      l: { type: "array", items: { type: "object", properties: { c: { type: "boolean", default: false } } } },
      m: {
        type: "object",
        additionalProperties: { type: "object", properties: { d: { type: "string", default: "x" } } },
      },
    },
  };
  assertEquals(withDefaults<unknown>({ l: [{}], m: { k: {} } }, schema), {
    a: { b: 1 },
    l: [{ c: false }],
    m: { k: { d: "x" } },
  });
  const full = { a: { b: 2 } };
  assertStrictEquals(withDefaults(full, schema), full);
});

Deno.test("checkSchema() refuses what is not structural", () => {
  const at = "spec.validation.openAPIV3Schema";
  const refused = (schema: Schema) =>
    checkSchema(schema, at).map(({ field, message }) => `${field.slice(at.length)}: ${message}`);
  assertEquals(refused({}), [".type: Required value: must not be empty at the root"]);
  assertEquals(refused({ type: "string" }), ['.type: Invalid value: "string": must be object at the root']);
  const field = (schema: Schema) => refused({ type: "object", properties: { f: schema } });
  assertEquals(field({}), [".properties[f].type: Required value: must not be empty for specified object fields"]);
  assertEquals(field({ type: "array" }), [".properties[f].items: Required value: must be specified"]);
  assertEquals(field({ type: "string", anyOf: [{ type: "string" }] }), [
    ".properties[f].anyOf[0].type: Forbidden: must be empty to be structural",
  ]);
  assertEquals(field({ "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] }), []);
  assertEquals(field({ type: "integer", default: "x" }), [
    '.properties[f].default: Invalid value: "string":  in body must be of type integer: "string"',
  ]);
  assertEquals(field({ type: "object", properties: { a: { type: "string" } }, default: { b: 1 } }), [
    '.properties[f].default: Invalid value: {"b":1}: must not have unknown fields',
  ]);
  assertEquals(field({ type: "array", "x-kubernetes-list-type": "map", items: { type: "object" } }), [
    ".properties[f].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map",
  ]);
});

const deployment = builtinSchema("apps", "v1", "Deployment")!;

Deno.test("builtinSchema() knows list types, merge keys and patch strategies", () => {
  const containers = deployment.properties!.spec!.properties!.template!.properties!.spec!.properties!.containers!;
  assertEquals(containers["x-kubernetes-list-map-keys"], ["name"]);
  assertEquals(containers["x-kubernetes-patch-merge-key"], "name");
  assertEquals(containers.items!.properties!.ports!["x-kubernetes-list-map-keys"], ["containerPort", "protocol"]);
  assertStrictEquals(builtinSchema("apps", "v1", "Deployment"), deployment);
  assertEquals(builtinSchema("apps", "v1", "Nope"), undefined);
  assertEquals(builtinSchema("", "", "__proto__"), undefined);
});

Deno.test("emptyObject() is what Go writes for a kind that has nothing set", () => {
  assertEquals(emptyObject(deployment) as unknown, {
    metadata: {},
    spec: { selector: null, strategy: {}, template: { metadata: {}, spec: { containers: null } } },
    status: {},
  });
});

Deno.test("decodeGo() drops what the kind does not have and what is zero, and names the unknown in order", () => {
  const object = {
    metadata: { labels: {}, creationTimestamp: null },
    spec: {
      replicas: 0,
      minReadySeconds: 0,
      template: {
        spec: { containers: [{ name: "a", env: [], nope: 1, resources: { limits: { memory: "1024Mi" } } }] },
      },
      replica: 3,
    },
    status: { readyReplicas: 0, conditions: [{ type: "A", status: "True" }] },
  };
  const { object: decoded, unknown } = decodeGo(object, deployment);
  assertEquals(unknown, ["spec.template.spec.containers[0].nope", "spec.replica"]);
  const { spec, status, metadata } = decoded as typeof object;
  assertEquals(metadata as unknown, {});
  assertEquals(spec.replicas, 0);
  assertEquals("minReadySeconds" in spec, false);
  assertEquals(spec.template.spec.containers as unknown, [{ name: "a", resources: { limits: { memory: "1Gi" } } }]);
  assertEquals(status as unknown, {
    conditions: [{ type: "A", status: "True", lastTransitionTime: null, lastUpdateTime: null }],
  });
});

Deno.test("decodeGo() gives back the object itself when there is nothing to do", () => {
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { k: "v" } };
  assertStrictEquals(decodeGo(object, builtinSchema("", "v1", "ConfigMap")!).object, object);
});

Deno.test("decodeGo() refuses wrong types as Go does", () => {
  const configMap = builtinSchema("", "v1", "ConfigMap")!;
  const message = (object: object, schema = configMap) =>
    assertThrows(() => decodeGo(object, schema), DecodeError).message;
  assertEquals(
    message({ data: { k: 1 } }),
    "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
  );
  assertEquals(
    message({ metadata: [] }),
    "json: cannot unmarshal array into Go struct field ConfigMap.metadata of type v1.ObjectMeta",
  );
  assertEquals(
    message({ spec: { replicas: 1.5 } }, deployment),
    "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
  );
  const lease = builtinSchema("coordination.k8s.io", "v1", "Lease")!;
  assert(message({ spec: { renewTime: "2020-01-02T03:04:06Z" } }, lease).includes("000000"));
  assertEquals(decodeGo({ data: { k: null } }, configMap).object as unknown, { data: { k: "" }, metadata: {} });
});

Deno.test("canonicalQuantity() writes quantities as the server does", () => {
  const cases: [string | number, string | undefined][] = [
    ["0.5", "500m"],
    ["1000m", "1"],
    ["1500m", "1500m"],
    ["1024Mi", "1Gi"],
    ["1.5Gi", "1536Mi"],
    ["100M", "100M"],
    ["1e3", "1e3"],
    [0.5, "500m"],
    ["0", "0"],
    ["-1", "-1"],
    ["abc", undefined],
    ["1 Gi", undefined],
  ];
  for (const [given, canonical] of cases) assertEquals(canonicalQuantity(given), canonical, String(given));
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e9 }), fc.constantFrom("", "m", "k", "M", "Ki", "Gi"), (value, unit) => {
      const canonical = canonicalQuantity(`${value}${unit}`)!;
      assertEquals(quantityValue(canonical), quantityValue(`${value}${unit}`));
      assertEquals(canonicalQuantity(canonical), canonical);
    }),
  );
});

Deno.test("defaultBuiltin() fills in workloads and their templates", () => {
  const object = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "a" },
    spec: {
      template: { spec: { containers: [{ name: "main", image: "nginx:1.25", ports: [{ containerPort: 80 }] }] } },
    },
  };
  defaultBuiltin(object);
  assertEquals(object.spec as unknown, {
    replicas: 1,
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
    strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
    template: {
      spec: {
        containers: [{
          name: "main",
          image: "nginx:1.25",
          imagePullPolicy: "IfNotPresent",
          ports: [{ containerPort: 80, protocol: "TCP" }],
          resources: {},
          terminationMessagePath: "/dev/termination-log",
          terminationMessagePolicy: "File",
        }],
        dnsPolicy: "ClusterFirst",
        restartPolicy: "Always",
        schedulerName: "default-scheduler",
        securityContext: {},
        terminationGracePeriodSeconds: 30,
      },
    },
  });
});

Deno.test("defaultBuiltin() changes nothing the second time", () => {
  const container = { name: "a", image: "b", livenessProbe: { httpGet: { port: 80 } }, env: [{ name: "A" }] };
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [container], volumes: [{ name: "v" }] } };
  const specs: Record<string, object> = {
    "v1 Pod": template.spec,
    "v1 Service": { ports: [{ port: 80 }], type: "LoadBalancer" },
    "v1 PersistentVolumeClaim": {},
    "apps/v1 StatefulSet": { template, volumeClaimTemplates: [{ metadata: { name: "d" } }] },
    "apps/v1 DaemonSet": { template },
    "batch/v1 Job": { template },
    "batch/v1 CronJob": { jobTemplate: { spec: { template } } },
    "autoscaling/v2 HorizontalPodAutoscaler": { behavior: { scaleUp: {} } },
    "networking.k8s.io/v1 NetworkPolicy": { egress: [{ ports: [{ port: 53 }] }] },
  };
  for (const [key, spec] of Object.entries(specs)) {
    const [apiVersion = "", kind = ""] = key.split(" ");
    const object = structuredClone({ apiVersion, kind, metadata: { name: "a" }, spec });
    const before = JSON.stringify(object);
    defaultBuiltin(object);
    const once = structuredClone(object);
    assert(JSON.stringify(once) !== before, key);
    defaultBuiltin(object);
    assertEquals(object, once, key);
    const schema = builtinSchema(
      apiVersion.includes("/") ? apiVersion.split("/")[0]! : "",
      apiVersion.split("/").at(-1)!,
      kind,
    )!;
    assertEquals(decodeGo(object, schema).unknown, [], key);
  }
});

Deno.test("decodeGo() says at which byte a text is no base64, as Go does", () => {
  const schema: Schema = { type: "object", properties: { k: { type: "string", format: "byte" } } };
  const cases: [string, number | undefined][] = [
    ["YWI=", undefined],
    ["YQ==\n", undefined],
    ["not base64!", 3],
    ["YQ", 0],
    ["YQ=", 3],
    ["YQ==x", 4],
    ["YWI==", 4],
    ["Y===", 1],
    ["YQ=a", 2],
    ["=", 0],
    ["YWJj!", 4],
    ["YWJjZA", 4],
  ];
  for (const [k, byte] of cases) {
    if (byte === undefined) decodeGo({ k }, schema);
    else assertThrows(() => decodeGo({ k }, schema), DecodeError, `illegal base64 data at input byte ${byte}`);
  }
});

Deno.test("yamlError() speaks as Go's parser", () => {
  const cases: [string, string, string][] = [
    ["a: [", "", "line 1: did not find expected node content"],
    ["x: 1\na: [b", "", "line 2: did not find expected ',' or ']'"],
    ["a: {b", "", "line 1: did not find expected ',' or '}'"],
    ["a: b: c", "bad indentation of a mapping entry (1:5)", "mapping values are not allowed in this context"],
    ["x: 1\na: b: c", "bad (2:5)", "line 2: mapping values are not allowed in this context"],
    ["a:\n\tb: c", "tab (2:1)", "line 2: found character that cannot start any token"],
    ["a: b\nc", "expected ':' after a mapping key (2:2)", "line 3: could not find expected ':'"],
  ];
  for (const [text, cause, message] of cases) assertEquals(yamlError(text, new Error(cause)), `yaml: ${message}`, text);
});
