/**
 * States what a server says of the groups that it serves by APIServices, and of those that another server is to serve.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import type { Body } from "../_api.ts";
import { DEFINITIONS, names, type Place, type Suite, unique, until } from "./_suite.ts";
import { gadget } from "./_widget.ts";

const SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices";
const MANAGED = "kube-aggregator.kubernetes.io/automanaged";
const AGGREGATED = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" };
const TABLE = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };

const condition = ({ status }: Body): unknown[] => {
  const [{ type, status: state, reason }] = status.conditions ?? [{}];
  return [type, state, reason];
};

/** An APIService of version 1 of a group. */
function apiService(group: string, spec: Body = {}): Body {
  return {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: `v1.${group}` },
    spec: { group, version: "v1", groupPriorityMinimum: 1500, versionPriority: 7, ...spec },
  };
}

/** Waits until an APIService is available, or not, for a reason. */
async function becomes(at: Place, name: string, reason: string): Promise<Body> {
  await until(async () => condition(await at.ok(`GET ${SERVICES}/${name}`))[2] === reason);
  return await at.ok(`GET ${SERVICES}/${name}`);
}

/** A group of the test's own, to be served by a service of its namespace. */
async function remote(at: Place): Promise<{ group: string; name: string }> {
  const group = `${unique()}.example.com`;
  const service = { namespace: at.namespace, name: "web" };
  const { metadata, spec, status } = await at.ok(`POST ${SERVICES}`, apiService(group, { service }));
  assertEquals([spec.service.port, status], [443, {}]);
  await becomes(at, metadata.name, "ServiceNotFound");
  return { group, name: metadata.name };
}

