import { assertEquals } from "@std/assert";
import { ApiServer } from "../testing/mod.ts";

const MAPS = "http://kubernetes/api/v1/namespaces/default/configmaps";

async function serverWithMaps(): Promise<ApiServer> {
  const server = new ApiServer();
  for (const [name, size] of [["small", 1000], ["large", 200_000]] as const) {
    await server.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { k: "x".repeat(size) } });
  }
  return server;
}

/** Unpacks gzip. */
async function unpacked(response: Response): Promise<string> {
  return await new Response(response.body!.pipeThrough(new DecompressionStream("gzip"))).text();
}

const ENCODINGS: readonly [path: string, accepts: string | undefined, encoding: string | null][] = [
  ["/large", "gzip", "gzip"],
  ["/large", "deflate, gzip;q=1.0", "gzip"],
  ["/large", "br", null],
  ["/large", undefined, null],
  ["/small", "gzip", null],
  ["", "gzip", "gzip"],
];

Deno.test("Answers of more than 128 kB are compressed for those who take gzip", async () => {
  await using server = await serverWithMaps();
  for (const [path, accepts, encoding] of ENCODINGS) {
    const headers: Record<string, string> = accepts === undefined ? {} : { "accept-encoding": accepts };
    const response = await server.fetch(new Request(MAPS + path, { headers }));
    assertEquals(response.headers.get("content-encoding"), encoding, `${path} for ${accepts}`);
    assertEquals(response.headers.get("vary"), encoding === null ? null : "Accept-Encoding");
    const text = encoding === null ? await response.text() : await unpacked(response);
    assertEquals(JSON.parse(text).kind, path === "" ? "ConfigMapList" : "ConfigMap");
  }
});

Deno.test("A watch is not compressed, however large its events are", async () => {
  await using server = await serverWithMaps();
  const headers = { "accept-encoding": "gzip" };
  const response = await server.fetch(new Request(`${MAPS}?watch=1`, { headers }));
  assertEquals(response.headers.get("content-encoding"), null);
  await response.body!.cancel();
});

Deno.test("The OpenAPI of a group is not compressed", async () => {
  await using server = new ApiServer();
  const headers = { "accept-encoding": "gzip" };
  const response = await server.fetch(new Request("http://kubernetes/openapi/v3/api/v1", { headers }));
  assertEquals(response.headers.get("content-encoding"), null);
  await response.body!.cancel();
});

Deno.test("Large protocol buffers are compressed, too", async () => {
  await using server = await serverWithMaps();
  const headers = { "accept-encoding": "gzip", accept: "application/vnd.kubernetes.protobuf" };
  const response = await server.fetch(new Request(`${MAPS}/large`, { headers }));
  assertEquals(response.headers.get("content-encoding"), "gzip");
  assertEquals((await unpacked(response)).startsWith("k8s\0"), true);
});
