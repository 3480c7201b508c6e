/** Tests the parts that the checks of built-in kinds are made of. */
import { assert, assertEquals } from "@std/assert";
import { addressWarning, canonical, endpointAddress, legacyAddress, legacyRange } from "../testing/_addresses.ts";
import {
  all,
  causesOf,
  declared,
  each,
  filled,
  members,
  needed,
  oneOf,
  portOrName,
  unique,
} from "../testing/_checks.ts";
import { checkConversion, checkDeprecation, checkPart } from "../testing/_definition_parts.ts";
import { fitsFormat, knowsFormat } from "../testing/_formats.ts";
import { goPattern, goPatternError } from "../testing/_go_pattern.ts";
import { behaviourOf } from "../testing/_kinds.ts";
import { takenBy } from "../testing/_services_taken.ts";
import { type Cause, invalid } from "../testing/_status.ts";
import { Store } from "../testing/_store.ts";

const fields = (causes: readonly Cause[]): string[] => causes.map(({ field }) => field);
const messages = (causes: readonly Cause[]): string[] => causes.map(({ message }) => message);

Deno.test("Checks run in the order of their table, below the path of the value", () => {
  const check = members({ a: needed(), list: each(members({ b: oneOf(["x"]) })) });
  assertEquals(fields(causesOf(check, { list: [{ b: "x" }, { b: "y" }] }, "spec")), ["spec.a", "spec.list[1].b"]);
});

Deno.test("A null is as nothing to a check of members, so that none has to expect it", () => {
  const check = members({ list: (value = [], at, causes) => void causes.push(...fieldsOf(value, at)) });
  const fieldsOf = (value: unknown[], at: string): Cause[] => value.map(() => ({ reason: "", message: "", field: at }));
  assertEquals(causesOf(check, { list: null }), []);
});

Deno.test("What is declared with the type of a field is told after all else", () => {
  const check = members({ a: declared(needed()), b: needed() });
  const { status } = invalid({ group: "", kind: "Thing" }, "a", causesOf(check, {}));
  assertEquals(status.details?.causes?.map(({ field }) => field), ["b", "a"]);
  assertEquals(status.message, 'Thing "a" is invalid: [b: Required value, a: Required value]');
});

Deno.test("An empty value is checked only where it is asked for", () => {
  const check = members({ a: filled(oneOf(["x"])), b: all(filled(oneOf(["x"])), needed()) });
  assertEquals(fields(causesOf(check, { a: "", b: "" })), ["b"]);
});

Deno.test("Items that came before are told by their index", () => {
  assertEquals(fields(causesOf(unique(), ["a", "b", "a"], "list")), ["list[2]"]);
});

Deno.test("A port is a number in range, or a name of letters, digits and single dashes", () => {
  const ports: [unknown, number][] = [[80, 0], [0, 1], [65_536, 1], ["web", 0], ["a--b", 1], ["123", 1], ["A", 2]];
  for (const [port, wrong] of ports) assertEquals([port, causesOf(portOrName, port, "port").length], [port, wrong]);
});

Deno.test("An address of an old field may be written oddly, but not as another might read it", () => {
  const wrong = (address: string): string[] => messages(causesOf(legacyAddress(), address, "ip"));
  assertEquals(wrong("FE80:0:0:0:0:0:0:0abc"), []);
  assertEquals(wrong("010.0.0.1"), ['Invalid value: "010.0.0.1": must not have leading 0s']);
  assertEquals(wrong("::ffff:1.2.3.4").length, 1);
  assertEquals(causesOf(legacyAddress(["010.0.0.1"]), "010.0.0.1", "ip"), []);
  assertEquals(canonical("fd00:0:0::1"), "fd00::1");
  assertEquals(addressWarning("ip", "1.2.3.4"), []);
  assertEquals(addressWarning("ip", "fd00:0::1").length, 1);
});

Deno.test("A range has no bits beyond its prefix", () => {
  const wrong = (range: string): number => causesOf(legacyRange(), range, "cidr").length;
  assertEquals(["10.0.0.0/8", "10.0.0.1/8", "10.0.0.0/08", "10.0.0.0"].map(wrong), [0, 1, 1, 1]);
});

