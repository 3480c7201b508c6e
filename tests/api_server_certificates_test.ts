import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { parseYaml } from "../testing/_codec.ts";
import { Authority } from "../testing/_certificates.ts";
import { ApiServer, type Listening } from "../testing/mod.ts";

/** What a kubeconfig says of its user. */
interface Credentials {
  readonly token?: string;
  readonly cert?: string;
  readonly key?: string;
}

function credentialsOf(kubeconfig: string): Credentials {
  const { users } = parseYaml(kubeconfig) as { users: { user: Record<string, string> }[] };
  const { token, "client-certificate-data": cert, "client-key-data": key } = users[0]!.user;
  if (token !== undefined) return { token };
  return cert === undefined || key === undefined ? {} : { cert: atob(cert), key: atob(key) };
}

/** Sends one request on a connection of its own. */
async function ask(
  { url, ca }: Listening,
  path: string,
  { cert, key, token }: Credentials,
  init: RequestInit = {},
): Promise<{ status: number; body: unknown }> {
  using client = Deno.createHttpClient({ caCerts: [ca!], ...(cert && key ? { cert, key } : {}) });
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(url + path, {
    ...init,
    client,
    headers: { ...headers, "content-type": "application/json" },
  });
  return { status: response.status, body: await response.json() };
}

/** Who the server says somebody is. */
async function whoIs(listening: Listening, credentials: Credentials): Promise<Record<string, unknown>> {
  const body = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });
  const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const answer = await ask(listening, path, credentials, { method: "POST", body });
  assertEquals(answer.status, 201, JSON.stringify(answer.body));
  return (answer.body as { status: { userInfo: Record<string, unknown> } }).status.userInfo;
}

Deno.test("A client certificate says who asks: the name of its subject, with its organizations as groups", async () => {
  await using server = new ApiServer({ authorization: true });
  const listening = await server.listen({ clientCertificates: true });
  assertStringIncludes(listening.url, "https://");
  const user = await whoIs(listening, credentialsOf(listening.kubeconfigOf("ada", ["dev", "ops"])));
  assertEquals([user.username, user.groups], ["ada", ["dev", "ops", "system:authenticated"]]);
  const { extra } = user as { extra: Record<string, string[]> };
  assertEquals(/^X509SHA256=[0-9a-f]{64}$/.test(extra["authentication.kubernetes.io/credential-id"]![0]!), true);
  const admin = await whoIs(listening, credentialsOf(listening.kubeconfig));
  assertEquals([admin.username, admin.groups], ["kubernetes-admin", ["system:masters", "system:authenticated"]]);
});

Deno.test("Users with a certificate are held to the roles, and recorded", async () => {
  await using server = new ApiServer({ authorization: true });
  const listening = await server.listen({ clientCertificates: true });
  const ada = credentialsOf(listening.kubeconfigOf("ada"));
  const { status, body } = await ask(listening, "/api/v1/namespaces/default/configmaps", ada);
  assertEquals(status, 403);
  assertStringIncludes((body as { message: string }).message, 'User "ada" cannot list resource "configmaps"');
  assertEquals(server.requests.at(-1)?.user, "ada");
});

Deno.test("Where clients are asked for certificates, tokens and nothing at all still do", async () => {
  await using server = new ApiServer({ authorization: true, users: { secret: { name: "bob" } } });
  const listening = await server.listen({ clientCertificates: true });
  const bob = await whoIs(listening, { token: "secret" });
  assertEquals(bob.username, "bob");
  const { status, body } = await ask(listening, "/api/v1/pods", {});
  assertEquals(status, 403);
  assertStringIncludes((body as { message: string }).message, "system:anonymous");
});

Deno.test("A certificate goes before a token, and one of another authority is 401 unless a token is good", async () => {
  await using server = new ApiServer({ authorization: true, users: { secret: { name: "bob" } } });
  const listening = await server.listen({ clientCertificates: true });
  const ada = credentialsOf(listening.kubeconfigOf("ada"));
  assertEquals((await whoIs(listening, { ...ada, token: "secret" })).username, "ada");
  const other = new Authority("other").client("eve", ["system:masters"]);
  assertEquals((await ask(listening, "/api/v1/pods", other)).status, 401);
  assertEquals((await whoIs(listening, { ...other, token: "secret" })).username, "bob");
});

Deno.test("Without client certificates a kubeconfig of any user has a token", async () => {
  await using server = new ApiServer({ authorization: true });
  const listening = await server.listen({ tls: true });
  const user = await whoIs(listening, credentialsOf(listening.kubeconfigOf("ada", ["dev"])));
  assertEquals([user.username, user.groups], ["ada", ["dev", "system:authenticated"]]);
});

Deno.test("A watch over a connection with a certificate is told of changes, ends with the server, and leaves with the client", async () => {
  await using server = new ApiServer();
  const listening = await server.listen({ clientCertificates: true });
  using client = Deno.createHttpClient({ caCerts: [listening.ca!] });
  const abort = new AbortController();
  const path = `${listening.url}/api/v1/namespaces/default/configmaps?watch=1`;
  const [first, second] = [await fetch(path, { client, signal: abort.signal }), await fetch(path, { client })];
  const reader = first.body!.getReader();
  await server.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } });
  assertStringIncludes(new TextDecoder().decode((await reader.read()).value), '"ADDED"');
  abort.abort();
  await assertRejects(() => reader.read(), DOMException);
  const text = second.text();
  await server.close();
  assertStringIncludes(await text, '"ADDED"');
});

Deno.test("A server closes at once after clients with certificates have left their watches", async () => {
  await using server = new ApiServer();
  const listening = await server.listen({ clientCertificates: true });
  for (let round = 0; round < 5; round++) {
    using client = Deno.createHttpClient({ caCerts: [listening.ca!] });
    const abort = new AbortController();
    const path = `${listening.url}/api/v1/namespaces?watch=1`;
    const response = await fetch(path, { client, signal: abort.signal });
    const reader = response.body!.getReader();
    await reader.read();
    abort.abort();
    await assertRejects(() => reader.read(), DOMException);
  }
  await server.close();
});

Deno.test("A large body goes there and back over a connection with a certificate", async () => {
  await using server = new ApiServer();
  const listening = await server.listen({ clientCertificates: true });
  const data = { k: "x".repeat(1_000_000) };
  const body = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data });
  const admin = credentialsOf(listening.kubeconfig);
  const made = await ask(listening, "/api/v1/namespaces/default/configmaps", admin, { method: "POST", body });
  assertEquals([made.status, (made.body as { data: unknown }).data], [201, data]);
});

Deno.test("A fault breaks a connection with a certificate, too", async () => {
  await using server = new ApiServer();
  const listening = await server.listen({ clientCertificates: true });
  server.faults.add({ verb: "get", resource: "namespaces", times: 1 }, { reset: "before" });
  const admin = credentialsOf(listening.kubeconfig);
  await assertRejects(() => ask(listening, "/api/v1/namespaces/default", admin), TypeError);
  assertEquals((await ask(listening, "/api/v1/namespaces/default", admin)).status, 200);
});
