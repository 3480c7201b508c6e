/**
 * States what is refused of the kinds without pods: Services, networking, roles, storage, secrets, nodes, admission,
 * definitions, and custom resources.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import type { Body } from "../_api.ts";
import { DEFINITIONS, type Place, type Suite, unique } from "./_suite.ts";

const fields = ({ details }: Body): string[] => details.causes.map(({ field }: Body) => field);

/** The path of a kind in the namespace of a test, or at cluster scope; nothing is stored. */
const inside = (at: Place, group: string, plural: string): string =>
  `/${group}/namespaces/${at.namespace}/${plural}?dryRun=All`;
const across = (group: string, plural: string): string => `/${group}/${plural}?dryRun=All`;

/** Has the server refuse objects for the fields beside them, in their order, and take those without fields. */
async function judged(
  at: Place,
  path: string,
  cases: readonly (readonly [Body, readonly string[]])[],
): Promise<void> {
  for (const [object, expected] of cases) {
    const { code, body } = await at.send(`POST ${path}`, { metadata: { name: "a" }, ...object });
    assertEquals([code, code === 422 ? fields(body) : code < 300 ? [] : body], [expected.length ? 422 : 201, expected]);
  }
}

const NETWORKING = "apis/networking.k8s.io/v1", RBAC = "apis/rbac.authorization.k8s.io/v1";
const STORAGE = "apis/storage.k8s.io/v1", ADMISSION = "apis/admissionregistration.k8s.io/v1";
const backend = { service: { name: "web", port: { number: 80 } } };
const ports = [{ port: 80 }];

function services(suite: Suite): void {
  suite.test("A Service has what its type knows, and nothing else", async (at) => {
    await judged(at, "services?dryRun=All", [
      [{ spec: { type: "Odd", ports } }, ["spec.type"]],
      [{ spec: { type: "ExternalName" } }, ["spec.externalName"]],
      [{ spec: { type: "NodePort", ports, clusterIP: "None" } }, ["spec.clusterIPs[0]"]],
      [{ spec: { ports: [{ port: 80, nodePort: 30_100 }] } }, ["spec.ports[0].nodePort"]],
      [{ spec: { ports, externalTrafficPolicy: "Local" } }, ["spec.externalTrafficPolicy"]],
      [{ spec: { ports, loadBalancerClass: "a/b" } }, ["spec.loadBalancerClass"]],
      [{ spec: { ports, sessionAffinity: "Always" } }, ["spec.sessionAffinity"]],
      [{ spec: { ports, healthCheckNodePort: 30_200 } }, ["spec.healthCheckNodePort"]],
      [{ spec: { ports, ipFamilyPolicy: "RequireDualStack" } }, ["spec.ipFamilyPolicy"]],
      [{ spec: { ports, ipFamilies: ["IPv6"] } }, ["spec.ipFamilies[0]"]],
      [{ spec: { type: "LoadBalancer", externalTrafficPolicy: "Local", ports } }, []],
    ]);
  });

  suite.test("A Service keeps its address when its type changes, and gives up what the new one does not know", async (at) => {
    const { spec } = await at.ok("POST services", { metadata: { name: "a" }, spec: { type: "NodePort", ports } });
    const inner = await at.ok("merge services/a", { spec: { type: "ClusterIP" } });
    assertEquals(inner.spec.clusterIP, spec.clusterIP);
    assertEquals([inner.spec.ports[0].nodePort, inner.spec.externalTrafficPolicy], [undefined, undefined]);
    const outer = await at.ok("merge services/a", { spec: { type: "ExternalName", externalName: "example.com" } });
    assertEquals([outer.spec.clusterIP, outer.spec.ipFamilies, outer.spec.internalTrafficPolicy], [
      undefined,
      undefined,
      undefined,
    ]);
  });

  suite.test("The address of a Service does not change, nor is it that of another", async (at) => {
    const { spec } = await at.ok("POST services", { metadata: { name: "a" }, spec: { ports } });
    const { code, body } = await at.send("merge services/a", { spec: { clusterIP: "None" } });
    assertEquals([code, fields(body)], [422, ["spec.clusterIPs[0]"]]);
    const twin = await at.send("POST services", {
      metadata: { name: "b" },
      spec: { ports, clusterIP: spec.clusterIP },
    });
    assertEquals([twin.code, fields(twin.body)], [422, ["spec.clusterIPs"]]);
  });

  suite.test("A Service's ports keep their node ports by name, and one that is taken is 422", async (at) => {
    const two = [{ name: "a", port: 80 }, { name: "b", port: 81 }];
    const { spec } = await at.ok("POST services", { metadata: { name: "a" }, spec: { type: "NodePort", ports: two } });
    const [, second] = spec.ports;
    const after = await at.ok("merge services/a", { spec: { ports: [{ name: "b", port: 82 }] } });
    assertEquals(after.spec.ports[0].nodePort, second.nodePort);
    const taken = { type: "NodePort", ports: [{ port: 80, nodePort: second.nodePort }] };
    const { code, body } = await at.send("POST services", { metadata: { name: "b" }, spec: taken });
    assertEquals([code, fields(body)], [422, ["spec.ports[0].nodePort"]]);
  });

  suite.test("A Service warns of what it does not heed", async (at) => {
    const spec = { ports, clusterIP: "None", externalIPs: ["1.2.3.4"] };
    const { headers } = await at.send("POST services?dryRun=All", { metadata: { name: "a" }, spec });
    assertEquals(headers.get("warning"), '299 - "spec.externalIPs is ignored for headless services"');
  });
}

