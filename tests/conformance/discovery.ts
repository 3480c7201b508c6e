/**
 * States how a server says what it serves.
 *
 * @module
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Body } from "../_api.ts";
import type { Suite } from "./_suite.ts";
import { GROUP } from "./_widget.ts";

const AGGREGATED = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" };

/** Registers the behaviours. */
export function discovery(suite: Suite): void {
  suite.test("The health endpoints answer ok, with each check when asked", async (at) => {
    for (const path of ["/healthz", "/livez", "/readyz"]) {
      const { code, body } = await at.send(`GET ${path}`);
      assertEquals([code, body], [200, "ok"]);
    }
    assertMatch((await at.send("GET /readyz?verbose")).body, /^\[\+\]ping ok\n[^]*readyz check passed\n$/);
  });

  suite.test("The version is Kubernetes' own", async (at) => {
    const { major, minor, gitVersion } = await at.ok("GET /version");
    assertEquals([major, minor], ["1", "37"]);
    assertMatch(gitVersion, /^v1\.37\./);
  });

  suite.test("Groups, versions and resources are listed, with verbs and short names", async (at) => {
    assertEquals((await at.ok("GET /api")).versions, ["v1"]);
    const groups = (await at.ok("GET /apis")).groups.map(({ name }: Body) => name);
    for (const group of ["apps", "batch", "coordination.k8s.io", "apiextensions.k8s.io"]) {
      assert(groups.includes(group));
    }
    const { kind, groupVersion, resources } = await at.ok("GET /apis/apps/v1");
    assertEquals([kind, groupVersion], ["APIResourceList", "apps/v1"]);
    const found = resources.find(({ name }: Body) => name === "deployments");
    assertEquals([found.kind, found.namespaced, found.shortNames, found.singularName], [
      "Deployment",
      true,
      ["deploy"],
      "deployment",
    ]);
    assertEquals([...found.verbs].sort(), [
      "create",
      "delete",
      "deletecollection",
      "get",
      "list",
      "patch",
      "update",
      "watch",
    ]);
    for (const sub of ["scale", "status"]) assert(resources.some(({ name }: Body) => name === `deployments/${sub}`));
  });

  suite.test("A definition appears in discovery, plain and aggregated", async (at) => {
    await at.widgets();
    const plain = await at.ok(`GET /apis/${GROUP}/v1`);
    assertEquals(plain.resources.map(({ name }: Body) => name).sort(), ["widgets", "widgets/scale", "widgets/status"]);
    assertEquals(plain.resources[0].shortNames, ["wd"]);
    const group = (await at.ok("GET /apis")).groups.find(({ name }: Body) => name === GROUP);
    assertEquals([group.preferredVersion.version, group.versions.length], ["v2", 2]);
    const { items } = await at.ok("GET /apis", undefined, AGGREGATED);
    const found = items.find(({ metadata }: Body) => metadata.name === GROUP);
    const [{ resource, scope, responseKind }] = found.versions.find(({ version }: Body) => version === "v1").resources;
    assertEquals([resource, scope, responseKind.kind], ["widgets", "Namespaced", "Widget"]);
  });

  suite.test("The aggregated core group has pods; an older form of it is not acceptable", async (at) => {
    const { kind, items } = await at.ok("GET /api", undefined, AGGREGATED);
    assertEquals(kind, "APIGroupDiscoveryList");
    assert(items[0].versions[0].resources.some(({ resource }: Body) => resource === "pods"));
    const old = { accept: AGGREGATED.accept.replace("v=v2", "v=v2beta1") };
    assertEquals((await at.send("GET /apis", undefined, old)).code, 406);
  });

  suite.test("OpenAPI v3 has a document for each version, that of a definition among them", async (at) => {
    await at.widgets();
    const read = async (path: string): Promise<Body> => {
      const { code, body } = await at.send(`GET ${path}`);
      assertEquals([path, code], [path, 200]);
      return typeof body === "string" ? JSON.parse(body) : body;
    };
    const { paths } = await read("/openapi/v3");
    assertMatch(paths["api/v1"].serverRelativeURL, /^\/openapi\/v3\/api\/v1\?hash=/);
    const core = await read(paths["api/v1"].serverRelativeURL);
    const schema = core.components.schemas["io.k8s.api.core.v1.ConfigMap"];
    assertEquals(schema["x-kubernetes-group-version-kind"], [{ group: "", kind: "ConfigMap", version: "v1" }]);
    const own = await read(`/openapi/v3/apis/${GROUP}/v1`);
    const kinds = Object.values<Body>(own.components.schemas).flatMap((each) =>
      each["x-kubernetes-group-version-kind"] ?? []
    );
    assert(kinds.some(({ kind, group }) => kind === "Widget" && group === GROUP));
  });

  suite.test("A path of nothing is 404: text for a group that is not there, a Status for a resource", async (at) => {
    const group = await at.send("GET /apis/none.example.com/v1/nopes");
    assertEquals([group.code, group.body], [404, "404 page not found\n"]);
    const resource = await at.send("GET /api/v1/nopes");
    assertEquals([resource.code, resource.body.reason, resource.body.details], [404, "NotFound", {}]);
    assertEquals((await at.send("GET /nopes")).code, 404);
  });

  suite.test("Each answer says its media type", async (at) => {
    const object = await at.send("GET configmaps");
    assertEquals(object.headers.get("content-type"), "application/json");
    const refused = await at.send("GET configmaps/none");
    assertEquals(refused.headers.get("content-type"), "application/json");
    const yaml = await at.send("GET configmaps", undefined, { accept: "application/yaml" });
    assertEquals([yaml.code, yaml.headers.get("content-type")], [200, "application/yaml"]);
  });
}
