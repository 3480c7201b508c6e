/**
 * Reads from Go source when a struct's fields are written as JSON.
 *
 * ```ts
 * import { presenceOf } from "./_go_fields.ts";
 *
 * const read = { readdirSync: () => [], readFileSync: () => "" };
 * presenceOf("/nowhere", read)("core.v1.Pod"); // undefined
 * ```
 *
 * @module
 */

/**
 * When a field is written: always, if it is not null (`set`), or if it is not the zero value of its type (`nonzero`).
 */
export type Presence = "always" | "set" | "nonzero";

/** How to read files. */
export interface Reader {
  /** Lists a folder. */
  readdirSync(path: string): string[];
  /** Reads a file. */
  readFileSync(path: string, encoding: "utf8"): string;
}

const SCALARS = new Set(["string", "bool", "int", "int32", "int64", "float64", "byte"]);

/** Where the types of a definition's package are. */
function folderOf(definition: string): string | undefined {
  const [group, version] = definition.split(".");
  if (group === "meta") return "apimachinery/pkg/apis/meta/v1";
  if (group === "apiextensions") return `apiextensions-apiserver/pkg/apis/apiextensions/${version}`;
  if (group === "apiregistration") return `kube-aggregator/pkg/apis/apiregistration/${version}`;
  if (group === "api" || group === "intstr" || group === "runtime") return undefined;
  return `api/${group}/${version}`;
}

/** Returns a function that gives, for a definition such as `core.v1.Pod`, when each field is written. */
export function presenceOf(
  source: string,
  read: Reader,
): (definition: string) => Map<string, Presence> | undefined {
  const modules = new Map(read.readdirSync(source).map((name) => [name.split("@")[0]!, name]));
  const packages = new Map<string, string>();
  const packageText = (folder: string): string => {
    let text = packages.get(folder);
    if (text === undefined) {
      const [module, ...rest] = folder.split("/");
      const path = [source, modules.get(module!), ...rest].join("/");
      let names: string[] = [];
      try {
        names = read.readdirSync(path).filter((name) => /^types.*\.go$/.test(name));
      } catch {
        // A package without source: its definitions stay as the schema says.
      }
      packages.set(folder, text = names.map((name) => read.readFileSync(`${path}/${name}`, "utf8")).join("\n"));
    }
    return text;
  };
  return (definition) => {
    const folder = folderOf(definition);
    if (folder === undefined) return undefined;
    return fieldsOf(packageText(folder), definition.split(".").at(-1)!);
  };
}

function fieldsOf(text: string, struct: string): Map<string, Presence> | undefined {
  const body = new RegExp(`^type ${struct} struct \\{\\n([\\s\\S]*?)^\\}`, "m").exec(text)?.[1];
  if (body === undefined) return undefined;
  const fields = new Map<string, Presence>();
  for (const line of body.split("\n")) {
    const embedded = /^\t(\w+) `json:",inline"/.exec(line);
    if (embedded) { for (const [name, presence] of fieldsOf(text, embedded[1]!) ?? []) fields.set(name, presence); }
    const match = /^\t\w+\s+(\S.*?)\s+`.*json:"([^",]+)([^"]*)"/.exec(line);
    const found = match ? presence(match[1]!, match[3]!.split(","), text) : undefined;
    if (found !== undefined) fields.set(match![2]!, found);
  }
  return fields;
}

function presence(type: string, flags: string[], text: string): Presence | undefined {
  if (flags.includes("omitzero")) return "nonzero";
  if (!flags.includes("omitempty")) return "always";
  if (type.startsWith("*")) return "set";
  if (type.startsWith("[]") || type.startsWith("map[") || SCALARS.has(type)) return "nonzero";
  // A named type: omitempty has no effect on structs.
  const named = new RegExp(`^(?:type |\\t)${type} (?:= )?(\\S+)`, "m").exec(text)?.[1];
  if (named !== undefined) return named === "struct" ? "always" : "nonzero";
  // Types of other packages: times are written as null, of others the schema knows enough.
  if (/^(metav1\.)?(Time|MicroTime)$/.test(type)) return "always";
  return type.includes(".") ? undefined : "nonzero";
}
