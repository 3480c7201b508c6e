/**
 * Reads and checks the options of writes: dry run, field manager, field validation, and what a deletion says.
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
import type { Fields } from "./_objects.ts";
import { badRequest, type Cause, cause, invalid } from "./_status.ts";

/** How unknown fields are met. */
export type FieldValidation = "Ignore" | "Warn" | "Strict";

const VALIDATIONS = ["", "Ignore", "Strict", "Warn"];
const POLICIES = ["Foreground", "Background", "Orphan"];

/** The field manager of a write: as asked, or the first word of the user agent. */
export function managerOf(query: URLSearchParams, userAgent: string | null): string {
  const asked = query.get("fieldManager");
  if (asked) return asked;
  const agent = (userAgent ?? "").split("/")[0]!.replaceAll(/[^\x20-\x7e]/g, "");
  return agent === "" ? "unknown" : agent.slice(0, 128);
}

/** How unknown fields are met; they are warned of unless the request says otherwise. */
export function fieldValidation(query: URLSearchParams): FieldValidation {
  return (query.get("fieldValidation") || "Warn") as FieldValidation;
}

/** True if nothing is to be stored. */
export function isDryRun({ query }: Call): boolean {
  return query.getAll("dryRun").some((each) => each === "All");
}

function unsupportedDryRun(values: readonly string[]): Cause[] {
  if (values.every((each) => each === "All")) return [];
  return [{ ...cause.unsupported("dryRun", values, ["All"]) }];
}

function checkManager(query: URLSearchParams): Cause[] {
  const manager = query.get("fieldManager") ?? "";
  if (new TextEncoder().encode(manager).length > 128) return [cause.tooLong("fieldManager", 128)];
  for (const [index, character] of [...manager].entries()) {
    // deno-lint-ignore no-control-regex
    if (/[\x00-\x1f\x7f-\x9f]/.test(character)) {
      const why = `should only contain printable characters, but contains non-printable character at index ${index}`;
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

/** What a deletion says. */
export interface DeleteOptions {
  readonly propagationPolicy?: "Foreground" | "Background" | "Orphan" | undefined;
  readonly orphanDependents?: boolean | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
  readonly dryRun: boolean;
}

/** Reads the options of a deletion: from the body if there is one, else from the query. */
export function deleteOptions(call: Call, body: Fields | undefined): DeleteOptions {
  const { query } = call;
  let given: Fields;
  if (body && Object.keys(body).length > 0) {
    const { apiVersion, kind } = body;
    if ((kind !== undefined && kind !== "DeleteOptions")) {
      throw badRequest(
        `no kind "${kind}" is registered for version "${apiVersion ?? "v1"}" in scheme "pkg/runtime/scheme.go:111"`,
      );
    }
    given = body;
  } else {
    const grace = query.get("gracePeriodSeconds");
    if (grace !== null && !/^[-+]?\d+$/.test(grace)) {
      throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(grace)}: invalid syntax`);
    }
    given = {
      propagationPolicy: query.get("propagationPolicy") ?? undefined,
      orphanDependents: query.has("orphanDependents") ? query.get("orphanDependents") === "true" : undefined,
      gracePeriodSeconds: grace === null ? undefined : Number(grace),
      dryRun: query.getAll("dryRun"),
    };
  }
  const dryRun: string[] = given.dryRun ?? query.getAll("dryRun");
  const policy = given.propagationPolicy ?? undefined, orphan = given.orphanDependents ?? undefined;
  const causes: Cause[] = [];
  if (policy !== undefined && orphan !== undefined) {
    const why = "orphanDependents and deletionPropagation cannot be both set";
    causes.push(cause.invalid("propagationPolicy", policy, why));
  }
  if (policy !== undefined && !POLICIES.includes(policy)) {
    causes.push(cause.unsupported("propagationPolicy", policy, [...POLICIES, "nil"]));
  }
  causes.push(...unsupportedDryRun(dryRun));
  if (causes.length > 0) throw invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", causes);
  return {
    propagationPolicy: policy,
    orphanDependents: orphan,
    gracePeriodSeconds: given.gracePeriodSeconds ?? undefined,
    preconditions: given.preconditions ?? undefined,
    dryRun: dryRun.length > 0,
  };
}
