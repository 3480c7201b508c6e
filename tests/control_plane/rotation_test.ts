import { assert, assertEquals, assertLess } from "@std/assert";
import { createPrivateKey, sign } from "node:crypto";
import { Client, type ClientOptions } from "../../client.ts";
import { delay } from "../../delay.ts";
import { ClusterRoleBinding } from "../../kinds.ts";
import type { PlaneUser } from "../../testing/control_plane.ts";
import { Thing } from "../_operator.ts";
import { applyAll, makeNamespace } from "./_cluster.ts";
import { Churn, leads, lease, Noting } from "./_faults.ts";
import { sharedControlPlane } from "./_setup.ts";
import { until } from "./_wait.ts";

const plane = sharedControlPlane();

Deno.test.beforeAll(async () => {
  await using client = plane().client();
  await applyAll(client, [Thing.crd()]);
});

/** How long past its end the server takes a token, in ms, as clocks may differ. */
const LEEWAY = 60_000;
/** How long the server remembers that a token was good, in ms. */
const REMEMBERED = 10_000;
const SLACK = 6000;

/** A service account that may do everything. */
async function account(name: string): Promise<() => Promise<string>> {
  await using client = plane().client();
  await applyAll(client, [ClusterRoleBinding.draft({
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "ServiceAccount", name, namespace: "default" }],
  })]);
  return async () => (await plane().serviceAccount("default", name, { expires: { minutes: 10 } })).token!;
}

/** A token that the server issued, but which it refuses in so many ms: no server issues one for less than ten minutes. */
async function ending(token: string, ms: number): Promise<string> {
  const folder = plane().kubeconfig.replace(/\/[^/]*$/, "");
  const key = createPrivateKey(await Deno.readTextFile(`${folder}/service-account.key`));
  const [header, payload] = token.split(".");
  const claims = JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(payload!, { alphabet: "base64url" })));
  const exp = Math.floor((Date.now() - LEEWAY + ms) / 1000);
  const body = JSON.stringify({ ...claims, exp, iat: exp - 600, nbf: exp - 600 });
  const base64url = (bytes: Uint8Array) => bytes.toBase64({ alphabet: "base64url", omitPadding: true });
  const signed = `${header}.${base64url(new TextEncoder().encode(body))}`;
  const signature = sign("sha256", new TextEncoder().encode(signed), { key, dsaEncoding: "ieee-p1363" });
  return `${signed}.${base64url(new Uint8Array(signature))}`;
}

/** A service account's folder, whose files are replaced as kubelet does: all at once, by one link. */
class Mount implements AsyncDisposable {
  readonly folder: string = Deno.makeTempDirSync({ prefix: "tend-mount-" });
  #version = 0;

  async write(token: string): Promise<void> {
    const version = `..${++this.#version}`;
    await Deno.mkdir(`${this.folder}/${version}`);
    for (const [name, text] of Object.entries({ token, "ca.crt": plane().ca, namespace: "default" })) {
      await Deno.writeTextFile(`${this.folder}/${version}/${name}`, text);
      if (this.#version === 1) await Deno.symlink(`..data/${name}`, `${this.folder}/${name}`);
    }
    await Deno.symlink(version, `${this.folder}/..data_tmp`);
    await Deno.rename(`${this.folder}/..data_tmp`, `${this.folder}/..data`);
    if (this.#version > 1) await Deno.remove(`${this.folder}/..${this.#version - 1}`, { recursive: true });
  }

  /** What a client in a pod with this folder goes by. */
  get options(): ClientOptions {
    const { hostname, port } = new URL(plane().url);
    const env: Record<string, string> = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
    return { serviceAccountDir: this.folder, env: (name) => env[name] };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

Deno.test("An operator outlives its service account's tokens: one that was replaced in time costs a repeat, a late one a pause (B59)", async () => {
  await using admin = plane().client();
  const issue = await account("rotating");
  await using mount = new Mount();
  await mount.write(await ending(await issue(), 4000));
  const namespace = await makeNamespace(admin);
  const churn = new Churn(admin, namespace);
  await churn.create("first");
  await using client = new Client(mount.options);
  await using one = new Noting(client, namespace, "one");
  await leads(admin, namespace, "one");
  await churn.settled("The work with the first token");
  await using _two = new Noting(admin, namespace, "two");

  // Kubelet replaces the file before the token ends; who has read it goes on with the old one until it is refused.
  await mount.write(await ending(await issue(), 4000 + REMEMBERED));
  const refused = () => one.codes.filter((code) => code === 401).length;
  await until("A refused token", () => Promise.resolve(refused() > 0));
  await churn.round("second");
  await churn.settled("The work with the second token");
  assertEquals(await lease(admin, namespace), { holder: "one", changes: 0 });

  const before = refused();
  await until("Another refused token", () => Promise.resolve(refused() > before));
  await churn.round("third");
  await delay(1500);
  await mount.write(await issue());
  const took = await churn.settled("The work with the third token");
  // Read again 1, 2 and 4 s after the refusal.
  assertLess(took, 4000 + SLACK);
  const { length } = one.codes;
  await churn.round("fourth");
  await churn.settled("The work after it");
  assertEquals(one.codes.slice(length).filter((code) => code === 401), []);
});

/** The certificate and key in a user's kubeconfig. */
async function pairOf(user: PlaneUser): Promise<{ cert: string; key: string }> {
  const config = await Deno.readTextFile(user.kubeconfig);
  const pem = (field: string): string => atob(new RegExp(`${field}: (\\S+)`).exec(config)![1]!);
  return { cert: pem("client-certificate-data"), key: pem("client-key-data") };
}

Deno.test("A client certificate that is replaced on disk, one file after the other, is used on new connections without a restart (B62)", async () => {
  await using admin = plane().client();
  const folder = await Deno.makeTempDir({ prefix: "tend-certificate-" });
  await using _ = { [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
  const write = (name: string, text: string) => Deno.writeTextFile(`${folder}/${name}`, text, { mode: 0o600 });
  const [old, next] = [
    await pairOf(plane().user("before", ["system:masters"])),
    await pairOf(plane().user("after", ["system:masters"])),
  ];
  await write("user.crt", old.cert);
  await write("user.key", old.key);
  await write("ca.crt", plane().ca);
  await write(
    "config",
    JSON.stringify({
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "c", user: "c" } }],
      clusters: [{ name: "c", cluster: { server: plane().url, "certificate-authority": "ca.crt" } }],
      users: [{ name: "c", user: { "client-certificate": "user.crt", "client-key": "user.key" } }],
    }),
  );
  let ahead = 0; // Files are read once a minute by this clock.
  await using client = new Client({ kubeconfig: `${folder}/config`, now: () => performance.now() + ahead });
  const whoami = async (): Promise<string> => {
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const { status } = await client.request<{ status: { userInfo: { username: string } } }>(
      { method: "POST", path, body },
    );
    return status.userInfo.username;
  };
  const namespace = await makeNamespace(admin);
  const churn = new Churn(admin, namespace);
  await churn.create("first");
  await using one = new Noting(client, namespace, "one");
  await leads(admin, namespace, "one");
  await churn.settled("The work with the first certificate");
  assertEquals(await whoami(), "before");

  await write("user.crt", next.cert);
  ahead += 60_000;
  assertEquals(await whoami(), "before");
  await write("user.key", next.key);
  ahead += 1000;
  assertEquals(await whoami(), "after");
  await churn.round("second");
  await churn.settled("The work with the second certificate");
  assertEquals(await lease(admin, namespace), { holder: "one", changes: 0 });
  assert(!one.codes.includes("<error>") && !one.codes.includes(401));
});
