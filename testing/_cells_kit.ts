/**
 * Prints what the cells of many built-in kinds have in common: containers, selectors, times, shortened lists.
 *
 * ```ts
 * import { selectorText } from "./_cells_kit.ts";
 *
 * console.assert(selectorText({ matchLabels: { app: "a" } }) === "app=a");
 * ```
 *
 * @module
 */
import { age } from "./_ages.ts";
import type { Fields } from "./_objects.ts";

/** What cells know beside the object. */
export interface CellContext {
  /** How old the object is. */
  readonly age: string;
  /** Wall time. */
  readonly now: Date;
  /** True in a list, false for an object by itself. */
  readonly listed?: boolean | undefined;
}

/** Prints one row. */
export type Cells = (object: Fields, context: CellContext) => unknown[];

/** What stands for nothing. */
export const NONE = "<none>";

/** What stands for a value that nobody set. */
export const UNSET = "<unset>";

/** How many entries a map has. */
export function count(map: Fields | undefined): number {
  return Object.keys(map ?? {}).length;
}

/** How long ago a time was; unknown if there is none. */
export function since(from: string | undefined | null, now: Date): string {
  return age(from || undefined, now);
}

/** Containers and images of the template of a spec. */
export function template({ spec = {} }: Fields): unknown[] {
  const containers: Fields[] = spec.template?.spec?.containers ?? [];
  return [containers.map(({ name }) => name).join(","), containers.map(({ image }) => image).join(",")];
}

/** Labels as `a=b,c=d`. */
export function labelsText(labels: Fields | undefined): string {
  return Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`).sort().join(",") || NONE;
}

function requirement({ key, operator, values = [] }: Fields): string {
  if (operator === "Exists") return key;
  if (operator === "DoesNotExist") return `!${key}`;
  return `${key} ${operator.toLowerCase()} (${[...values].sort().join(",")})`;
}

/** A label selector as kubectl prints it: by key. */
export function selectorText(selector: Fields | undefined): string {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  const parts = [
    ...Object.entries(matchLabels).map(([key, value]) => ({ key, text: `${key}=${value}` })),
    ...matchExpressions.map((each: Fields) => ({ key: each.key, text: requirement(each) })),
  ];
  parts.sort((a, b) => a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
  return parts.map(({ text }) => text).join(",") || NONE;
}

/** The first texts of a list, and how many more there are. */
export function shortened(texts: readonly string[], most: number, separator = ",", total = texts.length): string {
  const shown = texts.slice(0, most).join(separator);
  return texts.length > most ? `${shown} + ${total - most} more...` : shown;
}

/** True if a condition of this type is true. */
export function isTrue(conditions: Fields[] | undefined, type: string): boolean {
  return (conditions ?? []).some((each) => each.type === type && each.status === "True");
}
