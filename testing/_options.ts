/**
 * Reads and checks the options of writes: dry run, field manager and field validation.
 *
 * ```ts
 * import { managerOf } from "./_options.ts";
 *
 * console.assert(managerOf(new URLSearchParams("fieldManager=me"), "kubectl/v1.32") === "me");
 * ```
 *
 * @module
 */
import type { Call } from "./_call.ts";
import { remembered } from "./_remembered.ts";
import { badRequest, type Cause, cause, invalid } from "./_status.ts";

/** How unknown fields are met. */
export type FieldValidation = "Ignore" | "Warn" | "Strict";

const VALIDATIONS = ["", "Ignore", "Strict", "Warn"];

/** The field manager of a write: as asked, or the first word of the user agent. */
export function managerOf(query: URLSearchParams, userAgent: string | null): string {
  const asked = query.get("fieldManager");
  if (asked) return asked;
  return agentName(userAgent ?? "");
}

const agentName = remembered((userAgent) => {
  const name = userAgent.split("/")[0]!.replaceAll(/[^\x20-\x7e]/g, "");
  return name === "" ? "unknown" : name.slice(0, 128);
});

/** How unknown fields are met; they are warned of unless the request says otherwise. */
export function fieldValidation(query: URLSearchParams): FieldValidation {
  return (query.get("fieldValidation") || "Warn") as FieldValidation;
}

/** True if nothing is to be stored. */
export function isDryRun({ query }: Call): boolean {
  return query.getAll("dryRun").some((each) => each === "All");
}

/** Reads an integer as Go does from a query. */
export function parseInteger(text: string): number {
  const quoted = JSON.stringify(text);
  if (!/^[-+]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${quoted}: invalid syntax`);
  const value = BigInt(text.replace(/^\+/, ""));
  if (value !== BigInt.asIntN(64, value)) throw badRequest(`strconv.ParseInt: parsing ${quoted}: value out of range`);
  return Number(value);
}

/** Reads a flag as Go does from a query: it is set by any value but `false` and `0`. */
export function parseFlag(text: string | null): boolean | undefined {
  return text === null ? undefined : text !== "0" && text.toLowerCase() !== "false";
}

/** Refuses a dry run that is not of all stages. */
export function unsupportedDryRun(values: readonly string[]): Cause[] {
  if (values.every((each) => each === "All")) return [];
  return [{ ...cause.unsupported("dryRun", values, ["All"]) }];
}

function checkManager(query: URLSearchParams): Cause[] {
  const manager = query.get("fieldManager") ?? "";
  if (manager === "") return [];
  if (new TextEncoder().encode(manager).length > 128) return [cause.tooLong("fieldManager", 128)];
  for (const [index, character] of [...manager].entries()) {
    // deno-lint-ignore no-control-regex
    if (/[\x00-\x1f\x7f-\x9f]/.test(character)) {
      const point = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
      const why = `invalid character U+${point} (at position ${index})`;
      return [cause.invalid("fieldManager", manager, why)];
    }
  }
  return [];
}

/** Refuses options that make no sense: for a create, an update or a patch. */
export function checkWriteOptions(
  query: URLSearchParams,
  kind: "CreateOptions" | "UpdateOptions" | "PatchOptions",
  apply = false,
): void {
  const causes: Cause[] = [];
  if (kind === "PatchOptions") {
    if (apply) {
      if (!query.get("fieldManager")) causes.push(cause.required("fieldManager", "is required for apply patch"));
    } else if (query.has("force")) causes.push(cause.forbidden("force", "may not be specified for non-apply patch"));
  }
  causes.push(...checkManager(query));
  causes.push(...unsupportedDryRun(query.getAll("dryRun")));
  const validation = query.get("fieldValidation") ?? "";
  if (!VALIDATIONS.includes(validation)) {
    causes.push(cause.unsupported("fieldValidation", validation, VALIDATIONS));
  }
  if (causes.length > 0) throw invalid({ group: "meta.k8s.io", kind }, "", causes);
}
