/**
 * Answers reads: one object, or lists with selectors, pages and versions.
 *
 * ```ts
 * import { readToken, writeToken } from "./_read.ts";
 *
 * console.assert(readToken(writeToken({ version: 7, start: "a" })).start === "a");
 * ```
 *
 * @module
 */
import { behaviourOf, view } from "./_behaviour.ts";
import type { Answer, Call } from "./_call.ts";
import { accepted, notStreamed } from "./_codec.ts";
import { encodeItem, encodeObject, partialVersion, type Representation } from "./_encode.ts";
import type { Lag } from "./_lag.ts";
import { syntaxError } from "./_json_text.ts";
import { isObject } from "./_objects.ts";
import { parseFlag, parseInteger } from "./_options.ts";
import { matchesFields, matchesLabels, parseFields, parseLabels } from "./_selectors.ts";
import {
  badRequest,
  type Cause,
  cause,
  expired,
  internal,
  invalid,
  notAcceptable,
  versionTooLarge,
} from "./_status.ts";
import { Revision, type State } from "./_revision.ts";
import { pathOf } from "./_store.ts";
import { parseShards, type Shards } from "./_shards.ts";
import { tableOf } from "./_table.ts";
import { collectionOf, liveOf, mustExist, namespaceOf } from "./_write.ts";

/** Where a page ended. */
export interface ContinueToken {
  /** The version that all pages are of; -1 for the newest. */
  readonly version: number;
  /** The path of the last object of the page. */
  readonly start: string;
}

