import { assertEquals } from "@std/assert";
import { Informer } from "../informer.ts";
import { ConfigMap } from "../kinds.ts";
import { ApiServer } from "../testing/api_server.ts";

/** Resolves with the first event that fits. */
function told(informer: Informer<ConfigMap>, type: string, name: string): Promise<void> {
  return new Promise((resolve) => {
    const subscription = informer.subscribe((event) => {
      if (event.type !== type || event.object.metadata.name !== name) return;
      queueMicrotask(() => subscription[Symbol.dispose]());
      resolve();
    });
  });
}

for (const initial of ["list", "pages", "stream"] as const) {
  for (const metadataOnly of [false, true]) {
    Deno.test(`Informer by ${initial}${metadataOnly ? ", of metadata only," : ""} follows the in-memory API server`, async () => {
      await using server = new ApiServer();
      await using client = server.client();
      const api = client.api(ConfigMap);
      const labels = { app: "web" };
      await api.create({ metadata: { name: "a", namespace: "default", labels }, data: { k: "v" } });
      await api.create({ metadata: { name: "other", namespace: "default" } });
      const informer = new Informer(client, ConfigMap, {
        initial,
        metadataOnly,
        namespaces: ["default"],
        labelSelector: "app=web",
      });
      const stop = new AbortController();
      const run = informer.run(stop.signal);
      await informer.whenSynced(AbortSignal.timeout(5000));
      assertEquals([...informer.keys()], ["default/a"]);
      const [a] = informer.list();
      assertEquals([a?.kind, a?.apiVersion, a?.data], ["ConfigMap", "v1", metadataOnly ? undefined : { k: "v" }]);
      assertEquals(a?.metadata.managedFields, undefined);

      const come = told(informer, "added", "b");
      await api.create({ metadata: { name: "b", namespace: "default", labels } });
      await come;
      const left = told(informer, "deleted", "a");
      await api.patch({ name: "a", namespace: "default" }, { metadata: { labels: { app: null } } });
      await left; // B16: out of the selection, though it exists
      const gone = told(informer, "deleted", "b");
      await api.delete({ name: "b", namespace: "default" });
      await gone;
      assertEquals(informer.size, 0);
      assertEquals(informer.problem, undefined);
      stop.abort();
      await run;
    });
  }
}
