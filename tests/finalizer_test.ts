import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Client } from "../client.ts";
import { isInvalid, isNotFound } from "../errors.ts";
import { addFinalizer, hasFinalizer, removeFinalizer } from "../finalizer.ts";
import { patchCurrent } from "../patch.ts";
import type { KubernetesObject } from "../resource.ts";
import { ApiServer } from "../testing/mod.ts";
import { Thing, thing, writes } from "./_operator.ts";

const OURS = "example.com/ours";
const THEIRS = "example.com/theirs";

async function setUp(metadata = {}): Promise<{ server: ApiServer; api: ReturnType<typeof apiOf> }> {
  const server = new ApiServer();
  await server.apply([Thing.crd(), thing("a", {}, metadata)]);
  return { server, api: apiOf(server.client()) };
}

function apiOf(client: Client) {
  return client.api<KubernetesObject>(Thing as never);
}

Deno.test("two controllers that add and remove at the same moment never touch each other's finalizer (B28)", async () => {
  const { server, api } = await setUp();
  await using _server = server;
  for (let round = 0; round < 200; round++) {
    const seen = await api.get("a");
    // Both start from the same read, so one of them always loses a race.
    await Promise.all([addFinalizer(api, seen, OURS), addFinalizer(api, seen, THEIRS)]);
    const both = await api.get("a");
    assertEquals([...both.metadata.finalizers!].sort(), [OURS, THEIRS]);
    await Promise.all([removeFinalizer(api, both, OURS), removeFinalizer(api, both, THEIRS)]);
    assertEquals((await api.get("a")).metadata.finalizers ?? [], []);
  }
});

Deno.test("removing keeps what a third party changed between the read and the write (B28)", async () => {
  const { server, api } = await setUp({ finalizers: [THEIRS, OURS, "example.com/third"] });
  await using _server = server;
  const seen = await api.get("a");
  await api.patch("a", { metadata: { finalizers: [OURS, "example.com/third"] } });
  await removeFinalizer(api, seen, OURS);
  assertEquals((await api.get("a")).metadata.finalizers, ["example.com/third"]);
});

Deno.test("adding to an object that is being deleted sends nothing, also when only a fresh read tells (B30)", async () => {
  const { server, api } = await setUp({ finalizers: [THEIRS] });
  await using _server = server;
  const alive = await api.get("a");
  await api.delete("a");
  assertEquals(await addFinalizer(api, alive, OURS), undefined);
  assertEquals((await api.get("a")).metadata.finalizers, [THEIRS]);
  server.requests.length = 0;
  assertEquals(await addFinalizer(api, await api.get("a"), OURS), undefined);
  assertEquals(writes(server), []);
});

Deno.test("an object that is gone is done, and one that took its name is left alone (B20, B30)", async () => {
  const { server, api } = await setUp({ finalizers: [OURS] });
  await using _server = server;
  const old = await api.get("a");
  const bare = await removeFinalizer(api, old, OURS);
  await api.delete("a");
  assertEquals(await addFinalizer(api, bare!, OURS), undefined);
  assertEquals(await removeFinalizer(api, old, OURS), undefined);
  await server.apply(thing("a", {}, { finalizers: [OURS] }));
  assertEquals(await removeFinalizer(api, old, OURS), undefined);
  assert(hasFinalizer(await api.get("a"), OURS));
});

Deno.test("patchCurrent() gives up on a patch that the current version refuses, and on a missing subresource", async () => {
  const { server, api } = await setUp();
  await using _server = server;
  const object = await api.get("a");
  server.requests.length = 0;
  const wrong = await assertRejects(() => patchCurrent(api, object, () => [{ op: "remove", path: "/spec/none" }]));
  assert(isInvalid(wrong));
  assertEquals(server.requests.map(({ method }) => method), ["PATCH", "GET", "PATCH", "GET"], "no endless loop");

  await using plain = new ApiServer();
  const crd = Thing.crd();
  delete crd.spec!.versions![0]!.subresources;
  await plain.apply([crd, thing("a")]);
  const without = apiOf(plain.client());
  const there = await without.get("a");
  const missing = await assertRejects(() =>
    patchCurrent(without, there, () => [{ op: "add", path: "/status", value: {} }], "status")
  );
  assert(isNotFound(missing));
});