function networking(suite: Suite): void {
  suite.test("An Ingress leads somewhere, by paths of known types", async (at) => {
    const rule = (path: Body) => ({ spec: { rules: [{ http: { paths: [path] } }] } });
    const first = "spec.rules[0].http.paths[0]";
    await judged(at, inside(at, NETWORKING, "ingresses"), [
      [{ spec: {} }, ["spec"]],
      [rule({ path: "a", pathType: "Prefix", backend }), [`${first}.path`]],
      [rule({ path: "/", pathType: "Odd", backend }), [`${first}.pathType`]],
      [rule({ path: "/", pathType: "Prefix", backend: {} }), [`${first}.backend`]],
      [{ spec: { rules: [{ host: "1.2.3.4" }] } }, ["spec.rules[0].host"]],
      [{ spec: { defaultBackend: backend, tls: [{ hosts: ["A"] }] } }, ["spec.tls[0].hosts[0]"]],
      [{ spec: { defaultBackend: backend } }, []],
    ]);
  });

  suite.test("A NetworkPolicy is of peers of one sort, and of ranges", async (at) => {
    const from = (peer: Body) => ({ spec: { podSelector: {}, ingress: [{ from: [peer] }] } });
    const first = "spec.ingress[0].from[0]";
    await judged(at, inside(at, NETWORKING, "networkpolicies"), [
      [from({}), [first]],
      [from({ podSelector: {}, ipBlock: { cidr: "10.0.0.0/8" } }), [first]],
      [from({ ipBlock: { cidr: "10.0.0.0" } }), [`${first}.ipBlock.cidr`]],
      [from({ ipBlock: { cidr: "10.0.0.0/8", except: ["11.0.0.0/16"] } }), [`${first}.ipBlock.except[0]`]],
      [{ spec: { podSelector: { matchLabels: { "a b": "c" } } } }, ["spec.podSelector.matchLabels"]],
    ]);
  });

  suite.test("An EndpointSlice has addresses of its type, which does not change", async (at) => {
    const slice = (...addresses: string[]) => ({ addressType: "IPv4", endpoints: [{ addresses }] });
    await judged(at, inside(at, "apis/discovery.k8s.io/v1", "endpointslices"), [
      [slice("fd00::1"), ["endpoints[0].addresses"]],
      [slice("127.0.0.1"), ["endpoints[0].addresses[0]"]],
      [slice(), ["endpoints[0].addresses"]],
      [{ endpoints: [] }, ["addressType"]],
      [slice("1.2.3.4"), []],
    ]);
  });
}

