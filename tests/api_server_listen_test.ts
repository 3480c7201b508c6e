import { assertEquals, assertStringIncludes } from "@std/assert";
import { ApiServer } from "../testing/mod.ts";

Deno.test("ApiServer listens on loopback and gives a kubeconfig", async () => {
  await using server = new ApiServer();
  const { url, port, kubeconfig } = await server.listen();
  assertEquals(url, `http://127.0.0.1:${port}`);
  assertStringIncludes(kubeconfig, url);
  const response = await fetch(`${url}/api/v1/namespaces/default`);
  assertEquals((await response.json()).metadata.name, "default");
});

Deno.test("ApiServer ends a watch over HTTP when the client goes, and when the server closes", async () => {
  await using server = new ApiServer();
  const { url } = await server.listen();
  const abort = new AbortController();
  const response = await fetch(`${url}/api/v1/namespaces?watch=1`, { signal: abort.signal });
  await response.body!.getReader().read();
  abort.abort();
  const other = await fetch(`${url}/api/v1/namespaces?watch=1`);
  const text = other.text();
  await server.close();
  assertStringIncludes(await text, "kube-system");
});

Deno.test("ApiServer applies YAML with several documents, definitions and their objects among them", async () => {
  await using server = new ApiServer();
  const applied = await server.apply(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: widgets, kind: Widget }
  versions:
  - name: v1
    served: true
    storage: true
    subresources: { status: {} }
    schema:
      openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true }
---
apiVersion: example.com/v1
kind: Widget
metadata: { name: a }
spec: { size: 1 }
status: { phase: Up }
`);
  assertEquals(applied.map(({ kind }) => kind), ["CustomResourceDefinition", "Widget"]);
  assertEquals((applied[1] as unknown as { status: unknown }).status, { phase: "Up" });
});

Deno.test("ApiServer writes a kubeconfig where it is asked to, for its owner alone, and removes it unless somebody has changed it", async () => {
  const folder = await Deno.makeTempDir({ prefix: "tend-listen-" });
  try {
    for (const change of [false, true]) {
      const kubeconfigFile = `${folder}/kubeconfig-${change}`;
      {
        await using server = new ApiServer();
        const { kubeconfig } = await server.listen({ kubeconfigFile });
        assertEquals(await Deno.readTextFile(kubeconfigFile), kubeconfig);
        assertEquals((await Deno.stat(kubeconfigFile)).mode! & 0o777, 0o600);
        if (change) await Deno.writeTextFile(kubeconfigFile, "mine");
      }
      const left = await Deno.readTextFile(kubeconfigFile).catch(() => undefined);
      assertEquals(left, change ? "mine" : undefined);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
