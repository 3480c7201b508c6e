/**
 * Says how FlowSchemas and the priority levels that they name behave.
 *
 * ```ts
 * import { FLOWS } from "./_kinds_flows.ts";
 *
 * console.assert(Object.keys(FLOWS).length === 2);
 * ```
 *
 * @module
 */
import {
  all,
  causesOf,
  type Check,
  declared,
  each,
  given,
  isEmpty,
  members,
  named,
  needed,
  neededAnd,
  oneOf,
  such,
} from "./_checks.ts";
import type { Behaviour } from "./_kind.ts";
import { validateName } from "./_metadata.ts";
import { type Fields, isObject } from "./_objects.ts";
import { type Cause, cause } from "./_status.ts";

const GROUP = "flowcontrol.apiserver.k8s.io";
const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];
const MAX_PRECEDENCE = 10_000, MAX_QUEUES = 10_000_000;

const subject: Check = (value, at, causes) => {
  const { kind = "", user, group, serviceAccount } = value ?? {};
  const given = { serviceAccount, user, group } as const;
  const kinds = { serviceAccount: "ServiceAccount", user: "User", group: "Group" } as const;
  if (!Object.values(kinds).includes(kind)) {
    causes.push(cause.unsupported(`${at}.kind`, kind, ["Group", "ServiceAccount", "User"]));
    return;
  }
  for (const member of Object.keys(kinds) as (keyof typeof kinds)[]) {
    if (kinds[member] === kind) {
      checkSubject(given[member], `${at}.${member}`, member, kind, causes);
    }
  }
  for (const member of Object.keys(kinds) as (keyof typeof kinds)[]) {
    if (kinds[member] === kind || !given[member]) continue;
    const why = `${member} is forbidden when subject kind is not '${kinds[member]}'`;
    causes.push(cause.forbidden(`${at}.${member}`, why));
  }
};

function checkSubject(
  value: Fields | null | undefined,
  at: string,
  member: string,
  kind: string,
  causes: Cause[],
): void {
  if (!value) {
    causes.push(cause.required(at, `${member} is required when subject kind is '${kind}'`));
    return;
  }
  const { name = "", namespace = "" } = value;
  if (name === "") causes.push(cause.required(`${at}.name`));
  if (member !== "serviceAccount") return;
  if (name !== "" && name !== "*") named("subdomain")(name, `${at}.name`, causes);
  if (namespace !== "") named("label")(namespace, `${at}.namespace`, causes);
  else causes.push(cause.required(`${at}.namespace`, "must specify namespace for service account"));
}

/** Takes one star or some values; asks for them with a reason of its own. */
function some(what: string, why: string, others: Check = () => {}): Check {
  return (value = [], at, causes) => {
    if (value.length === 0) causes.push(cause.required(at, why));
    else if (!value.includes("*")) others(value, at, causes);
    else if (value.length > 1) {
      causes.push(cause.invalid(at, value, `if '*' is present, must not specify other ${what}`));
    }
  };
}

const verbs = some("verbs", "verbs must contain at least one value", (value, at, causes) => {
  if (value.some((verb: string) => !VERBS.includes(verb))) causes.push(cause.unsupported(at, value, VERBS));
});

const namespaces = (clusterScope: boolean): Check => (value = [], at, causes) => {
  if (value.length === 0 && !clusterScope) {
    const why = "resource rules that are not cluster scoped must supply at least one namespace";
    causes.push(cause.required(at, why));
  } else if (value.length > 0) {
    const intro = "each member of this list must be '*' or a DNS-1123 label; ";
    some("namespaces", "", each(such((name = "") => validateName(name, "label").map((why) => intro + why))))(
      value,
      at,
      causes,
    );
  }
};

const resourceRule: Check = (value, at, causes) =>
  members({
    verbs,
    apiGroups: some("api groups", "resource rules must supply at least one api group"),
    resources: some("resources", "resource rules must supply at least one resource"),
    namespaces: namespaces(value?.clusterScope === true),
  })(value, at, causes);

function urlRule(path = ""): string | undefined {
  if (path === "") return "must not be empty";
  if (path === "/") return undefined;
  if (!path.startsWith("/")) return "must start with slash";
  if (path.includes(" ")) return "must not contain white-space";
  if (path.includes("//")) return "must not contain double slash";
  const star = path.indexOf("*");
  if (star < 0 || star === path.length - 1 && path.endsWith("/*")) return undefined;
  return "wildcard can only do suffix matching";
}

const urlRules: Check = members({
  verbs,
  nonResourceURLs: some(
    "non-resource URLs",
    "nonResourceURLs must contain at least one value",
    each(such(urlRule)),
  ),
});

const rule: Check = (value, at, causes) => {
  members({ subjects: all(needed("subjects must contain at least one value"), each(subject)) })(value, at, causes);
  if (isEmpty(value?.resourceRules) && isEmpty(value?.nonResourceRules)) {
    causes.push(cause.required(at, "at least one of resourceRules and nonResourceRules has to be non-empty"));
  }
  members({ resourceRules: each(resourceRule), nonResourceRules: each(urlRules) })(value, at, causes);
};

function precedence(name: string): Check {
  return such((value = 0) => [
    ...(value <= 0 ? ["must be a positive value"] : []),
    ...(value > MAX_PRECEDENCE ? [`must not be greater than ${MAX_PRECEDENCE}`] : []),
    ...(value === 1 && name !== "exempt" ? ["only the schema named 'exempt' may have matchingPrecedence 1"] : []),
  ]);
}

