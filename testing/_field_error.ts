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
  for (const [index, item] of items.entries()) {
    const key = canonical(item);
    const times = seen.get(key) ?? 0;
    seen.set(key, times + 1);
    if (times === 1) found.push(index);
  }
  return found.length > 0 ? found : undefined;
}

function canonical(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  return JSON.stringify(
    value,
    (_, part: unknown) =>
      typeof part === "object" && part !== null && !Array.isArray(part)
        ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => a < b ? -1 : 1))
        : part,
  ) ?? "undefined";
}
