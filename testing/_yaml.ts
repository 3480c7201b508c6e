/**
 * Writes YAML as a Kubernetes API server does: keys in order, lists not indented, quotes where they are needed.
 *
 * ```ts
 * import { toYaml } from "./_yaml.ts";
 *
 * console.assert(toYaml({ b: ["x"], a: "1" }) === 'a: "1"\nb:\n- x\n');
 * ```
 *
 * @module
 */
import { isObject } from "./_objects.ts";

const PLAIN = /^[A-Za-z0-9_./<$~]\P{Cc}*$/u;
const AMBIGUOUS =
  /^(~|null|Null|NULL|true|True|TRUE|false|False|FALSE|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|y|Y|n|N|<<|=)$/;
const NUMBER =
  /^[-+]?(\.\d+|\d[\d_]*(\.\d*)?)([eE][-+]?\d+)?$|^0[xob][0-9a-fA-F_]+$|^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$/;
const TIME = /^\d{4}-\d{1,2}-\d{1,2}([Tt ].*)?$/;

function scalar(text: string): string {
  const plain = PLAIN.test(text) && !AMBIGUOUS.test(text) && !NUMBER.test(text) && !TIME.test(text) &&
    !/: |:$| #|\s$/.test(text);
  return plain || text === "." ? text : JSON.stringify(text);
}

function write(value: unknown, indent: string, lines: string[], head: string): void {
  if (Array.isArray(value)) {
    if (value.length === 0) return void lines.push(`${head}${head.endsWith(" ") || head === "" ? "" : " "}[]`);
    if (head.trim() !== "") lines.push(head);
    for (const item of value) writeItem(item, indent, lines);
    return;
  }
  if (isObject(value)) {
    const keys = Object.keys(value).sort();
    if (keys.length === 0) return void lines.push(`${head}${head === "" ? "" : " "}{}`);
    if (head !== "") lines.push(head);
    for (const key of keys) {
      const inner = Array.isArray(value[key]) ? indent : `${indent}  `;
      write(value[key], inner, lines, `${indent}${scalar(key)}:`);
    }
    return;
  }
  if (typeof value === "string" && value.includes("\n") && !/^\s/.test(value)) {
    const chomp = value.endsWith("\n") ? "" : "-";
    lines.push(
      `${head} |${chomp}`,
      ...value.replace(/\n$/, "").split("\n").map((each) => each === "" ? "" : `${indent}${each}`),
    );
    return;
  }
  const text = typeof value === "string" ? scalar(value) : JSON.stringify(value ?? null);
  lines.push(head === "" ? text : `${head} ${text}`);
}

function writeItem(item: unknown, indent: string, lines: string[]): void {
  const inner: string[] = [];
  if ((isObject(item) && Object.keys(item).length > 0) || (Array.isArray(item) && item.length > 0)) {
    write(item, `${indent}  `, inner, "");
    inner[0] = `${indent}- ${inner[0]!.slice(indent.length + 2)}`;
    lines.push(...inner);
  } else write(item, `${indent}  `, lines, `${indent}-`);
}

/** Writes a value as one document. */
export function toYaml(value: unknown): string {
  const lines: string[] = [];
  write(value, "", lines, "");
  return `${lines.join("\n")}\n`;
}
