/**
 * Describes invalid fields: the causes and the message of a 422.
 *
 * ```ts
 * import { errorsText, invalid } from "./_field_error.ts";
 *
 * errorsText([invalid("spec.size", 0, "must be positive")]); // "spec.size: Invalid value: 0: must be positive"
 * ```
 *
 * @module
 */
import type { JsonObject } from "./_json.ts";

/** One invalid field: a cause in a `Status`. */
export interface FieldError {
  /** The field, such as `spec.list[0].name`. */
  field: string;
  /** The machine-readable word, such as `FieldValueInvalid`. */
  reason: string;
  /** What is wrong, without the field. */
  message: string;
}

/** How the server names the object itself. */
export const noField = "<nil>";

/** Writes a value as messages show it. */
export function shown(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}

/** Returns an error about a value. */
export function invalid(field: string, value: unknown, text: string): FieldError {
  return { field, reason: "FieldValueInvalid", message: `Invalid value: ${shown(value)}: ${text}` };
}

/** Writes errors as the end of a message. */
export function errorsText(errors: readonly FieldError[]): string {
  const texts = errors.map(({ field, message }) => `${field}: ${message}`);
  return texts.length === 1 ? texts[0]! : `[${texts.join(", ")}]`;
}

/** Returns the indices of items that came before, each value once; undefined if there are none. */
export function duplicateOf(items: readonly unknown[]): number[] | undefined {
  if (items.length < 2) return undefined;
  const seen = new Map<string, number>();
  const found: number[] = [];
  for (let index = 0; index < items.length; index++) {
    const key = canonical(items[index]);
    const times = seen.get(key) ?? 0;
    seen.set(key, times + 1);
    if (times === 1) found.push(index);
  }
  return found.length > 0 ? found : undefined;
}

/** Writes a value with the members of objects in order. */
function canonical(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const members = Object.keys(value).sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${canonical((value as JsonObject)[key])}`).join()}}`;
}
