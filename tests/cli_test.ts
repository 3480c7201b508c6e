import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { parseAll } from "@std/yaml";
import { reset } from "@logtape/logtape";
import { commandLine, type CommandLineOperator } from "../cli.ts";
import type { RunOptions } from "../lifecycle.ts";
import type { ManifestOptions } from "../manifests.ts";
import { Operator } from "../operator.ts";
import { deno } from "./_deno.ts";
import { things } from "./_operator.ts";

/** How a command line ended, and what it wrote. */
interface Outcome {
  readonly code: number;
  readonly printed: string;
  readonly complained: string[];
}

async function cli(operator: CommandLineOperator, ...args: string[]): Promise<Outcome> {
  const printed: string[] = [];
  const complained: string[] = [];
  const code = await commandLine(operator, args, {
    print: (text) => printed.push(text),
    complain: (text) => complained.push(text),
  });
  return { code, printed: printed.join("\n"), complained };
}

/** An operator that only notes what it is asked to run. */
function recorder(run: (options: RunOptions) => Promise<void> | void = () => {}): CommandLineOperator & {
  readonly runs: RunOptions[];
} {
  const runs: RunOptions[] = [];
  return {
    name: "tester",
    version: "1.2.3",
    runs,
    run: async (options) => {
      runs.push(options);
      await run(options);
    },
    crds: () => [],
    roles: () => [],
    manifests: () => [],
  };
}

function tester(): Operator {
  return new Operator("tester", { version: "1.2.3" })
    .leaderElection("default", "tester")
    .controller(things().reconcile(() => {}));
}

Deno.test("commandLine() runs the operator by default, on port 8080 and under its lease", async () => {
  for (const args of [[], ["run"]]) {
    const operator = recorder();
    assertEquals(await cli(operator, ...args), { code: 0, printed: "", complained: [] });
    assertEquals(operator.runs, [{
      connection: { kubeconfig: undefined, context: undefined },
      namespaces: undefined,
      address: ":8080",
      metricsAddress: undefined,
      leaderElection: true,
      identity: undefined,
      shutdownGrace: undefined,
    }]);
  }
});

Deno.test("commandLine() hands every flag of run on", async () => {
  const cases: [args: string[], options: RunOptions][] = [
    [["--kubeconfig", "a/b"], { connection: { kubeconfig: "a/b", context: undefined } }],
    [["--kubeconfig=a=b"], { connection: { kubeconfig: "a=b", context: undefined } }],
    [["--context", "staging"], { connection: { kubeconfig: undefined, context: "staging" } }],
    [["--namespaces", "a"], { namespaces: ["a"] }],
    [["--namespaces=a, b,a"], { namespaces: ["a", "b"] }],
    [["--address", "127.0.0.1:9000"], { address: "127.0.0.1:9000" }],
    [["--address=[::1]:9000"], { address: "[::1]:9000" }],
    [["--address=0"], { address: "0" }],
    [["--metrics-address=:9090"], { metricsAddress: ":9090" }],
    [["--metrics-address", "0"], { metricsAddress: "0" }],
    [["--leader-elect"], { leaderElection: true }],
    [["--no-leader-elect"], { leaderElection: false }],
    [["--identity=me"], { identity: "me" }],
    [["--shutdown-grace=90"], { shutdownGrace: 90_000 }],
    [["--shutdown-grace", "0"], { shutdownGrace: 0 }],
    [["--log-level=debug", "--log-format=text"], {}],
  ];
  for (const [args, options] of cases) {
    for (const all of [args, ["run", ...args], [...args, "run"]]) {
      const operator = recorder();
      assertEquals(await cli(operator, ...all), { code: 0, printed: "", complained: [] }, all.join(" "));
      for (const [key, value] of Object.entries(options)) {
        assertEquals(operator.runs[0]![key as keyof RunOptions], value, all.join(" "));
      }
    }
  }
});

Deno.test("commandLine() lets options without a flag win over flags", async () => {
  const operator = recorder();
  assertEquals(await commandLine(operator, ["--address=:1"], { run: { address: "0", signals: false } }), 0);
  assertEquals([operator.runs[0]!.address, operator.runs[0]!.signals], ["0", false]);
});

