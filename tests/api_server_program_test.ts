import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { program } from "../testing/_program.ts";
import { tokenUsers } from "../testing/_token_file.ts";
import { ROOT } from "./_deno.ts";

const HAS_KUBECTL = await new Deno.Command("kubectl", { args: ["version", "--client"] }).output()
  .then(({ success }) => success, () => false);
if (!HAS_KUBECTL) console.log("Tests of the API server with kubectl are skipped: there is no kubectl");

const WIDGETS = `
apiVersion: v1
kind: Namespace
metadata: { name: shop }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: settings, namespace: shop }
data: { color: blue }
`;

/** A folder for one test. */
async function folder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await Deno.makeTempDir({ prefix: "tend-api-server-" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

/** The program as a process, when it is ready. */
class Process implements AsyncDisposable {
  /** What it printed when it was ready. */
  readonly line: string;
  readonly #child: Deno.ChildProcess;
  readonly #rest: Promise<string>;

  private constructor(child: Deno.ChildProcess, line: string, rest: Promise<string>) {
    this.#child = child;
    this.line = line;
    this.#rest = rest;
  }

  static async start(args: readonly string[]): Promise<Process> {
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", `${ROOT}/testing/api_server_main.ts`, ...args],
      env: { DENO_NO_UPDATE_CHECK: "1" },
      stdin: "null",
      stdout: "piped",
    }).spawn();
    const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("\n")) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`The program ended with ${(await child.status).code}: ${text}`);
      text += value;
    }
    const rest = (async () => {
      let more = text.slice(text.indexOf("\n") + 1);
      for (let next = await reader.read(); !next.done; next = await reader.read()) more += next.value;
      return more;
    })();
    return new Process(child, text.slice(0, text.indexOf("\n")), rest);
  }

  /** Ends it; answers with the exit code and what it printed besides. */
  async stop(signal: Deno.Signal = "SIGTERM"): Promise<{ code: number; rest: string }> {
    this.#child.kill(signal);
    const { code } = await this.#child.status;
    return { code, rest: await this.#rest };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await this.#child.status;
    await this.#rest;
  }
}

