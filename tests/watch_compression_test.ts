import { assertEquals } from "@std/assert";
import { Client } from "../client.ts";
import { Informer } from "../informer.ts";
import { ConfigMap } from "../kinds.ts";

const INITIAL_EVENTS_END = { "k8s.io/initial-events-end": "true" };
const objects = Array.from({ length: 3 }, (_, index) => ({
  ...{ apiVersion: "v1", kind: "ConfigMap" },
  metadata: { name: `map-${index}`, namespace: "default", uid: `${index}`, resourceVersion: `${index + 1}` },
}));

/** What a server says of three ConfigMaps to a watch that asks for initial events. */
const EVENTS = [
  ...objects.map((object) => ({ type: "ADDED", object })),
  {
    type: "BOOKMARK",
    object: { ...objects[0], metadata: { resourceVersion: "3", annotations: INITIAL_EVENTS_END } },
  },
].map((event) => `${JSON.stringify(event)}\n`);

async function gzip(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** A server that compresses watches, to whoever allows it, as kube-apiserver 1.37 does: each flush is a gzip file of its own. */
async function serve(): Promise<{ url: string } & AsyncDisposable> {
  const pieces = await Promise.all(EVENTS.map(gzip));
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    const compress = /gzip/.test(request.headers.get("accept-encoding") ?? "");
    const body = compress ? new Blob(pieces) : new Blob(EVENTS);
    return new Response(body.stream(), {
      headers: { "content-type": "application/json", ...(compress ? { "content-encoding": "gzip" } : {}) },
    });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

Deno.test("A watch gets all events from a server that would compress each flush by itself", async () => {
  await using server = await serve();
  await using client = new Client({ server: server.url });
  const events = await Array.fromAsync(client.api(ConfigMap).watch({ namespace: "default", sendInitialEvents: true }));
  assertEquals(events.map(({ type }) => type), ["ADDED", "ADDED", "ADDED", "BOOKMARK"]);
});

Deno.test("A streaming list gets all objects from a server that would compress each flush by itself", async () => {
  await using server = await serve();
  await using client = new Client({ server: server.url });
  const paths: string[] = [];
  const counted = client.with({ onRequest: ({ method, code }) => paths.push(`${method} ${code}`) });
  const informer = new Informer(counted, ConfigMap, { initial: "stream", namespaces: ["default"] });
  const stop = new AbortController();
  const run = informer.run(stop.signal);
  await informer.whenSynced(AbortSignal.timeout(5000));
  assertEquals([...informer.keys()], ["default/map-0", "default/map-1", "default/map-2"]);
  assertEquals(paths, ["GET 200"], "no other way to the initial state was needed");
  stop.abort();
  await run;
});
