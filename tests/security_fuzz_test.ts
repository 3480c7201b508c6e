import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { asStatus, readAnswer, toError } from "../_answer.ts";
import { formatMicroTime, parseMicroTime } from "../_micro_time.ts";
import { redact } from "../_redact.ts";
import { lines, parseEvent, readList } from "../_stream.ts";
import { Window } from "../_window.ts";
import { commandLine } from "../cli.ts";
import { Credentials } from "../credentials.ts";
import { toMilliseconds } from "../duration.ts";
import { ApiError, isNamespaceTerminating, TransportError } from "../errors.ts";
import { HealthServer, parseAddress } from "../health.ts";
import { clone, diff, equal, merge, pointer } from "../json.ts";
import { jsonLine, textLine } from "../logging.ts";
import { childName, isDnsLabel, isLabelValue, labelValue } from "../names.ts";
import { Registry } from "../registry.ts";
import { compareVersions } from "../resource.ts";
import { planRetry } from "../retry.ts";
import { labelSelector } from "../selectors.ts";
import { jsonPatch, mergePatch } from "../testing/_json_patch.ts";
import { parseMetrics } from "./_prometheus.ts";

// A failure says its seed and path: fc.assert(property, { seed, path }) plays it again.

const RUNS = { numRuns: 300 };
/** Text of any characters, lone surrogates and those that mean something to parsers among them. */
const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.constantFrom(..."{}[]()\"'\\/,:;=!<>&%#*+-._~@\0\n\r\t \u001b\u2028éa1") }),
);
/** JSON with keys that are members of every object. */
const anyJson = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false, 0, -1, 1.5, 1e300, "", "a", "__proto__"),
    anyText,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(
      fc.tuple(
        fc.oneof(fc.constantFrom("__proto__", "constructor", "toString", "a", "b", "a/b", "~", "", "0"), anyText),
        tie("value"),
      ),
      { maxLength: 4 },
    ).map((entries) => Object.fromEntries(entries)),
  ),
})).value;
const asText = (value: unknown): string => JSON.stringify(value);
/** As what comes out of a parser: without `undefined` or -0. */
const parsed = anyJson.map((value) => JSON.parse(asText(value)) as unknown);

function body(bytes: Uint8Array<ArrayBuffer>, cut: number): ReadableStream<Uint8Array> {
  const at = bytes.length === 0 ? 0 : cut % bytes.length;
  return ReadableStream.from([bytes.subarray(0, at), bytes.subarray(at)]);
}

/** Takes a call to answer, or to fail with an error of these classes that says what could not be done. */
function mayThrow<T>(call: () => T, ...classes: (new (...args: never[]) => Error)[]): T | undefined {
  try {
    return call();
  } catch (error) {
    assert(error instanceof Error && classes.some((Class) => error instanceof Class), `unexpected: ${error}`);
    assert(error.message.startsWith("Cannot "), `unclear: ${error.message}`);
    return undefined;
  }
}

const KUBECONFIG = {
  apiVersion: "v1",
  kind: "Config",
  "current-context": "c",
  contexts: [{ name: "c", context: { cluster: "k", user: "u", namespace: "n" } }],
  clusters: [{
    name: "k",
    cluster: {
      server: "https://127.0.0.1:6443",
      "certificate-authority": "ca",
      "certificate-authority-data": "",
      "insecure-skip-tls-verify": false,
      "tls-server-name": "x",
      "proxy-url": "http://proxy:1",
    },
  }],
  users: [{
    name: "u",
    user: {
      token: "t",
      tokenFile: "token",
      username: "me",
      password: "p",
      "client-certificate-data": "",
      "client-key-data": "",
      as: "a",
      "as-uid": "b",
      "as-groups": ["g"],
      "as-user-extra": { scope: ["s"] },
      "auth-provider": null,
      exec: null,
    },
  }],
};

/** Every place in a value, as the keys that lead there. */
function placesIn(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner, [...path, key]))];
}

