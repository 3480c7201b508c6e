/**
 * Writes `testing/_protobuf_fields.json`: the numbers and types of the fields of built-in kinds in protocol buffers, and when
 * they are written.
 *
 * ```sh
 * deno run -A tools/protobuf_fields.ts GO_MODULE_CACHE/k8s.io
 * ```
 *
 * The types are from `generated.proto`; the names in JSON, and which fields are pointers or embedded, from the Go source beside
 * it.
 *
 * @module
 */
import { BUILTIN_GROUPS } from "../testing/_builtin_resources.ts";

/** Name, type, and how it is written: always (0), repeated (1), a map (2), if it is there (3), or beside the others in JSON (4). */
type Field = [name: string, type: string, shape: number];

const VERSION = "v0.37.2";
const PACKAGES = [
  `api@${VERSION}`,
  `apimachinery@${VERSION}`,
  `apiextensions-apiserver@${VERSION}/pkg/apis/apiextensions/v1`,
  `kube-aggregator@${VERSION}/pkg/apis/apiregistration/v1`,
];
const PREFIX = /^k8s\.io\.(api|apimachinery\.pkg|\w+\.pkg\.apis)\./;
const messages: Record<string, Record<string, Field>> = {};

/** Reads the messages of a file of protocol buffers. */
function readTypes(text: string): string {
  const own = /^package (\S+);/m.exec(text)?.[1] ?? "";
  let message = "";
  const qualified = (type: string): string =>
    /^[a-z0-9]+$/.test(type) ? type : (type.includes(".") ? type.replace(/^\./, "") : `${own}.${type}`)
      .replace(PREFIX, "");
  for (const line of text.split("\n")) {
    const begun = /^message (\w+) \{/.exec(line);
    if (begun) messages[message = qualified(begun[1]!)] = {};
    const map = /^\s+map<string, (\S+)> (\w+) = (\d+)/.exec(line);
    if (map) messages[message]![map[3]!] = [map[2]!, qualified(map[1]!), 2];
    const field = /^\s+(optional|repeated) (\S+) (\w+) = (\d+)/.exec(line);
    if (field) messages[message]![field[4]!] = [field[3]!, qualified(field[2]!), field[1] === "repeated" ? 1 : 0];
  }
  return own.replace(PREFIX, "");
}

/** Reads from Go what the messages of a package do not say. */
function readStructs(own: string, text: string): void {
  for (const [, struct, body] of text.matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm)) {
    for (const line of body!.split("\n")) {
      const tag = /^\t(.*?)\s*`.*protobuf:"\w+,(\d+),/.exec(line);
      const field = tag && messages[`${own}.${struct}`]?.[tag[2]!];
      if (!field) continue;
      const type = tag[1]!.split(/\s+/).at(-1)!;
      const json = /json:"([^",]*)/.exec(line)?.[1];
      if (json && json !== "-") field[0] = json;
      else if (!/\s/.test(tag[1]!)) field[2] = 4;
      if (field[2] === 0 && (type.startsWith("*") || type === "[]byte")) field[2] = 3;
    }
  }
}

async function walk(path: string): Promise<void> {
  const names: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(path)) {
    if (isDirectory) await walk(`${path}/${name}`);
    else names.push(name);
  }
  if (!names.includes("generated.proto")) return;
  const own = readTypes(await Deno.readTextFile(`${path}/generated.proto`));
  for (const name of names) {
    if (!/\.go$/.test(name) || /^(generated|zz_generated)|_test\.go$/.test(name)) continue;
    readStructs(own, await Deno.readTextFile(`${path}/${name}`));
  }
}

/** Keeps the messages of a package, and what they are made of. */
function keep(type: string, kept: Record<string, Record<string, Field>>): void {
  const fields = messages[type];
  if (fields === undefined || type in kept) return;
  kept[type] = fields;
  for (const [, kind] of Object.values(fields)) keep(kind, kept);
}

for (const path of PACKAGES) await walk(`${Deno.args[0]}/${path}`);
const served = new Set(["apis.meta.v1", "apidiscovery.v2", "runtime"]);
for (const { name, versions } of BUILTIN_GROUPS) {
  for (const { version } of versions) served.add(`${name.split(".")[0] || "core"}.${version}`);
}
const kept: Record<string, Record<string, Field>> = {};
for (const type of Object.keys(messages)) if (served.has(type.replace(/\.\w+$/, ""))) keep(type, kept);
const sorted = Object.fromEntries(Object.entries(kept).sort(([a], [b]) => a < b ? -1 : 1));
const out = new URL("../testing/_protobuf_fields.json", import.meta.url);
await Deno.writeTextFile(out, `${JSON.stringify(sorted).replaceAll("},", "},\n")}\n`);
