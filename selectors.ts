/**
 * Reads label selectors and tells which objects they select, so that cached reads select as the server does.
 *
 * ```ts
 * import { labelSelector } from "./selectors.ts";
 *
 * const selects = labelSelector("app=web,tier in (front,back),!legacy");
 * console.assert(selects({ app: "web", tier: "front" }));
 * ```
 *
 * @module
 */
import { isLabelValue, isQualifiedName } from "./names.ts";

/** Tells whether a selector selects an object with these labels. */
export type LabelPredicate = (labels: Readonly<Record<string, string>> | undefined) => boolean;

const SET = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/;
const COMPARE = /^([^\s=!<>]+)\s*(==|=|!=|<|>)\s*(\S*)$/;

/** Splits at commas outside parentheses, which do not nest. */
function split(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let within = false;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "(") within = true;
    else if (text[at] === ")") within = false;
    else if (text[at] === "," && !within) {
      parts.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return [...parts, text.slice(start).trim()];
}

/** A selector may come from an object, and be as long as that. */
function shorten(text: string): string {
  return text.length <= 300 ? text : `${text.slice(0, 300)}...`;
}

function requirement(text: string, whole: string): LabelPredicate {
  const fail = (): never => {
    throw new SyntaxError(
      `Cannot read label selector "${shorten(whole)}": each part must be key, !key, key=value, key!=value, ` +
        `key in (a,b) or key notin (a,b): current value is "${shorten(text)}"`,
    );
  };
  const valid = (key: string, values: string[] = []): void => {
    if (!isQualifiedName(key) || !values.every(isLabelValue)) fail();
  };
  const has = (labels: Readonly<Record<string, string>> | undefined, key: string): labels is Record<string, string> =>
    typeof labels === "object" && labels !== null && Object.hasOwn(labels, key);

  const set = SET.exec(text);
  if (set) {
    const [, key, operator, list] = set as unknown as [string, string, string, string];
    const values = list.split(",").map((value) => value.trim());
    valid(key, values);
    return operator === "in"
      ? (labels) => has(labels, key) && values.includes(labels[key]!)
      : (labels) => !has(labels, key) || !values.includes(labels[key]!);
  }
  const compare = COMPARE.exec(text);
  if (compare) {
    const [, key, operator, value] = compare as unknown as [string, string, string, string];
    valid(key, [value]);
    if (operator === "<" || operator === ">") {
      const bound = Number(value);
      if (!Number.isInteger(bound)) fail();
      return (labels) =>
        has(labels, key) && /^-?\d+$/.test(labels[key]!) &&
        (operator === "<" ? Number(labels[key]) < bound : Number(labels[key]) > bound);
    }
    return operator === "!="
      ? (labels) => !has(labels, key) || labels[key] !== value
      : (labels) => has(labels, key) && labels[key] === value;
  }
  const absent = text.startsWith("!");
  const key = absent ? text.slice(1).trim() : text;
  valid(key);
  return (labels) => has(labels, key) !== absent;
}

/**
 * Reads a label selector; an empty one selects everything.
 *
 * @throws {SyntaxError} If it is not one
 */
export function labelSelector(selector: string): LabelPredicate {
  if (selector.trim() === "") return () => true;
  const requirements = split(selector).map((part) => requirement(part, selector));
  return (labels) => requirements.every((matches) => matches(labels));
}