function roles(suite: Suite): void {
  suite.test("A rule has verbs and either resources or paths; what its type demands is told last", async (at) => {
    await judged(at, inside(at, RBAC, "roles"), [
      [{ rules: [{}] }, ["rules[0].apiGroups", "rules[0].resources", "rules[0].verbs"]],
      [{ rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }] }, []],
    ]);
    await judged(at, across(RBAC, "clusterroles"), [
      [{ rules: [{ verbs: ["get"], nonResourceURLs: ["/a"], resources: ["pods"] }] }, ["rules[0].nonResourceURLs"]],
      [{ aggregationRule: {} }, ["aggregationRule.clusterRoleSelectors"]],
      [{ rules: [{ verbs: ["get"], nonResourceURLs: ["/a"] }] }, []],
    ]);
  });

  suite.test("What a binding refers to does not change", async (at) => {
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "a" };
    await at.ok("POST rolebindings", { metadata: { name: "a" }, roleRef, subjects: [{ kind: "User", name: "u" }] });
    const { code, body } = await at.send("merge rolebindings/a", { roleRef: { name: "b" } });
    assertEquals([code, fields(body)], [422, ["roleRef"]]);
  });

  suite.test("The roles that others are gathered into are there from the start", async (at) => {
    const { aggregationRule } = await at.ok(`GET /${RBAC}/clusterroles/view`);
    assertEquals(aggregationRule.clusterRoleSelectors, [
      { matchLabels: { "rbac.authorization.k8s.io/aggregate-to-view": "true" } },
    ]);
  });
}

function core(suite: Suite): void {
  suite.test("A Secret has the keys of its type, and content that its type can be read from", async (at) => {
    await judged(at, "secrets?dryRun=All", [
      [{ type: "kubernetes.io/dockerconfigjson" }, ["data[.dockerconfigjson]"]],
      [{ type: "kubernetes.io/dockerconfigjson", stringData: { ".dockerconfigjson": "x" } }, [
        "data[.dockerconfigjson]",
      ]],
      [{ type: "kubernetes.io/ssh-auth", stringData: { "ssh-privatekey": "" } }, ["data[ssh-privatekey]"]],
      [{ type: "kubernetes.io/service-account-token" }, ["metadata.annotations[kubernetes.io/service-account.name]"]],
      [{ stringData: { "..a": "x" } }, ["data[..a]"]],
    ]);
  });

  suite.test("A token is for a time, and for what is there", async (at) => {
    await at.ok("POST serviceaccounts", { metadata: { name: "a" } });
    const ask = async (spec: Body) => (await at.send("POST serviceaccounts/a/token", { spec })).code;
    assertEquals(await ask({ expirationSeconds: 1 }), 422);
    assertEquals(await ask({ expirationSeconds: 2 ** 32 + 1 }), 422);
    assertEquals(await ask({ boundObjectRef: { kind: "Odd", apiVersion: "v1", name: "a" } }), 400);
    assertEquals(await ask({ boundObjectRef: { kind: "Secret", apiVersion: "v1", name: "a" } }), 404);
    assertEquals(await ask({ expirationSeconds: 600 }), 201);
  });

  suite.test("A Node's taints are of known effects, and its provider does not change", async (at) => {
    await judged(at, across("api/v1", "nodes"), [
      [{ spec: { taints: [{ key: "a", effect: "Odd" }] } }, ["metadata.taints[0].effect"]],
      [{ spec: { podCIDR: "x" } }, ["spec.podCIDRs[0]"]],
    ]);
    const name = unique();
    await at.ok("POST /api/v1/nodes", { metadata: { name }, spec: { providerID: "one" } });
    const { code, body } = await at.send(`merge /api/v1/nodes/${name}`, { spec: { providerID: "two" } });
    assertEquals([code, fields(body)], [422, ["spec.providerID"]]);
    await at.ok(`DELETE /api/v1/nodes/${name}`);
  });

  suite.test("A StorageClass changes in nothing that volumes were made by", async (at) => {
    const name = unique();
    await at.ok(`POST /${STORAGE}/storageclasses`, { metadata: { name }, provisioner: "example.com/a" });
    const path = `/${STORAGE}/storageclasses/${name}`;
    const { code, body } = await at.send(`merge ${path}`, { reclaimPolicy: "Retain", parameters: { a: "b" } });
    assertEquals([code, fields(body).sort()], [422, ["parameters", "reclaimPolicy"]]);
    await at.ok(`DELETE ${path}`);
  });

  suite.test("A Lease drops what asks for an election that the server does not hold", async (at) => {
    const spec = { strategy: "OldestEmulationVersion", preferredHolder: "a" };
    assertEquals((await at.ok("POST leases?dryRun=All", { metadata: { name: "a" }, spec })).spec, {});
  });
}

