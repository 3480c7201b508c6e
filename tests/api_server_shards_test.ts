import { assert, assertEquals, assertThrows } from "@std/assert";
import { ConfigMap } from "../kinds.ts";
import { fnv } from "../testing/_shards.ts";
import { ApiServer } from "../testing/mod.ts";

Deno.test("ApiServer does not look at a shard selector unless it is told to", async () => {
  await using server = new ApiServer();
  await using client = server.client();
  await client.api(ConfigMap).create({ metadata: { name: "a", namespace: "default" } });
  for (const query of ["shardSelector=garbage", "watch=1&shardSelector=garbage"]) {
    const response = await server.fetch(new Request(`http://kubernetes/api/v1/namespaces/default/configmaps?${query}`));
    assertEquals(response.status, 200);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    assert((await reader.read()).value!.includes('"name":"a"'));
    await reader.cancel();
  }
  assertThrows(
    () => new ApiServer({ sharding: "yes" as unknown as boolean }),
    TypeError,
    "'sharding' must be a boolean",
  );
});

Deno.test("fnv() hashes as FNV-1a does with 64 bits", () => {
  const known: readonly [string, bigint][] = [
    ["", 0xcbf29ce484222325n],
    ["a", 0xaf63dc4c8601ec8cn],
    ["foobar", 0x85944171f73967e8n],
    ["default", 0xebada5168620c5fen],
    ["53a5eaec-9fb7-47b3-b0b0-6bc438df9c59", 0x5ebaf41e41db17e3n],
  ];
  for (const [text, hash] of known) assertEquals([text, fnv(text)], [text, hash]);
});
