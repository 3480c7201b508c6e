/**
 * Checks IP addresses and ranges of them, as fields of built-in kinds take them.
 *
 * ```ts
 * import { familyOf } from "./_addresses.ts";
 *
 * console.assert(familyOf("fd00::1") === "IPv6");
 * ```
 *
 * @module
 */
import { type Address, masked, type Range, readAddress, readRange, writeAddress } from "./_cel_network.ts";
import type { Check } from "./_checks.ts";
import { cause } from "./_status.ts";

/** The family of an address. */
export function familyOf(text: string): "IPv4" | "IPv6" {
  return readLoose(text)?.family === 6 ? "IPv6" : "IPv4";
}

/** Takes the zeros from the front of an IPv4 address' numbers, which were let through once. */
function withoutZeros(text: string): string {
  return text.replaceAll(/(?<=^|[.:/])0+(?=\d)/g, (zeros) => text.includes(".") ? "" : zeros);
}

/** An IPv6 address may end in the form of an IPv4 one. */
function withoutDots(text: string): string {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const four = dotted ? readAddress(dotted[2]!) : undefined;
  if (!four) return text;
  const number = BigInt(four.number);
  return `${dotted![1]}${(number >> 16n).toString(16)}:${(number & 0xffffn).toString(16)}`;
}

/** Reads an address, generously. */
export function readLoose(text: string): Address | undefined {
  return readAddress(withoutDots(withoutZeros(text)));
}

function isMapped({ family, number }: Address): boolean {
  return family === 6 && BigInt(number) >> 32n === 0xffffn;
}

function unmapped(address: Address): Address {
  return isMapped(address) ? { family: 4, number: String(BigInt(address.number) & 0xffff_ffffn) } : address;
}

/** The address in its canonical form. */
export function canonical(text: string): string {
  const address = readLoose(text);
  return address ? writeAddress(unmapped(address)) : text;
}

/** Takes an address of a field that is older than strict checks; `known` are those that it had. */
export function legacyAddress(known: readonly string[] = []): Check {
  return (value = "", at, causes) => {
    if (known.includes(value)) return;
    const address = readLoose(value);
    if (!address) {
      const why = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
      causes.push(cause.invalid(at, value, why));
      return;
    }
    if (!readAddress(withoutDots(value))) causes.push(cause.invalid(at, value, "must not have leading 0s"));
    if (isMapped(address)) causes.push(cause.invalid(at, value, "must not be an IPv4-mapped IPv6 address"));
  };
}

/** Takes an address in its canonical form. */
export const strictAddress: Check = (value = "", at, causes) => {
  const before = causes.length;
  legacyAddress()(value, at, causes);
  if (causes.length > before || canonical(value) === value) return;
  causes.push(cause.invalid(at, value, `must be in canonical form (${JSON.stringify(canonical(value))})`));
};

function readLooseRange(text: string): Range | undefined {
  const [head = "", ...rest] = text.split("/");
  return readRange([withoutDots(withoutZeros(head)), ...rest.map((bits) => bits.replace(/^0+(?=\d)/, ""))].join("/"));
}

/** Takes a range of a field that is older than strict checks; `known` are those that it had. */
export function legacyRange(known: readonly string[] = []): Check {
  return (value = "", at, causes) => {
    if (known.includes(value)) return;
    const range = readLooseRange(value);
    const tell = (why: string): void => void causes.push(cause.invalid(at, value, why));
    if (!range) return tell("must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
    const [head = "", ...rest] = value.split("/");
    if (!readRange([withoutDots(head), ...rest].join("/"))) {
      tell("must not have leading 0s in IP or prefix length");
    } else if (isMapped(range)) tell("must not have an IPv4-mapped IPv6 address");
    else if (masked(range).number !== range.number) tell("must not have bits set beyond the prefix length");
  };
}

function within(address: Address, range: string): boolean {
  const outer = readRange(range)!;
  if (outer.family !== address.family) return false;
  return masked({ ...address, bits: outer.bits }).number === masked(outer).number;
}

/** True if an address is in a range. */
export function isWithin(text: string, range: string): boolean {
  const address = readLoose(text);
  return address !== undefined && within(unmapped(address), range);
}

const SPECIAL: readonly { ranges: readonly string[]; why: string }[] = [
  { ranges: ["127.0.0.0/8", "::1/128"], why: "may not be in the loopback range (127.0.0.0/8, ::1/128)" },
  {
    ranges: ["169.254.0.0/16", "fe80::/10"],
    why: "may not be in the link-local range (169.254.0.0/16, fe80::/10)",
  },
  {
    ranges: ["224.0.0.0/24", "ff02::/16"],
    why: "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
  },
];

/** Takes an address that something can listen at. */
export const endpointAddress: Check = (value = "", at, causes) => {
  const loose = readLoose(value);
  if (!loose) {
    causes.push(cause.invalid(at, value, "must be a valid IP address"));
    return;
  }
  const address = unmapped(loose);
  if (within(address, "0.0.0.0/32") || within(address, "::/128")) {
    causes.push(cause.invalid(at, value, `may not be unspecified (${value})`));
  }
  for (const { ranges, why } of SPECIAL) {
    if (ranges.some((range) => within(address, range))) causes.push(cause.invalid(at, value, why));
  }
};

/** What a client is warned of about an address. */
export function addressWarning(at: string, value: string): string[] {
  const address = readLoose(value);
  if (!address || canonical(value) === value) return [];
  if (!readAddress(withoutDots(value)) || isMapped(address)) {
    return [`${at}: non-standard IP address ${JSON.stringify(value)} is invalid: use "${canonical(value)}"`];
  }
  return [
    `${at}: IPv6 address ${JSON.stringify(value)} should be in RFC 5952 canonical format ("${canonical(value)}")`,
  ];
}