function admission(suite: Suite): void {
  suite.test("A webhook is reached in one way, for rules that do not contradict themselves", async (at) => {
    const rule = { operations: ["CREATE"], apiGroups: ["x"], apiVersions: ["v1"], resources: ["y"] };
    const webhook = (more: Body) => ({
      webhooks: [{
        name: "a.example.com",
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        clientConfig: { url: "https://example.com" },
        rules: [rule],
        ...more,
      }],
    });
    await judged(at, across(ADMISSION, "validatingwebhookconfigurations"), [
      [webhook({ name: "a.b" }), ["webhooks[0].name"]],
      [webhook({ clientConfig: {} }), ["webhooks[0].clientConfig"]],
      [webhook({ clientConfig: { url: "http://example.com" } }), ["webhooks[0].clientConfig.url"]],
      [webhook({ timeoutSeconds: 31 }), ["webhooks[0].timeoutSeconds"]],
      [webhook({ admissionReviewVersions: ["v2"] }), ["webhooks[0].admissionReviewVersions"]],
      [webhook({ rules: [{ ...rule, operations: ["*", "CREATE"] }] }), ["webhooks[0].rules[0].operations"]],
      [webhook({ matchConditions: [{ name: "a", expression: "1" }] }), ["webhooks[0].matchConditions[0].expression"]],
      [webhook({}), []],
    ]);
  });

  suite.test("A policy's expressions see what there is, and come to what is asked for", async (at) => {
    const resourceRules = [{ operations: ["CREATE"], apiGroups: ["x"], apiVersions: ["v1"], resources: ["y"] }];
    const policy = (more: Body) => ({
      spec: { matchConstraints: { resourceRules }, validations: [{ expression: "true" }], ...more },
    });
    await judged(at, across(ADMISSION, "validatingadmissionpolicies"), [
      [policy({ validations: [{ expression: "1" }] }), ["spec.validations[0].expression"]],
      [policy({ validations: [{ expression: "params.a == 1" }] }), ["spec.validations[0].expression"]],
      [policy({ validations: [] }), ["spec.validations", "spec.auditAnnotations"]],
      [policy({ variables: [{ name: "in", expression: "1" }] }), ["spec.variables[0].name"]],
      [policy({ matchConstraints: {} }), ["spec.matchConstraints.resourceRules"]],
      [policy({}), []],
    ]);
    await judged(at, across(ADMISSION, "validatingadmissionpolicybindings"), [
      [{ spec: { policyName: "a", validationActions: ["Deny", "Warn"] } }, ["spec.validationActions"]],
      [{ spec: { policyName: "a", validationActions: [] } }, ["spec.validationActions"]],
    ]);
  });
}

const schema = (properties: Body): Body => ({ openAPIV3Schema: { type: "object", properties } });

