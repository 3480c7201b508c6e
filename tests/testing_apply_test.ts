import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { builtinSchema } from "../testing/_builtin.ts";
import { conflictMessage } from "../testing/_conflicts.ts";
import {
  difference,
  type Fields,
  insert,
  intersection,
  isEmpty,
  type MutableFields,
  paths,
  union,
} from "../testing/_field_set.ts";
import { PatchError } from "../testing/_json_patch.ts";
import { type ApplyOptions, applyPatch, trackUpdate } from "../testing/_managed_fields.ts";
import type { Schema } from "../testing/_schema.ts";

const T1 = "2030-01-01T00:00:00Z", T2 = "2030-01-01T00:01:00Z";
const configMap = builtinSchema("", "v1", "ConfigMap")!;

interface Entry {
  manager: string;
  operation: string;
  subresource?: string;
  time?: string;
  fieldsV1: Fields;
}
interface Stored {
  metadata: { name: string; uid?: string; labels?: object; managedFields?: Entry[] };
  data?: Record<string, string> | null;
  spec?: Record<string, unknown>;
}

function map(data?: object, metadata: object = {}): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", ...metadata }, ...(data ? { data } : {}) };
}

function attempt(live: object | undefined, applied: object, manager: string, more: Partial<ApplyOptions> = {}) {
  return applyPatch({ live, applied, manager, schema: configMap, apiVersion: "v1", time: T1, ...more });
}

function apply(live: object | undefined, applied: object, manager: string, more: Partial<ApplyOptions> = {}): Stored {
  const result = attempt(live, applied, manager, more);
  assert("object" in result, JSON.stringify(result));
  const object = result.object as Stored;
  return object === live ? object : { ...object, metadata: { ...object.metadata, uid: "u" } };
}

function create(updated: object, manager = "creator", schema: Schema = configMap): Stored {
  return trackUpdate({ updated, manager, schema, apiVersion: "v1", time: T1 }) as Stored;
}

function owners(object: Stored): Record<string, Fields> {
  return Object.fromEntries((object.metadata.managedFields ?? []).map(({ manager, fieldsV1 }) => [manager, fieldsV1]));
}

Deno.test("applyPatch() creates an object whose fields the applier owns", () => {
  const object = apply(undefined, map({ k: "v" }, { labels: { x: "y" } }), "tester");
  assertEquals(object.metadata.managedFields, [{
    manager: "tester",
    operation: "Apply",
    apiVersion: "v1",
    time: T1,
    fieldsType: "FieldsV1",
    fieldsV1: { "f:data": { "f:k": {} }, "f:metadata": { "f:labels": { "f:x": {} } } },
  }] as unknown as Entry[]);
});

Deno.test("applyPatch() of the same again gives the stored object itself", () => {
  const first = apply(undefined, map({ k: "v" }), "tester");
  assertStrictEquals(apply(first, map({ k: "v" }), "tester", { time: T2 }), first);
});

Deno.test("applyPatch() lets a second applier of the same values share them, without a time", () => {
  const object = apply(apply(undefined, map({ k: "v" }), "one"), map({ k: "v" }), "two", { time: T2 });
  assertEquals(object.metadata.managedFields!.map(({ manager, time }) => [manager, time]), [
    ["two", undefined],
    ["one", T1],
  ]);
});

Deno.test("applyPatch() takes out what its manager no longer applies and nobody else does", () => {
  const both = apply(apply(undefined, map({ k: "v", l: "w" }), "one"), map({ l: "w" }), "two");
  assertEquals(apply(both, map({}), "one").data, { l: "w" });
  const shared = apply(apply(undefined, map({ k: "v" }), "one"), map({ k: "v" }), "two");
  const left = apply(shared, map(), "two");
  assertEquals(left.data, { k: "v" });
  assertEquals(Object.keys(owners(left)), ["one"]);
});

