import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { delay } from "../../delay.ts";
import { ApiError } from "../../errors.ts";
import { Namespace } from "../../kinds.ts";
import type { ControlPlane, PlaneUser } from "../../testing/control_plane.ts";
import { ControlPlane as Plane } from "../../testing/control_plane.ts";
import { processesWith } from "../_processes.ts";
import { sharedControlPlane, startControlPlane } from "./_setup.ts";

const plane = sharedControlPlane({ users: { carol: ["readers"] } });

interface Answer {
  readonly code: number;
  // deno-lint-ignore no-explicit-any -- whatever the server answered
  readonly body: any;
}

/** One request as the user that a kubeconfig names. */
async function ask(on: ControlPlane, user: PlaneUser | undefined, path: string, body?: unknown): Promise<Answer> {
  const config = user === undefined ? "" : await Deno.readTextFile(user.kubeconfig);
  const pem = (field: string): string => atob(new RegExp(`${field}: (\\S+)`).exec(config)?.[1] ?? "");
  const cert = pem("client-certificate-data");
  using client = Deno.createHttpClient({
    caCerts: [on.ca],
    ...(cert === "" ? {} : { cert, key: pem("client-key-data") }),
  });
  const response = await fetch(on.url + path, {
    client,
    method: body === undefined ? "GET" : "POST",
    body: body === undefined ? null : JSON.stringify(body),
    headers: {
      "content-type": "application/json",
      ...(user?.token === undefined ? {} : { authorization: `Bearer ${user.token}` }),
    },
  });
  const text = await response.text();
  return { code: response.status, body: text.startsWith("{") ? JSON.parse(text) : text };
}

async function whoami(on: ControlPlane, user: PlaneUser): Promise<{ username: string; groups: string[] }> {
  const { body } = await ask(on, user, "/apis/authentication.k8s.io/v1/selfsubjectreviews", {});
  return body.status.userInfo;
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function folderOf(on: ControlPlane): string {
  return on.kubeconfig.slice(0, on.kubeconfig.lastIndexOf("/"));
}

Deno.test("ControlPlane.start() resolves when the server is ready and has the namespace default", async () => {
  assertEquals((await ask(plane(), undefined, "/readyz")).body, "ok");
  const { code, body } = await ask(plane(), plane().admin, "/api/v1/namespaces/default");
  assertEquals([code, body.metadata.name], [200, "default"]);
  assertMatch((await ask(plane(), undefined, "/version")).body.gitVersion, /^v1\.\d+\.\d+/);
});

Deno.test("ControlPlane.user() answers with users whose names and groups the server knows", async () => {
  const alice = plane().user("alice", ["developers", "cooks"]);
  assertEquals(alice.token, undefined);
  const { username, groups } = await whoami(plane(), alice);
  assertEquals([username, groups], ["alice", ["developers", "cooks", "system:authenticated"]]);

  const carol = await whoami(plane(), plane().user("carol"));
  assertEquals([carol.username, carol.groups], ["carol", ["readers", "system:authenticated"]]);
});

Deno.test("The server refuses what no role of a user allows, and allows it once one does", async () => {
  const bob = plane().user("bob");
  const refused = await ask(plane(), bob, "/api/v1/namespaces/default/configmaps");
  assertEquals([refused.code, refused.body.reason], [403, "Forbidden"]);

  const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
  const role = { metadata: { name: "bob" }, rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }] };
  assertEquals((await ask(plane(), plane().admin, `${rbac}/roles`, role)).code, 201);
  const binding = {
    metadata: { name: "bob" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "bob" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "bob" }],
  };
  assertEquals((await ask(plane(), plane().admin, `${rbac}/rolebindings`, binding)).code, 201);

  let code = 0;
  for (let attempt = 0; attempt < 100 && code !== 200; attempt++) {
    code = (await ask(plane(), bob, "/api/v1/namespaces/default/configmaps")).code;
    if (code !== 200) await delay(50);
  }
  assertEquals(code, 200);
});

Deno.test("The server refuses requests without credentials but for its health and version", async () => {
  const { code, body } = await ask(plane(), undefined, "/api/v1/namespaces");
  assertEquals([code, body.reason], [403, "Forbidden"]);
  assertMatch(body.message, /system:anonymous/);
});

Deno.test("ControlPlane.serviceAccount() makes the account and gives its token", async () => {
  const account = await plane().serviceAccount("default", "robot");
  assertEquals((await whoami(plane(), account)).username, "system:serviceaccount:default:robot");
  const again = await plane().serviceAccount("default", "robot", { expires: { minutes: 10 } });
  assertEquals((await whoami(plane(), again)).username, account.name);
  await assertRejects(() => plane().serviceAccount("nowhere", "robot"), Error, 'namespaces "nowhere" not found');
});