const schema = (name: string): Check =>
  members({
    matchingPrecedence: precedence(name),
    distinguisherMethod: given((value, at, causes) => {
      if (["ByNamespace", "ByUser"].includes(value.type)) return;
      causes.push(cause.unsupported(`${at}.type`, { Type: value.type ?? "" }, ["ByNamespace", "ByUser"]));
    }),
    priorityLevelConfiguration: members({
      name: neededAnd(named("subdomain"), "must reference a priority level"),
    }),
    rules: each(rule),
  });

const conditions: Check = (value = [], at, causes) => {
  for (const [index, { type = "" }] of (value as Fields[]).entries()) {
    const path = `${at}[${index}].type`;
    if ((value as Fields[]).findIndex((each) => (each.type ?? "") === type) < index) {
      causes.push(cause.duplicate(path, type));
    }
    if (type === "") causes.push(cause.required(path));
  }
};

/** How many bits it takes to deal hands of a size from so many queues. */
function entropyBits(queues: number, hand: number): number {
  return Math.ceil(Array.from({ length: hand }, (_, index) => Math.log2(queues - index)).reduce((a, b) => a + b, 0));
}

const queuing: Check = ({ queueLengthLimit = 0, queues = 0, handSize = 0 }, at, causes) => {
  const tell = (member: string, value: number, why: string): void =>
    void causes.push(cause.invalid(`${at}.${member}`, value, why));
  if (queueLengthLimit <= 0) tell("queueLengthLimit", queueLengthLimit, "must be positive");
  if (queues <= 0) tell("queues", queues, "must be positive");
  else if (queues > MAX_QUEUES) tell("queues", queues, `must not be greater than ${MAX_QUEUES}`);
  if (handSize <= 0) tell("handSize", handSize, "must be positive");
  else if (handSize > queues) tell("handSize", handSize, `should not be greater than queues (${queues})`);
  else if (entropyBits(queues, handSize) > 60) {
    const why = `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than 60`;
    tell("handSize", handSize, why);
  }
};

const response: Check = (value = {}, at, causes) => {
  const { type = "", queuing: queues } = value;
  const path = `${at}.queuing`;
  if (type !== "Queue") declared(absentMember)(queues, path, causes);
  if (type === "Reject") return;
  if (type === "Queue") {
    if (!queues) declared(needed())(queues, path, causes);
    else queuing(queues, path, causes);
  } else if (type === "") declared(needed())(type, `${at}.type`, causes);
  else causes.push(cause.unsupported(`${at}.type`, type, ["Queue", "Reject"]));
};

const absentMember: Check = (value, at, causes) => {
  if (value) causes.push(cause.forbidden(at, ""));
};

const shares: Check = given(such((value) => value < 0 ? "must be a non-negative integer" : undefined));
const percent: Check = given(
  such((value) => value < 0 || value > 100 ? "must be between 0 and 100, inclusive" : undefined),
);

const limited: Check = members({
  nominalConcurrencyShares: shares,
  limitResponse: response,
  lendablePercent: percent,
  borrowingLimitPercent: given(
    such((value) => value < 0 ? "if specified, must be a non-negative integer" : undefined),
  ),
});

const exempt: Check = given(members({ nominalConcurrencyShares: shares, lendablePercent: percent }));

const level = (name: string): Check => (value, at, causes) => {
  const { type = "" } = value ?? {};
  if ((name === "exempt") !== (type === "Exempt")) {
    causes.push(cause.invalid(`${at}.type`, type, "must be 'Exempt' if and only if `name` is 'exempt'"));
  }
  if (type !== "Limited") declared(absentMember)(value?.limited, `${at}.limited`, causes);
  if (type === "Exempt") {
    exempt(value.exempt, `${at}.exempt`, causes);
  } else if (type === "Limited") {
    declared(absentMember)(value.exempt, `${at}.exempt`, causes);
    if (!value.limited) declared(needed())(undefined, `${at}.limited`, causes);
    else limited(value.limited, `${at}.limited`, causes);
  } else if (type === "") declared(needed())(type, `${at}.type`, causes);
  else oneOf(["Exempt", "Limited"])(type, `${at}.type`, causes);
};

function behaviour(spec: (name: string) => Check, defaults: (spec: Fields) => void): Behaviour {
  return {
    status: true,
    statusKeepsMetadata: true,
    prepareCreate: (object) => {
      object.status = {};
    },
    desired: ({ spec }) => spec,
    defaults: (object) => {
      if (isObject(object.spec)) defaults(object.spec);
    },
    validate: ({ metadata, spec: given, status }, _apiVersion, subresource) => [
      ...(subresource === "status" ? [] : causesOf(spec(metadata.name ?? ""), given, "spec")),
      ...causesOf(conditions, status?.conditions, "status.conditions"),
    ],
  };
}

function defaultLevel({ exempt, limited }: Fields): void {
  if (isObject(exempt)) {
    exempt.nominalConcurrencyShares ??= 0;
    exempt.lendablePercent ??= 0;
  }
  if (!isObject(limited)) return;
  limited.nominalConcurrencyShares ||= 30;
  limited.lendablePercent ??= 0;
  const { queuing } = limited.limitResponse ?? {};
  if (!isObject(queuing)) return;
  queuing.handSize ||= 8;
  queuing.queues ||= 64;
  queuing.queueLengthLimit ||= 50;
}

/** The behaviours by storage. */
export const FLOWS: Readonly<Record<string, Behaviour>> = {
  [`flowschemas.${GROUP}`]: behaviour(schema, (spec) => void (spec.matchingPrecedence ||= 1000)),
  [`prioritylevelconfigurations.${GROUP}`]: behaviour(level, defaultLevel),
};
