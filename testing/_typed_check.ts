/**
 * Checks that an object fits its schema well enough to be applied, in the words of a Kubernetes API server.
 *
 * ```ts
 * import { checkTyped } from "./_typed_check.ts";
 * import { fieldType } from "./_typed.ts";
 *
 * checkTyped(fieldType({ type: "string" }), 1); // ["expected string, got &value.valueUnstructured{Value:1}"]
 * ```
 *
 * @module
 */
import { elementText } from "./_field_set.ts";
import { isObject, type JsonObject } from "./_json.ts";
import { type FieldType, isElement, itemElement, kindOf, type ListFieldType, type MapFieldType } from "./_typed.ts";

/** Returns what is wrong with a value, each with its path; nothing if it fits. */
export function checkTyped(type: FieldType, value: unknown): string[] {
  const errors: string[] = [];
  check(type, value, "", errors);
  return errors;
}

/** Tells whether a value fits, but for items that come more than once. */
export function fits(type: FieldType, value: unknown): boolean {
  if (value === null) return true;
  switch (kindOf(type, value)) {
    case "map": {
      if (!isObject(value)) return false;
      const { fields, element } = type.map!;
      for (const key in value) {
        const below = fields.get(key) ?? element;
        if (below === undefined || !fits(below, value[key])) return false;
      }
      return true;
    }
    case "list": {
      if (!Array.isArray(value)) return false;
      const { atomic, item } = type.list!;
      for (const each of value) if (!atomic && !isElement(type.list!, each) || !fits(item, each)) return false;
      return true;
    }
    default:
      return fitsScalar(type, value);
  }
}

function fitsScalar({ scalar }: FieldType, value: unknown): boolean {
  switch (scalar) {
    case "numeric":
      return typeof value === "number";
    case "string":
      return typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
    default:
      return typeof value !== "object";
  }
}

/** Writes errors as one message. */
export function errorText(errors: readonly string[]): string {
  return errors.length === 1 ? errors[0]! : ["errors:", ...errors.map((error) => `  ${error}`)].join("\n");
}

function report(errors: string[], path: string, message: string): void {
  errors.push(path === "" ? message : `${path}: ${message}`);
}

function check(type: FieldType, value: unknown, path: string, errors: string[]): void {
  if (value === null) return;
  switch (kindOf(type, value)) {
    case "map":
      if (isObject(value)) return checkMap(type.map!, value, path, errors);
      return report(errors, path, `expected map, got ${goValue(value)}`);
    case "list":
      if (Array.isArray(value)) return checkList(type.list!, value, path, errors);
      return report(errors, path, `expected list, got ${goValue(value)}`);
    default:
      return checkScalar(type, value, path, errors);
  }
}

function checkScalar({ scalar }: FieldType, value: unknown, path: string, errors: string[]): void {
  switch (scalar) {
    case "numeric":
      if (typeof value !== "number") report(errors, path, `expected numeric (int or float), got ${goType(value)}`);
      return;
    case "string":
      if (typeof value !== "string") {
        report(errors, path, `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`);
      }
      return;
    case "boolean":
      if (typeof value !== "boolean") report(errors, path, `expected boolean, got ${goValue(value)}`);
      return;
    default:
      if (typeof value === "object") report(errors, path, `expected any scalar, got ${goValue(value)}`);
  }
}

function checkMap(map: MapFieldType, value: JsonObject, path: string, errors: string[]): void {
  for (const key in value) {
    const type = map.fields.get(key) ?? map.element;
    if (type === undefined) return report(errors, `${path}.${key}`, "field not declared in schema");
    check(type, value[key], `${path}.${key}`, errors);
  }
}

function checkList(list: ListFieldType, value: readonly unknown[], path: string, errors: string[]): void {
  const seen = new Set<string>();
  for (const [index, item] of value.entries()) {
    let text = `[${index}]`;
    if (!list.atomic) {
      const { element, problem } = itemElement(list, item);
      if (problem !== undefined) return report(errors, path, `element ${index}: ${problem}`);
      text = elementText(element);
      if (seen.has(element)) report(errors, path, `duplicate entries for key ${text}`);
      seen.add(element);
    }
    check(list.item, item, path + text, errors);
  }
}

/** Names a value's type as Go does. */
export function goType(value: unknown): string {
  if (Array.isArray(value)) return "[]interface {}";
  if (isObject(value)) return "map[string]interface {}";
  return typeof value === "boolean" ? "bool" : typeof value === "string" ? "string" : "float64";
}

/** Writes a value as Go prints what it holds. */
function goValue(value: unknown): string {
  return `&{${goPrint(value)}}`;
}

/** Writes a value as Go's `%v`. */
export function goPrint(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(goPrint).join(" ")}]`;
  if (isObject(value)) {
    return `map[${Object.keys(value).sort().map((key) => `${key}:${goPrint(value[key])}`).join(" ")}]`;
  }
  return String(value);
}

/** Writes a value as Go's `%#v`. */
function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return "interface {}(nil)";
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  if (isObject(value)) {
    const members = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${goSyntax(value[key])}`);
    return `map[string]interface {}{${members.join(", ")}}`;
  }
  return JSON.stringify(value);
}
