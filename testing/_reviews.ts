/**
 * Answers who somebody is and what they may do, and makes tokens for service accounts.
 *
 * ```ts
 * import { REVIEWS } from "./_reviews.ts";
 *
 * console.assert(REVIEWS.has("selfsubjectreviews.authentication.k8s.io"));
 * ```
 *
 * @module
 */
import { builtinSchema } from "./_builtin.ts";
import { checkTokenRequest } from "./_token_request.ts";
import type { AccessAttributes, Answer, BoundObject, Call } from "./_call.ts";
import type { User } from "./_user.ts";
import { readBody } from "./_codec.ts";
import { decode, decodeAs } from "./_decode.ts";
import { trackUpdate } from "./_managed_fields.ts";
import { type Fields, type Kube, timestamp } from "./_objects.ts";
import { checkWriteOptions, managerOf } from "./_options.ts";
import { track } from "./_ownership.ts";
import { Rbac } from "./_rbac.ts";
import { TOKEN_REQUEST } from "./_registered.ts";
import { badRequest, type Cause, cause, invalid } from "./_status.ts";
import { liveOf, matchNamespace, mustExist } from "./_write.ts";

function attributesOf(spec: Fields): AccessAttributes {
  const { resourceAttributes, nonResourceAttributes } = spec;
  if (nonResourceAttributes) return { verb: nonResourceAttributes.verb ?? "", path: nonResourceAttributes.path ?? "" };
  const { verb = "", group = "", resource = "", subresource = "", namespace = "", name = "" } = resourceAttributes ??
    {};
  return { verb, group, resource, subresource, namespace, name };
}

function decide(call: Call, user: User, spec: Fields): Fields {
  const { server } = call;
  const attributes = attributesOf(spec);
  if (!server.authorizes) return { allowed: true };
  const rbac = new Rbac(server.store);
  const reason = rbac.reason(user, attributes);
  const said = reason ?? rbac.refusal(user, attributes);
  return { allowed: reason !== undefined, ...(said === "" ? {} : { reason: said }) };
}

/** What is wrong with what a review is about. */
function subjectCauses({ resourceAttributes, nonResourceAttributes }: Fields): Cause[] {
  const causes: Cause[] = [];
  if ((resourceAttributes === undefined) === (nonResourceAttributes === undefined)) {
    const why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    causes.push(cause.invalid("spec", goAttributes(nonResourceAttributes), why));
  }
  for (const name of ["fieldSelector", "labelSelector"]) {
    const selector = resourceAttributes?.[name];
    if (selector === undefined) continue;
    const path = `spec.resourceAttributes.${name}`;
    const { rawSelector = "", requirements = [] } = selector;
    if (rawSelector === "" && requirements.length === 0) {
      causes.push(
        cause.required(`${path}.requirements`, `when ${path} is specified, requirements or rawSelector is required`),
      );
    } else if (rawSelector !== "" && requirements.length > 0) {
      causes.push(
        cause.invalid(`${path}.rawSelector`, rawSelector, "may not specified at the same time as requirements"),
      );
    }
  }
  return causes;
}

/** Attributes as Go writes them: by the names of its fields. */
function goAttributes(attributes: Fields | undefined): Fields | undefined {
  return attributes && { Path: attributes.path ?? "", Verb: attributes.verb ?? "" };
}

/** Refuses a review that is about nothing, about two things, or that has metadata. */
function check(call: Call, object: Kube, more: readonly Cause[] = []): void {
  const causes = [...subjectCauses(object.spec ?? {}), ...more];
  const { managedFields: _, namespace: _namespace, creationTimestamp: _time, ...given } = object.metadata;
  if (Object.keys(given).length > 0) {
    const { namespace: _, ...shown } = object.metadata;
    causes.push(cause.invalid("metadata", shown, "must be empty"));
  }
  if (causes.length > 0) throw invalid({ group: call.info.group, kind: "" }, "", causes);
}

function noSubject({ user, groups = [] }: Fields): Cause[] {
  if (user || groups.length > 0) return [];
  return [cause.invalid("spec.user", "", "at least one of user or group must be specified")];
}

function reviewed(call: Call, object: Kube): Kube {
  const { spec = {} } = object;
  return { ...object, status: decide(call, { name: spec.user ?? "", groups: spec.groups ?? [] }, spec) };
}

function subjectReview(call: Call, given: Kube): Kube {
  const object = track(call, undefined, given);
  check(call, object, noSubject(object.spec ?? {}));
  return reviewed(call, object);
}

function localReview(call: Call, given: Kube): Kube {
  matchNamespace(call, given);
  const object = track(call, undefined, given);
  const { spec = {}, metadata } = object;
  const { resourceAttributes, nonResourceAttributes } = spec;
  const causes = noSubject(spec);
  if (resourceAttributes && (resourceAttributes.namespace ?? "") !== metadata.namespace) {
    const found = resourceAttributes.namespace ?? "";
    causes.push(cause.invalid("spec.resourceAttributes.namespace", found, "must match metadata.namespace"));
  }
  if (nonResourceAttributes) {
    const why = "disallowed on this kind of request";
    causes.push(cause.invalid("spec.nonResourceAttributes", goAttributes(nonResourceAttributes), why));
  }
  check(call, object, causes);
  return reviewed(call, object);
}

function selfReview(call: Call, given: Kube): Kube {
  const object = track(call, undefined, given);
  check(call, object);
  return { ...object, status: decide(call, call.user, object.spec ?? {}) };
}

