/**
 * Declares Kubernetes' own functions for expressions: lists, sets, quantities, URLs, versions and named formats.
 *
 * ```ts
 * import { KUBERNETES } from "./_cel_kubernetes.ts";
 *
 * console.assert("isQuantity(string): bool" in KUBERNETES);
 * ```
 *
 * @module
 */
import type { Library } from "./_cel_types.ts";
import { CelError, compareValues, Duration, equalValues, Opaque, Optional, Uint } from "./_cel_values.ts";
import { fitsFormat } from "./_formats.ts";
import { validateLabelValue, validateName, validateQualified } from "./_metadata.ts";
import { canonicalQuantity, quantityNanos } from "./_quantity.ts";

const UNIT = 1_000_000_000n;

function quantity(text: string): Opaque {
  const nanos = canonicalQuantity(text) === undefined ? undefined : quantityNanos(text);
  if (nanos === undefined) {
    throw new CelError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  }
  return new Opaque("kubernetes.Quantity", String(nanos));
}

const nanosOf = ({ value }: Opaque): bigint => BigInt(value as string);
const quantityOf = (nanos: bigint): Opaque => new Opaque("kubernetes.Quantity", String(nanos));
const sign = (value: bigint): bigint => value < 0n ? -1n : value > 0n ? 1n : 0n;