/** The value with another in one place; undefined takes it out. */
function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  const copy = Array.isArray(value) ? [...value] : { ...value as object };
  (copy as Record<string, unknown>)[key] = replaced((value as Record<string, unknown>)[key], rest, by);
  return copy;
}

async function resolves(text: string): Promise<void> {
  const readFile = (path: string): Promise<string> =>
    path === "/k/config" ? Promise.resolve(text) : path === "/k/token" ? Promise.resolve("t") : Promise.reject(
      new Deno.errors.NotFound("there is none"),
    );
  try {
    const connection = await new Credentials({ kubeconfig: "/k/config", env: () => undefined, readFile }).resolve();
    assert(URL.canParse(connection.server));
    new Headers(connection.headers().map(([name, value]): [string, string] => [name, value]));
  } catch (error) {
    assert(error instanceof Error && error.message.startsWith("Cannot "), `unclear: ${error}`);
    assert(error.message.includes("/k/config"), `it names the file: ${error.message}`);
  }
}

Deno.test("A kubeconfig with anything in any of its fields gives a connection, or an error that names the file", async () => {
  const places = placesIn(KUBECONFIG).filter((path) => !["exec", "auth-provider"].includes(path.at(-1)!));
  const values = fc.oneof(
    parsed,
    fc.constantFrom(
      undefined,
      "https://[",
      "ftp://x",
      "http://a:b@c",
      "http://x?y",
      "a\nb",
      "é",
      "☃",
      btoa("x"),
      "=",
      {},
      [],
    ),
  );
  for (const path of places) {
    for (const by of [...fc.sample(values, { numRuns: 6 }), undefined, null, 0, true, "", "\n", "☃", [], {}]) {
      await resolves(asText(replaced(KUBECONFIG, path, by)) ?? "");
    }
  }
  const extra = { "\ud800": ["lone"], "a(b)": ["c"], "é/ ": ["d"] };
  await resolves(asText(replaced(KUBECONFIG, ["users", "0", "user", "as-user-extra"], extra)));
  await fc.assert(fc.asyncProperty(anyText, resolves), RUNS);
});

Deno.test("A label selector of anything selects, or is refused with what it is", () => {
  const part = fc.oneof(
    anyText,
    fc.constantFrom("a", "!a", "a=b", "a!=b", "a in (b,c)", "a notin (b)", "a>1", "a<x", "a in (", "a in b)", "()"),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 5 }), parsed, (parts, labels) => {
      const selects = mayThrow(() => labelSelector(parts.join(",")), SyntaxError);
      if (selects) assertEquals(typeof selects(labels as never), "boolean");
    }),
    RUNS,
  );
});

Deno.test("Texts that are very long are read in time that grows with their length", () => {
  const long = (piece: string): string => piece.repeat(200_000 / piece.length);
  // With a time that grows with the square, each of these would take minutes.
  for (const piece of [",", "a,", "(,", "a in (b,", "!", " ", "=", "a/", "-", "a in  "]) {
    mayThrow(() => labelSelector(long(piece)), SyntaxError);
    mayThrow(() => parseAddress(long(piece)), SyntaxError, RangeError);
    labelValue(long(piece));
    childName(`x${long(piece)}`);
    isDnsLabel(long(piece));
    parseMicroTime(long(piece));
    redact(long(piece), ["none"]);
  }
  for (const piece of ["eyJ", "eyJaaaa.", "-----BEGIN PRIVATE KEY-----", "://", "://a", "<title", 'x "', '299 - "']) {
    redact(long(piece), ["none"]);
    toError("GET", "/x", new Response(null, { status: 500, headers: { "content-type": "text/html" } }), long(piece));
  }
});

Deno.test("Names of anything make valid names", () => {
  fc.assert(
    fc.property(anyText, anyText, (one, other) => {
      assert(isLabelValue(labelValue(one)));
      if (one !== "" && other !== "") assert(isDnsLabel(childName(one, other)));
    }),
    RUNS,
  );
});

