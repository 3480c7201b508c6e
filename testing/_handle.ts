/**
 * Answers one request for a resource: finds who handles the verb, and refuses what is not served.
 *
 * ```ts
 * import { handle } from "./_handle.ts";
 *
 * console.assert(typeof handle === "function");
 * ```
 *
 * @module
 */
import { behaviourOf } from "./_behaviour.ts";
import type { Answer, Call } from "./_call.ts";
import { accepted, readBody } from "./_codec.ts";
import { decode } from "./_decode.ts";
import { remove, removeAll } from "./_delete.ts";
import { answerOf } from "./_encode.ts";
import type { Fields, Kube } from "./_objects.ts";
import { checkWriteOptions } from "./_options.ts";
import { checkName } from "./_identity.ts";
import { patch } from "./_patch.ts";
import { proxy } from "./_proxy.ts";
import { encodeList, find, get, list, representation } from "./_read.ts";
import { bind } from "./_pods_binding.ts";
import { evict } from "./_pods_eviction.ts";
import { requestToken, review, REVIEWS } from "./_reviews.ts";
import { scale } from "./_scale.ts";
import { badRequest, methodNotAllowed, noResource, notFound, qualified } from "./_status.ts";
import { watch } from "./_watch.ts";
import { create, liveOf, mayCreate, mustExist, update } from "./_write.ts";

/** What connects to a container, which needs a node. */
const STREAMS = new Set(["attach", "exec", "portforward"]);

/** Refuses a container that the pod does not have. */
function checkContainer({ query }: Call, { metadata, spec }: Kube): void {
  const container = query.get("container");
  const all: Fields[] = [...spec?.containers ?? [], ...spec?.initContainers ?? [], ...spec?.ephemeralContainers ?? []];
  if (!container || all.some(({ name }) => name === container)) return;
  throw badRequest(`container ${container} is not valid for pod ${metadata.name}`);
}

/** There is no kubelet to connect to; where a pod is on no node, a real server says so itself. */
function connect(call: Call): never {
  const { object } = mustExist(call, liveOf(call));
  checkContainer(call, object);
  const { metadata, spec } = object;
  if (!spec?.nodeName) throw badRequest(`pod ${metadata.name} does not have a host assigned`);
  throw noResource();
}

/** There is no kubelet that would have a log. */
function podLog(call: Call): Answer {
  checkContainer(call, mustExist(call, liveOf(call)).object);
  return { code: 204, body: "" };
}

/** Answers a request for a resource that is served. */
export function handle(call: Call): Answer | ReadableStream<Uint8Array> {
  const { asked, info } = call;
  const { subresource, verb } = asked;
  const asks = REVIEWS.get(info.storage);
  // Names with slashes are no parts of the paths of built-in kinds.
  if (asked.name.includes("/") && !info.custom) throw noResource();
  if (asks && verb === "create" && asked.name === "") return review(call, asks);
  if (info.storage === "bindings" && verb === "create") return bind(call);
  if (subresource !== "") {
    const sub = info.subresources.get(subresource);
    // What follows the subresource is not looked at for custom resources.
    if (!sub || (asked.rest.length > 0 && !info.custom && subresource !== "proxy")) {
      throw info.custom ? notFound(info, asked.name) : noResource();
    }
    if (!sub.verbs.includes(verb) || (call.method === "HEAD" && !info.custom)) throw refuseVerb(call);
    checkAccept(call);
    if (subresource === "scale") return scale(call);
    if (subresource === "token") return requestToken(call);
    if (subresource === "finalize") return put(call);
    if (subresource === "eviction") return evict(call);
    if (subresource === "log") return podLog(call);
    if (subresource === "proxy") return proxy(call);
    if (info.storage === "pods" && STREAMS.has(subresource)) return connect(call);
    if (subresource === "binding" && verb === "create") return bind(call);
    if (subresource !== "status" && !behaviourOf(info).parts?.[subresource]) throw noResource();
  } else if (asked.name !== "" && !info.verbs.includes("get") && verb !== "create") throw noResource();
  else if (!info.verbs.includes(verb)) throw refuseVerb(call);
  else if (asked.name === "" && (verb === "update" || verb === "patch")) {
    throw info.custom ? badRequest("name must be provided") : methodNotAllowed();
  }
  if (call.method === "HEAD" && !info.custom) throw methodNotAllowed();
  if (verb === "watch" && call.method !== "GET") throw methodNotAllowed();
  checkAccept(call);
  switch (verb) {
    case "get":
      return get(call);
    case "list":
      return list(call);
    case "watch":
      return watch(call);
    case "create":
      return post(call);
    case "update":
      return put(call);
    case "patch":
      return patch(call);
    case "delete":
      return remove(call);
    case "deletecollection": {
      const found = find(call);
      const body = encodeList(call, found, representation(call, true));
      removeAll(call, found.items);
      return { code: 200, body };
    }
  }
  throw refuseVerb(call);
}

const WRITES = new Set(["create", "update", "patch", "delete"]);

/** Refuses a write whose answer the client would not read; reads look at that themselves. */
function checkAccept({ asked, headers }: Call): void {
  if (WRITES.has(asked.verb)) accepted(headers.get("accept"));
}

function refuseVerb({ asked, info }: Call): Error {
  if (!info.custom) return methodNotAllowed();
  const kind = qualified(info.group, info.plural);
  const details = { details: { kind: info.plural, group: info.group } };
  return methodNotAllowed(`${asked.verb} is not supported on resources of kind "${kind}"`, details);
}

function post(call: Call): Answer {
  const { info, asked } = call;
  // The name in the path of a custom resource is not looked at.
  if (asked.name !== "" && !info.custom) throw info.verbs.includes("get") ? methodNotAllowed() : noResource();
  const named = info.custom !== undefined;
  const { value, duplicates } = readBody(call.body, call.headers.get("content-type"), info.kind, { named });
  checkWriteOptions(call.query, "CreateOptions");
  return answerOf(info, 201, create(call, decode(call, value, { duplicates })));
}

function put(call: Call): Answer {
  const { info, asked } = call;
  const { subresource } = asked;
  const named = info.custom !== undefined;
  const { value, duplicates } = readBody(call.body, call.headers.get("content-type"), info.kind, { named });
  checkWriteOptions(call.query, "UpdateOptions");
  const object = decode(call, value, { duplicates });
  checkName(call, object);
  const live = liveOf(call);
  if (!live && subresource === "" && behaviourOf(info).createOnUpdate) {
    mayCreate(call);
    return answerOf(info, 201, create(call, object, { replaces: true }));
  }
  return answerOf(info, 200, update(call, mustExist(call, live), object, { subresource, replaces: true }));
}