Deno.test("applyPatch() conflicts with other managers, and names them", () => {
  const live = create(map({ k: "v" }));
  const one = attempt(live, map({ k: "x" }), "two");
  assert("conflicts" in one);
  assertEquals(
    conflictMessage(one.conflicts),
    'Apply failed with 1 conflict: conflict with "creator" using v1: .data.k',
  );
  const applied = apply(undefined, map({ k: "v", l: "w" }), "one");
  const two = attempt(applied, map({ k: "x", l: "x" }), "two");
  assert("conflicts" in two);
  assertEquals(
    conflictMessage(two.conflicts),
    'Apply failed with 2 conflicts: conflicts with "one":\n- .data.k\n- .data.l',
  );
});

Deno.test("applyPatch() with force takes the fields", () => {
  const forced = apply(create(map({ k: "v" })), map({ k: "x" }), "two", { force: true });
  assertEquals(forced.data, { k: "x" });
  assertEquals(owners(forced), { two: { "f:data": { "f:k": {} } }, creator: { "f:data": {} } });
});

Deno.test("applyPatch() of an object that has no managed fields gives those there to before-first-apply", () => {
  const live = map({ k: "v" }, { uid: "u" });
  const result = attempt(live, map({ k: "x" }), "two");
  assert("conflicts" in result);
  assertEquals(result.conflicts.map(({ text, field }) => [text, field]), [[
    '"before-first-apply" using v1',
    ".data.k",
  ]]);
});

Deno.test("applyPatch() lets kubectl take what its client-side apply has set", () => {
  const annotation = JSON.stringify(map({ k: "v" }));
  const live = create(
    map({ k: "v" }, { annotations: { "kubectl.kubernetes.io/last-applied-configuration": annotation } }),
    "kubectl-client-side-apply",
  );
  assertEquals(apply(live, map({ k: "x" }), "kubectl").data, { k: "x" });
  assert("conflicts" in attempt(live, map({ k: "x" }), "somebody"));
});

Deno.test("applyPatch() refuses what does not fit the schema, as the real server does", () => {
  const message = (applied: object) => {
    const error = assertThrows(() => attempt(undefined, applied, "t"), PatchError);
    return `${error.code} ${error.message}`;
  };
  const prefix = "500 failed to create typed patch object (/a; /v1, Kind=ConfigMap): ";
  assertEquals(message(map({ k: 1 })), `${prefix}.data.k: expected string, got &value.valueUnstructured{Value:1}`);
  assertEquals(message(map(undefined, { labels: [] })), `${prefix}.metadata.labels: expected map, got &{[]}`);
  assertEquals(message({ ...map(), nope: 1 }), `${prefix}.nope: field not declared in schema`);
  assertEquals(message(map({}, { managedFields: [] })), "400 metadata.managedFields must be nil");
});

const widget: Schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        map: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: {
            type: "object",
            properties: { name: { type: "string" }, port: { type: "integer" }, v: { type: "string" } },
          },
        },
        set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
        plain: { type: "array", items: { type: "string" } },
        atomic: { type: "object", "x-kubernetes-map-type": "atomic", properties: { a: { type: "string" } } },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      },
    },
    status: { type: "object", properties: { ready: { type: "integer" } } },
  },
};

function custom(spec: object): object {
  return { apiVersion: "ex.com/v1", kind: "Widget", metadata: { name: "a" }, spec };
}

const options = { schema: widget, apiVersion: "ex.com/v1" };

Deno.test("applyPatch() merges list maps: the applied order stands, and items have owners of their own", () => {
  const one = apply(undefined, custom({ map: [{ name: "p", v: "1" }, { name: "q", v: "1" }] }), "one", options);
  const two = apply(one, custom({ map: [{ name: "r", v: "2" }, { name: "p", port: 8 }] }), "two", options);
  assertEquals(two.spec, { map: [{ name: "r", v: "2" }, { name: "p", port: 8, v: "1" }, { name: "q", v: "1" }] });
  assertEquals(owners(two).two, {
    "f:spec": {
      "f:map": {
        'k:{"name":"p"}': { ".": {}, "f:name": {}, "f:port": {} },
        'k:{"name":"r"}': { ".": {}, "f:name": {}, "f:v": {} },
      },
    },
  });
  const three = apply(two, custom({ map: [{ name: "q", v: "1" }] }), "one", options);
  assertEquals(three.spec, { map: [{ name: "r", v: "2" }, { name: "p", port: 8 }, { name: "q", v: "1" }] });
  const conflict = attempt(three, custom({ map: [{ name: "q", v: "9" }] }), "two", options);
  assert("conflicts" in conflict);
  assertEquals(conflict.conflicts[0]!.field, '.spec.map[name="q"].v');
});