function rulesReview(call: Call, object: Kube): Kube {
  const { namespace = "" } = object.spec ?? {};
  if (namespace === "") throw badRequest("no namespace on request");
  const all = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }, { nonResourceURLs: ["*"], verbs: ["*"] }];
  const rules = !call.server.authorizes
    ? all
    : [...new Rbac(call.server.store).granted(call.user, namespace)].map(({ rule }) => rule);
  const resourceRules = rules.filter((rule) => "resources" in rule)
    .map(({ verbs, ...rest }) => ({ verbs, ...rest }));
  const nonResourceRules = rules.filter((rule) => "nonResourceURLs" in rule)
    .map(({ verbs, ...rest }) => ({ verbs, ...rest }));
  const missing = call.server.authorizes ? new Rbac(call.server.store).missing(call.user, namespace) : "";
  const evaluation = missing === "" ? {} : { evaluationError: missing };
  const status = { resourceRules, nonResourceRules, incomplete: false, ...evaluation };
  return { ...object, spec: {}, status };
}

function userInfo({ name, groups, uid, extra }: User): Fields {
  return { username: name, ...(uid ? { uid } : {}), groups, ...(extra ? { extra } : {}) };
}

function whoAmI(call: Call, object: Kube): Kube {
  const metadata = { creationTimestamp: timestamp(call.server.now()) };
  return { ...object, metadata, status: { userInfo: userInfo(call.user) } };
}

function tokenReview(call: Call, object: Kube): Kube {
  const token = object.spec?.token ?? "";
  if (token === "") throw badRequest("token is required for TokenReview in authentication");
  const { user, audiences, error } = call.server.reviewToken(token, object.spec?.audiences);
  const why = "invalid bearer token";
  const status = user
    ? { authenticated: true, user: userInfo(user), audiences }
    : { user: {}, error: error === undefined ? why : `[${why}, ${error}]` };
  const { namespace: _, ...metadata } = object.metadata;
  return { ...track(call, undefined, { ...object, metadata }), status };
}

type Review = (call: Call, object: Kube) => Kube;

/** The resources that are asked, not stored, by storage. */
export const REVIEWS: ReadonlyMap<string, Review> = new Map<string, Review>([
  ["subjectaccessreviews.authorization.k8s.io", subjectReview],
  ["localsubjectaccessreviews.authorization.k8s.io", localReview],
  ["selfsubjectaccessreviews.authorization.k8s.io", selfReview],
  ["selfsubjectrulesreviews.authorization.k8s.io", rulesReview],
  ["selfsubjectreviews.authentication.k8s.io", whoAmI],
  ["tokenreviews.authentication.k8s.io", tokenReview],
]);

/** Answers a review. */
export function review(call: Call, answer: Review): Answer {
  const { value, duplicates } = readBody(call.body, call.headers.get("content-type"), call.info.kind);
  checkWriteOptions(call.query, "CreateOptions");
  return { code: 201, body: answer(call, decode(call, value, { duplicates })) };
}

const HOUR = 3600;

/** The object that a token is asked to go with; it is there. */
function boundTo(call: Call, { spec }: Fields): BoundObject | undefined {
  if (!spec?.boundObjectRef) return undefined;
  const { kind, name } = spec.boundObjectRef;
  const namespace = kind === "Node" ? "" : call.asked.namespace;
  const found = call.server.store.collection(`${kind.toLowerCase()}s`).get(namespace, name);
  return found && { kind, name, uid: found.object.metadata.uid! };
}

/** Makes a token for a service account. */
export function requestToken(call: Call): Answer {
  const { server, asked } = call;
  const read = readBody(call.body, call.headers.get("content-type"), "TokenRequest");
  checkWriteOptions(call.query, "CreateOptions");
  const { expirationSeconds } = read.value.spec ?? {};
  const decoded: Fields = decodeAs(call, TOKEN_REQUEST, read.value, { duplicates: read.duplicates });
  const value: Fields = { ...decoded, spec: { ...decoded.spec, expirationSeconds: expirationSeconds ?? undefined } };
  const account = mustExist(call, liveOf(call)).object;
  checkTokenRequest(call, value, account);
  const seconds = value.spec?.expirationSeconds ?? HOUR;
  const audiences = value.spec?.audiences ?? ["https://kubernetes.default.svc"];
  const token = server.issueToken(asked.namespace, account, seconds, audiences, boundTo(call, value));
  const expirationTimestamp = timestamp(new Date(server.now().getTime() + seconds * 1000));
  const apiVersion = "authentication.k8s.io/v1", kind = "TokenRequest";
  const given: Fields = { ...value, apiVersion, kind, spec: { ...value.spec, expirationSeconds: seconds } };
  const metadata = {
    ...given.metadata,
    name: asked.name,
    namespace: asked.namespace,
    uid: account.metadata.uid,
    creationTimestamp: timestamp(server.now()),
  };
  const { managedFields } = (trackUpdate({
    live: undefined,
    updated: { ...given, metadata },
    manager: managerOf(call.query, call.headers.get("user-agent")),
    schema: builtinSchema("authentication.k8s.io", "v1", kind),
    apiVersion,
    subresource: "token",
    time: timestamp(server.now()),
  }) as Kube).metadata;
  return {
    code: 201,
    body: {
      kind: "TokenRequest",
      apiVersion: "authentication.k8s.io/v1",
      metadata: { ...metadata, ...(managedFields ? { managedFields } : {}) },
      spec: { audiences, expirationSeconds: seconds, boundObjectRef: value.spec?.boundObjectRef ?? null },
      status: { token, expirationTimestamp },
    },
  };
}