async function kubectl(args: string, kubeconfig: string, input = ""): Promise<string> {
  const child = new Deno.Command("kubectl", {
    args: args.split(" "),
    env: { KUBECONFIG: kubeconfig, HOME: kubeconfig.slice(0, kubeconfig.lastIndexOf("/")) },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { stdout, stderr } = await child.output();
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}

/** Runs the program in process; answers with its exit code and its lines. */
async function inProcess(...args: string[]): Promise<{ code: number; printed: string[]; complained: string[] }> {
  const printed: string[] = [], complained: string[] = [];
  const io = { print: (line: string) => printed.push(line), complain: (line: string) => complained.push(line) };
  const code = await program(args, { ...io, signal: AbortSignal.abort() });
  return { code, printed, complained };
}

Deno.test("The API server program says in one line that it is ready, ends with 0 and takes its kubeconfig with it", async () => {
  await using place = await folder();
  const kubeconfig = `${place.path}/kubeconfig`;
  await Deno.writeTextFile(`${place.path}/load.yaml`, WIDGETS);
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    await using server = await Process.start(["--kubeconfig", kubeconfig, "--load", `${place.path}/load.yaml`]);
    assertMatch(server.line, /^api-server: ready on http:\/\/127\.0\.0\.1:\d+ with kubeconfig .*\/kubeconfig$/);
    assertStringIncludes(await Deno.readTextFile(kubeconfig), /http:\S+/.exec(server.line)![0]);
    const response = await fetch(`${/http:\S+/.exec(server.line)![0]}/api/v1/namespaces/shop/configmaps/settings`);
    assertEquals((await response.json()).data, { color: "blue" });
    assertEquals(await server.stop(signal), { code: 0, rest: "" });
    assertEquals(Array.from(Deno.readDirSync(place.path), ({ name }) => name), ["load.yaml"]);
  }
});

Deno.test("The API server program looks at shard selectors where it is told to", async () => {
  for (const [flags, status] of [[[], 200], [["--sharding"], 500]] as const) {
    await using server = await Process.start([...flags]);
    const response = await fetch(`${/http:\S+/.exec(server.line)![0]}/api/v1/configmaps?shardSelector=none`);
    assertEquals([response.status, (await response.text()) === ""], [status, false]);
    await server.stop();
  }
});

Deno.test({
  name: "kubectl works with the API server program over plain HTTP, as a cluster admin",
  ignore: !HAS_KUBECTL,
  fn: async () => {
    await using place = await folder();
    const kubeconfig = `${place.path}/kubeconfig`;
    await using server = await Process.start(["--kubeconfig", kubeconfig, "--controllers", "*"]);
    assertEquals(
      await kubectl("apply -f -", kubeconfig, WIDGETS),
      "namespace/shop created\nconfigmap/settings created\n",
    );
    assertEquals(await kubectl("get configmap -n shop settings -o jsonpath={.data.color}", kubeconfig), "blue");
    assertEquals(await kubectl("auth can-i * *", kubeconfig), "yes\n");
    assertMatch(await kubectl("create deployment web -n shop --image=web --replicas=2", kubeconfig), /web created/);
    const rollout = await kubectl("rollout status deployment/web -n shop --timeout=20s", kubeconfig);
    assertMatch(rollout, /deployment "web" successfully rolled out\n$/);
    assertMatch(await kubectl("get deployment web -n shop --no-headers", kubeconfig), /^web +2\/2 +2 +2 /);
    const image = "set image deployment/web -n shop web=web:2";
    assertMatch(await kubectl(image, kubeconfig), /image updated/);
    await kubectl("rollout status deployment/web -n shop --timeout=20s", kubeconfig);
    assertMatch(await kubectl("rollout history deployment/web -n shop", kubeconfig), /1 +<none>\n2 +<none>/);
    assertMatch(await kubectl("rollout undo deployment/web -n shop", kubeconfig), /rolled back/);
    assertEquals(await kubectl("delete namespace shop --timeout=20s", kubeconfig), 'namespace "shop" deleted\n');
    assertEquals(await kubectl("get namespace shop --ignore-not-found", kubeconfig), "");
    assertEquals(await server.stop(), { code: 0, rest: "" });
  },
});

Deno.test({
  name: "kubectl's users are told apart over HTTPS, and held to the roles with authorization",
  ignore: !HAS_KUBECTL,
  fn: async () => {
    await using place = await folder();
    const kubeconfig = `${place.path}/kubeconfig`;
    await Deno.writeTextFile(`${place.path}/users.csv`, 'secret-1,ada,1,"dev,ops"\nsecret-2,root,2,system:masters\n');
    const flags = ["--kubeconfig", kubeconfig, "--authorization", "--token-file", `${place.path}/users.csv`];
    await using server = await Process.start(flags);
    assertMatch(server.line, / https:\/\/127\.0\.0\.1:\d+ /);
    assertMatch(await kubectl("auth whoami", kubeconfig), /kubernetes-admin/);
    assertEquals(await kubectl("auth can-i * *", kubeconfig), "yes\n");
    assertMatch(await kubectl("auth whoami --token=secret-1", kubeconfig), /ada[^]*\[dev ops system:authenticated\]/);
    assertMatch(
      await kubectl("get secrets --token=secret-1", kubeconfig),
      /User "ada" cannot list resource "secrets" in API group "" in the namespace "default"/,
    );
    const grants = ["role ops --verb=list --resource=configmaps", "rolebinding ops --role=ops --group=ops"];
    for (const grant of grants) assertMatch(await kubectl(`create ${grant}`, kubeconfig), /ops created\n$/);
    assertEquals(
      await kubectl("get configmaps --token=secret-1", kubeconfig),
      "No resources found in default namespace.\n",
    );
    assertEquals(
      await kubectl("get secrets --token=secret-2", kubeconfig),
      "No resources found in default namespace.\n",
    );
    assertMatch(await kubectl("get secrets --token=unknown", kubeconfig), /Unauthorized|must be logged in/);
    assertEquals(await server.stop(), { code: 0, rest: "" });
  },
});

Deno.test({
  name: "kubectl is a cluster admin by its certificate where clients are asked for certificates",
  ignore: !HAS_KUBECTL,
  fn: async () => {
    await using place = await folder();
    const kubeconfig = `${place.path}/kubeconfig`;
    const flags = ["--kubeconfig", kubeconfig, "--client-certificates", "--authorization"];
    await using server = await Process.start(flags);
    assertMatch(server.line, / https:\/\/127\.0\.0\.1:\d+ /);
    const text = await Deno.readTextFile(kubeconfig);
    assertEquals([text.includes("client-certificate-data"), text.includes("token")], [true, false]);
    assertMatch(
      await kubectl("auth whoami", kubeconfig),
      /kubernetes-admin[^]*\[system:masters system:authenticated\][^]*X509SHA256=/,
    );
    assertEquals(await kubectl("auth can-i * *", kubeconfig), "yes\n");
    assertEquals(await server.stop(), { code: 0, rest: "" });
  },
});

Deno.test("The API server program refuses a command line that makes no sense, in one line and with 2", async () => {
  await using place = await folder();
  const broken = `${place.path}/users.csv`, other = `${place.path}/config`;
  await Deno.writeTextFile(broken, "\nsecret,ada\n");
  await Deno.writeTextFile(other, "apiVersion: v1\n");
  const cases: [args: string[], message: string][] = [
    [["--prot", "1"], "Unknown option '--prot'"],
    [["serve"], "Unexpected argument 'serve'"],
    [["--port"], "Option '--port <value>' argument missing"],
    [["--port="], "--port needs a value"],
    [["--port", "http"], '--port must be an integer from 0 to 65535: current value is "http"'],
    [["--port", "65536"], '--port must be an integer from 0 to 65535: current value is "65536"'],
    [["--controllers", "jobs"], `--controllers must be of `],
    [["--controller-delay", "-1"], "Option '--controller-delay' argument is ambiguous"],
    [["--load", `${place.path}/none.yaml`], "Cannot read --load"],
    [["--token-file", broken], 'line 2 must be token,user,uid,"group1,group2"'],
    [["--kubeconfig", other], "there is a file that api-server did not write"],
    [["--kubeconfig", `${place.path}/none/config`], "Cannot write --kubeconfig"],
    [["--kubeconfig", place.path], "Cannot write --kubeconfig"],
  ];
  for (const [args, message] of cases) {
    const { code, printed, complained } = await inProcess(...args);
    assertEquals([code, printed, complained.length], [2, [], 1], `${args}`);
    const [line = ""] = complained;
    assert(line.startsWith("api-server: ") && line.includes(message) && !line.includes("\n"), line);
    assert(!line.includes("secret,"), line);
  }
  assertEquals(await Deno.readTextFile(other), "apiVersion: v1\n");
});

Deno.test("The API server program fails with 1 when its port is taken or what it loads is refused", async () => {
  await using place = await folder();
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const taken = await inProcess("--port", String((listener.addr as Deno.NetAddr).port));
  assertEquals([taken.code, taken.printed], [1, []]);
  const file = `${place.path}/load.yaml`, kubeconfig = `${place.path}/kubeconfig`;
  await Deno.writeTextFile(file, "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: A }\n");
  const refused = await inProcess("--load", file, "--kubeconfig", kubeconfig);
  assertEquals([refused.code, refused.printed, refused.complained.length], [1, [], 1]);
  assertMatch(refused.complained[0]!, /^api-server: Cannot apply ConfigMap "A": the server answered 422: /);
  assertEquals(Array.from(Deno.readDirSync(place.path), ({ name }) => name), ["load.yaml"]);
});

Deno.test("The API server program lists its flags", async () => {
  const { code, printed } = await inProcess("--help");
  assertEquals(code, 0);
  for (const name of ["port", "kubeconfig", "load", "token-file", "client-certificates", "controllers"]) {
    assertStringIncludes(printed[0]!, `--${name} `);
  }
});

Deno.test("A token file has tokens, users, uids and groups, with quotes where there are commas", () => {
  assertEquals(tokenUsers('a,ada,1\r\n\n b , "x ""y""" , 2 , "dev, ops,"\nc,eve,,ops\n'), {
    a: { name: "ada", uid: "1", groups: [] },
    b: { name: 'x "y"', uid: "2", groups: ["dev", "ops"] },
    c: { name: "eve", uid: "", groups: ["ops"] },
  });
});