function definition(group: string, version: Body, more: Body = {}): Body {
  return {
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [{ name: "v1", served: true, storage: true, schema: schema({}), ...version }],
      ...more,
    },
  };
}

function definitions(suite: Suite): void {
  suite.test("A definition's columns, scale, selectable fields and conversion are checked", async (at) => {
    const group = `${unique()}.example.com`;
    const of = (version: Body, more: Body = {}): Body => definition(group, version, more);
    await judged(at, `${DEFINITIONS}?dryRun=All`, [
      [of({ additionalPrinterColumns: [{ name: "A", type: "odd", jsonPath: "a" }] }), [
        "spec.additionalPrinterColumns[0].type",
        "spec.additionalPrinterColumns[0].JSONPath",
      ]],
      [of({ subresources: { scale: { specReplicasPath: ".status.a", statusReplicasPath: ".spec.a" } } }), [
        "spec.subresources.scale.specReplicasPath",
        "spec.subresources.scale.statusReplicasPath",
      ]],
      [of({ selectableFields: [{ jsonPath: ".spec.a" }] }), ["spec.selectableFields[0].jsonPath"]],
      [of({}, { conversion: { strategy: "Webhook" } }), [
        "spec.conversion.webhookClientConfig",
        "spec.conversion.conversionReviewVersions",
      ]],
      [of({ deprecationWarning: "soon" }), ["spec.versions[0].deprecationWarning"]],
      [of({ schema: schema({ a: { type: "string", pattern: "(?=a)" } }) }), [
        "spec.validation.openAPIV3Schema.properties[a].pattern",
      ]],
      [definition("odd.k8s.io", {}), ["metadata.annotations[api-approved.kubernetes.io]"]],
      [of({}), []],
    ]);
  });

  suite.test("A definition warns of formats that the server does not know", async (at) => {
    const odd = definition(`${unique()}.example.com`, { schema: schema({ a: { type: "string", format: "odd" } }) });
    const { headers } = await at.send(`POST ${DEFINITIONS}?dryRun=All`, odd);
    assertEquals(headers.get("warning"), '299 - "unrecognized format \\"odd\\""');
  });

  suite.test("Values of a custom resource have the formats that its schema names", async (at) => {
    const group = `${unique()}.example.com`;
    const formats = ["hostname", "ipv4", "uri", "email", "date-time", "duration", "isbn10", "byte"];
    const properties = Object.fromEntries(formats.map((format) => [`x${format}`, { type: "string", format }]));
    await at.define(definition(group, { schema: schema({ ...properties, big: { type: "integer" } }) }));
    const path = `/apis/${group}/v1/namespaces/${at.namespace}/things`;
    const cases: [string, unknown, boolean][] = [
      ["xhostname", "a.example", true],
      ["xhostname", "1.2.3.4", false],
      ["xipv4", "01.2.3.4", true],
      ["xipv4", "::1", false],
      ["xuri", "/a", true],
      ["xuri", "a", false],
      ["xemail", "A <a@example.com>", true],
      ["xemail", "a..b@example.com", false],
      ["xdate-time", "2020-01-01t00:00:00z", true],
      ["xdate-time", "2020-01-01 00:00:00Z", false],
      ["xduration", "2 weeks", true],
      ["xduration", "PT1H", true],
      ["xduration", "soon", false],
      ["xisbn10", "0321751043", true],
      ["xisbn10", "0321751044", false],
      ["xbyte", "", false],
      ["big", 1e20, false],
      ["big", 1e15, true],
    ];
    for (const [member, value, fits] of cases) {
      const object = { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" }, [member]: value };
      const { code } = await at.send(`POST ${path}?dryRun=All`, object);
      assertEquals([member, value, code], [member, value, fits ? 201 : 422]);
    }
    await at.ok(`DELETE ${DEFINITIONS}/things.${group}`);
  });
}

/** Registers the behaviours. */
export function kinds(suite: Suite): void {
  for (const area of [services, networking, roles, core, admission, definitions]) area(suite);
}
