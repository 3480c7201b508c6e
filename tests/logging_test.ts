import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { configure, getConfig, getLogger, type LogLevel, type LogRecord, reset } from "@logtape/logtape";
import { configureLogging, jsonLine, LOG_LEVELS, textLine } from "../logging.ts";
import { ApiServer } from "../testing/mod.ts";
import { denoOk } from "./_deno.ts";
import { Thing, thing } from "./_operator.ts";

const TIME = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

/** A record as LogTape makes it of a constant message without placeholders. */
function record(properties: Record<string, unknown> = {}, message: string = "Something happened"): LogRecord {
  return {
    category: ["tend", "controller", "backup"],
    level: "info",
    message: [message],
    rawMessage: message,
    timestamp: TIME,
    properties,
  };
}

/** What a logger writes of one call, as JSON. */
async function logged(call: (log: ReturnType<typeof getLogger>) => void): Promise<Record<string, unknown>[]> {
  const lines: string[] = [];
  const restore = await configureLogging({ level: "trace", format: "json", write: (line) => lines.push(line) });
  call(getLogger(["tend", "test"]));
  await restore();
  return lines.map((line) => JSON.parse(line));
}

/** An object that holds itself. */
function cyclic(): Record<string, unknown> {
  const object: Record<string, unknown> = { name: "loop" };
  object["self"] = object;
  return object;
}

/** An error that is its own cause. */
function cyclicError(): Error {
  const error = new Error("round");
  error.cause = error;
  return error;
}