Deno.test("commandLine() refuses what it does not understand with one line that says what, by which rule, and code 2", async () => {
  const cases: [args: string[], message: string][] = [
    [["--nonsense"], "Unknown option '--nonsense'"],
    [["-x"], "Unknown option '-x'"],
    [["--no-help"], "Unknown option '--no-help'"],
    [["--no-kubeconfig"], "Unknown option '--no-kubeconfig'"],
    [["--nonsense\nsecond line"], "Unknown option '--nonsense second line'"],
    [["start"], `Unknown command "start": it must be one of run, manifests, crds, rbac`],
    [["run", "fast"], `Unknown command "run fast": it must be one of run, manifests, crds, rbac`],
    [["a\nb"], `Unknown command "a\\nb": it must be one of run, manifests, crds, rbac`],
    [["constructor"], `Unknown command "constructor": it must be one of run, manifests, crds, rbac`],
    [["--kubeconfig"], "Option '--kubeconfig <value>' argument missing"],
    [["--kubeconfig="], "--kubeconfig needs a value"],
    [["--kubeconfig", "--context=a"], "Option '--kubeconfig' argument is ambiguous"],
    [["--context="], "--context needs a value"],
    [["--identity="], "--identity needs a value"],
    [["--leader-elect=false"], "Option '--leader-elect' does not take an argument"],
    [
      ["--log-level=loud"],
      `--log-level must be one of trace, debug, info, warning, error, fatal: current value is "loud"`,
    ],
    [["--log-format=xml"], `--log-format must be one of text, json: current value is "xml"`],
    [["--shutdown-grace=soon"], `--shutdown-grace must be a whole number of at least 0: current value is "soon"`],
    [["--shutdown-grace=-1"], `--shutdown-grace must be a whole number of at least 0: current value is "-1"`],
    [["--shutdown-grace=1.5"], `--shutdown-grace must be a whole number of at least 0: current value is "1.5"`],
    [["--shutdown-grace=0x10"], `--shutdown-grace must be a whole number of at least 0: current value is "0x10"`],
    [["--shutdown-grace=99999999999999999"], "--shutdown-grace must be a whole number of at least 0"],
    [["--namespaces=A"], `--namespaces must be names of namespaces joined by commas: current value is "A"`],
    [["--namespaces=a,,b"], `--namespaces must be names of namespaces joined by commas: current value is "a,,b"`],
    [["--namespaces=a\nb"], `current value is "a\\nb"`],
    [["--address=nowhere"], "--address must be an address such as :8080, or 0 for none"],
    [["--address=:70000"], `current value is ":70000"`],
    [["--metrics-address=x:y"], "--metrics-address must be an address such as :8080, or 0 for none"],
    [["manifests", "--namespace=A"], `--namespace must be a namespace's name: current value is "A"`],
    [["manifests", "--replicas=many"], `--replicas must be a whole number of at least 0: current value is "many"`],
    [["manifests", "--image=a b"], `--image must be without spaces: current value is "a b"`],
    [["manifests", "--program=my operator.ts"], `--program must be without spaces: current value is "my operator.ts"`],
    [["manifests", "--program=a.ts", "--compiled"], "--program has no meaning with --compiled"],
    [["manifests", "--no-compiled"], "Unknown option '--no-compiled'"],
    [["--compiled"], `--compiled has no meaning for the command "run"`],
    [["manifests", "--address=:8080"], `--address has no meaning for the command "manifests"`],
    [["manifests", "--leader-elect"], `--leader-elect has no meaning for the command "manifests"`],
    [["crds", "--namespaces=a"], `--namespaces has no meaning for the command "crds"`],
    [["rbac", "--image=a"], `--image has no meaning for the command "rbac"`],
    [["rbac", "--log-level=info"], `--log-level has no meaning for the command "rbac"`],
    [["--replicas=2"], `--replicas has no meaning for the command "run"`],
    [["--create-namespace"], `--create-namespace has no meaning for the command "run"`],
  ];
  for (const [args, message] of cases) {
    const operator = recorder();
    const { code, printed, complained } = await cli(operator, ...args);
    assertEquals([code, printed, complained.length, operator.runs.length], [2, "", 1, 0], args.join(" "));
    assertStringIncludes(complained[0]!, `tester: `);
    assertStringIncludes(complained[0]!, message);
    assertMatch(complained[0]!, /^.+ \(see --help\)$/, "one line");
  }
});