/** Writes a continue token. */
export function writeToken({ version, start }: ContinueToken): string {
  const text = JSON.stringify({ v: "meta.k8s.io/v1", rv: version, start: `${start}\u0000` });
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/**
 * Reads a continue token.
 *
 * @throws {StatusError} If it is not one
 */
export function readToken(token: string): ContinueToken {
  try {
    const { v, rv, start } = JSON.parse(atob(token.replaceAll("-", "+").replaceAll("_", "/")));
    if (v !== "meta.k8s.io/v1" || typeof rv !== "number" || typeof start !== "string") throw new Error("fields");
    return { version: rv, start: start.slice(0, -1) };
  } catch {
    throw badRequest(`invalid continue token: continue key is not valid: ${tokenProblem(token)}`);
  }
}

/** What Go says of a text that is no token: where it is no base64, or no JSON. */
function tokenProblem(token: string): string {
  const wrong = /[^A-Za-z0-9_-]/.exec(token);
  if (wrong || token.length % 4 === 1) return `illegal base64 data at input byte ${wrong?.index ?? token.length - 1}`;
  const text = atob(token.replaceAll("-", "+").replaceAll("_", "/"));
  try {
    const value = JSON.parse(text);
    if (isObject(value)) return `server does not recognize this encoded version ${value.v ?? ""}`;
    const type = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
    return `json: cannot unmarshal ${type} into Go value of type storage.continueToken`;
  } catch {
    return (syntaxError(text) ?? "unexpected end of JSON input").replaceAll(
      /[^\p{L}\p{N}\p{P}\p{S} ]/gu,
      (character) => {
        const hex = character.codePointAt(0)!.toString(16).padStart(2, "0");
        return character > "\x7f" ? `\\u00${hex}` : `\\x${hex}`;
      },
    );
  }
}

const MATCHES = ["Exact", "NotOlderThan"];

function integer(text: string | null): number {
  return text === null ? 0 : parseInteger(text);
}

/** Reads how many objects a list may have at most; 0 for any number. */
export function limitOf(query: URLSearchParams): number {
  return Math.max(0, integer(query.get("limit")));
}

/** Reads the seconds that a watch or list may take. */
export function timeoutSeconds(query: URLSearchParams): number {
  return integer(query.get("timeoutSeconds"));
}

/** Refuses a resource version that is no number, in the way of a list or of a get and watch. */
export function parseVersion(text: string, list: boolean): number {
  if (/^\d+$/.test(text)) return Number(text);
  const why = `Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${
    JSON.stringify(text)
  }: invalid syntax`;
  if (list) throw badRequest(`invalid resource version: resourceVersion: ${why}`);
  throw internal(`resourceVersion: ${why}`);
}

/** Checks how a list asks for a version. */
export function checkListOptions(query: URLSearchParams, watches: boolean): void {
  const causes: Cause[] = [];
  const match = query.get("resourceVersionMatch") ?? "", version = query.get("resourceVersion") ?? "";
  const initial = query.get("sendInitialEvents");
  const field = "resourceVersionMatch";
  const continued = (): void => {
    if (!query.get("continue")) return;
    causes.push(cause.forbidden(field, "resourceVersionMatch is forbidden when continue is provided"));
  };
  if (watches) {
    if (initial !== null && match !== "NotOlderThan") {
      causes.push(cause.forbidden(field, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
    }
    if (initial === null && match !== "") {
      causes.push(
        cause.forbidden(field, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"),
      );
    }
    if (match !== "" && match !== "NotOlderThan") causes.push(cause.unsupported(field, match, ["NotOlderThan"]));
    // A watch that says neither, from no version, is one of initial events.
    const defaulted = initial === null && match === "" && (version === "" || version === "0");
    if (match !== "" || defaulted) continued();
  } else {
    if (match !== "") {
      if (version === "") {
        causes.push(cause.forbidden(field, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
      }
      continued();
      if (!MATCHES.includes(match)) causes.push(cause.unsupported(field, match, ["Exact", "NotOlderThan", ""]));
      if (match === "Exact" && version === "0") {
        causes.push(cause.forbidden(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
      }
    }
    if (initial !== null) {
      causes.push(cause.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
    }
  }
  if (causes.length > 0) throw invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", causes);
}

/** What a call selects. */
export interface Selection {
  /** True for a selected object. */
  readonly selects: (state: State) => boolean;
  /** True if everything is selected. */
  readonly all: boolean;
  /** The shards that are selected, if any are. */
  readonly shards: Shards | undefined;
}

const EVERYWHERE = ["metadata.name", "metadata.namespace"];

function notSupported(path: string): string {
  return `field label not supported: ${path}`;
}

function notKnown(path: string): string {
  return `${JSON.stringify(path)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

/** Reads the selectors of a call. */
export function selectionOf(call: Call): Selection {
  const { query, info, asked } = call;
  const labels = parseLabels(query.get("labelSelector") ?? "");
  const fields = parseFields(query.get("fieldSelector") ?? "");
  const { selectDefaults = {}, selectedForm: seen = (object) => object, ...behaviour } = behaviourOf(info);
  const selectable = behaviour.selectableIn?.[info.apiVersion] ?? behaviour.selectable ?? [];
  for (const { path } of fields) {
    const known = info.custom !== undefined || selectable.length > 0;
    const common = EVERYWHERE.includes(path) && (info.namespaced || !known || path !== "metadata.namespace");
    if (common || selectable.includes(path)) continue;
    throw badRequest((known ? behaviour.unselectable ?? notSupported : notKnown)(path));
  }
  const { name } = asked;
  const shards = call.server.sharding ? parseShards(query.get("shardSelector")) : undefined;
  const all = labels.length === 0 && fields.length === 0 && name === "" && !shards;
  const near = fields.filter(({ path }) => EVERYWHERE.includes(path));
  const far = fields.filter(({ path }) => !EVERYWHERE.includes(path));
  const selects = (state: State): boolean => {
    // What is kept beside the JSON is looked at first.
    const { name: own, namespace, labels: given } = state instanceof Revision ? state : state.object.metadata;
    return (name === "" || own === name) && matchesLabels(labels, given) &&
      matchesFields(near, { metadata: { name: own, namespace } }, {}) &&
      (far.length === 0 || matchesFields(far, seen(view(info, state)), selectDefaults)) &&
      (shards === undefined || shards.includes(state.object.metadata));
  };
  return { all, selects: all ? () => true : selects, shards };
}

/** How the objects of an answer are shown. */
export function representation(call: Call, list: boolean): Representation | "table" {
  const watches = call.asked.verb === "watch";
  const { as, version, format } = accepted(call.headers.get("accept"), list || watches);
  if (watches && format === "yaml") throw notStreamed();
  const partial: Representation = version === "v1beta1" ? "partial v1beta1" : "partial";
  const kind = `*core.${call.info.kind}${list ? "List" : ""}`;
  switch (as) {
    case "Table":
      return "table";
    case "PartialObjectMetadata":
      if (list) {
        throw notAcceptable(`you requested PartialObjectMetadata, but the requested object is a list (${kind})`);
      }
      return partial;
    case "PartialObjectMetadataList":
      // A watch shows metadata one by one, by whichever name it is asked for.
      if (!list && call.asked.verb !== "watch") {
        if (call.info.custom) throw internal("content is not a list");
        throw notAcceptable(
          `you requested PartialObjectMetadataList, but the requested object is not a list (${kind})`,
        );
      }
      return partial;
  }
  return "object";
}

/** Refuses what was once a parameter. */
function checkExport(text: string | null): void {
  if (!parseFlag(text)) return;
  throw badRequest("the export parameter, deprecated since v1.14, is no longer supported");
}

/** Answers a GET of one object. */
export function get(call: Call): Answer {
  checkExport(call.query.get("export"));
  const version = call.query.get("resourceVersion") ?? "";
  const newest = (call.lag ?? call.server.store).version;
  if (version !== "" && parseVersion(version, false) > newest) throw versionTooLarge(version, newest);
  const as = representation(call, false);
  const live = mustExist(call, call.lag ? seenBy(call.lag, call) : liveOf(call));
  if (as === "table") return { code: 200, body: tableOf(call, [live], {}, call.server.now()) };
  return { code: 200, body: encodeObject(call.info, live, as) };
}

/** The object of a call as a replica sees it that is behind. */
function seenBy(lag: Lag, call: Call): Revision | undefined {
  const collection = collectionOf(call);
  const there = collection.list({ namespace: namespaceOf(call), at: lag.versionOf(collection) });
  return there.find(({ name }) => name === call.asked.name);
}

/** What a list found. */
export interface Found {
  readonly items: Revision[];
  readonly metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
  /** The shards that it was asked for. */
  readonly shards: Shards | undefined;
}

/** Finds what a list asks for. */
export function find(call: Call): Found {
  const { query, info, server } = call;
  checkListOptions(query, false);
  const limit = limitOf(query);
  timeoutSeconds(query);
  const { selects, all, shards } = selectionOf(call);
  const collection = collectionOf(call);
  const newest = call.lag ? call.lag.versionOf(collection) : server.store.version;
  const asked = query.get("resourceVersion") ?? "", match = query.get("resourceVersionMatch") ?? "";
  const token = query.get("continue") ?? "";
  if (token !== "" && asked !== "" && asked !== "0") {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
  const wanted = asked === "" ? 0 : parseVersion(asked, true);
  if (wanted > newest) throw versionTooLarge(asked, newest);
  let version = newest, start = "";
  if (token !== "") {
    const read = readToken(token);
    start = read.start;
    if (read.version > 0) version = read.version;
    if (version < collection.compacted) {
      throw expired(
        "The provided continue parameter is too old to display a consistent list result. You can start a new list " +
          "without the continue parameter, or use the continue token in this response to retrieve the remainder of " +
          "the results. Continuing with the provided token results in an inconsistent list - objects that were " +
          "created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
        { continue: writeToken({ version: -1, start }) },
      );
    }
  } else if (wanted > 0 && (match === "Exact" || (match === "" && limit > 0))) {
    version = wanted;
    if (version < collection.compacted) throw expired("The resourceVersion for the provided list is too old.");
  }
  const namespace = info.namespaced && namespaceOf(call) !== "" ? namespaceOf(call) : undefined;
  const unlimited = limit === 0 || asked === "0";
  const most = unlimited ? Infinity : limit;
  const { items, rest } = collection.page({ namespace, at: version, after: start, limit: most, selects });
  const metadata: Found["metadata"] = { resourceVersion: String(version) };
  // Whether anything follows is known; whether any of it is selected is not. One object that is named has nothing behind it.
  const named = namespace !== undefined && call.asked.selected !== "";
  if (items.length === most && rest > 0 && !named) {
    metadata.continue = writeToken({ version, start: pathOf(items.at(-1)!) });
    if (all) metadata.remainingItemCount = rest;
  }
  return { items, metadata, shards };
}

/** Answers a GET of a collection. */
export function list(call: Call): Answer {
  const as = representation(call, true);
  return { code: 200, body: encodeList(call, find(call), as) };
}

/** Writes a list as JSON, from the items' own JSON. */
export function encodeList(call: Call, { items, metadata, shards }: Found, as: Representation | "table"): string {
  const { info } = call;
  if (as === "table") return JSON.stringify(tableOf(call, items, metadata, call.server.now()));
  const kind = as === "object" ? info.listKind : "PartialObjectMetadataList";
  const apiVersion = as === "object" ? info.apiVersion : `meta.k8s.io/${partialVersion(as)}`;
  // The lists of one type for all kinds have no room to say which shards they are of.
  const sharded = shards && !info.custom && as === "object" ? { shardInfo: { selector: shards.selector } } : {};
  const meta = { ...(info.custom && as === "object" ? { continue: "" } : {}), ...metadata, ...sharded };
  const head = `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":${
    JSON.stringify(meta)
  },"items":[`;
  // Metadata of nothing is null in a real server's list, as it is of no slice.
  if (as !== "object" && items.length === 0) return head.slice(0, -1) + "null}";
  return head + items.map((each) => encodeItem(info, each, as)).join(",") + "]}";
}