/** What may be logged, and what JSON has of it. */
const VALUES: [name: string, value: unknown, json: unknown][] = [
  ["a string", "a b", "a b"],
  ["a string of several lines", "a\nb", "a\nb"],
  ["a number", 1.5, 1.5],
  ["a big integer", 12345678901234567890n, "12345678901234567890"],
  ["null", null, null],
  ["a list", [1, { a: 2n }], [1, { a: "2" }]],
  ["a date", new Date(TIME), "2026-01-02T03:04:05.678Z"],
  ["a map", new Map([["a", 1]]), `Map(1) { "a" => 1 }`],
  ["a symbol", Symbol("s"), "Symbol(s)"],
  ["a cycle", cyclic(), { name: "loop", self: "[circular]" }],
  ["the same object twice", ((one) => [one, one])({ a: 1 }), [{ a: 1 }, { a: 1 }]],
  ["a frozen object", Object.freeze({ a: Object.freeze([1]) }), { a: [1] }],
  ["an object without a prototype", Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
  ["an object with a getter that throws", {
    get a() {
      throw new Error("no");
    },
  }, "[not readable: no]"],
  ["an object whose toJSON throws", {
    toJSON() {
      throw new Error("no");
    },
  }, "[not readable: no]"],
];

for (const [name, value, json] of VALUES) {
  Deno.test(`jsonLine() and textLine() write ${name} in one line`, () => {
    const line = jsonLine(record({ value }));
    assertEquals(JSON.parse(line).value, json);
    for (const text of [line, textLine(record({ value }))]) assert(!/[\n\r]/.test(text), text);
    assertMatch(textLine(record({ value })), /^03:04:05\.678 INFO {4}controller\.backup Something happened value=/);
  });
}

Deno.test("jsonLine() writes time, level, logger and message first", () => {
  const line = jsonLine(record({ key: "default/a" }));
  assertEquals(
    line,
    `{"time":"2026-01-02T03:04:05.678Z","level":"info","logger":"tend.controller.backup",` +
      `"message":"Something happened","key":"default/a"}`,
  );
});

Deno.test("jsonLine() keeps properties that are named as its own fields, under another name", () => {
  const { time, level, logger, message, message_, level_ } = JSON.parse(jsonLine(record({ message: "m", level: 1 })));
  assertEquals([time, level, logger], ["2026-01-02T03:04:05.678Z", "info", "tend.controller.backup"]);
  assertEquals([message, message_, level_], ["Something happened", "m", 1]);
});

Deno.test("jsonLine() writes errors with their stack, causes and parts, wherever they are", () => {
  const error = new AggregateError(
    [new Error("first"), new TypeError("second", { cause: "a string" })],
    "several",
    { cause: new RangeError("deep", { cause: new Error("deeper") }) },
  );
  const { error: written, list } = JSON.parse(jsonLine(record({ error, list: [{ inner: new Error("within") }] })));
  assertEquals([written.name, written.message], ["AggregateError", "several"]);
  assertStringIncludes(written.stack, "logging_test.ts");
  assertEquals([written.cause.name, written.cause.message], ["RangeError", "deep"]);
  assertEquals(written.cause.cause.message, "deeper");
  assertEquals(written.errors.map(({ message }: Error) => message), ["first", "second"]);
  assertEquals(written.errors[1].cause, "a string");
  assertEquals(list[0].inner.message, "within");
  assertEquals(JSON.parse(jsonLine(record({ error: cyclicError() }))).error.cause, "[circular]");
});

Deno.test("textLine() writes an error's message, its causes and the place that it comes from", () => {
  const cause = new Error("the disk is full", { cause: new Error("no room") });
  const line = textLine(record({ error: new Error("Cannot write", { cause }) }));
  assertMatch(
    line,
    / error="Cannot write \(cause: the disk is full\) \(cause: no room\)" at file:\S+logging_test\.ts:\d+:\d+$/,
  );
  const told = new Error("Cannot write: the disk is full", { cause: new Error("the disk is full") });
  assertStringIncludes(textLine(record({ error: told })), ` error="Cannot write: the disk is full" at `);
  const asked = new Error("Cannot GET /pods: the server answered 403: no");
  const refused = new Error("Cannot list pods: the server answered 403: no; who are you?", { cause: asked });
  assertMatch(textLine(record({ error: refused })), / error="Cannot list pods: .*; who are you\?" at /);
  assertStringIncludes(textLine(record({ error: cyclicError() })), ` error="round" at `);
  assertStringIncludes(textLine(record({ error: new AggregateError([new Error("a"), "b"], "both") })), `"both (a; b)"`);
  const bare = new Error("no stack", { cause: null });
  delete bare.stack;
  assertEquals(textLine(record({ error: bare })).split(" error=")[1], `"no stack (cause: null)"`);
});

Deno.test("textLine() names the place in the program, not that in the framework, that an error comes from", () => {
  const own = new URL("../reconciler.ts", import.meta.url).href;
  const error = new Error("no");
  error.stack =
    `Error: no\n    at call (${own}:166:18)\n    at async main (https://example.com/main.ts:3:4)\n    at ${own}:1:1`;
  assertEquals(textLine(record({ error })).split(" error=")[1], `"no" at https://example.com/main.ts:3:4`);
  error.stack = `Error: no\n    at call (${own}:166:18)\n    at new Promise (<anonymous>)`;
  assertEquals(textLine(record({ error })).split(" error=")[1], `"no"`);
});

Deno.test("textLine() escapes what would break the line or steer the terminal", () => {
  const line = textLine(record({ error: new Error("a\nb"), name: "x\r\ny" }, "one\ntwo \x1b[31mred\x1b[0m \u2028"));
  assertStringIncludes(line, "one\\ntwo \\u001b[31mred\\u001b[0m \\u2028");
  assertStringIncludes(line, `error="a\\nb"`);
  // deno-lint-ignore no-control-regex -- none may be left
  assert(!/[\x00-\x1f]/.test(line), line);
});

Deno.test("A message shows its placeholders, and text does not repeat them", async () => {
  const lines: string[] = [];
  const restore = await configureLogging({ format: "text", write: (line) => lines.push(line) });
  const log = getLogger(["tend", "test"]);
  log.info("Copied {name} for {error}: {count}", { name: "a b", error: new Error("e\nf"), count: 2n, rest: "r" });
  await restore();
  assertMatch(lines[0]!, /^\S+ INFO {4}test Copied a b for e\\nf: 2n rest=r$/);
  const [line] = await logged((log) => log.info("Copied {name} for {error}", { name: "a", error: new Error("e") }));
  assertEquals(line!["message"], "Copied a for e");
  assertEquals((line!["error"] as Error).message, "e");
});

Deno.test("configureLogging() writes what is at least of the level, of the framework alone", async () => {
  for (const [index, level] of LOG_LEVELS.entries()) {
    const lines: string[] = [];
    const restore = await configureLogging({ level, format: "json", write: (line) => lines.push(line) });
    for (const each of LOG_LEVELS) {
      const method = each === "warning" ? "warn" : each as Exclude<LogLevel, "warning">;
      getLogger(["tend", "test"])[method]("m");
      getLogger(["other"])[method]("m");
    }
    await restore();
    assertEquals(lines.map((line) => JSON.parse(line).level), LOG_LEVELS.slice(index), level);
  }
});

Deno.test("configureLogging() writes from level info on by default", async () => {
  const lines: string[] = [];
  const restore = await configureLogging({ format: "json", write: (line) => lines.push(line) });
  getLogger(["tend"]).debug("quiet");
  getLogger(["tend"]).info("loud");
  await restore();
  assertEquals(lines.map((line) => JSON.parse(line).message), ["loud"]);
});

Deno.test("configureLogging() writes text on a terminal and JSON elsewhere", async () => {
  const isTerminal = Deno.stderr.isTerminal;
  try {
    for (const terminal of [true, false]) {
      Deno.stderr.isTerminal = () => terminal;
      const lines: string[] = [];
      const restore = await configureLogging({ write: (line) => lines.push(line) });
      getLogger(["tend"]).info("hello");
      await restore();
      assertEquals(lines[0]!.startsWith("{"), !terminal);
    }
  } finally {
    Deno.stderr.isTerminal = isTerminal;
  }
});

Deno.test("configureLogging() leaves a program alone that has configured LogTape itself", async () => {
  const own: string[] = [];
  const lines: string[] = [];
  await configure({
    sinks: { own: ({ rawMessage }) => own.push(String(rawMessage)) },
    loggers: [
      { category: "tend", lowestLevel: "warning", sinks: ["own"] },
      { category: ["logtape", "meta"], lowestLevel: "error", sinks: ["own"] },
    ],
  });
  try {
    const config = getConfig();
    const restore = await configureLogging({ level: "trace", format: "json", write: (line) => lines.push(line) });
    getLogger(["tend"]).info("below the program's level");
    getLogger(["tend"]).error("seen");
    await restore();
    assertEquals(getConfig(), config);
    assertEquals([own, lines], [["seen"], []]);
  } finally {
    await reset();
  }
  assertEquals(getConfig(), null);
});

Deno.test("An operator's log shows no token or Secret, not even at level trace, also when things fail", async () => {
  await using server = new ApiServer();
  const { kubeconfig } = await server.listen();
  const token = /token: "?([0-9a-f-]+)/.exec(kubeconfig)![1]!;
  await server.apply([Thing.crd(), thing("a")]);
  const folder = await Deno.makeTempDir();
  try {
    const password = "aHVudGVyMg==";
    await Deno.writeTextFile(`${folder}/kubeconfig`, kubeconfig);
    await Deno.writeTextFile(
      `${folder}/operator.ts`,
      `import { Controller, Operator } from "@tend/operator";
       import { Secret } from "@tend/operator/kinds";
       import { Thing } from ${JSON.stringify(new URL("./_operator.ts", import.meta.url).href)};
       let runs = 0;
       const things = new Controller(Thing).owns(Secret).reconcile(async (thing, ctx) => {
         const secret = await ctx.applyOwned(thing, Secret.draft({ metadata: { name: "s" }, data: { password: "${password}" } }));
         ctx.log.debug("Applied {name}", { name: secret.metadata.name });
         ctx.event(thing, { type: "Normal", reason: "Applied", note: "Applied the Secret" });
         if (runs++ === 0) setTimeout(() => Deno.kill(Deno.pid, "SIGTERM"), 500);
         const bad = Secret.draft({ metadata: { name: "S!" }, data: { password: "${password}" } });
         await ctx.client.api(Secret).create(bad).catch((error) => ctx.log.error("Refused", { error }));
         await ctx.client.api(Secret).get("missing");
       });
       await new Operator("tester").leaderElection("default", "tester").controller(things).main();`,
    );
    const { stdout, stderr } = await denoOk([
      ...["run", "--no-prompt", "--quiet", "--config", "deno.json", "--allow-net=127.0.0.1", `--allow-read=${folder}`],
      ...["--allow-run", `${folder}/operator.ts`, "--address=127.0.0.1:0", "--log-level=trace"],
      ...["--kubeconfig", `${folder}/kubeconfig`],
    ]);
    for (const seen of [/"level":"debug"/, /Reconcile of default\/a/, /Refused/]) assertMatch(stderr, seen);
    assert(server.requests.some(({ path }) => path.endsWith("/secrets/s")), "the Secret was applied");
    for (const secret of [token, password, atob(password)]) {
      assert(!(stdout + stderr).includes(secret), `the log has ${secret}`);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
