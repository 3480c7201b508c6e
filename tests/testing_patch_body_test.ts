import { assertEquals, assertThrows } from "@std/assert";
import { Authority } from "../testing/_certificates.ts";
import { isFormer } from "../testing/_former_versions.ts";
import { keyPairProblem } from "../testing/_key_pairs.ts";
import { versionProblem } from "../testing/_manager_versions.ts";
import { readPatch } from "../testing/_patch_body.ts";
import { restored } from "../testing/_reset_fields.ts";
import { managersOfObject, managersOfScale } from "../testing/_scale_managers.ts";
import { repeatedKeys } from "../testing/_yaml_keys.ts";

Deno.test("repeatedKeys() names the line of each key that is set again, in block and in flow style", () => {
  const cases: [string, string[]][] = [
    ["a: 1\nb:\n  c: 1\n  c: 2\n  d: {x: 1, x: 2}\n", ["4: c", "5: x"]],
    ['l:\n- a: 1\n  a: 2\n- {q: 1, "q": 2}\n- a: 3\n- - b: 1\n    b: 2\n', ["3: a", "4: q", "7: b"]],
    ['{"a": 1,\n "a": 2, "b": {"a": "x:y,a", "c": [{"a": 1}, {"a": 2}]}}', ["2: a"]],
    ['a: |\n  x: 1\n  x: 2\n"a": 5\nc: {a: 1,\n a: 2}\nd: http://x\nd: 1 # d: 2\n', ["4: a", "6: a", "8: d"]],
    ["l:\n- a: 1\n- a: 2\nm:\n  a: 1\nn:\n  a: 2\n---\nl: 1\n", []],
    ["'it''s': 1\n\"it's\": 2\n# it's: 3\n", ["2: it's"]],
  ];
  for (const [text, expected] of cases) {
    const found = repeatedKeys(text).map((each) =>
      each.replace(/^line (\d+): key "(.*)" already set in map$/, "$1: $2")
    );
    assertEquals(found, expected);
  }
});

Deno.test("readPatch() refuses what is no patch in the words of its form", () => {
  const refused = (body: string, form: "json" | "merge" | "strategic") =>
    assertThrows(() => readPatch(body, form)).message;
  assertEquals(refused("nope", "merge"), "invalid JSON patch");
  assertEquals(refused("null", "merge"), "Invalid JSON Patch");
  const object = "json: cannot unmarshal array into Go value of type map[string]interface {}";
  assertEquals([refused("[1]", "merge"), refused("[1]", "strategic")], [`error decoding patch: ${object}`, object]);
  const operation = "error decoding patch: json: cannot unmarshal number into Go ";
  assertEquals(refused("[1]", "json"), `${operation}value of type handlers.jsonPatchOp`);
  assertEquals(refused('[{"op":1}]', "json"), `${operation}struct field jsonPatchOp.op of type string`);
});

Deno.test("readPatch() tells of members that come twice, and of those that no operation has", () => {
  assertEquals(readPatch('{"data":{"k":"1","k":"2"}}', "strategic").problems, ['duplicate field "data.k"']);
  assertEquals(readPatch('[{"op":"add","op":"remove","path":"/x","nope":1}]', "json").problems, [
    'json patch duplicate field "[0].op"',
    'json patch unknown field "[0].nope"',
  ]);
  assertEquals(readPatch("null", "json").value, []);
});

Deno.test("versionProblem() finds what a version that a manager wrote in cannot say", () => {
  const schema = (name: string) => ({ type: "object", properties: { [name]: { type: "string" } } } as const);
  const versions = new Map([["g/v1", schema("a")], ["g/v2", schema("b")]]);
  assertEquals(versionProblem(["g/v1"], "g/v1", versions, { a: "1" }, { a: "2" }), undefined);
  assertEquals(versionProblem(["g/v2"], "g/v1", versions, {}, {}), undefined);
  const why = ".a: field not declared in schema";
  assertEquals(versionProblem(["g/v2"], "g/v1", versions, {}, { a: "2" }), `failed to convert new object: ${why}`);
  assertEquals(versionProblem(["g/v2"], "g/v1", versions, { a: "1" }, { a: "2" }), why);
  const gone = "request to convert CR to an invalid group/version: g/v3";
  assertEquals(versionProblem(["g/v3"], "g/v1", versions, {}, {}), gone);
});

Deno.test("restored() puts back whole members, and takes away those that were not there", () => {
  const object = { spec: 1, status: 1, metadata: { labels: {} } };
  assertEquals(restored(object, { spec: 2 }, { reset: ["status", "metadata.labels"] }), {
    spec: 1,
    metadata: { labels: {} },
  });
  assertEquals(restored(object, { spec: 2 }, { subresource: "status" }), { ...object, spec: 2 });
});

Deno.test("Managers of an object and of its scale are told apart by the version that an update named fields in", () => {
  const time = "2030-01-01T00:00:00Z", fieldsType = "FieldsV1", apiVersion = "apps/v1";
  const replicas = { "f:spec": { "f:replicas": {} } };
  const updater = { manager: "u", operation: "Update", apiVersion, time, fieldsType };
  const applier = { manager: "a", operation: "Apply", apiVersion, time, fieldsType, fieldsV1: replicas };
  const both = { ...updater, fieldsV1: { "f:spec": { "f:paused": {}, "f:replicas": {} } } };
  const scale = managersOfScale([applier, both], "spec.replicas");
  assertEquals(scale?.map(({ manager, apiVersion }) => [manager, apiVersion]), [
    ["a", "autoscaling/v1"],
    ["u", "autoscaling/v1"],
  ]);
  const { time: _, ...timeless } = updater;
  assertEquals(managersOfObject([applier, both], scale, "spec.replicas", apiVersion), [
    applier,
    { ...timeless, fieldsV1: replicas },
    { ...updater, fieldsV1: { "f:spec": { "f:paused": {} } } },
  ]);
  assertEquals(managersOfObject([applier], undefined, "spec.replicas", apiVersion), undefined);
});

Deno.test("isFormer() knows kinds in versions that are read and not served, and their lists", () => {
  assertEquals([isFormer("apps/v1beta1", "DeploymentList"), isFormer("apps/v1beta1", "DaemonSet")], [true, false]);
  assertEquals([isFormer("apps/v1", "Deployment"), isFormer("nope/v1", "Nope")], [false, false]);
});

Deno.test("keyPairProblem() tells what is no certificate, no key, and no pair", () => {
  const block = (type: string) => `-----BEGIN ${type}-----\nMIIB\n-----END ${type}-----\n`;
  const certificate = block("CERTIFICATE"), key = block("PRIVATE KEY");
  const cases: [string, string, string][] = [
    ["", "", "tls: failed to find any PEM data in certificate input"],
    [certificate, "x", "tls: failed to find any PEM data in key input"],
    [certificate, key, "x509: malformed certificate"],
    [
      key,
      key,
      "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched",
    ],
    [certificate, certificate, "tls: found a certificate rather than a key in the PEM for the private key"],
    [
      block("OTHER") + key,
      key,
      'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [OTHER PRIVATE KEY]',
    ],
  ];
  for (const [first, second, expected] of cases) assertEquals(keyPairProblem(first, second), expected);
  const authority = new Authority("authority");
  const one = authority.server(["one"]), two = authority.server(["two"]);
  assertEquals(keyPairProblem(one.cert, one.key), undefined);
  assertEquals(keyPairProblem(one.cert, two.key), "tls: private key does not match public key");
});