Deno.test("Nothing listens at special addresses", () => {
  const wrong = (address: string): number => causesOf(endpointAddress, address, "ip").length;
  assertEquals(["1.2.3.4", "127.0.0.1", "0.0.0.0", "169.254.1.1", "224.0.0.1", "::1", "x"].map(wrong), [
    ...[0, 1, 1, 1, 1, 1, 1],
  ]);
});

Deno.test("A definition's parts say what is wrong with them", () => {
  assertEquals(fields(checkConversion({ strategy: "Webhook" }, false)), [
    "spec.conversion.webhookClientConfig",
    "spec.conversion.conversionReviewVersions",
  ]);
  const version = { selectableFields: [{ jsonPath: ".spec.a[0]" }], schema: { openAPIV3Schema: { type: "object" } } };
  assertEquals(fields(checkPart(version, "selectableFields", "spec")), ["spec.selectableFields[0].jsonPath"]);
  assertEquals(checkDeprecation({ deprecated: true, deprecationWarning: "a\nb" }, "at").length, 1);
});

Deno.test("A pattern that Go does not take is named as Go names it", () => {
  assertEquals(goPatternError("(?=a)"), "error parsing regexp: invalid or unsupported Perl syntax: `(?=`");
  assertEquals(goPatternError("(a)\\1"), "error parsing regexp: invalid escape sequence: `\\1`");
  assertEquals(goPatternError("a{1001}"), "error parsing regexp: invalid repeat count: `{1001}`");
  assertEquals(goPatternError("("), "error parsing regexp: missing closing ): `(`");
  for (const fine of ["^[a-z]+$", "(?i)a", "(?P<n>a)", "\\d{1,3}", "[(]", "[[:alpha:]]", "\\pL"]) {
    assertEquals([fine, goPatternError(fine)], [fine, undefined]);
  }
});

Deno.test("Go's classes of characters mean what they do there", () => {
  assert(goPattern("^[[:alpha:]_]+$")!.test("a_b"));
  assert(!goPattern("^[[:alpha:]]+$")!.test("1"));
  assert(goPattern("^\\pL+$")!.test("ä"));
});

Deno.test("A format is known by its name without dashes, and by the type of its values", () => {
  assertEquals([knowsFormat("string", "date-time"), knowsFormat("integer", "int32"), knowsFormat("integer", "date")], [
    true,
    true,
    false,
  ]);
  assert(fitsFormat("duration", "3 days") && !fitsFormat("duration", "days"));
});

Deno.test("An address is free again when its Service is gone, and the lowest is given first", () => {
  const store = new Store();
  const ground = { store, now: () => new Date(0), random: () => 0, uid: () => "" };
  const services = store.collection("services");
  const service = (name: string, ip: string) => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { clusterIPs: [ip], ports: [{ nodePort: 30_000 }] },
  });
  assertEquals(takenBy(ground).addresses.next(), "10.0.0.17");
  services.put("a", "one", service("one", "10.0.0.17"));
  services.put("a", "two", service("two", "10.0.0.18"));
  assertEquals([takenBy(ground).addresses.next(), takenBy(ground).ports.next()], ["10.0.0.19", 30_001]);
  services.remove("a", "one");
  assertEquals([takenBy(ground).addresses.next(), takenBy(ground).ports.next()], ["10.0.0.17", 30_001]);
  services.remove("a", "two");
  assertEquals(takenBy(ground).ports.next(), 30_000);
});

Deno.test("Every kind without pods behaves in a way of its own", () => {
  const kinds = [
    ...["services", "endpoints", "secrets", "configmaps", "nodes", "namespaces"],
    ...["ingresses", "ingressclasses", "networkpolicies"].map((each) => `${each}.networking.k8s.io`),
    ...["roles", "clusterroles", "rolebindings", "clusterrolebindings"].map((each) =>
      `${each}.rbac.authorization.k8s.io`
    ),
    ...["storageclasses", "volumeattachments", "csinodes", "csidrivers"].map((each) => `${each}.storage.k8s.io`),
    ...["flowschemas", "prioritylevelconfigurations"].map((each) => `${each}.flowcontrol.apiserver.k8s.io`),
    ...["endpointslices.discovery.k8s.io", "leases.coordination.k8s.io", "runtimeclasses.node.k8s.io"],
  ];
  assertEquals(kinds.filter((each) => behaviourOf(each).validate === undefined), []);
});
