/**
 * Writes `testing/_protobuf_fields.json`: the numbers and types of the fields of built-in kinds in protocol buffers.
 *
 * ```sh
 * deno run -A tools/protobuf_fields.ts GO_MODULE_CACHE/k8s.io/api@v0.37.2 GO_MODULE_CACHE/k8s.io/apimachinery@v0.37.2
 * ```
 *
 * @module
 */

/** Name, type, and whether it is repeated (1), a map (2) or neither (0). */
type Field = [name: string, type: string, shape: number];

const messages: Record<string, Record<string, Field>> = {};

/** Names are as in JSON: a few are not in the protocol buffers. */
function lower(name: string): string {
  return /^[A-Z][a-z]/.test(name) ? name[0]!.toLowerCase() + name.slice(1) : name;
}

function read(text: string): void {
  const own = /^package (\S+);/m.exec(text)?.[1] ?? "";
  let message = "";
  const qualified = (type: string): string =>
    /^[a-z0-9]+$/.test(type) ? type : (type.includes(".") ? type.replace(/^\./, "") : `${own}.${type}`)
      .replace(/^k8s\.io\.api\./, "").replace(/^k8s\.io\.apimachinery\.pkg\./, "");
  for (const line of text.split("\n")) {
    const begun = /^message (\w+) \{/.exec(line);
    if (begun) messages[message = qualified(begun[1]!)] = {};
    const map = /^\s+map<string, (\S+)> (\w+) = (\d+)/.exec(line);
    if (map) messages[message]![map[3]!] = [map[2]!, qualified(map[1]!), 2];
    const field = /^\s+(optional|repeated) (\S+) (\w+) = (\d+)/.exec(line);
    if (field) {
      messages[message]![field[4]!] = [lower(field[3]!), qualified(field[2]!), field[1] === "repeated" ? 1 : 0];
    }
  }
}

async function walk(path: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(path)) {
    if (isDirectory) await walk(`${path}/${name}`);
    else if (name === "generated.proto") read(await Deno.readTextFile(`${path}/${name}`));
  }
}

for (const path of Deno.args) await walk(path);
const sorted = Object.fromEntries(Object.entries(messages).sort(([a], [b]) => a < b ? -1 : 1));
const out = new URL("../testing/_protobuf_fields.json", import.meta.url);
await Deno.writeTextFile(out, `${JSON.stringify(sorted).replaceAll("},", "},\n")}\n`);
