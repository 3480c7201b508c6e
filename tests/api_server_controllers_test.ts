import { assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { z } from "zod";
import { customResource } from "../crd.ts";
import type { KubernetesObject } from "../resource.ts";
import { ApiServer } from "../testing/mod.ts";
import { CONFIG_MAPS, send } from "./_api.ts";

async function family(server: ApiServer, block = true): Promise<void> {
  const owner = await send(server, `POST ${CONFIG_MAPS}`, { metadata: { name: "owner" } });
  const reference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner.body.metadata.uid };
  const ownerReferences = [{ ...reference, blockOwnerDeletion: block }];
  await send(server, `POST ${CONFIG_MAPS}`, { metadata: { name: "child", ownerReferences } });
}

async function names(server: ApiServer, path = CONFIG_MAPS): Promise<string[]> {
  const { body } = await send(server, `GET ${path}`);
  return body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
}

Deno.test("ApiServer keeps dependents unless it is asked to collect garbage", async () => {
  using time = new FakeTime();
  await using server = new ApiServer();
  await family(server);
  await send(server, `DELETE ${CONFIG_MAPS}/owner`);
  await time.tickAsync(10_000);
  assertEquals(await names(server), ["child"]);
});

Deno.test("ApiServer deletes dependents in the background", async () => {
  using time = new FakeTime();
  await using server = new ApiServer({ controllers: ["garbage-collector"] });
  await family(server);
  await time.tickAsync(1);
  await send(server, `DELETE ${CONFIG_MAPS}/owner`);
  assertEquals(await names(server), ["child"]);
  await time.tickAsync(1);
  assertEquals(await names(server), []);
});

Deno.test("ApiServer deletes dependents before an owner that is deleted in the foreground", async () => {
  using time = new FakeTime();
  await using server = new ApiServer({ controllers: ["garbage-collector"], controllerDelay: 10 });
  await family(server);
  await send(server, `merge ${CONFIG_MAPS}/child`, { metadata: { finalizers: ["example.com/f"] } });
  await send(server, `DELETE ${CONFIG_MAPS}/owner`, { propagationPolicy: "Foreground" });
  for (let step = 0; step < 10; step++) await time.tickAsync(10);
  assertEquals(await names(server), ["child", "owner"]);
  await send(server, `merge ${CONFIG_MAPS}/child`, { metadata: { finalizers: null } });
  for (let step = 0; step < 10; step++) await time.tickAsync(10);
  assertEquals(await names(server), []);
});

Deno.test("ApiServer orphans dependents", async () => {
  using time = new FakeTime();
  await using server = new ApiServer({ controllers: ["garbage-collector"] });
  await family(server);
  await send(server, `DELETE ${CONFIG_MAPS}/owner`, { propagationPolicy: "Orphan" });
  for (let step = 0; step < 5; step++) await time.tickAsync(1);
  assertEquals(await names(server), ["child"]);
  const { body } = await send(server, `GET ${CONFIG_MAPS}/child`);
  assertEquals(body.metadata.ownerReferences, undefined);
});

Deno.test("ApiServer deletes what has an owner that never was", async () => {
  using time = new FakeTime();
  await using server = new ApiServer({ controllers: ["garbage-collector"] });
  const uid = "11111111-1111-1111-1111-111111111111";
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "none", uid }];
  await send(server, `POST ${CONFIG_MAPS}`, { metadata: { name: "a", ownerReferences } });
  await time.tickAsync(1);
  assertEquals(await names(server), []);
});

Deno.test("ApiServer deletes dependents of a kind that is gone once it is defined anew", async () => {
  using time = new FakeTime();
  await using server = new ApiServer({ controllers: ["garbage-collector"] });
  const definition = (await server.apply(
    customResource({ group: "example.com", version: "v1", kind: "Box", spec: z.object({}) }).crd(),
  ))[0]!;
  const boxes = "/apis/example.com/v1/namespaces/default/boxes";
  const box = await send(server, `POST ${boxes}`, {
    apiVersion: "example.com/v1",
    kind: "Box",
    metadata: { name: "a" },
    spec: {},
  });
  const reference = { apiVersion: "example.com/v1", kind: "Box", name: "a", uid: box.body.metadata.uid };
  await send(server, `POST ${CONFIG_MAPS}`, { metadata: { name: "child", ownerReferences: [reference] } });
  await send(server, `DELETE /apis/apiextensions.k8s.io/v1/customresourcedefinitions/boxes.example.com`);
  await time.tickAsync(1000);
  assertEquals(await names(server), ["child"]);
  const { spec, metadata: { name } } = definition as KubernetesObject & { spec: unknown };
  await server.apply({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name },
    spec,
  });
  await time.tickAsync(1000);
  assertEquals(await names(server), []);
});

Deno.test("ApiServer keeps a deleted namespace terminating unless it is asked to end it", async () => {
  using time = new FakeTime();
  for (const controllers of [[], ["namespaces"]] as const) {
    await using server = new ApiServer({ controllers });
    await send(server, "POST /api/v1/namespaces", { metadata: { name: "shop" } });
    await send(server, "POST /api/v1/namespaces/shop/configmaps", { metadata: { name: "a" } });
    const { body } = await send(server, "DELETE /api/v1/namespaces/shop");
    assertEquals(body.status.phase, "Terminating");
    const refused = await send(server, "POST /api/v1/namespaces/shop/configmaps", { metadata: { name: "b" } });
    assertEquals([refused.code, refused.body.details.causes[0].reason], [403, "NamespaceTerminating"]);
    for (let step = 0; step < 5; step++) await time.tickAsync(1);
    const { code } = await send(server, "GET /api/v1/namespaces/shop");
    assertEquals(code, controllers.length === 0 ? 200 : 404);
  }
});
