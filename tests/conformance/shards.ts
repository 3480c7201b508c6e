/**
 * States what shard selectors do to lists and watches, where a server has the feature `ShardedListAndWatch`.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import type { Body } from "../_api.ts";
import { names, type Place, shown, type Suite, take } from "./_suite.ts";
import { map, widget } from "./_widget.ts";

const GATED = { needs: "shards", reason: "its feature gate ShardedListAndWatch is off" } as const;

const START = "0x0000000000000000", MIDDLE = "0x8000000000000000", END = "0x10000000000000000";
const LOWER = range(START, MIDDLE), UPPER = range(MIDDLE, END);

function range(start: string, end: string, field = "object.metadata.uid"): string {
  return `shardRange(${field}, '${start}', '${end}')`;
}

/** The 64-bit FNV-1a hash. */
function hash(text: string): bigint {
  let value = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) value = ((value ^ BigInt(byte)) * 0x100000001b3n) % 2n ** 64n;
  return value;
}

const isLower = ({ metadata }: Body): boolean => hash(metadata.uid) < 2n ** 63n;

function query(selector: string): string {
  return `shardSelector=${encodeURIComponent(selector)}`;
}

/** Creates config maps until there are some in each half; the halves' names. */
async function halves(at: Place): Promise<[lower: string[], upper: string[]]> {
  const lower: string[] = [], upper: string[] = [];
  for (let index = 10; lower.length < 2 || upper.length < 2; index++) {
    const made = await at.ok(
      "POST configmaps",
      map(`m${index}`, {}, { labels: { parity: index % 2 ? "odd" : "even" } }),
    );
    (isLower(made) ? lower : upper).push(made.metadata.name);
  }
  return [lower, upper];
}

