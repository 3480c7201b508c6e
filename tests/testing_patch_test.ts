import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { builtinSchema } from "../testing/_builtin.ts";
import { equalJson } from "../testing/_json.ts";
import { jsonPatch, mergePatch, PatchError } from "../testing/_json_patch.ts";
import { strategicMerge } from "../testing/_strategic.ts";

const document = { metadata: { labels: { "ex.com/x": "1" } }, data: { k: "v", l: "w" }, list: ["a", "b"] };

Deno.test("jsonPatch() applies the operations in order", () => {
  const operations = [
    { op: "add", path: "/data/a", value: "1" },
    { op: "add", path: "/data/a", value: "2" },
    { op: "replace", path: "/metadata/labels/ex.com~1x", value: "3" },
    { op: "move", from: "/data/k", path: "/data/m" },
    { op: "copy", from: "/data/m", path: "/data/n" },
    { op: "add", path: "/list/1", value: "x" },
    { op: "remove", path: "/list/-1" },
    { op: "test", path: "/data/n", value: "v" },
  ];
  assertEquals(jsonPatch(document, operations), {
    metadata: { labels: { "ex.com/x": "3" } },
    data: { a: "2", l: "w", m: "v", n: "v" },
    list: ["a", "x"],
  });
  assertEquals(document.data, { k: "v", l: "w" });
});

Deno.test("jsonPatch() has the real server's oddities", () => {
  assertEquals(jsonPatch({ data: {} }, [{ op: "replace", path: "/data/none", value: "x" }]), { data: { none: "x" } });
  assertEquals(jsonPatch({ data: {} }, [{ op: "copy", from: "/data/none", path: "/data/z" }]), { data: { z: null } });
  assertEquals(jsonPatch({ data: {} }, [{ op: "add", path: "zz/data/k", value: 1 }]), { data: { k: 1 } });
  assertEquals(jsonPatch({ data: {} }, [{ op: "test", path: "/data/none", value: null }]), { data: {} });
});

Deno.test("jsonPatch() refuses what cannot be applied with 422", () => {
  const refused = [
    { op: "remove", path: "/data/none" },
    { op: "replace", path: "/binaryData/none", value: "x" },
    { op: "add", path: "/binaryData/b", value: "x" },
    { op: "add", path: "/metadata/finalizers/-", value: "x" },
    { op: "test", path: "/data/k", value: "other" },
    { op: "add", path: "/list/9", value: "x" },
    { op: "copy", from: "/list/9", path: "/data/z" },
    { op: "nope", path: "/data" },
    { op: "add", value: 1 },
  ];
  for (const operation of refused) {
    const error = assertThrows(() => jsonPatch(document, [operation]), PatchError);
    assertEquals([error.code, error.reason], [422, "Invalid"], JSON.stringify(operation));
    assertEquals(error.message, "the server rejected our request due to an error in our request");
  }
  for (const patch of ["", null, {}, [1]]) {
    assertEquals(assertThrows(() => jsonPatch(document, patch), PatchError).code, 400);
  }
});

Deno.test("Patches treat a key called __proto__ like any other", () => {
  const patch = JSON.parse('{"__proto__": {"polluted": true}}');
  const merged = mergePatch({}, patch) as object;
  assertEquals(JSON.stringify(merged), '{"__proto__":{"polluted":true}}');
  const added = jsonPatch({}, [{ op: "add", path: "/__proto__", value: { polluted: true } }]) as object;
  assertEquals(JSON.stringify(added), '{"__proto__":{"polluted":true}}');
  assertEquals(({} as { polluted?: boolean }).polluted, undefined);
  assertThrows(() => jsonPatch({}, [{ op: "add", path: "/constructor/prototype/x", value: 1 }]), PatchError);
});

const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.string(),
    fc.integer(),
    fc.boolean(),
    tie("object"),
    fc.array(tie("value")),
  ),
  object: fc.dictionary(fc.constantFrom("a", "b", "c", "__proto__"), tie("value")),
})).object;

Deno.test("mergePatch() obeys the laws of RFC 7386", () => {
  fc.assert(fc.property(json, json, (target, patch) => {
    const before = JSON.stringify([target, patch]);
    const once = mergePatch(target, patch);
    assertEquals(equalJson(mergePatch(once, patch), once), true, "applying twice is applying once");
    assertEquals(equalJson(mergePatch(target, {}), target), true, "an empty patch changes nothing");
    assertEquals(JSON.stringify([target, patch]), before, "neither is changed");
  }));
});