/** Registers the behaviours. */
export function aggregation(suite: Suite): void {
  suite.test("Each group and version that is built in has an APIService from the start, which is available", async (at) => {
    const list = await at.ok(`GET ${SERVICES}?labelSelector=${MANAGED}=onstart`);
    const { groups } = await at.ok("GET /apis");
    assertEquals(groups[0].name, "apiregistration.k8s.io");
    const served = new Set(
      groups.flatMap(({ versions }: Body) => versions).map(({ groupVersion }: Body) => groupVersion),
    );
    for (const { metadata, spec, status } of list.items) {
      const { group = "", version } = spec;
      assertEquals([metadata.name, condition({ status })], [`${version}.${group}`, ["Available", "True", "Local"]]);
      assertEquals(group === "" || served.has(`${group}/${version}`), true, metadata.name);
      assertEquals(metadata.managedFields[0].manager, "kube-apiserver");
    }
    for (const name of ["v1.", "v1.apps", "v2.autoscaling"]) assertEquals(names(list).includes(name), true);
  });

  suite.test("APIServices order the groups of discovery, and the versions of a group", async (at) => {
    const { items } = await at.ok(`GET ${SERVICES}?labelSelector=${MANAGED}=onstart`);
    const priority = new Map<string, number>(
      items.map(({ spec }: Body) => [spec.group, spec.groupPriorityMinimum] as const),
    );
    const { groups } = await at.ok("GET /apis");
    const found = groups.map(({ name }: Body) => priority.get(name)).filter((each: unknown) => each !== undefined);
    assertEquals(found, [...found].sort((a, b) => b - a));
    const { versions, preferredVersion } = await at.ok("GET /apis/autoscaling");
    assertEquals([versions.map(({ version }: Body) => version), preferredVersion.version], [["v2", "v1"], "v2"]);
  });

  suite.test("An APIService comes and goes with the versions that a definition serves", async (at) => {
    const group = `${unique()}.example.com`;
    const definition = gadget(group.split(".")[0]!, { type: "object" });
    await at.define(definition);
    const path = `${SERVICES}/v1.${group}`;
    await until(async () => (await at.send(`GET ${path}`)).code === 200);
    const { metadata, spec, status } = await at.ok(`GET ${path}`);
    assertEquals(metadata.labels, { [MANAGED]: "true" });
    assertEquals(spec, { group, version: "v1", groupPriorityMinimum: 1000, versionPriority: 100 });
    assertEquals(condition({ status }), ["Available", "True", "Local"]);
    await at.ok(`DELETE ${DEFINITIONS}/gadgets.${group}`);
    await until(async () => (await at.send(`GET ${path}`)).code === 404);
  });

  suite.test("The APIService of a definition is put right when it is changed, and made again when it is deleted", async (at) => {
    const group = `${unique()}.example.com`;
    const path = `${SERVICES}/v1.${group}`;
    await at.define(gadget(group.split(".")[0]!, { type: "object" }));
    await until(async () => (await at.send(`GET ${path}`)).code === 200);
    const { metadata } = await at.ok(`merge ${path}`, { spec: { versionPriority: 5 } });
    await until(async () => (await at.ok(`GET ${path}`)).spec.versionPriority === 100);
    await at.ok(`DELETE ${path}`);
    await until(async () => {
      const { code, body } = await at.send(`GET ${path}`);
      return code === 200 && body.metadata.uid !== metadata.uid;
    });
    await at.ok(`merge ${path}`, { metadata: { labels: { [MANAGED]: null } } });
    await at.ok(`DELETE ${DEFINITIONS}/gadgets.${group}`);
    await until(async () => (await at.send(`GET ${DEFINITIONS}/gadgets.${group}`)).code === 404);
    assertEquals((await at.ok(`GET ${path}`)).spec.group, group);
    await at.ok(`DELETE ${path}`);
  });

  suite.test("An APIService whose service is not there is not available, and its version is 503", async (at) => {
    const { group, name } = await remote(at);
    const { status, metadata } = await at.ok(`GET ${SERVICES}/${name}`);
    assertEquals(condition({ status }), ["Available", "False", "ServiceNotFound"]);
    const own = metadata.managedFields.find(({ subresource }: Body) => subresource === "status");
    assertEquals([own.manager, own.operation], ["kube-apiserver", "Update"]);
    for (const path of ["v1", "v1/things", `v1/namespaces/${at.namespace}/things/a/status`]) {
      await until(async () => (await at.send(`GET /apis/${group}/${path}`)).code === 503);
      assertEquals((await at.send(`GET /apis/${group}/${path}`)).body, "service unavailable\n");
    }
    assertEquals((await at.ok(`GET /apis/${group}`)).preferredVersion.version, "v1");
    assertEquals((await at.send(`GET /apis/${group}/v2`)).code, 404);
    const [row] = (await at.ok(`GET ${SERVICES}/${name}`, undefined, TABLE)).rows;
    assertEquals(row.cells.slice(0, 3), [name, `${at.namespace}/web`, "False (ServiceNotFound)"]);
    await at.ok(`DELETE ${SERVICES}/${name}`);
    await until(async () => (await at.send(`GET /apis/${group}/v1`)).code === 404);
  });

  suite.test("A version that another server is to serve is stale in aggregated discovery", async (at) => {
    const { group, name } = await remote(at);
    let found: Body;
    await until(async () => {
      const { items } = await at.ok("GET /apis", undefined, AGGREGATED);
      return (found = items.find(({ metadata }: Body) => metadata.name === group)) !== undefined;
    });
    assertEquals(found.versions, [{ version: "v1", freshness: "Stale" }]);
    await at.ok(`DELETE ${SERVICES}/${name}`);
  });

  suite.test("The status of an APIService says what its service lacks, and follows its spec", async (at) => {
    const { name } = await remote(at);
    await at.ok("POST services", { metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
    await becomes(at, name, "ServicePortError");
    await at.ok("merge services/web", { spec: { ports: [{ port: 443 }] } });
    await becomes(at, name, "EndpointsNotFound");
    const slices = `/apis/discovery.k8s.io/v1/namespaces/${at.namespace}/endpointslices`;
    const labels = { "kubernetes.io/service-name": "web" };
    const ports = [{ name: "other", port: 443 }];
    await at.ok(`POST ${slices}`, { metadata: { name: "web", labels }, addressType: "IPv4", ports, endpoints: [] });
    await becomes(at, name, "MissingEndpoints");
    await at.ok(`merge ${SERVICES}/${name}`, { spec: { service: null } });
    assertEquals(condition(await becomes(at, name, "Local")), ["Available", "True", "Local"]);
    await at.ok(`DELETE ${SERVICES}/${name}`);
  });

  suite.test("An APIService is named after its version and group, and either local or of a service", async (at) => {
    const group = `${unique()}.example.com`;
    const service = { namespace: "a", name: "b" };
    const cases: readonly (readonly [Body, readonly string[]])[] = [
      [{ ...apiService(group), metadata: { name: `v2.${group}` } }, ["metadata.name"]],
      [{ ...apiService("", { version: "v2" }), metadata: { name: "v2." } }, ["spec.group"]],
      [apiService(group, { groupPriorityMinimum: 20_001, versionPriority: 0 }), [
        "spec.groupPriorityMinimum",
        "spec.versionPriority",
      ]],
      [apiService(group, { caBundle: "YWJj", insecureSkipTLSVerify: true }), [
        "spec.caBundle",
        "spec.insecureSkipTLSVerify",
      ]],
      [apiService(group, { service, caBundle: "YWJj", insecureSkipTLSVerify: true }), ["spec.insecureSkipTLSVerify"]],
      [apiService(group, { service: { port: 70_000 } }), [
        "spec.service.namespace",
        "spec.service.name",
        "spec.service.port",
      ]],
      [apiService(group, { service, caBundle: "YWJj" }), []],
    ];
    for (const [object, expected] of cases) {
      const { code, body } = await at.send(`POST ${SERVICES}?dryRun=All`, object);
      const fields = body.details?.causes?.map(({ field }: Body) => field) ?? [];
      assertEquals([code, fields], [expected.length > 0 ? 422 : 201, expected]);
    }
  });

  suite.test("The status of an APIService is written apart, and a PUT says what it is based on", async (at) => {
    const group = `${unique()}.example.com`;
    const path = `${SERVICES}/v1.${group}`;
    const made = await at.ok(`POST ${SERVICES}`, { ...apiService(group), status: { conditions: [] } });
    assertEquals([condition(made), made.metadata.generation], [["Available", "True", "Local"], undefined]);
    assertEquals(await at.refused(`PUT ${path}`, apiService(group)), [422, "Invalid"]);
    const conditions = [...made.status.conditions, { type: "Mine", status: "Unknown" }];
    const change = { metadata: { labels: { a: "b" } }, spec: { versionPriority: 9 }, status: { conditions } };
    const { metadata, spec, status } = await at.ok(`merge ${path}/status`, change);
    assertEquals([metadata.labels, spec, status.conditions.length], [undefined, made.spec, 2]);
    const odd = { status: { conditions: [{ type: "Mine", status: "Odd" }] } };
    assertEquals(await at.refused(`merge ${path}/status`, odd), [422, "Invalid"]);
    await at.ok(`DELETE ${path}`);
  });
}
