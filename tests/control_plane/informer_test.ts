import { assertEquals } from "@std/assert";
import { Informer } from "../../informer.ts";
import { ConfigMap } from "../../kinds.ts";
import { makeNamespace } from "./_cluster.ts";
import { sharedControlPlane } from "./_setup.ts";
import { until } from "./_wait.ts";

const plane = sharedControlPlane();

/** How many requests each way to the initial state takes, the watch included, when there are two pages. */
const REQUESTS = { list: 2, pages: 3, stream: 1 };

/** A namespace with 501 selected ConfigMaps, so that there are two pages. */
let crowd: Promise<string> | undefined;

async function makeCrowd(): Promise<string> {
  await using client = plane().client();
  const namespace = await makeNamespace(client);
  const api = client.api(ConfigMap);
  const names = Array.from({ length: 501 }, (_, index) => `map-${index}`);
  const workers = Array.from({ length: 8 }, async () => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      await api.create({ metadata: { name, namespace, labels: { app: "web" } }, data: { k: "v" } });
    }
  });
  await Promise.all(workers);
  return namespace;
}

for (const initial of ["list", "pages", "stream"] as const) {
  for (const metadataOnly of [false, true]) {
    Deno.test(`Informer by ${initial}${metadataOnly ? ", of metadata only," : ""} follows a real server, by that very way`, async () => {
      const namespace = await (crowd ??= makeCrowd());
      const codes: (number | string)[] = [];
      await using client = plane().client();
      const api = client.api(ConfigMap);
      const informer = new Informer(client.with({ onRequest: ({ code }) => codes.push(code) }), ConfigMap, {
        initial,
        metadataOnly,
        namespaces: [namespace],
        labelSelector: "app=web",
      });
      const stop = new AbortController();
      const run = informer.run(stop.signal);
      await informer.whenSynced(AbortSignal.timeout(20_000));
      assertEquals(informer.size, 501);
      const object = informer.get(`${namespace}/map-7`)!;
      assertEquals([object.kind, object.apiVersion, object.data], [
        "ConfigMap",
        "v1",
        metadataOnly ? undefined : { k: "v" },
      ]);
      assertEquals([object.metadata.labels, object.metadata.managedFields], [{ app: "web" }, undefined]);

      const seen: string[] = [];
      using _ = informer.subscribe(({ type, object, initial }) => {
        if (!initial) seen.push(`${type} ${object.metadata.name}`);
      });
      const labels = { app: "web" };
      await api.create({ metadata: { name: "new", namespace, labels }, data: { k: "v" } });
      await api.patch({ name: "new", namespace }, { data: { k: "w" } });
      await api.patch({ name: "map-7", namespace }, { metadata: { labels: { app: null } } });
      await api.delete({ name: "new", namespace });
      await until("The news", () => Promise.resolve(seen.length === 4));
      assertEquals(seen, ["added new", "updated new", "deleted map-7", "deleted new"]);
      assertEquals([informer.size, informer.problem], [500, undefined]);
      stop.abort();
      await run;
      assertEquals(codes, Array(REQUESTS[initial]).fill(200));
      await api.patch({ name: "map-7", namespace }, { metadata: { labels } });
    });
  }
}
