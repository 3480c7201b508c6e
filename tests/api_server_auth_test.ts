import { assertEquals, assertRejects } from "@std/assert";
import type { Client } from "../client.ts";
import { ApiError } from "../errors.ts";
import { ConfigMap } from "../kinds.ts";
import { ApiServer } from "../testing/mod.ts";
import { CONFIG_MAPS, send } from "./_api.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
const users = { admin: { name: "admin", groups: ["system:masters"] }, ada: { name: "ada" } };
const as = (token: string) => ({ authorization: `Bearer ${token}` });

async function grant(server: ApiServer, rules: unknown[]): Promise<void> {
  await send(server, `POST ${RBAC}/roles`, { metadata: { name: "r" }, rules }, as("admin"));
  await send(server, `POST ${RBAC}/rolebindings`, {
    metadata: { name: "r" },
    roleRef: { kind: "Role", name: "r" },
    subjects: [{ kind: "User", name: "ada" }],
  }, as("admin"));
}

Deno.test("ApiServer lets everybody do everything unless it is asked to authorize", async () => {
  await using server = new ApiServer();
  assertEquals((await send(server, `GET ${CONFIG_MAPS}`)).code, 200);
});

Deno.test("ApiServer refuses tokens that it does not know", async () => {
  await using server = new ApiServer({ users });
  assertEquals((await send(server, `GET ${CONFIG_MAPS}`, undefined, as("nope"))).code, 401);
});

Deno.test("ApiServer allows what stored roles allow, and says what it refuses", async () => {
  await using server = new ApiServer({ users, authorization: true });
  await grant(server, [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }]);
  assertEquals((await send(server, `GET ${CONFIG_MAPS}`, undefined, as("ada"))).code, 200);
  const { code, body } = await send(server, `GET ${CONFIG_MAPS}/a`, undefined, as("ada"));
  assertEquals([code, body.message], [
    403,
    'configmaps "a" is forbidden: User "ada" cannot get resource "configmaps" in API group "" in the namespace "default"',
  ]);
  await send(server, `DELETE ${RBAC}/rolebindings/r`, undefined, as("admin"));
  assertEquals((await send(server, `GET ${CONFIG_MAPS}`, undefined, as("ada"))).code, 403);
});

Deno.test("ApiServer does not let users grant what they do not have", async () => {
  await using server = new ApiServer({ users, authorization: true });
  await grant(server, [{ apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles"], verbs: ["create"] }]);
  const role = { metadata: { name: "more" }, rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }] };
  const { code, body } = await send(server, `POST ${RBAC}/roles`, role, as("ada"));
  assertEquals(code, 403);
  assertEquals(body.message.split("\n")[1], '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}');
});

Deno.test("ApiServer lets an admin act as somebody else", async () => {
  await using server = new ApiServer({ users, authorization: true });
  const account = { ...as("admin"), "impersonate-user": "system:serviceaccount:default:op" };
  const { body } = await send(server, "POST /apis/authentication.k8s.io/v1/selfsubjectreviews", {}, account);
  assertEquals(body.status.userInfo.groups, [
    "system:serviceaccounts",
    "system:serviceaccounts:default",
    "system:authenticated",
  ]);
  const refused = await send(server, `GET ${CONFIG_MAPS}`, undefined, { ...as("ada"), "impersonate-user": "x" });
  assertEquals(refused.code, 403);
});

Deno.test("ApiServer makes tokens for service accounts that end with them, and with their time", async () => {
  let now = Date.parse("2030-01-01T00:00:00Z");
  await using server = new ApiServer({ now: () => now });
  const accounts = "/api/v1/namespaces/default/serviceaccounts";
  await send(server, `POST ${accounts}`, { metadata: { name: "op" } });
  const { body } = await send(server, `POST ${accounts}/op/token`, { spec: { expirationSeconds: 600 } });
  assertEquals((await send(server, "GET /version", undefined, as(body.status.token))).code, 200);
  now += 600_000;
  assertEquals((await send(server, "GET /version", undefined, as(body.status.token))).code, 401);
});

Deno.test("ApiServer.client() asks as the user it is told", async () => {
  await using server = new ApiServer({ authorization: true });
  const client = server.client({ user: "eve" });
  const review = await client.request<{ status: { userInfo: { username: string } } }>({
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    body: {},
  }).catch((error) => error);
  assertEquals(review.status?.userInfo?.username ?? review.code, 403);
  assertEquals(server.requests.at(-1)?.user, "eve");
});

Deno.test("ApiServer.client() asks as a cluster admin unless it is told otherwise, and by its token if it has one", async () => {
  await using server = new ApiServer({ authorization: true, users: { secret: { name: "plain" } } });
  const create = (client: Client) =>
    client.api(ConfigMap).create({ metadata: { name: "a", namespace: "default" } }, { dryRun: true });
  assertEquals((await create(server.client())).metadata.name, "a");
  await assertRejects(() => create(server.client({ token: "secret" })), ApiError, `User "plain" cannot create`);
});