Deno.test("commandLine() prints help that names every command and flag, whatever else is asked", async () => {
  for (
    const args of [["--help"], ["crds", "--help"], ["--help", "--replicas=x", "manifests"], ["--help", "--version"]]
  ) {
    const { code, printed, complained } = await cli(recorder(), ...args);
    assertEquals([code, complained], [0, []]);
    assertStringIncludes(printed, "Usage: tester [command] [flags]");
    for (const word of ["run", "manifests", "crds", "rbac"]) assertMatch(printed, new RegExp(`^  ${word} `, "m"));
    const flags = [...printed.matchAll(/^ {2}--([a-z-]+)(?: ([A-Z:,]+))? /gm)].map(([, flag]) => flag);
    assertEquals(flags, [
      "kubeconfig",
      "context",
      "namespaces",
      "address",
      "metrics-address",
      "log-level",
      "log-format",
      "leader-elect",
      "identity",
      "shutdown-grace",
      "image",
      "program",
      "compiled",
      "namespace",
      "replicas",
      "create-namespace",
      "help",
      "version",
    ]);
    assert(printed.split("\n").every((line) => line.length <= 120), "fits on a wide terminal");
  }
});

Deno.test("commandLine() prints name and version", async () => {
  assertEquals(await cli(tester(), "--version"), { code: 0, printed: "tester 1.2.3", complained: [] });
});

Deno.test("commandLine() prints as YAML exactly what the operator's methods answer with", async () => {
  const operator = tester();
  const cases: [args: string[], objects: readonly unknown[]][] = [
    [["manifests"], operator.manifests()],
    [["manifests", "--image=x:1"], operator.manifests({ image: "x:1" })],
    [["manifests", "--program=main.ts"], operator.manifests({ program: "main.ts" })],
    [["manifests", "--compiled"], operator.manifests({ program: false })],
    [["manifests", "--replicas=0"], operator.manifests({ replicas: 0 })],
    [
      ["manifests", "--namespace=ops", "--create-namespace", "--replicas=2", "--namespaces=a,b"],
      operator.manifests({ namespace: "ops", createNamespace: true, replicas: 2, namespaces: ["a", "b"] }),
    ],
    [["crds"], operator.crds()],
    [["rbac"], operator.roles()],
    [["rbac", "--namespace=ops", "--namespaces=a"], operator.roles({ namespace: "ops", namespaces: ["a"] })],
  ];
  for (const [args, objects] of cases) {
    const { code, printed, complained } = await cli(operator, ...args);
    assertEquals([code, complained], [0, []], args.join(" "));
    assertEquals<unknown>(parseAll(printed, { schema: "core" }), JSON.parse(JSON.stringify(objects)), args.join(" "));
  }
});

Deno.test("commandLine() prints Roles instead of a ClusterRole when namespaces are given", async () => {
  const kinds = async (...args: string[]): Promise<string[]> =>
    (parseAll((await cli(tester(), ...args)).printed, { schema: "core" }) as unknown[]).map((document) => {
      const { kind, metadata } = document as { kind: string; metadata: { name: string; namespace?: string } };
      return `${kind} ${metadata.namespace ?? "*"}`;
    });
  assertEquals(await kinds("rbac"), ["ClusterRole *", "ClusterRoleBinding *", "Role default", "RoleBinding default"]);
  assertEquals(await kinds("rbac", "--namespaces=a,b"), [
    "Role a",
    "RoleBinding a",
    "Role b",
    "RoleBinding b",
    "Role default",
    "RoleBinding default",
  ]);
});

Deno.test("commandLine() takes replicas that the operator cannot have for a wrong value", async () => {
  const alone = new Operator("tester").controller(things().reconcile(() => {}));
  const { code, complained } = await cli(alone, "manifests", "--replicas=2");
  assertEquals(code, 2);
  assertStringIncludes(complained[0]!, "'replicas' must be at most 1 without leader election");
});

Deno.test("commandLine() ends with code 1 and one line when printing fails", async () => {
  const broken: CommandLineOperator = {
    ...recorder(),
    manifests: (_options: ManifestOptions) => {
      throw new RangeError("Cannot define it");
    },
  };
  assertEquals(await cli(broken, "manifests"), { code: 1, printed: "", complained: ["tester: Cannot define it"] });
});