Deno.test("applyPatch() owns sets by value, and plain lists and atomic maps as a whole", () => {
  const one = apply(undefined, custom({ set: ["a"], plain: ["x"], atomic: { a: "1" } }), "one", options);
  assertEquals(owners(one).one, {
    "f:spec": { "f:atomic": {}, "f:plain": {}, "f:set": { 'v:"a"': {} } },
  });
  const two = apply(one, custom({ set: ["b"] }), "two", options);
  assertEquals(two.spec!.set, ["a", "b"]);
  const conflict = attempt(two, custom({ plain: ["y"], atomic: { a: "2" } }), "two", options);
  assert("conflicts" in conflict);
  assertEquals(conflict.conflicts.map(({ field }) => field), [".spec.atomic", ".spec.plain"]);
});

Deno.test("applyPatch() treats maps in unknown fields as granular and lists as atomic", () => {
  const one = apply(undefined, custom({ free: { x: { y: [1, { z: 2 }] }, n: null } }), "one", options);
  assertEquals(owners(one).one, { "f:spec": { "f:free": { "f:n": {}, "f:x": { ".": {}, "f:y": {} } } } });
});

Deno.test("applyPatch() refuses two items with one key", () => {
  const error = assertThrows(
    () => attempt(undefined, custom({ map: [{ name: "z" }, { name: "z" }] }), "t", options),
    PatchError,
  );
  assertEquals(
    error.message,
    'failed to create typed patch object (/a; ex.com/v1, Kind=Widget): .spec.map: duplicate entries for key [name="z"]',
  );
});

Deno.test("applyPatch() uses a key's default where an item leaves it out", () => {
  const service = builtinSchema("", "v1", "Service")!;
  const applied = { apiVersion: "v1", kind: "Service", metadata: { name: "a" }, spec: { ports: [{ port: 80 }] } };
  assertEquals(owners(apply(undefined, applied, "one", { schema: service })).one, {
    "f:spec": { "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:port": {} } } },
  });
});

Deno.test("trackUpdate() gives a creator every field, with the structs of built-in kinds left out", () => {
  assertEquals(owners(create(map({ k: "v" }, { labels: { x: "y" } }))).creator, {
    "f:data": { ".": {}, "f:k": {} },
    "f:metadata": { "f:labels": { ".": {}, "f:x": {} } },
  });
  assertEquals(owners(create(custom({ set: ["a"] }), "creator", widget)).creator, {
    "f:spec": { ".": {}, "f:set": { ".": {}, 'v:"a"': {} } },
  });
});

Deno.test("trackUpdate() takes fields that were removed or changed away from their owners", () => {
  const live = apply(undefined, map({ k: "v", l: "w" }), "one");
  const updated = { ...live, data: { l: "x" } };
  const object = trackUpdate({
    live,
    updated,
    manager: "two",
    schema: configMap,
    apiVersion: "v1",
    time: T2,
  }) as Stored;
  assertEquals(owners(object), { two: { "f:data": { "f:l": {} } } });
});

Deno.test("trackUpdate() gives the stored object itself when nothing changes", () => {
  const live = { ...create(map({ k: "v" })) };
  const updated = structuredClone(live);
  assertStrictEquals(trackUpdate({ live, updated, manager: "x", schema: configMap, apiVersion: "v1", time: T2 }), live);
});