Deno.test("A duration of anything is a finite time, or refused", () => {
  const durations = fc.oneof(
    fc.double(),
    parsed,
    fc.record({ hours: fc.double(), minutes: fc.oneof(fc.double(), anyText), seconds: fc.integer() }, {
      requiredKeys: [],
    }),
  );
  fc.assert(
    fc.property(durations, (duration) => {
      const ms = mayThrow(() => toMilliseconds(duration as never), TypeError, RangeError);
      assert(ms === undefined || (Number.isFinite(ms) && ms >= 0));
    }),
    RUNS,
  );
});

Deno.test("An address of anything is one that can be written again, or refused", () => {
  const addresses = fc.oneof(anyText, fc.tuple(anyText, fc.integer()).map(([host, port]) => `${host}:${port}`));
  fc.assert(
    fc.property(addresses, (text) => {
      const address = mayThrow(() => parseAddress(text), SyntaxError, RangeError);
      if (address) assert(address.hostname !== "" && address.port >= 0 && address.port <= 65_535);
    }),
    RUNS,
  );
});

Deno.test("A watch of any bytes gives events or a TransportError, and never quotes them", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.uint8Array({ maxLength: 200 }),
        fc.array(parsed).map((all) => new TextEncoder().encode(all.map(asText).join("\n"))),
      ),
      fc.nat(),
      async (bytes, cut) => {
        for await (const line of lines(body(new Uint8Array(bytes), cut))) {
          try {
            assertEquals(typeof parseEvent(line, "/x").type, "string");
          } catch (error) {
            assert(error instanceof TransportError && error.cause === undefined);
            assertEquals(error.message, "Cannot GET /x: an event is cut short or not valid JSON");
          }
        }
      },
    ),
    RUNS,
  );
});

Deno.test("A list of any bytes gives items, or a SyntaxError or RangeError", async () => {
  const texts = fc.oneof(
    parsed.map(asText),
    parsed.map((value) => `{"items":[${asText(value)}],"metadata":${asText(value)}}`),
    anyText,
    fc.tuple(parsed, fc.nat()).map(([value, end]) => `{"items":[${asText(value)},{"a":1}]}`.slice(0, end % 40)),
  );
  await fc.assert(
    fc.asyncProperty(texts, fc.nat(), async (text, cut) => {
      try {
        const items: unknown[] = [];
        await readList(new Window(body(new TextEncoder().encode(text), cut), 10_000), (bytes, start, end) => {
          items.push(JSON.parse(new TextDecoder().decode(bytes.subarray(start, end))));
        });
        const whole = JSON.parse(new TextDecoder().decode(new TextEncoder().encode(text)));
        if (Array.isArray(whole?.items)) assertEquals(asText(items), asText(whole.items), "nothing is lost");
      } catch (error) {
        assert(error instanceof SyntaxError || error instanceof RangeError, `unexpected: ${error}`);
      }
    }),
    RUNS,
  );
});

Deno.test("An answer of anything is JSON or a TransportError, and an error of anything an ApiError", () => {
  fc.assert(
    fc.property(
      fc.oneof(anyText, parsed.map(asText)),
      fc.constantFrom("application/json", "text/html", "", "x"),
      (text, type) => {
        mayThrow(() => readAnswer({ method: "GET", path: "/x" }, type, text), TransportError);
        const error = toError(
          "GET",
          "/x",
          new Response(null, { status: 500, headers: { "content-type": type } }),
          text,
        );
        assert(error instanceof ApiError && error.message.length < 5000);
      },
    ),
    RUNS,
  );
  const statuses = fc.record({
    kind: fc.constant("Status"),
    code: parsed,
    message: parsed,
    reason: parsed,
    status: parsed,
    metadata: parsed,
    details: fc.oneof(parsed, fc.record({ causes: parsed, retryAfterSeconds: parsed, kind: parsed })),
  }, { requiredKeys: [] });
  fc.assert(
    fc.property(fc.oneof(statuses, parsed), (value) => {
      const error = new ApiError(asStatus(value, 403), "GET", "/x");
      isNamespaceTerminating(error);
      const { delay } = planRetry(error, 5000, 1);
      assert(Number.isInteger(error.code) && delay !== undefined && delay > 0 && delay <= 3_600_000);
    }),
    RUNS,
  );
});

