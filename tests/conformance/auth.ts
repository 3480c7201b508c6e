/**
 * States who may do what: tokens, impersonation, RBAC and reviews.
 *
 * @module
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { ApiError } from "../../errors.ts";
import { ConfigMap } from "../../kinds.ts";
import { as, type Place, type Suite, unique, until } from "./_suite.ts";
import { map } from "./_widget.ts";

const REVIEWS = "/apis/authorization.k8s.io/v1";
const WHOAMI = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const SELF = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };

/** Lets a user do something in the test's namespace, and waits until the server knows. */
async function grant(at: Place, user: string, rules: object[]): Promise<void> {
  const name = unique();
  await at.ok("POST roles", { metadata: { name }, rules });
  const subjects = [{ kind: "User", name: user, apiGroup: "rbac.authorization.k8s.io" }];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name };
  await at.ok("POST rolebindings", { metadata: { name }, roleRef, subjects });
}

/** Waits until a right that was given holds: a real server's authorizer learns of it by a watch. */
function allowed(at: Place, user: string, line: string): Promise<void> {
  return until(async () => (await at.send(line, undefined, as(user))).code === 200);
}

/** Registers the behaviours. */
export function auth(suite: Suite): void {
  suite.test("A token that nobody has is 401 Unauthorized, even for what is open to all", async (at) => {
    const bad = { authorization: "Bearer nope" };
    assertEquals(await at.refused("GET configmaps", undefined, bad), [401, "Unauthorized"]);
    assertEquals((await at.send("GET /healthz", undefined, bad)).code, 401);
  });

  suite.test("Who has no rights is 403 Forbidden, before what is wrong with the request", async (at) => {
    const eve = as("eve");
    const { code, body } = await at.send("GET configmaps/a", undefined, eve);
    assertEquals([code, body.reason, body.details], [403, "Forbidden", { name: "a", kind: "configmaps" }]);
    assertEquals(
      body.message,
      `configmaps "a" is forbidden: User "eve" cannot get resource "configmaps" in API group "" in the namespace "${at.namespace}"`,
    );
    for (const line of ["GET configmaps", "POST configmaps", "GET /api/v1/nopes", "POST configmaps/a"]) {
      assertEquals([line, (await at.send(line, line.startsWith("POST") ? "{" : undefined, eve)).code], [line, 403]);
    }
  });

  suite.test("Roles give verbs on resources, and no more", async (at) => {
    const user = unique();
    await grant(at, user, [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "create"] }]);
    await allowed(at, user, "GET configmaps");
    assertEquals((await at.send("POST configmaps", map("a"), as(user))).code, 201);
    assertEquals((await at.send("GET configmaps/a", undefined, as(user))).code, 200);
    for (const line of ["GET configmaps?watch=1", "merge configmaps/a", "DELETE configmaps/a", "GET secrets"]) {
      const body = line.startsWith("GET") ? undefined : {};
      assertEquals([line, (await at.send(line, body, as(user))).code], [line, 403]);
    }
    assertEquals((await at.send("GET /api/v1/configmaps", undefined, as(user))).code, 403);
  });

  suite.test("resourceNames narrow to names, and subresources are resources of their own", async (at) => {
    const user = unique();
    await at.ok("POST configmaps", map("a"));
    await grant(at, user, [
      { apiGroups: [""], resources: ["configmaps"], resourceNames: ["a"], verbs: ["get"] },
      { apiGroups: ["apps"], resources: ["deployments"], verbs: ["patch"] },
    ]);
    await allowed(at, user, "GET configmaps/a");
    assertEquals((await at.send("GET configmaps/b", undefined, as(user))).code, 403);
    assertEquals((await at.send("GET configmaps", undefined, as(user))).code, 403);
    assertEquals((await at.send("merge deployments/a", {}, as(user))).code, 404);
    assertEquals((await at.send("merge deployments/a/status", {}, as(user))).code, 403);
  });

  suite.test("An apply that creates needs the right to create, too", async (at) => {
    const user = unique();
    await grant(at, user, [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list", "patch"] }]);
    await allowed(at, user, "GET configmaps");
    const line = "apply configmaps/a?fieldManager=one";
    assertEquals(await at.refused(line, map("a"), as(user)), [403, "Forbidden"]);
    await at.ok("POST configmaps", map("a"));
    assertEquals((await at.send(line, map("a"), as(user))).code, 200);
  });

  suite.test("Nobody gives rights that they do not have", async (at) => {
    const user = unique();
    const apiGroups = ["rbac.authorization.k8s.io"];
    await grant(at, user, [{ apiGroups, resources: ["roles", "rolebindings"], verbs: ["create", "list"] }]);
    await allowed(at, user, "GET roles");
    const role = (rules: object[]) => ({ metadata: { name: unique() }, rules });
    const secrets = role([{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }]);
    assertEquals(await at.refused("POST roles", secrets, as(user)), [403, "Forbidden"]);
    const own = role([{ apiGroups, resources: ["roles"], verbs: ["list"] }]);
    assertEquals((await at.send("POST roles", own, as(user))).code, 201);
    const roleRef = { apiGroup: apiGroups[0], kind: "ClusterRole", name: "cluster-admin" };
    assertEquals(await at.refused("POST rolebindings", { metadata: { name: "a" }, roleRef }, as(user)), [
      403,
      "Forbidden",
    ]);
  });

  suite.test("An admin may act as anybody, in any groups; others may not", async (at) => {
    const user = `system:serviceaccount:${at.namespace}:op`;
    const { body } = await at.send(`POST ${WHOAMI}`, SELF, as(user));
    assertEquals([body.status.userInfo.username, body.status.userInfo.groups], [user, [
      "system:serviceaccounts",
      `system:serviceaccounts:${at.namespace}`,
      "system:authenticated",
    ]]);
    const grouped = await at.send(`POST ${WHOAMI}`, SELF, as("ada", "developers"));
    assertEquals(grouped.body.status.userInfo.groups, ["developers", "system:authenticated"]);
    await using ada = at.server.client("ada");
    const headers = as("eve");
    const error = await assertRejects(() => ada.request({ path: at.path("configmaps"), headers }), ApiError);
    assertEquals(error.code, 403);
  });

  suite.test("Access reviews say what a user may do, and oneself", async (at) => {
    const user = unique();
    await grant(at, user, [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }]);
    await allowed(at, user, "GET configmaps");
    const review = async (verb: string, resource: string): Promise<boolean[]> => {
      const resourceAttributes = { namespace: at.namespace, verb, resource };
      const self = await at.send(
        `POST ${REVIEWS}/selfsubjectaccessreviews`,
        { spec: { resourceAttributes } },
        as(user),
      );
      const other = await at.send(`POST ${REVIEWS}/subjectaccessreviews`, { spec: { user, resourceAttributes } });
      assertEquals([self.code, other.code], [201, 201]);
      return [self.body.status.allowed, other.body.status.allowed];
    };
    assertEquals(await review("list", "configmaps"), [true, true]);
    assertEquals(await review("get", "configmaps"), [false, false]);
    assertEquals(await review("list", "secrets"), [false, false]);
    const spec = { namespace: at.namespace };
    const { body } = await at.send(`POST ${REVIEWS}/selfsubjectrulesreviews`, { spec }, as(user));
    const rules = body.status.resourceRules.map((rule: object) => JSON.stringify(rule));
    assert(rules.includes(JSON.stringify({ verbs: ["list"], apiGroups: [""], resources: ["configmaps"] })));
  });

  suite.test("A service account's token is its user until the account is gone", async (at) => {
    await at.ok("POST serviceaccounts", { metadata: { name: "op" } });
    const made = await at.send("POST serviceaccounts/op/token", { spec: { expirationSeconds: 600 } });
    assertEquals(made.code, 201);
    const { token, expirationTimestamp } = made.body.status;
    assert(Math.abs(Date.parse(expirationTimestamp) - Date.now() - 600_000) < 30_000);
    const bearer = { authorization: `Bearer ${token}` };
    const { body } = await at.send(`POST ${WHOAMI}`, SELF, bearer);
    assertEquals(body.status.userInfo.username, `system:serviceaccount:${at.namespace}:op`);
    assertEquals(await at.refused("GET configmaps", undefined, bearer), [403, "Forbidden"]);
    assertEquals((await at.refused("POST serviceaccounts/op/token", { spec: { expirationSeconds: 1 } }))[0], 422);
    await at.ok("DELETE serviceaccounts/op");
    await until(async () => (await at.send("GET configmaps", undefined, bearer)).code === 401);
  });

  suite.test("Who blocks an owner's deletion needs the right to its finalizers", async (at) => {
    const user = unique();
    await grant(at, user, [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create", "list"] }]);
    await allowed(at, user, "GET configmaps");
    const { metadata } = await at.ok("POST configmaps", map("o"));
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "o", uid: metadata.uid };
    const owned = (name: string, blockOwnerDeletion: boolean) =>
      map(name, {}, { ownerReferences: [{ ...owner, blockOwnerDeletion }] });
    assertEquals((await at.send("POST configmaps", owned("a", false), as(user))).code, 201);
    assertEquals(await at.refused("POST configmaps", owned("b", true), as(user)), [403, "Forbidden"]);
    assertEquals((await at.send("POST configmaps", owned("c", true))).code, 201);
  });

  suite.test("A client of a user is refused what the user may not do", async (at) => {
    await using eve = at.server.client("eve");
    const draft = { metadata: { name: "a", namespace: at.namespace } };
    const error = await assertRejects(() => eve.api(ConfigMap).create(draft), ApiError);
    assertEquals([error.code, error.reason], [403, "Forbidden"]);
  });
}