Deno.test("trackUpdate() keeps what a subresource writes apart, and ignores the fields it resets", () => {
  const live = create(custom({ set: ["a"] }), "m", widget);
  const stored = { ...live, metadata: { ...live.metadata, uid: "u" } };
  const updated = { ...stored, status: { ready: 1 }, spec: { set: ["b"] } };
  const object = trackUpdate({
    ...options,
    live: stored,
    updated,
    manager: "m",
    subresource: "status",
    time: T2,
    reset: ["metadata", "spec"],
  }) as Stored;
  assertEquals(object.metadata.managedFields!.map(({ subresource, fieldsV1 }) => [subresource, fieldsV1]), [
    [undefined, { "f:spec": { ".": {}, "f:set": { ".": {}, 'v:"a"': {} } } }],
    ["status", { "f:status": { ".": {}, "f:ready": {} } }],
  ]);
});

Deno.test("trackUpdate() stops tracking when managed fields are reset, until the next apply", () => {
  const live = { ...create(map({ k: "v" })), metadata: { name: "a", uid: "u", managedFields: [] as unknown[] } };
  const reset = { ...live, metadata: { ...live.metadata, managedFields: [{}] } };
  const track = (updated: object) =>
    trackUpdate({ live, updated, manager: "m", schema: configMap, apiVersion: "v1", time: T2 }) as Stored;
  assertEquals(track(reset).metadata.managedFields, undefined);
  assertEquals(track({ ...live, data: { k: "x" } }).metadata.managedFields, undefined);
});

Deno.test("trackUpdate() ignores managed fields that are not valid", () => {
  const live = create(map({ k: "v" }));
  const updated = { ...live, metadata: { ...live.metadata, managedFields: [{ manager: "x", operation: "Nope" }] } };
  assertStrictEquals(trackUpdate({ live, updated, manager: "x", schema: configMap, apiVersion: "v1", time: T2 }), live);
});

Deno.test("trackUpdate() keeps at most ten updaters apart", () => {
  let live: object = { ...create(map({ k0: "v" }), "m0"), metadata: create(map({ k0: "v" }), "m0").metadata };
  for (let i = 1; i < 15; i++) {
    const data = { ...(live as Stored).data, [`k${i}`]: "v" };
    const time = `2030-01-01T00:00:${String(i).padStart(2, "0")}Z`;
    live = trackUpdate({
      live,
      updated: { ...live, data },
      manager: `m${i}`,
      schema: configMap,
      apiVersion: "v1",
      time,
    });
    (live as Stored).metadata.uid = "u";
  }
  const managers = (live as Stored).metadata.managedFields!.map(({ manager }) => manager);
  assertEquals(managers.length, 10);
  assert(managers.includes("ancient-changes"));
});

const element = fc.constantFrom("f:a", "f:b", 'k:{"name":"x"}', 'v:"y"', "v:1");
const set = fc.array(fc.array(element, { minLength: 1, maxLength: 3 }), { maxLength: 8 }).map((list) => {
  const out: MutableFields = {};
  for (const path of list) insert(out, path);
  return out as Fields;
});
const members = (fields: Fields) => new Set([...paths(fields)].map((path) => JSON.stringify(path)));

Deno.test("Field sets obey the laws of sets", () => {
  fc.assert(fc.property(set, set, (a, b) => {
    const left = members(a), right = members(b);
    assertEquals(members(union(a, b)), left.union(right));
    assertEquals(members(difference(a, b)), left.difference(right));
    assertEquals(members(intersection(a, b)), left.intersection(right));
    assertEquals(isEmpty(difference(a, a)), true);
  }));
});

const data = fc.dictionary(fc.constantFrom("a", "b", "c", "d"), fc.constantFrom("1", "2"));

Deno.test("Applying is idempotent, and what is no longer applied goes", () => {
  fc.assert(fc.property(data, data, data, (before, one, two) => {
    const live = create(map(before));
    const first = apply(live, map(one), "one", { force: true });
    assertStrictEquals(apply(first, map(one), "one"), first);
    const second = apply(first, map(two), "one", { force: true });
    for (const key in one) if (!(key in two) && !(key in before)) assertEquals(second.data?.[key], undefined);
    for (const key in two) assertEquals(second.data?.[key], two[key]);
  }));
});
