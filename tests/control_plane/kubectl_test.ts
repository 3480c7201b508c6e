import { assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { EventRecorder } from "../../events.ts";
import { ConfigMap, CoreEvent, CustomResourceDefinition, Event, Namespace } from "../../kinds.ts";
import { Website } from "../../examples/website.ts";
import { denoOk } from "../_deno.ts";
import { makeNamespace, served } from "./_cluster.ts";
import { hasKubectl, kubectl } from "./_kubectl.ts";
import { example } from "./_process.ts";
import { sharedControlPlane } from "./_setup.ts";
import { until } from "./_wait.ts";

const plane = sharedControlPlane();

for (const name of ["backup", "website", "secret_copier"]) {
  Deno.test({
    name:
      `kubectl applies the manifests of examples/${name}.ts, tried on the server first, and finds nothing to change after that`,
    ignore: !hasKubectl,
    async fn() {
      const { file, flags } = await example(name);
      const command = ["manifests", "--namespace", "operators", "--image", "example.com/operator:1", "--replicas", "2"];
      const { stdout: yaml } = await denoOk(["run", "--quiet", ...flags, file, ...command, "--create-namespace"]);
      const { kubeconfig } = plane();
      await using client = plane().client();
      await client.api(Namespace).apply({ metadata: { name: "operators" } }, { fieldManager: "admin" });
      const tried = await kubectl(kubeconfig, ["apply", "--dry-run=server", "--validate=strict", "-f", "-"], yaml);
      const lines = (text: string) => text.trim().split("\n");
      for (const line of lines(tried)) assertMatch(line, /(created|configured|unchanged) \(server dry run\)$/);
      await kubectl(kubeconfig, ["apply", "--validate=strict", "-f", "-"], yaml);
      const again = lines(await kubectl(kubeconfig, ["apply", "-f", "-"], yaml));
      assertEquals(again.filter((line) => !line.endsWith(" unchanged")), []);
      assertEquals(again.length, lines(tried).length);

      const [, id] = /^customresourcedefinition\S+\/(\S+) /m.exec(tried)!;
      await served(client, id!);
      const { status } = await client.api(CustomResourceDefinition).get(id!);
      assertEquals(status!.conditions!.map(({ type, status }) => `${type}=${status}`).sort(), [
        "Established=True",
        "NamesAccepted=True",
      ], "no NonStructuralSchema, no other complaint");
      // The description for people follows a little later.
      await until("kubectl explain", async () => /FIELDS:/.test(await kubectl(kubeconfig, ["explain", `${id}.spec`])));
    },
  });
}

Deno.test({
  name: "kubectl shows printer columns, and in describe the events that an EventRecorder sent, with their counts",
  ignore: !hasKubectl,
  async fn() {
    const { kubeconfig } = plane();
    await using client = plane().client();
    await client.api(CustomResourceDefinition).apply(Website.crd(), { force: true });
    await served(client, Website.id);
    const namespace = await makeNamespace(client);
    const site = await client.api(Website).create({ metadata: { name: "home", namespace }, spec: { html: "<p>" } });
    const table = await kubectl(kubeconfig, ["get", "site", "-n", namespace]);
    assertMatch(table, /^NAME +READY +REPLICAS +AGE\nhome /);

    {
      await using recorder = new EventRecorder(client, { controller: "website-operator" });
      for (let index = 0; index < 3; index++) {
        recorder.record(site, { type: "Warning", reason: "ServersSlow", note: "Web servers are slow: ä€😀" });
      }
      recorder.record(site, { type: "Normal", reason: "Published", note: "Published <p>", action: "Publish" });
      await recorder.flush();
    }
    const { items } = await client.api(Event).list({ namespace });
    const of = (reason: string) => items.filter((event) => event.reason === reason);
    assertEquals(of("ServersSlow").map(({ series }) => series?.count), [3]);
    assertEquals(
      of("Published").map(({ action, reportingController, series }) => [action, reportingController, series]),
      [
        ["Publish", "website-operator", undefined],
      ],
    );
    const old = (await client.api(CoreEvent).list({ namespace })).items.find(({ reason }) => reason === "Published")!;
    assertEquals([old.message, old.involvedObject.uid], ["Published <p>", site.metadata.uid]);

    const described = await kubectl(kubeconfig, ["describe", "site", "home", "-n", namespace]);
    assertMatch(described, /Warning +ServersSlow .* website-operator +Web servers are slow: ä€😀/);
    assertMatch(described, /Normal +Published .* website-operator +Published <p>/);
    const events = await kubectl(kubeconfig, ["events", "--for", "website/home", "-n", namespace]);
    assertMatch(events, /\(x3 over .*\) +Warning +ServersSlow +Website\/home +Web servers are slow/);
  },
});

Deno.test("Events about cluster-scoped objects are in the namespace default, and one in a dying namespace is left out without a complaint", async () => {
  await using client = plane().client();
  const namespace = await client.api(Namespace).create({ metadata: { generateName: "test-" } });
  const map = await client.api(ConfigMap).create({ metadata: { name: "a", namespace: namespace.metadata.name } });
  const dropped: number[] = [];
  await using recorder = new EventRecorder(client, {
    controller: "example.com/watcher",
    onDropped: () => dropped.push(1),
  });
  recorder.record(namespace, { type: "Normal", reason: "Seen", note: "" });
  await recorder.flush();
  const { items } = await client.api(Event).list({ namespace: "default", fieldSelector: "reason=Seen" });
  assertEquals(items.map(({ regarding }) => [regarding?.kind, regarding?.name]), [[
    "Namespace",
    namespace.metadata.name,
  ]]);
  assertEquals(dropped, []);

  await client.api(Namespace).delete(namespace);
  recorder.record(map, { type: "Normal", reason: "Late", note: "too late" });
  await recorder.flush();
  assertEquals(dropped, [], "nothing that anybody could help is counted");
  assertNotMatch(JSON.stringify((await client.api(Event).list()).items), /too late/);
});
