/**
 * Says how roles and bindings behave.
 *
 * ```ts
 * import { RBAC_KINDS } from "./_kinds_rbac.ts";
 *
 * console.assert(Object.keys(RBAC_KINDS).length === 4);
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
  emptyToNull,
  given,
  isEmpty,
  members,
  named,
  needed,
  oneOf,
} from "./_checks.ts";
import { labelSelector } from "./_label_selectors.ts";
import type { Behaviour } from "./_kind.ts";
import { equal, type Fields } from "./_objects.ts";
import { cause } from "./_status.ts";

const RBAC = "rbac.authorization.k8s.io";

function rule(namespaced: boolean): Check {
  const resources: Check = members({
    apiGroups: needed("resource rules must supply at least one api group"),
    resources: needed("resource rules must supply at least one resource"),
  });
  return (value, at, causes) => {
    declared(needed())(value?.verbs, `${at}.verbs`, causes);
    const urls = value?.nonResourceURLs;
    if (isEmpty(urls)) return resources(value, at, causes);
    const tell = (why: string): void => void causes.push(cause.invalid(`${at}.nonResourceURLs`, urls, why));
    if (namespaced) tell("namespaced rules cannot apply to non-resource URLs");
    const both = [value.apiGroups, value.resources, value.resourceNames].some((each) => !isEmpty(each));
    if (both) tell("rules cannot apply to both regular resources and non-resource URLs");
  };
}

const aggregation: Check = given(members({
  clusterRoleSelectors: all(
    needed("at least one clusterRoleSelector required if aggregationRule is non-nil"),
    each((value, at, causes) => {
      const before = causes.length;
      labelSelector(value, at, causes);
      if (causes.length > before) causes.push(cause.invalid(at, null, "invalid label selector."));
    }),
  ),
}));

function subject(namespaced: boolean): Check {
  return (value, at, causes) => {
    const { kind = "", name = "", apiGroup = "", namespace = "" } = value ?? {};
    declared(needed())(name, `${at}.name`, causes);
    switch (kind) {
      case "ServiceAccount":
        if (name !== "") named("subdomain")(name, `${at}.name`, causes);
        oneOf([""])(apiGroup, `${at}.apiGroup`, causes);
        if (!namespaced && namespace === "") causes.push(cause.required(`${at}.namespace`));
        break;
      case "User":
      case "Group":
        oneOf([RBAC])(apiGroup, `${at}.apiGroup`, causes);
        break;
      default:
        causes.push(cause.unsupported(`${at}.kind`, kind, ["ServiceAccount", "User", "Group"]));
    }
  };
}

const roleRef = (kinds: readonly string[]): Check => (value = {}, at, causes) => {
  oneOf([RBAC])(value.apiGroup ?? "", `${at}.apiGroup`, causes);
  oneOf(kinds)(value.kind ?? "", `${at}.kind`, causes);
  if (value.name) named("path")(value.name, `${at}.name`, causes);
  else declared(needed())(value.name, `${at}.name`, causes);
};

function role(check: Check): Behaviour {
  return {
    names: "path",
    createOnUpdate: true,
    prepareCreate: (object) => emptyToNull(object, "rules"),
    prepareUpdate: (object) => emptyToNull(object, "rules"),
    validate: (object) => causesOf(check, object),
  };
}

function binding(check: Check): Behaviour {
  return {
    names: "path",
    createOnUpdate: true,
    validate: (object) => causesOf(check, object),
    validateUpdate: (object: Fields, old: Fields) =>
      equal(object.roleRef, old.roleRef)
        ? []
        : [{ ...cause.invalid("roleRef", printed(object.roleRef), "field is immutable"), late: true }],
  };
}

/** A reference as the internal type prints it. */
function printed({ apiGroup = "", kind = "", name = "" }: Fields): Fields {
  return { APIGroup: apiGroup, Kind: kind, Name: name };
}

/** The behaviours by storage. */
export const RBAC_KINDS: Readonly<Record<string, Behaviour>> = {
  [`roles.${RBAC}`]: role(members({ rules: each(rule(true)) })),
  [`clusterroles.${RBAC}`]: role(members({ rules: each(rule(false)), aggregationRule: aggregation })),
  [`rolebindings.${RBAC}`]: binding(
    members({ roleRef: roleRef(["Role", "ClusterRole"]), subjects: each(subject(true)) }),
  ),
  [`clusterrolebindings.${RBAC}`]: binding(
    members({ roleRef: roleRef(["ClusterRole"]), subjects: each(subject(false)) }),
  ),
};
