import { assertEquals, assertStringIncludes } from "@std/assert";
import { ApiServer } from "../testing/mod.ts";
import { type Body, CONFIG_MAPS, send } from "./_api.ts";

const GROUP = "/apis/admissionregistration.k8s.io/v1";

/** Binds a policy on config maps. */
async function bind(server: ApiServer, spec: Body, binding: Body = {}): Promise<void> {
  const resourceRules = [{
    apiGroups: [""],
    apiVersions: ["v1"],
    operations: ["CREATE", "UPDATE", "DELETE"],
    resources: ["configmaps"],
  }];
  const policy = { metadata: { name: "p" }, spec: { matchConstraints: { resourceRules }, ...spec } };
  assertEquals((await send(server, `POST ${GROUP}/validatingadmissionpolicies`, policy)).code, 201);
  const bound = { metadata: { name: "b" }, spec: { policyName: "p", validationActions: ["Deny"], ...binding } };
  assertEquals((await send(server, `POST ${GROUP}/validatingadmissionpolicybindings`, bound)).code, 201);
}

const map = (data: Record<string, string>) => ({ metadata: { name: "a" }, data });

Deno.test("ApiServer refuses what a bound ValidatingAdmissionPolicy denies, and says which", async () => {
  await using server = new ApiServer();
  await bind(server, { validations: [{ expression: "object.data.k != '1'", message: "no ones" }] });
  const { code, body } = await send(server, `POST ${CONFIG_MAPS}?dryRun=All`, map({ k: "1" }));
  const text = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no ones";
  assertEquals([code, body.reason, body.message], [422, "Invalid", `configmaps "a" is forbidden: ${text}`]);
  assertEquals(body.details, { name: "a", kind: "configmaps", causes: [{ message: text }] });
  assertEquals((await send(server, `POST ${CONFIG_MAPS}`, map({ k: "2" }))).code, 201);
});

Deno.test("ApiServer shows policies the old object, the request, the namespace and their own variables", async () => {
  await using server = new ApiServer();
  const validations = [
    { expression: "request.operation != 'UPDATE' || oldObject.data.k == object.data.k", message: "immutable" },
    { expression: "request.operation != 'DELETE' || variables.home != 'default'", message: "stays" },
  ];
  await bind(server, { validations, variables: [{ name: "home", expression: "namespaceObject.metadata.name" }] });
  assertEquals((await send(server, `POST ${CONFIG_MAPS}`, map({ k: "1" }))).code, 201);
  const updated = await send(server, `merge ${CONFIG_MAPS}/a`, { data: { k: "2" } });
  assertStringIncludes(updated.body.message, "immutable");
  const deleted = await send(server, `DELETE ${CONFIG_MAPS}/a`);
  assertStringIncludes(deleted.body.message, "stays");
});

Deno.test("ApiServer takes a policy's error for a denial, unless the policy ignores failures", async () => {
  for (const [failurePolicy, expected] of [["Fail", 422], ["Ignore", 201]] as const) {
    await using server = new ApiServer();
    await bind(server, { failurePolicy, validations: [{ expression: "object.nope.k == ''" }] });
    const { code, body } = await send(server, `POST ${CONFIG_MAPS}`, map({}));
    assertEquals(code, expected);
    if (code === 422) {
      assertStringIncludes(body.message, "expression 'object.nope.k == ''' resulted in error: no such key: nope");
    }
  }
});

Deno.test("ApiServer warns where a binding says so, and leaves alone what it does not select", async () => {
  await using server = new ApiServer();
  const matchResources = { namespaceSelector: { matchLabels: { watched: "yes" } } };
  await bind(server, { validations: [{ expression: "false", reason: "Forbidden" }] }, {
    validationActions: ["Warn"],
    matchResources,
  });
  const apart = await send(server, `POST ${CONFIG_MAPS}`, map({}));
  assertEquals([apart.code, apart.headers.get("warning")], [201, null]);
  await send(server, "merge /api/v1/namespaces/default", { metadata: { labels: { watched: "yes" } } });
  const warned = await send(server, `merge ${CONFIG_MAPS}/a`, { data: { k: "1" } });
  assertEquals(
    warned.headers.get("warning"),
    `299 - "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': failed expression: false"`,
  );
});

Deno.test("ApiServer refuses policies whose expressions do not compile", async () => {
  await using server = new ApiServer();
  const matchConstraints = {
    resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["*"] }],
  };
  const cases = [["foo", "compilation failed: ERROR: <input>:1:1: undeclared reference to 'foo'"], [
    "1",
    'Invalid value: "1": must evaluate to bool but got int',
  ]];
  for (const [expression, message] of cases) {
    const policy = { metadata: { name: "p" }, spec: { matchConstraints, validations: [{ expression }] } };
    const { code, body } = await send(server, `POST ${GROUP}/validatingadmissionpolicies`, policy);
    assertEquals([code, body.details.causes[0].field], [422, "spec.validations[0].expression"]);
    assertStringIncludes(body.details.causes[0].message, message!);
  }
});