/** Registers the behaviours. */
export function shards(suite: Suite): void {
  suite.test(
    "A list of a shard has the objects whose uid is hashed into the range, and repeats the selector",
    async (at) => {
      const [lower, upper] = await halves(at);
      const list = await at.ok(`GET configmaps?${query(` ${LOWER.replaceAll("'", '"')}`)}`);
      assertEquals(names(list), lower);
      assertEquals(list.metadata.shardInfo, { selector: LOWER });
      assertEquals(names(await at.ok(`GET configmaps?${query(UPPER)}`)), upper);
      const both = await at.ok(`GET configmaps?${query(`(${LOWER})||${UPPER}`)}`);
      assertEquals(names(both), [...lower, ...upper].sort());
      assertEquals(both.metadata.shardInfo, { selector: `${LOWER} || ${UPPER}` });
      const { metadata: { uid } } = await at.ok(`GET configmaps/${lower[0]}`);
      const [own, next] = [hash(uid), hash(uid) + 1n].map((each) => `0x${each.toString(16).padStart(16, "0")}`);
      assertEquals(names(await at.ok(`GET configmaps?${query(range(own!, next!))}`)), [lower[0]]);
      assert(!names(await at.ok(`GET configmaps?${query(range(START, own!))}`)).includes(lower[0]!));
    },
    GATED,
  );

  suite.test("A shard goes with label selectors and pages, which do not say how many items remain", async (at) => {
    const [lower] = await halves(at);
    const odd = await at.ok(`GET configmaps?labelSelector=parity%3Dodd&${query(LOWER)}`);
    assertEquals(names(odd), lower.filter((name) => Number(name.slice(1)) % 2 === 1));
    const found: string[] = [];
    for (let token: string | undefined = ""; token !== undefined;) {
      const page: Body = await at.ok(`GET configmaps?limit=1&${query(LOWER)}&continue=${token}`);
      assertEquals([page.metadata.shardInfo, page.metadata.remainingItemCount], [{ selector: LOWER }, undefined]);
      found.push(...names(page));
      token = page.metadata.continue;
    }
    assertEquals(found, lower);
  }, GATED);

  suite.test(
    "Objects of a namespace are in one shard by namespace, and those without one in that of no text",
    async (at) => {
      await at.ok("POST configmaps", map("a"));
      const [lower, upper] = [[START, MIDDLE], [MIDDLE, END]].map(([start, end]) =>
        range(start!, end!, "object.metadata.namespace")
      );
      const [here, there] = hash(at.namespace) < 2n ** 63n ? [lower, upper] : [upper, lower];
      assertEquals(names(await at.ok(`GET configmaps?${query(here!)}`)), ["a"]);
      assertEquals(names(await at.ok(`GET configmaps?${query(there!)}`)), []);
      const { items } = await at.ok(`GET /api/v1/namespaces?${query(lower!)}`);
      assertEquals(items, []);
    },
    GATED,
  );

  suite.test("Lists of custom resources, Tables and metadata do not repeat a shard selector", async (at) => {
    await at.widgets();
    const made = await at.ok("POST widgets", widget("a"));
    const [here, there] = isLower(made) ? [LOWER, UPPER] : [UPPER, LOWER];
    const list = await at.ok(`GET widgets?${query(here)}`);
    assertEquals([names(list), list.metadata.shardInfo], [["a"], undefined]);
    assertEquals(names(await at.ok(`GET widgets?${query(there)}`)), []);
    await at.ok("POST configmaps", map("a"));
    for (const as of ["Table", "PartialObjectMetadataList"]) {
      const accept = `application/json;as=${as};v=v1;g=meta.k8s.io`;
      const shown = await at.ok(`GET configmaps?${query(`${LOWER} || ${UPPER}`)}`, undefined, { accept });
      assertEquals([shown.kind, shown.metadata.shardInfo, (shown.rows ?? shown.items).length], [as, undefined, 1]);
    }
  }, GATED);

  suite.test("A watch of a shard tells of the objects in its range alone", async (at) => {
    const [lower, upper] = await halves(at);
    await using watching = await at.watch(`configmaps?watch=1&${query(LOWER)}`);
    const first = await take(watching, lower.length);
    assertEquals(shown(first).sort(), lower.map((name) => `ADDED ${name}`));
    for (const name of [...upper, ...lower]) await at.ok(`merge configmaps/${name}`, { data: { k: "w" } });
    for (const name of [...upper, ...lower]) await at.ok(`DELETE configmaps/${name}`);
    const expected = ["MODIFIED", "DELETED"].flatMap((type) => lower.map((name) => `${type} ${name}`));
    assertEquals(shown(await take(watching, expected.length)), expected);
  }, GATED);

  suite.test("A deletion of a collection by shard leaves the others", async (at) => {
    const [lower, upper] = await halves(at);
    assertEquals(names(await at.ok(`DELETE configmaps?${query(LOWER)}`)), lower);
    assertEquals(names(await at.ok("GET configmaps")), upper);
  }, GATED);

  suite.test("A shard selector that is none is 500 in lists and watches, and is not looked at in a GET", async (at) => {
    const cases: [string, string][] = [
      [" ", "empty shard selector is not allowed; omit the parameter for unfiltered lists"],
      ["true", "unexpected expression kind 5; expected shardRange() call or || operator"],
      ["uid", "unexpected expression kind 3; expected shardRange() call or || operator"],
      [`${LOWER} || object.metadata`, "unexpected expression kind 7; expected shardRange() call or || operator"],
      [`${LOWER} && ${UPPER}`, 'unsupported function "_&&_"; only shardRange() and || are allowed'],
      [`!${LOWER}`, 'unsupported function "!_"; only shardRange() and || are allowed'],
      ["shardRange(object.metadata.uid)", "shardRange() requires exactly 3 arguments, got 1"],
      [
        range("", "", "object.metadata.name"),
        'unsupported field path "object.metadata.name"; supported: object.metadata.uid, object.metadata.namespace',
      ],
      [
        range(START, MIDDLE, "'uid'"),
        "shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 5",
      ],
      [range("8", END), `hexStart must have '0x' prefix, got "8"`],
      [range(START, "0x"), "hexEnd: hex value is required after '0x'"],
      [range("0xAB", END), 'hexStart: invalid hex character "A" in "0xAB"'],
      [
        range("0x8", END),
        'hexStart must be a 0x-prefixed 16-digit hex value, got "0x8" (did you mean "0x0000000000000008"?)',
      ],
      [range(START, `${END}0`), 'hexEnd: hex value too long (18 chars, max 17): "100000000000000000"'],
      [
        range("0x20000000000000000", END),
        `hexStart: 17-digit hex value must be '0x10000000000000000' (2^64), got "0x20000000000000000"`,
      ],
      [range(MIDDLE, MIDDLE), `shard range start ${MIDDLE} must be less than end ${MIDDLE}`],
      [
        `${LOWER} || ${range(MIDDLE, END, "object.metadata.namespace")}`,
        'all shard ranges must use the same field, got "object.metadata.uid" and "object.metadata.namespace"',
      ],
      [`shardRange(object.metadata.uid, 1, 2)`, "hexStart must be a string literal, got int64"],
      [
        `shardRange(object.metadata.uid, object.x, 2)`,
        "hexStart must be a string literal (e.g. '0xff'), got expression kind 7",
      ],
      [LOWER.slice(0, -1), "CEL parse error: Syntax error: missing ')' at '<EOF>'"],
    ];
    await at.ok("POST configmaps", map("a"));
    for (const [selector, why] of cases) {
      const { code, body } = await at.send(`GET configmaps?${query(selector)}`);
      const expected = [500, undefined, `invalid shard selector: ${why}`];
      assertEquals([selector, code, body.reason, body.message], [selector, ...expected]);
    }
    assertEquals(await at.refused(`GET configmaps?watch=1&resourceVersion=x&${query("x")}`), [500, undefined]);
    assertEquals((await at.ok(`GET configmaps/a?${query("x")}`)).metadata.name, "a");
    assertEquals(names(await at.ok("GET configmaps?shardSelector=")), ["a"]);
  }, GATED);
}