Deno.test("An owner reference that blocks deletion needs permission on the owner's finalizers", async () => {
  const account = await plane().serviceAccount("default", "owner");
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const name = "configmap-maker";
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create"] }];
  await ask(plane(), plane().admin, `${rbac}/clusterroles`, { metadata: { name }, rules });
  await ask(plane(), plane().admin, `${rbac}/clusterrolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [{ kind: "ServiceAccount", namespace: "default", name: "owner" }],
  });
  const maps = "/api/v1/namespaces/default/configmaps";
  const draft = (ownerReferences: unknown[]) => ({ metadata: { generateName: "owned-", ownerReferences } });
  for (let attempt = 0; (await ask(plane(), account, maps, draft([]))).code !== 201; attempt++) {
    assert(attempt < 100, "the role is never in effect");
    await delay(50);
  }
  const owner = { apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "1", blockOwnerDeletion: true };
  const { code, body } = await ask(plane(), account, maps, draft([owner]));
  assertEquals(code, 403);
  assertMatch(body.message, /cannot set blockOwnerDeletion/);
});

Deno.test("ControlPlane.client() sends requests as the admin, or as the given user", async () => {
  await using admin = plane().client();
  assertEquals((await admin.api(Namespace).get("default")).metadata.name, "default");
  await using dave = plane().client(plane().user("dave"), { namespace: "kube-system" });
  await assertRejects(() => dave.api(Namespace).get("default"), ApiError, 'User "dave" cannot get');
  assertEquals(await dave.namespace(), "kube-system");
});

Deno.test("ControlPlane.restart() keeps the address and the data", async () => {
  const map = { metadata: { name: "kept" }, data: { a: "b" } };
  assertEquals((await ask(plane(), plane().admin, "/api/v1/namespaces/default/configmaps", map)).code, 201);
  await plane().stop();
  await assertRejects(() => ask(plane(), plane().admin, "/readyz"), TypeError);
  await plane().restart();
  const kept = await ask(plane(), plane().admin, "/api/v1/namespaces/default/configmaps/kept");
  assertEquals(kept.body.data, { a: "b" });
});

Deno.test("ControlPlane.pause() leaves requests without an answer until resume()", async () => {
  await plane().pause();
  let answered = false;
  const asked = ask(plane(), plane().admin, "/readyz").then((answer) => {
    answered = true;
    return answer;
  });
  await delay(300);
  assertEquals(answered, false);
  plane().resume();
  assertEquals((await asked).code, 200);
});

Deno.test("ControlPlane.pause() of etcd leaves writes without an answer until resume(), while the server answers what it knows", async () => {
  assertEquals((await fetch(`${plane().etcd}/health`).then((answer) => answer.json())).health, "true");
  await plane().pause({ etcd: true });
  let answered = false;
  const map = { metadata: { generateName: "late-" } };
  const written = ask(plane(), plane().admin, "/api/v1/namespaces/default/configmaps", map).then((answer) => {
    answered = true;
    return answer;
  });
  assertEquals((await ask(plane(), plane().admin, "/version")).code, 200);
  await delay(300);
  assertEquals(answered, false);
  plane().resume();
  assertEquals((await written).code, 201);
});

Deno.test("Disposal ends both programs and deletes the folder", async () => {
  const own = await startControlPlane();
  const folder = folderOf(own);
  assert((await processesWith(folder)).length >= 2);
  await own[Symbol.asyncDispose]();
  assertEquals(await processesWith(folder), []);
  assertEquals(await exists(folder), false);
  await own[Symbol.asyncDispose]();
});

Deno.test("A control plane's programs and files are gone soon after its process was killed", async () => {
  const program = `
    import { startControlPlane } from ${JSON.stringify(import.meta.resolve("./_setup.ts"))};
    const plane = await startControlPlane();
    console.log(plane.kubeconfig);
    setInterval(() => {}, 1000);
  `;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["eval", "--quiet", program],
    cwd: import.meta.dirname!,
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const kubeconfig = ((await reader.read()).value ?? "").trim();
  const folder = kubeconfig.slice(0, kubeconfig.lastIndexOf("/"));
  assert((await processesWith(folder)).length >= 2);
  child.kill("SIGKILL");
  await child.status;
  await reader.cancel();
  for (let attempt = 0; await exists(folder); attempt++) {
    assert(attempt < 100, `${folder} is still there`);
    await delay(50);
  }
  assertEquals(await processesWith(folder), []);
});

Deno.test("ControlPlane.start() tells with the program's output why one ended, and leaves nothing", async () => {
  const marker = `tend-test-${crypto.randomUUID()}`;
  const error = await assertRejects(() => startControlPlane({ flags: { "no-such-flag": marker } }), Error);
  assertMatch(error.message, /kube-apiserver ended[^]*unknown flag: --no-such-flag/);
  assertEquals(await processesWith(marker), []);
});

Deno.test("ControlPlane.start() gives up when the server is not ready in time, and leaves nothing", async () => {
  const marker = `https://${crypto.randomUUID()}.test`;
  const start = () => startControlPlane({ timeout: 100, flags: { "service-account-jwks-uri": `${marker}/keys` } });
  await assertRejects(start, Error, "it is not ready in 100 ms");
  assertEquals(await processesWith(marker), []);
});

Deno.test("ControlPlane.start() says where the programs come from when there is no such folder", async () => {
  await assertRejects(() => Plane.start({ assets: "" }), TypeError, "KUBEBUILDER_ASSETS");
  await assertRejects(() => Plane.start({ assets: "/no/such/folder" }), Deno.errors.NotFound);
});