/** The parts of an absolute URL, as Go reads it; undefined if it is none. */
function urlParts(text: string): Record<string, string> | undefined {
  const match = /^([A-Za-z][A-Za-z0-9+.-]*):(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#.*)?$/.exec(text);
  const [, scheme = "", authority = "", path = "", query = ""] = match ?? /^()()(\/[^?#]*)(?:\?([^#]*))?$/.exec(text) ??
    [];
  if (scheme === "" && path === "") return undefined;
  // deno-lint-ignore no-control-regex
  if (/[\u0000-\u0020\u007f]/.test(text) || /%(?![0-9a-fA-F]{2})/.test(text)) return undefined;
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  const port = /:(\d*)$/.exec(host.replace(/^\[.*\]/, ""));
  if (host.replace(/^\[.*\]/, "").includes(":") && !port) return undefined;
  const name = port ? host.slice(0, -port[0].length) : host;
  return {
    scheme: scheme.toLowerCase(),
    host,
    hostname: name.replace(/^\[|\]$/g, ""),
    port: port?.[1] ?? "",
    path,
    query,
  };
}

function url(text: string): Opaque {
  const parts = urlParts(text);
  if (!parts) {
    throw new CelError(
      `URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`,
    );
  }
  return new Opaque("kubernetes.URL", parts);
}

const part = (name: string) => ({ value }: Opaque): string => (value as Record<string, string>)[name]!;

function queryOf(opaque: Opaque): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [key, value] of new URLSearchParams(part("query")(opaque))) {
    found.set(key, [...found.get(key) ?? [], value]);
  }
  return found;
}

const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

function normal(text: string): string {
  const [, head = "", rest = ""] = /^v?([\d.]*)(.*)$/s.exec(text) ?? [];
  const numbers = head.split(".").map((each) => each.replace(/^0+(?=\d)/, ""));
  while (numbers.length < 3) numbers.push("0");
  return numbers.join(".") + rest;
}

function semver(text: string, normalize = false): Opaque {
  const match = SEMVER.exec(normalize ? normal(text) : text);
  if (!match) throw new CelError("No Major.Minor.Patch elements found");
  return new Opaque("kubernetes.Semver", [match[1], match[2], match[3], match[4] ?? ""]);
}

function compareVersions(a: Opaque, b: Opaque): bigint {
  const left = a.value as string[], right = b.value as string[];
  for (let index = 0; index < 3; index++) {
    const order = sign(BigInt(left[index]!) - BigInt(right[index]!));
    if (order !== 0n) return order;
  }
  const [before, after] = [left[3]!, right[3]!];
  if (before === "" || after === "") return before === after ? 0n : before === "" ? 1n : -1n;
  const mine = before.split("."), others = after.split(".");
  for (let index = 0; index < Math.max(mine.length, others.length); index++) {
    const one = mine[index], other = others[index];
    if (one === undefined || other === undefined) return one === undefined ? -1n : 1n;
    const numbers = [one, other].map((each) => /^\d+$/.test(each));
    if (numbers[0] && numbers[1]) {
      const order = sign(BigInt(one) - BigInt(other));
      if (order !== 0n) return order;
    } else if (numbers[0] !== numbers[1]) return numbers[0] ? -1n : 1n;
    else if (one !== other) return one < other ? -1n : 1n;
  }
  return 0n;
}

/** A check that always names the same format. */
type FormatCheck = (text: string) => string[];

const FORMATS: Readonly<Record<string, FormatCheck>> = {
  dns1123Label: (text) => validateName(text, "label"),
  dns1123Subdomain: (text) => validateName(text, "subdomain"),
  dns1035Label: (text) => validateName(text, "label1035"),
  qualifiedName: validateQualified,
  dns1123LabelPrefix: (text) => validateName(text.replace(/-$/, "a"), "label"),
  dns1123SubdomainPrefix: (text) => validateName(text.replace(/-$/, "a"), "subdomain"),
  dns1035LabelPrefix: (text) => validateName(text.replace(/-$/, "a"), "label1035"),
  labelValue: validateLabelValue,
  uri: (text) => urlParts(text) ? [] : ["invalid URI"],
  uuid: (text) => fitsFormat("uuid", text) ? [] : ["does not match the UUID format"],
  byte: (text) => fitsFormat("byte", text) ? [] : ["invalid base64"],
  date: (text) => fitsFormat("date", text) ? [] : ["invalid date"],
  datetime: (text) => fitsFormat("date-time", text) ? [] : ["invalid datetime"],
};

const isIn = (list: readonly unknown[], value: unknown): boolean => list.some((each) => equalValues(each, value));

function sum(list: readonly unknown[]): unknown {
  if (list.length === 0) return 0n;
  const [first] = list;
  if (typeof first === "number") return (list as number[]).reduce((a, b) => a + b, 0);
  if (first instanceof Duration) return new Duration((list as Duration[]).reduce((a, b) => a + b.nanos, 0n));
  if (first instanceof Uint) return new Uint((list as Uint[]).reduce((a, b) => a + b.value, 0n));
  return (list as bigint[]).reduce((a, b) => a + b, 0n);
}

function extreme(list: readonly unknown[], wanted: number, name: string): unknown {
  if (list.length === 0) throw new CelError(`${name} called on empty list`);
  return list.reduce((a, b) => Math.sign(compareValues(b, a)) === wanted ? b : a);
}

const sorted = (list: readonly unknown[]): boolean =>
  list.every((each, index) => index === 0 || compareValues(list[index - 1], each) <= 0);

function slice(list: readonly unknown[], start: bigint, end: bigint): unknown[] {
  if (start < 0n || end < 0n) throw new CelError(`cannot slice(${start}, ${end}), negative indexes not supported`);
  if (start > end) {
    throw new CelError(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`);
  }
  if (end > BigInt(list.length)) throw new CelError(`cannot slice(${start}, ${end}), list is length ${list.length}`);
  return list.slice(Number(start), Number(end));
}

function perType(types: readonly string[], name: string, result: string, run: (list: unknown[]) => unknown): Library {
  return Object.fromEntries(types.map((type) => [`list(${type}).${name}(): ${result || type}`, run]));
}

const SUMMED = ["int", "uint", "double", "google.protobuf.Duration"];
const SORTED = [...SUMMED, "string", "bool", "bytes", "google.protobuf.Timestamp"];
const Q = "kubernetes.Quantity", U = "kubernetes.URL", V = "kubernetes.Semver";

/** The functions. */
export const KUBERNETES: Library = {
  ...perType(SORTED, "isSorted", "bool", sorted),
  ...perType(SORTED, "min", "", (list) => extreme(list, -1, "min")),
  ...perType(SORTED, "max", "", (list) => extreme(list, 1, "max")),
  ...perType(SUMMED, "sum", "", sum),
  "list(A).indexOf(A): int": (list: unknown[], value) => BigInt(list.findIndex((each) => equalValues(each, value))),
  "list(A).lastIndexOf(A): int": (list: unknown[], value) =>
    BigInt(list.findLastIndex((each) => equalValues(each, value))),
  "list(A).slice(int, int): list(A)": slice,
  "list(A).distinct(): list(A)": (list: unknown[]) =>
    list.filter((each, index) => list.findIndex((other) => equalValues(each, other)) === index),
  "list(A).reverse(): list(A)": (list: unknown[]) => list.toReversed(),
  "list(list(A)).flatten(): list(A)": (list: unknown[]) => list.flat(),
  "list(dyn).flatten(int): list(dyn)": (list: unknown[], depth: bigint) => list.flat(Number(depth)),
  "lists/range(int): list(int)": (count: bigint) => Array.from({ length: Number(count) }, (_, index) => BigInt(index)),
  ...Object.fromEntries(
    SORTED.map((type) => [`list(${type}).sort(): list(${type})`, (list: unknown[]) => list.toSorted(compareValues)]),
  ),
  "sets/contains(list(A), list(A)): bool": (a: unknown[], b: unknown[]) => b.every((each) => isIn(a, each)),
  "sets/equivalent(list(A), list(A)): bool": (a: unknown[], b: unknown[]) =>
    a.every((each) => isIn(b, each)) && b.every((each) => isIn(a, each)),
  "sets/intersects(list(A), list(A)): bool": (a: unknown[], b: unknown[]) => a.some((each) => isIn(b, each)),
  "isQuantity(string): bool": (text: string) => canonicalQuantity(text) !== undefined,
  [`quantity(string): ${Q}`]: quantity,
  [`sign(${Q}): int`]: (a: Opaque) => sign(nanosOf(a)),
  [`${Q}.isInteger(): bool`]: (a: Opaque) => nanosOf(a) % UNIT === 0n,
  [`${Q}.asInteger(): int`]: (a: Opaque) => {
    if (nanosOf(a) % UNIT !== 0n) throw new CelError("cannot convert value to integer");
    return nanosOf(a) / UNIT;
  },
  [`${Q}.asApproximateFloat(): double`]: (a: Opaque) => Number(nanosOf(a)) / 1e9,
  [`${Q}.add(${Q}): ${Q}`]: (a: Opaque, b: Opaque) => quantityOf(nanosOf(a) + nanosOf(b)),
  [`${Q}.add(int): ${Q}`]: (a: Opaque, b: bigint) => quantityOf(nanosOf(a) + b * UNIT),
  [`${Q}.sub(${Q}): ${Q}`]: (a: Opaque, b: Opaque) => quantityOf(nanosOf(a) - nanosOf(b)),
  [`${Q}.sub(int): ${Q}`]: (a: Opaque, b: bigint) => quantityOf(nanosOf(a) - b * UNIT),
  [`${Q}.isGreaterThan(${Q}): bool`]: (a: Opaque, b: Opaque) => nanosOf(a) > nanosOf(b),
  [`${Q}.isLessThan(${Q}): bool`]: (a: Opaque, b: Opaque) => nanosOf(a) < nanosOf(b),
  [`${Q}.compareTo(${Q}): int`]: (a: Opaque, b: Opaque) => sign(nanosOf(a) - nanosOf(b)),
  "isURL(string): bool": (text: string) => urlParts(text) !== undefined,
  [`url(string): ${U}`]: url,
  [`${U}.getScheme(): string`]: part("scheme"),
  [`${U}.getHost(): string`]: part("host"),
  [`${U}.getHostname(): string`]: part("hostname"),
  [`${U}.getPort(): string`]: part("port"),
  [`${U}.getEscapedPath(): string`]: part("path"),
  [`${U}.getQuery(): map(string, list(string))`]: queryOf,
  "isSemver(string): bool": (text: string) => SEMVER.test(text),
  "isSemver(string, bool): bool": (text: string, normalize: boolean) => SEMVER.test(normalize ? normal(text) : text),
  [`semver(string): ${V}`]: (text: string) => semver(text),
  [`semver(string, bool): ${V}`]: semver,
  [`${V}.major(): int`]: ({ value }: Opaque) => BigInt((value as string[])[0]!),
  [`${V}.minor(): int`]: ({ value }: Opaque) => BigInt((value as string[])[1]!),
  [`${V}.patch(): int`]: ({ value }: Opaque) => BigInt((value as string[])[2]!),
  [`${V}.isGreaterThan(${V}): bool`]: (a: Opaque, b: Opaque) => compareVersions(a, b) > 0n,
  [`${V}.isLessThan(${V}): bool`]: (a: Opaque, b: Opaque) => compareVersions(a, b) < 0n,
  [`${V}.compareTo(${V}): int`]: compareVersions,
  "format/named(string): optional_type(kubernetes.NamedFormat)": (name: string) =>
    new Optional(FORMATS[name] ? new Opaque("kubernetes.NamedFormat", name) : undefined),
  ...Object.fromEntries(
    Object.keys(FORMATS).map((
      name,
    ) => [`format/${name}(): kubernetes.NamedFormat`, () => new Opaque("kubernetes.NamedFormat", name)]),
  ),
  "kubernetes.NamedFormat.validate(string): optional_type(list(string))": ({ value }: Opaque, text: string) => {
    const wrong = FORMATS[value as string]!(text);
    return new Optional(wrong.length > 0 ? wrong : undefined);
  },
};