Deno.test("A Retry-After of anything is no wait, or one of an hour at most", () => {
  const values = fc.oneof(
    fc.string(),
    fc.nat().map(String),
    fc.bigInt({ min: 0n }).map(String),
    fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
    fc.double().map(String),
  );
  fc.assert(
    fc.property(values, (value) => {
      const headers = new Headers();
      try {
        headers.set("retry-after", value);
      } catch {
        return;
      }
      const { retryAfter } = toError("GET", "/x", new Response(null, { status: 503, headers }), "");
      assert(retryAfter === undefined || (retryAfter >= 0 && retryAfter <= 3_600_000), `${retryAfter}`);
    }),
    RUNS,
  );
});

Deno.test("A time of anything is microseconds or nothing, and one that was written is read again", () => {
  fc.assert(
    fc.property(fc.oneof(anyText, parsed), (value) => {
      const micros = parseMicroTime(value);
      assert(micros === undefined || Number.isFinite(micros));
    }),
    RUNS,
  );
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 253_402_300_799_999 }), fc.nat({ max: 999 }), (ms, micros) => {
      const read = parseMicroTime(formatMicroTime(ms, micros))!;
      assert(Math.abs(read - (ms * 1000 + micros)) <= 32, "but for what a number cannot hold");
    }),
    RUNS,
  );
});

Deno.test("Resource versions are ordered as their numbers are, and what is none is newer", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n }), fc.bigInt({ min: 0n }), (one, other) => {
      const order = compareVersions(String(one), String(other));
      assertEquals(Math.sign(order), one < other ? -1 : one > other ? 1 : 0);
    }),
    RUNS,
  );
  fc.assert(
    fc.property(anyText, anyText, (one, other) => {
      const order = compareVersions(one, other);
      if (one === other) assertEquals(order, 0);
      else if (!/^\d+$/.test(one) || !/^\d+$/.test(other)) assert(order > 0);
    }),
    RUNS,
  );
});

Deno.test("diff() makes the patch that a server turns the one value into the other with, and merge() does as a server does", () => {
  fc.assert(
    fc.property(parsed, parsed, (from, to) => {
      const before = asText(from);
      // a server replaces no document as a whole
      assert(equal(jsonPatch({ a: clone(from) }, diff({ a: from }, { a: to })), { a: to }));
      assert(equal(merge(from, to), mergePatch(clone(from), to)));
      assertEquals(asText(clone(from)), before);
      assertEquals(asText(from), before, "what is given stays as it is");
      assertEquals(equal(from, to), equal(to, from));
      assertEquals(equal(from, to), diff(from, to).length === 0);
    }),
    RUNS,
  );
  assertEquals(({} as Record<string, unknown>).a, undefined);
  assertEquals(Object.keys(Object.prototype), []);
});

Deno.test("A JSON pointer of any segment leads to it alone", () => {
  fc.assert(
    fc.property(anyText, (segment) => {
      const path = `/${pointer(segment)}`;
      assertEquals(path.slice(1).includes("/"), false);
      const document = Object.fromEntries([[segment, 1], ["other", 2]]);
      const changed = jsonPatch(document, [{ op: "replace", path, value: 3 }]) as Record<string, unknown>;
      assertEquals(Object.getOwnPropertyDescriptor(changed, segment)?.value, 3);
    }),
    RUNS,
  );
});

