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
import type { AccessAttributes, Answer, Call, User } from "./_call.ts";
import { readBody } from "./_codec.ts";
import { decode } from "./_decode.ts";
import { trackUpdate } from "./_managed_fields.ts";
import { type Fields, type Kube, timestamp } from "./_objects.ts";
import { checkWriteOptions, managerOf } from "./_options.ts";
import { track } from "./_ownership.ts";
import { Rbac } from "./_rbac.ts";
import { cause, invalid } from "./_status.ts";
import { liveOf, mustExist } from "./_write.ts";

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
  const reason = new Rbac(server.store).reason(user, attributes);
  return reason === undefined ? { allowed: false } : { allowed: true, ...(reason === "" ? {} : { reason }) };
}

function subjectReview(call: Call, object: Kube): Kube {
  const { spec = {} } = object;
  if (!spec.user && !(spec.groups ?? []).length) {
    const why = "at least one of user or group must be specified";
    throw invalid({ group: call.info.group, kind: "" }, "", [cause.invalid("spec.user", "", why)]);
  }
  const status = decide(call, { name: spec.user ?? "", groups: spec.groups ?? [] }, spec);
  return { ...track(call, undefined, object), status };
}

function selfReview(call: Call, object: Kube): Kube {
  return { ...track(call, undefined, object), status: decide(call, call.user, object.spec ?? {}) };
}

function rulesReview(call: Call, object: Kube): Kube {
  const { namespace = "" } = object.spec ?? {};
  const all = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }, { nonResourceURLs: ["*"], verbs: ["*"] }];
  const rules = !call.server.authorizes
    ? all
    : [...new Rbac(call.server.store).granted(call.user, namespace)].map(({ rule }) => rule);
  const resourceRules = rules.filter((rule) => "resources" in rule)
    .map(({ verbs, ...rest }) => ({ verbs, ...rest }));
  const nonResourceRules = rules.filter((rule) => "nonResourceURLs" in rule)
    .map(({ verbs, ...rest }) => ({ verbs, ...rest }));
  const status = { resourceRules, nonResourceRules, incomplete: false };
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
  const user = call.server.authenticate(object.spec?.token ?? "");
  const status = user ? { authenticated: true, user: userInfo(user) } : { user: {}, error: "invalid bearer token" };
  return { ...track(call, undefined, object), status };
}

type Review = (call: Call, object: Kube) => Kube;

/** The resources that are asked, not stored, by storage. */
export const REVIEWS: ReadonlyMap<string, Review> = new Map<string, Review>([
  ["subjectaccessreviews.authorization.k8s.io", subjectReview],
  ["localsubjectaccessreviews.authorization.k8s.io", subjectReview],
  ["selfsubjectaccessreviews.authorization.k8s.io", selfReview],
  ["selfsubjectrulesreviews.authorization.k8s.io", rulesReview],
  ["selfsubjectreviews.authentication.k8s.io", whoAmI],
  ["tokenreviews.authentication.k8s.io", tokenReview],
]);

/** Answers a review. */
export function review(call: Call, answer: Review): Answer {
  const { value } = readBody(call.body, call.headers.get("content-type"), call.info.kind);
  checkWriteOptions(call.query, "CreateOptions");
  return { code: 201, body: answer(call, decode(call, value)) };
}

const HOUR = 3600;

/** Makes a token for a service account. */
export function requestToken(call: Call): Answer {
  const { server, asked } = call;
  const account = mustExist(call, liveOf(call)).object;
  const { value } = readBody(call.body, call.headers.get("content-type"), "TokenRequest");
  const seconds = value.spec?.expirationSeconds ?? HOUR;
  if (seconds < 600) {
    const why = "may not specify a duration less than 10 minutes";
    throw invalid({ group: "authentication.k8s.io", kind: "TokenRequest" }, "", [
      cause.invalid("spec.expirationSeconds", seconds, why),
    ]);
  }
  const audiences = value.spec?.audiences ?? ["https://kubernetes.default.svc"];
  const token = server.issueToken(asked.namespace, account, seconds, audiences);
  const expirationTimestamp = timestamp(new Date(server.now().getTime() + seconds * 1000));
  const apiVersion = "authentication.k8s.io/v1", kind = "TokenRequest";
  const given: Fields = { ...value, apiVersion, kind };
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
