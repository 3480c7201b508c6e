/** Holds that what the API server in memory keeps and shares to be fast is what it would make anew. */
import { assert, assertEquals, assertMatch, assertNotStrictEquals, assertStrictEquals } from "@std/assert";
import fc from "fast-check";
import { type Fields, paths, union } from "../testing/_field_set.ts";
import { entriesOf, entriesText, type Manager, managerOfEntry } from "../testing/_manager_entries.ts";
import { readManagers, writeManagers } from "../testing/_managers.ts";
import { clone, type Kube, timestamp } from "../testing/_objects.ts";
import { remembered } from "../testing/_remembered.ts";
import { Recent, Revision } from "../testing/_revision.ts";
import { fieldType } from "../testing/_typed.ts";
import { checkTyped, fits } from "../testing/_typed_check.ts";
import type { Schema } from "../testing/_schema.ts";
import { uuid } from "../testing/_uuid.ts";

const name = fc.constantFrom("f:a", "f:b", "f:c", 'k:{"name":"x"}', 'k:{"name":"y"}', 'v:"z"');
const { fields } = fc.letrec<{ fields: Fields }>((tie) => ({
  fields: fc.dictionary(name, fc.oneof({ depthSize: "small" }, fc.constant({}), tie("fields")), {
    maxKeys: 4,
    noNullPrototype: true,
  }),
}));

/** Texts that could be taken for each other where they are put together. */
const part = fc.constantFrom("", "a", "b", "ab", "1", "1 1", "-1", "undefined", " ");
const manager: fc.Arbitrary<Manager> = fc.record({
  name: part,
  operation: fc.constantFrom("Apply", "Update"),
  apiVersion: part.map((text) => `v${text}`),
  subresource: part,
  time: fc.option(part, { nil: undefined }),
  fields: fields.filter((set) => Object.keys(set).length > 0),
});

function sorted(set: Fields): Fields {
  return Object.fromEntries(Object.keys(set).sort().map((element) => [element, sorted(set[element]!)]));
}

function written({ name, operation, apiVersion, subresource, time, fields }: Manager): unknown {
  return {
    ...name !== "" && { manager: name },
    operation,
    apiVersion,
    ...time !== undefined && { time },
    fieldsType: "FieldsV1",
    fieldsV1: sorted(fields),
    ...subresource !== "" && { subresource },
  };
}

Deno.test("remembered() answers as the function would, however many texts there are, and not more often than it must", () => {
  fc.assert(fc.property(fc.array(fc.constantFrom("", "a", "b", "c", "__proto__", "constructor")), (texts) => {
    const made: string[] = [];
    const upper = remembered((text) => {
      made.push(text);
      return text === "c" ? undefined : text.toUpperCase();
    }, 3);
    for (const text of texts) assertEquals(upper(text), text === "c" ? undefined : text.toUpperCase());
    if (new Set(texts).size <= 3) assertEquals(made.length, new Set(texts).size);
  }));
});

Deno.test("timestamp() writes each time as its own second, whatever it wrote before", () => {
  fc.assert(fc.property(fc.array(fc.integer({ min: -5000, max: 5000 })), (times) => {
    for (const ms of times) {
      const date = new Date(ms);
      assertEquals(timestamp(date), date.toISOString().replace(/\.\d+Z$/, "Z"));
    }
  }));
});

