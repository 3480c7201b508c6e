/**
 * States what comes of values at the edge of what a field takes, and of requests that are almost right.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import type { Body } from "../_api.ts";
import type { Place, Suite } from "./_suite.ts";
import { deployment, map, widget } from "./_widget.ts";

/** The text of a refused patch's only cause, without the value. */
async function whyNot(at: Place, patch: Body): Promise<[number, string]> {
  const { code, body } = await at.send("strategic deployments/a", patch);
  return [code, body.details?.causes?.[0]?.message.split(": ").slice(2).join(": ") ?? ""];
}

/** Registers the behaviours. */
export function edges(suite: Suite): void {
  suite.test("The result of a strategic merge is refused in the words of a converter", async (at) => {
    await at.ok("POST deployments", deployment("a"));
    const container = (value: Body): Body => ({ spec: { template: { spec: { containers: value } } } });
    for (
      const [patch, why] of [
        [container("x" as unknown as Body), "cannot restore slice from string"],
        [{ spec: { replicas: "x" } }, "unrecognized type: int32"],
        [{ spec: { replicas: 1.5 } }, "cannot convert float64 to int32"],
        [{ spec: { template: 3 } }, "cannot restore struct from: int64"],
        [{ spec: { selector: { matchLabels: [] } } }, "cannot restore map from slice"],
        [{ metadata: { labels: { a: 1 } } }, "cannot convert int64 to string"],
        [{ metadata: "x" }, "cannot restore struct from: string"],
      ] as [Body, string][]
    ) assertEquals(await whyNot(at, patch), [422, why], why);
  });

  suite.test("An integer that is too large for 32 bits loses digits in a strategic merge", async (at) => {
    await at.ok("POST deployments", deployment("a"));
    const { code, body } = await at.send("strategic deployments/a", { spec: { replicas: 3_000_000_000 } });
    assertEquals([code, body.details.causes[0].message], [
      422,
      "Invalid value: -1294967296: must be greater than or equal to 0",
    ]);
  });

  suite.test("A built-in object whose version a patch takes away has no name", async (at) => {
    await at.ok("POST configmaps", map("a"));
    for (
      const [line, patch] of [
        ["merge configmaps/a", { apiVersion: null }],
        ["json configmaps/a", [{ op: "remove", path: "/apiVersion" }]],
      ] as [string, unknown][]
    ) {
      assertEquals((await at.refused(line, patch))[0], 400, line);
    }
    await at.ok("strategic configmaps/a", { apiVersion: null, kind: null });
  });

  suite.test("The words that were booleans before YAML 1.2 are booleans", async (at) => {
    const yaml = { "content-type": "application/yaml" };
    const text = (name: string, data: string): string =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\nimmutable: yes\ndata: ${data}\n`;
    const made = await at.ok("POST configmaps", text("a", `{k: "yes", l: 'off'}`), yaml);
    assertEquals([made.immutable, made.data], [true, { k: "yes", l: "off" }]);
    assertEquals((await at.refused("POST configmaps", text("b", "{k: off}"), yaml))[0], 400);
  });

  suite.test("A quantity that is canonical but for zeros, a sign or an exponent stays as it was written", async (at) => {
    const quota = async (amount: string): Promise<string> => {
      const object = { metadata: { name: "a" }, spec: { hard: { "requests.memory": amount } } };
      const path = `/api/v1/namespaces/${at.namespace}/resourcequotas?dryRun=All`;
      return (await at.ok(`POST ${path}`, object)).spec.hard["requests.memory"];
    };
    for (const same of ["+2Mi", "010Mi", "1E3", "1e0", "12e-3", "1024"]) assertEquals(await quota(same), same);
    assertEquals(await quota("1.0"), "1");
    assertEquals(await quota("1000k"), "1M");
    assertEquals(await quota("16Ei"), "9223372036854775807");
  });

  suite.test("The single address of a pod's status counts more than the list", async (at) => {
    await at.ok("POST pods", { metadata: { name: "a" }, spec: { containers: [{ name: "main", image: "x" }] } });
    const addresses = async (status: Body): Promise<unknown[]> => {
      const { status: now } = await at.ok("merge pods/a/status", { status });
      return [now.podIP, now.podIPs?.map(({ ip }: Body) => ip)];
    };
    assertEquals(await addresses({ podIP: "10.1.1.1" }), ["10.1.1.1", ["10.1.1.1"]]);
    assertEquals(await addresses({ podIPs: [{ ip: "10.1.1.2" }] }), ["10.1.1.1", ["10.1.1.1"]]);
    assertEquals(await addresses({ podIP: null }), ["10.1.1.1", ["10.1.1.1"]]);
    assertEquals(await addresses({ podIP: null, podIPs: [{ ip: "10.1.1.3" }] }), ["10.1.1.3", ["10.1.1.3"]]);
  });

  suite.test("Nothing is behind a Service: its proxy is 503, and 404 if its port is asked of none", async (at) => {
    await at.ok("POST services", { metadata: { name: "a" }, spec: { ports: [{ port: 80 }] } });
    for (const name of ["a", "none", "a:80", "a:81"]) {
      assertEquals(await at.refused(`GET services/${name}/proxy`), [503, "ServiceUnavailable"], name);
    }
    assertEquals(await at.refused("GET services/none:80/proxy/x"), [404, "NotFound"]);
    assertEquals(await at.refused("POST services/b:a:80/proxy"), [400, "BadRequest"]);
  });

  suite.test("A watch is not given in YAML", async (at) => {
    const accept = { accept: "application/yaml, application/json" };
    assertEquals((await at.send("GET configmaps?watch=1&timeoutSeconds=1", undefined, accept)).code, 406);
  });

  suite.test("The finalization of a namespace writes its labels, too", async (at) => {
    const { metadata: { name } } = await at.ok("POST /api/v1/namespaces", {
      metadata: { generateName: "test-", labels: { a: "b" } },
    });
    const body = { metadata: { name }, spec: { finalizers: ["example.com/f"] } };
    const { metadata, spec } = await at.ok(`PUT /api/v1/namespaces/${name}/finalize`, body);
    assertEquals([metadata.labels, spec.finalizers], [{ "kubernetes.io/metadata.name": name }, ["example.com/f"]]);
    assertEquals(metadata.managedFields.at(-1).subresource, "finalize");
    await at.ok(`PUT /api/v1/namespaces/${name}/finalize`, { metadata: { name } });
  });

  suite.test("A DaemonSet whose old generation is no number cannot be read", async (at) => {
    const path = `/apis/apps/v1/namespaces/${at.namespace}/daemonsets`;
    const { spec: { selector, template } } = deployment("a");
    const set = (generation: string): Body => ({
      metadata: { name: "a", annotations: { "deprecated.daemonset.template.generation": generation } },
      spec: { selector, template },
    });
    assertEquals(await at.refused(`POST ${path}`, set("x")), [400, "BadRequest"]);
    await at.ok(`POST ${path}`, set("5"));
    const { metadata } = set("99999999999999999999");
    assertEquals(await at.refused(`merge ${path}/a`, { metadata }), [422, "Invalid"]);
    assertEquals(await at.refused(`strategic ${path}/a`, { metadata }), [500, undefined]);
  });

  suite.test("The scale of a custom resource is written by no other kind", async (at) => {
    await at.widgets();
    await at.ok("POST widgets", widget("a", { size: 1 }));
    const other = { apiVersion: "autoscaling/v1", kind: "Other", metadata: { name: "a" } };
    assertEquals(await at.refused("PUT widgets/a/scale", other), [400, "BadRequest"]);
  });
}