Deno.test("mergePatch() gives back the target itself when nothing changes", () => {
  assertStrictEquals(mergePatch(document, { data: { k: "v", none: null } }), document);
  assertEquals(mergePatch({ a: [1, 2] }, { a: [3] }), { a: [3] });
  assertEquals(mergePatch({ a: 1 }, { a: { b: null, c: 1 } }), { a: { c: 1 } });
});

const deployment = builtinSchema("apps", "v1", "Deployment")!;
const live = {
  metadata: { finalizers: ["ex.com/a"], ownerReferences: [{ uid: "1", name: "p" }] },
  spec: {
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%" } },
    template: {
      spec: {
        containers: [
          { name: "one", image: "x", env: [{ name: "A", value: "1" }, { name: "B", value: "2" }] },
          { name: "two", image: "y" },
        ],
        tolerations: [{ key: "k" }],
      },
    },
  },
};

function containers(patch: object[], extra: object = {}): unknown {
  const merged = strategicMerge(live, { spec: { template: { spec: { containers: patch, ...extra } } } }, deployment);
  return (merged as typeof live).spec.template.spec.containers;
}

function names(patch: object[], extra: object = {}): string[] {
  return (containers(patch, extra) as { name: string }[]).map(({ name }) => name);
}

Deno.test("strategicMerge() merges lists by key, and new items come first", () => {
  assertEquals(names([{ name: "three" }]), ["three", "one", "two"]);
  assertEquals(
    containers([{ name: "two", image: "z" }, { name: "one", env: [{ name: "B", value: "3" }] }]),
    [
      { name: "one", image: "x", env: [{ name: "A", value: "1" }, { name: "B", value: "3" }] },
      { name: "two", image: "z" },
    ].reverse(),
  );
  const patch = { metadata: { finalizers: ["ex.com/b"], ownerReferences: [{ uid: "2", name: "q" }] } };
  assertEquals((strategicMerge(live, patch, deployment) as typeof live).metadata, {
    finalizers: ["ex.com/b", "ex.com/a"],
    ownerReferences: [{ uid: "2", name: "q" }, { uid: "1", name: "p" }],
  });
});

Deno.test("strategicMerge() carries out directives", () => {
  assertEquals(names([{ name: "one", $patch: "delete" }]), ["two"]);
  assertEquals(names([{ $patch: "replace" }, { name: "only" }]), ["only"]);
  assertEquals(names([], { "$setElementOrder/containers": [{ name: "two" }, { name: "one" }] }), ["two", "one"]);
  const strategy = (patch: object) =>
    (strategicMerge(live, { spec: { strategy: patch } }, deployment) as typeof live).spec.strategy;
  assertEquals(strategy({ $retainKeys: ["type"], type: "Recreate" }) as unknown, { type: "Recreate" });
  assertEquals(strategy({ $patch: "replace", type: "Recreate" }) as unknown, { type: "Recreate" });
  assertEquals(strategy({ $patch: "delete" }) as unknown, {});
  const finalizers = { metadata: { "$deleteFromPrimitiveList/finalizers": ["ex.com/a"] } };
  assertEquals((strategicMerge(live, finalizers, deployment) as typeof live).metadata.finalizers, []);
});

Deno.test("strategicMerge() replaces lists without a merge key", () => {
  const merged = strategicMerge(live, { spec: { template: { spec: { tolerations: [{ key: "z" }] } } } }, deployment);
  assertEquals((merged as typeof live).spec.template.spec.tolerations, [{ key: "z" }]);
});

Deno.test("strategicMerge() refuses items without their key, unknown directives and wrong orders with 500", () => {
  const message = (patch: object[], extra: object = {}) => {
    const error = assertThrows(() => containers(patch, extra), PatchError);
    assertEquals([error.code, error.reason], [500, ""]);
    return error.message;
  };
  assertEquals(message([{ image: "z" }]), "map: map[image:z] does not contain declared merge key: name");
  message([{ name: "one", $patch: "nope" }]);
  message([{ name: "one" }, { name: "two" }], { "$setElementOrder/containers": [{ name: "two" }, { name: "one" }] });
});