Deno.test("commandLine() ends with code 1 and a line of log when the run fails", async () => {
  const operator = recorder(() => Promise.reject(new Error("Cannot go on", { cause: new Error("because") })));
  const { code, printed, complained } = await cli(operator, "--log-format=json");
  assertEquals([code, printed, complained.length], [1, "", 1]);
  const { level, message, error } = JSON.parse(complained[0]!);
  assertEquals([level, message], ["fatal", "Operator tester ended with an error"]);
  assertEquals([error.message, error.cause.message], ["Cannot go on", "because"]);
});

Deno.test("commandLine() leaves logging as it was and no listener behind, also after an error", async () => {
  for (const fails of [false, true]) {
    const operator = recorder(() => {
      if (fails) throw new Error("no");
    });
    await cli(operator, "--log-format=json");
    const { code, complained } = await cli(operator, "--log-format=text");
    assertEquals(code, fails ? 1 : 0);
    assertEquals(complained.length, fails ? 1 : 0, "the second run has a log of its own");
  }
  await reset();
});

Deno.test("B22: commandLine() logs a promise that nobody awaits, and goes on", async () => {
  const operator = recorder(async () => {
    void Promise.reject(new Error("forgotten"));
    await new Promise((resolve) => setTimeout(resolve, 0));
  });
  const { code, complained } = await cli(operator, "--log-format=json");
  assertEquals([code, complained.length], [0, 1]);
  const { level, message, error } = JSON.parse(complained[0]!);
  assertEquals([level, message], ["error", "A promise that nobody awaits was rejected"]);
  assertEquals(error.message, "forgotten");
});

Deno.test("commandLine() has the random numbers of TLS seeded while the operator starts, and for no other command", async () => {
  const { generateKey } = crypto.subtle;
  const said: string[] = [];
  const { promise: seeded, resolve: seed } = Promise.withResolvers<void>();
  Object.defineProperty(crypto.subtle, "generateKey", {
    configurable: true,
    value: async (...args: Parameters<typeof generateKey>) => {
      said.push("seeding");
      await seeded;
      return await generateKey.apply(crypto.subtle, args);
    },
  });
  try {
    await cli(recorder(), "crds");
    assertEquals(said, []);
    const ended = cli(recorder(() => void said.push("running")), "run").then(({ code }) => said.push(`ended ${code}`));
    await new Promise((resolve) => setTimeout(resolve, 0));
    assertEquals(said, ["seeding", "running"]);
    seed();
    await ended;
    assertEquals(said, ["seeding", "running", "ended 0"]);
  } finally {
    delete (crypto.subtle as { generateKey?: unknown }).generateKey;
  }
});

Deno.test("An operator's program prints help, version and manifests without any permission", async () => {
  const run = (...args: string[]) => deno(["run", "--quiet", "--no-prompt", "examples/backup.ts", ...args]);
  const help = await run("--help");
  assertEquals([help.code, help.stderr], [0, ""]);
  assertStringIncludes(help.stdout, "Usage: backup-operator [command] [flags]");
  assertEquals(await run("--version"), { code: 0, stdout: "backup-operator 0.0.0\n", stderr: "" });
  for (const command of ["manifests", "crds", "rbac"]) {
    const { code, stdout, stderr } = await run(command);
    assertEquals([code, stderr], [0, ""]);
    assert((parseAll(stdout, { schema: "core" }) as unknown[]).length > 0);
  }
});

Deno.test("An operator's program ends with code 2 and one line of standard error for a wrong command line", async () => {
  for (const args of [["--nonsense"], ["fly"], ["--log-level=loud"]]) {
    const { code, stdout, stderr } = await deno(["run", "--quiet", "--no-prompt", "examples/backup.ts", ...args]);
    assertEquals([code, stdout], [2, ""], args.join(" "));
    assertMatch(stderr, /^backup-operator: [^\n]+ \(see --help\)\n$/);
  }
});

Deno.test("An operator's program ends with code 1 when it cannot run", async () => {
  const { code, stdout, stderr } = await deno(["run", "--quiet", "--no-prompt", "examples/backup.ts"]);
  assertEquals([code, stdout], [1, ""]);
  const [line] = stderr.trim().split("\n").map((line) => JSON.parse(line)).filter(({ level }) => level === "fatal");
  assertStringIncludes(line.error.message, "Cannot find an API server: there must be a kubeconfig");
  assertStringIncludes(line.error.message, "and the permission to read them");
});