Deno.test("uuid() takes each digit from one random number, in order", () => {
  let calls = 0;
  const next = (): number => calls++ % 16 / 16;
  assertEquals(uuid(next), "01234567-89ab-4cde-b012-3456789abcde");
  assertEquals(calls, 31);
  assertMatch(uuid(Math.random), /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
});

Deno.test("Entries of managers say what each manager says, and are shared by those that say the same alone", () => {
  fc.assert(
    fc.property(fc.array(manager, { maxLength: 8 }), (managers) => {
      const entries = entriesOf(managers);
      assertEquals<unknown>(entries, managers.map(written));
      assertEquals(entriesText(entries), JSON.stringify(entries));
      assert(entries.every((entry) => Object.isFrozen(entry) && Object.isFrozen(entry.fieldsV1)));
      for (const [index, entry] of entries.entries()) {
        assertEquals(managerOfEntry(entry), { ...managers[index]!, fields: sorted(managers[index]!.fields) });
        for (const other of entries) assert(entry !== other || JSON.stringify(entry) === JSON.stringify(other));
      }
    }),
    { numRuns: 500 },
  );
  const all = fc.sample(manager, { numRuns: 3, seed: 1 });
  assertStrictEquals(entriesOf(all.map(clone)), entriesOf(all));
  assertStrictEquals(entriesOf([clone(all[0]!)])[0], entriesOf(all)[0]);
});

Deno.test("Managers that are read from shared entries are those that are read from their copy", () => {
  fc.assert(fc.property(fc.array(manager, { maxLength: 4 }), (managers) => {
    const entries = entriesOf(managers), copy = JSON.parse(JSON.stringify(entries));
    assertEquals(readManagers(entries), readManagers(copy));
    assertEquals(writeManagers(readManagers(entries)!), writeManagers(readManagers(copy)!));
    assertEquals(entriesText(copy), undefined);
  }));
});

Deno.test("union() is all that is in either set, and is the second itself where that has it all", () => {
  const all = (set: Fields): Set<string> => new Set([...paths(set)].map((path) => path.join("\n")));
  fc.assert(fc.property(fields, fields, (a, b) => {
    const both = union(a, b);
    assertEquals(all(both), all(a).union(all(b)));
    for (const each of [a, b, clone(both)]) assertStrictEquals(union(each, both), both);
  }));
});

Deno.test("A state with shared managers has the JSON and the value of its object, before it was let go and after that", () => {
  const labels = fc.dictionary(fc.constantFrom("managedFields", "a"), fc.constantFrom("0", "b"));
  const more = fc.dictionary(fc.constantFrom("managedFields", "finalizers"), fc.constantFrom(0, [], "0"));
  fc.assert(
    fc.property(fc.array(manager, { minLength: 1 }), labels, more, fc.boolean(), (managers, labels, more, last) => {
      const managedFields = entriesOf(managers);
      const metadata = last ? { name: "a", labels, managedFields } : { labels, managedFields, name: "a" };
      const object = { apiVersion: "v1", kind: "Pod", metadata, spec: more } as unknown as Kube;
      const stamp = { version: 1, namespace: "", name: "a" }, recent = new Recent(1);
      const text = JSON.stringify(object), revision = new Revision(object, stamp, recent);
      const read = (): void => {
        assertEquals(revision.text, text);
        assertEquals(JSON.stringify(revision.object), text);
        assertStrictEquals(revision.object.metadata.managedFields as unknown, managedFields);
      };
      read();
      new Revision(object, stamp, recent);
      assertNotStrictEquals(revision.object, object);
      read();
    }),
  );
});

Deno.test("A state whose managers are not shared, or come late, keeps them in its JSON", () => {
  const managedFields = [{ manager: "m" }], own = entriesOf([]);
  for (
    const object of [
      { apiVersion: "v1", kind: "Pod", metadata: { name: "a", managedFields } },
      { apiVersion: "v1", kind: "Pod", spec: { managedFields: 0 }, metadata: { name: "a", managedFields: own } },
    ] as unknown as Kube[]
  ) {
    const recent = new Recent(1), stamp = { version: 1, namespace: "", name: "a" };
    const revision = new Revision(object, stamp, recent), text = JSON.stringify(object);
    assertEquals(revision.text, text);
    new Revision(object, stamp, recent);
    assertEquals([revision.object, revision.text], [object, text]);
  }
});

Deno.test("fits() agrees with what checkTyped() finds, items that come twice aside", () => {
  const list: Schema = { type: "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k", "l"] };
  const item: Schema = { type: "object", properties: { k: { type: "string", default: "d" }, l: { type: "integer" } } };
  const schema: Schema = {
    type: "object",
    properties: {
      text: { type: "string" },
      time: { type: "string", format: "date-time" },
      number: { type: "number" },
      flag: { type: "boolean" },
      any: {},
      set: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
      map: { ...list, items: item },
      one: { ...list, "x-kubernetes-list-map-keys": ["l"], items: item },
      free: { type: "object", additionalProperties: { type: "integer" } },
    },
  };
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom(null, 1, "a", true),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("k", "l", "text"), tie("value"), { maxKeys: 3 }),
    ),
  }));
  const object = fc.record(Object.fromEntries(Object.keys(schema.properties!).map((key) => [key, value])), {
    requiredKeys: [],
  });
  const type = fieldType(schema);
  fc.assert(
    fc.property(fc.oneof(object, value), (value) => {
      const errors = checkTyped(type, value).filter((error) => !error.includes("duplicate entries"));
      assertEquals(fits(type, value), errors.length === 0, JSON.stringify([value, errors]));
    }),
    { numRuns: 2000 },
  );
});