Deno.test("The command line takes any arguments, or refuses them in one line that steers no terminal", async () => {
  const words = fc.oneof(
    anyText,
    fc.constantFrom(
      "run",
      "manifests",
      "crds",
      "rbac",
      "--help",
      "--",
      "-",
      "--__proto__",
      "--\u001b[31mred",
      "--x\u009b",
      "--constructor=x",
      "--no-help",
    ),
    fc.tuple(
      fc.constantFrom(
        "kubeconfig",
        "context",
        "namespaces",
        "address",
        "log-level",
        "identity",
        "shutdown-grace",
        "replicas",
      ),
      anyText,
    ).map(([name, value]) => `--${name}=${value}`),
  );
  const operator = {
    name: "tester",
    version: "1",
    run: () => Promise.resolve(),
    crds: () => [],
    roles: () => [],
    manifests: () => [],
  };
  await fc.assert(
    fc.asyncProperty(fc.array(words, { maxLength: 4 }), async (args) => {
      const said: string[] = [];
      const code = await commandLine(operator, args, { print: () => {}, complain: (line) => said.push(line) });
      assertEquals(said.length, code === 0 ? 0 : 1, said.join());
      // deno-lint-ignore no-control-regex -- those are what it is about
      assert(!/[\x00-\x1f\x7f-\x9f]/.test(said.join()), JSON.stringify(said));
      assert(code === 0 || code === 2);
    }),
    RUNS,
  );
});

Deno.test("Metrics with labels and help of any text read back as they were", async () => {
  await fc.assert(
    fc.asyncProperty(anyText, anyText, async (label, help) => {
      const registry = new Registry();
      registry.counter({ name: "x_total", help: `h${help}`, labelNames: ["a"] }).inc({ a: label });
      const scrape = parseMetrics(await registry.text());
      assertEquals(scrape.value("x_total", { a: label.toWellFormed() }), 1);
    }),
    { numRuns: 100 },
  );
});

Deno.test("A log line of anything is one line, and of JSON", () => {
  fc.assert(
    fc.property(parsed, anyText, (value, text) => {
      const properties = { value, text, error: new Error(text, { cause: value }) };
      const message = ["x ", value, ` ${text}`];
      const record = { timestamp: 0, level: "info", category: ["tend", "x"], properties, message, rawMessage: "x" };
      for (const line of [jsonLine(record as never), textLine(record as never)]) assert(!/[\r\n]/.test(line), line);
      JSON.parse(jsonLine(record as never));
    }),
    RUNS,
  );
});

Deno.test("No text of anything shows a secret after it was redacted", () => {
  fc.assert(
    fc.property(anyText, fc.array(fc.string({ minLength: 4 })), (text, secrets) => {
      const whole = secrets.reduce((sum, secret) => `${sum}${secret}${text}`, text);
      const redacted = redact(whole, secrets);
      for (const secret of secrets) {
        assert(!redacted.includes(secret) || "[redacted]".includes(secret) || "://".includes(secret), redacted);
      }
    }),
    RUNS,
  );
});

Deno.test("The server of probes outlives requests of any bytes", async () => {
  await using server = new HealthServer();
  const { port } = server.listen({ hostname: "127.0.0.1", port: 0 });
  const start = fc.constantFrom("", "GET / HTTP/1.1\r\n", "GET ", "GET / HTTP/1.1\r\nhost: x\r\n", "\r\n\r\n");
  await fc.assert(
    fc.asyncProperty(start, anyText, fc.boolean(), async (start, text, end) => {
      using connection = await Deno.connect({ hostname: "127.0.0.1", port });
      await connection.write(new TextEncoder().encode(`${start}${text}${end ? "\r\n\r\n" : ""}`)).catch(() => {});
      await connection.closeWrite().catch(() => {});
      if (text.length % 2 === 0) await connection.read(new Uint8Array(500)).catch(() => {});
    }),
    RUNS,
  );
  assertEquals(await (await fetch(`http://127.0.0.1:${port}/healthz`)).text(), "ok\n");
});
