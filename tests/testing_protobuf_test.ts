import { assertEquals } from "@std/assert";
import { readProtobuf } from "../testing/_protobuf.ts";
import { writeProtobuf, writeProtobufEvent } from "../testing/_protobuf_write.ts";
import type { Fields } from "../testing/_objects.ts";
import { ApiServer } from "../testing/mod.ts";
import cases from "./_protobuf_cases.json" with { type: "json" };

/** What a real server has answered, in JSON and in protocol buffers; of a watch, events. */
interface Case {
  readonly name: string;
  readonly object?: Fields;
  readonly events?: readonly Fields[];
  readonly bytes: string;
}

const PROTOBUF = "application/vnd.kubernetes.protobuf";

for (const { name, object, bytes } of cases as readonly Case[]) {
  if (!object) continue;
  Deno.test(`writeProtobuf() writes what a real server does, byte by byte: ${object.kind} ${name}`, () => {
    assertEquals(writeProtobuf(object)?.toBase64(), bytes);
  });
  Deno.test(`readProtobuf() reads what a real server writes: ${object.kind} ${name}`, () => {
    const read = readProtobuf(Uint8Array.fromBase64(bytes));
    // What JSON leaves out is missing in both, so that both are written alike.
    assertEquals(writeProtobuf(read)?.toBase64(), bytes);
    assertEquals(read.metadata?.name, object.metadata?.name);
    assertEquals(read.metadata?.managedFields, object.metadata?.managedFields);
    // Go writes its zero values, and means that they are missing.
    for (const field of ["generateName", "selfLink", "uid", "generation"]) {
      assertEquals(read.metadata?.[field], object.metadata?.[field], field);
    }
  });
}

Deno.test("writeProtobufEvent() writes the events of a watch as a real server does", () => {
  const { events = [], bytes } = (cases as readonly Case[]).find(({ events }) => events)!;
  const written = events.flatMap((event) => [...writeProtobufEvent(event)!]);
  assertEquals(new Uint8Array(written).toBase64(), bytes);
});

Deno.test("A kind that has no protocol buffers is not written", () => {
  assertEquals(writeProtobuf({ apiVersion: "example.com/v1", kind: "Widget", metadata: {} }), undefined);
  assertEquals(writeProtobuf({ kind: "Table", apiVersion: "meta.k8s.io/v1" }), undefined);
});

Deno.test("A body in protocol buffers is taken, and its answer is in the format that is asked for", async () => {
  await using server = new ApiServer();
  const ask = (path: string, accept: string, body?: Fields): Promise<Response> =>
    server.fetch(
      new Request(`http://kubernetes${path}`, {
        headers: { accept, "content-type": PROTOBUF },
        ...(body ? { method: "POST", body: writeProtobuf(body)! } : {}),
      }),
    );
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { k: "v" }, immutable: false };
  const path = "/api/v1/namespaces/default/configmaps";
  const made = await ask(path, PROTOBUF, map);
  assertEquals([made.status, made.headers.get("content-type")], [201, PROTOBUF]);
  const written = readProtobuf(await made.bytes());
  const read = await (await ask(`${path}/a`, "application/json")).json();
  assertEquals([written.data, written.immutable, written.metadata.uid], [map.data, false, read.metadata.uid]);
  assertEquals(written.metadata.managedFields, read.metadata.managedFields);
});

const ANSWERS: readonly [path: string, accept: string, code: number, type: string][] = [
  ["/api/v1/namespaces/default", `${PROTOBUF}, application/json`, 200, PROTOBUF],
  ["/api/v1/namespaces/default", `application/json, ${PROTOBUF}`, 200, "application/json"],
  ["/api/v1/namespaces/nope", PROTOBUF, 404, PROTOBUF],
  ["/api/v1/nope", PROTOBUF, 404, PROTOBUF],
  ["/nope", PROTOBUF, 404, "text/plain; charset=utf-8"],
  ["/api/v1/namespaces", `${PROTOBUF};as=Table;g=meta.k8s.io;v=v1`, 406, "application/json"],
  ["/api/v1/namespaces", `${PROTOBUF};as=Table;g=meta.k8s.io;v=v1, application/json`, 200, "application/json"],
  ["/apis/example.com/v1/widgets", PROTOBUF, 406, PROTOBUF],
  ["/apis/example.com/v1/widgets", `${PROTOBUF}, application/json`, 200, "application/json"],
  ["/apis/example.com/v1/widgets", `${PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`, 200, PROTOBUF],
  ["/apis/example.com/v1", PROTOBUF, 200, PROTOBUF],
  [
    "/apis",
    `${PROTOBUF};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList`,
    200,
    `${PROTOBUF};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList`,
  ],
];

Deno.test("Protocol buffers are answered where they are preferred and there are some", async () => {
  await using server = new ApiServer();
  const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } };
  await server.apply({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      versions: [version],
    },
  });
  for (const [path, accept, code, type] of ANSWERS) {
    const response = await server.fetch(new Request(`http://kubernetes${path}`, { headers: { accept } }));
    assertEquals([response.status, response.headers.get("content-type")], [code, type], `${path} as ${accept}`);
    const bytes = await response.bytes();
    if (type.startsWith(PROTOBUF)) assertEquals([...bytes.subarray(0, 4)], [0x6b, 0x38, 0x73, 0], path);
  }
});

Deno.test("A custom resource that is asked back in protocol buffers alone is not made", async () => {
  await using server = new ApiServer();
  const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } };
  const names = { plural: "widgets", kind: "Widget" };
  await server.apply({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: { group: "example.com", scope: "Namespaced", names, versions: [version] },
  });
  const path = "http://kubernetes/apis/example.com/v1/namespaces/default/widgets";
  const body = JSON.stringify({ apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "a" } });
  const refused = await server.fetch(new Request(path, { method: "POST", body, headers: { accept: PROTOBUF } }));
  assertEquals([refused.status, readProtobuf(await refused.bytes()).reason], [406, "NotAcceptable"]);
  assertEquals((await (await server.fetch(new Request(path))).json()).items, []);
});
