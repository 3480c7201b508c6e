/**
 * Declares Kubernetes' functions for IP addresses and ranges of them in expressions.
 *
 * ```ts
 * import { readAddress } from "./_cel_network.ts";
 *
 * console.assert(readAddress("10.0.0.1")?.family === 4);
 * ```
 *
 * @module
 */
import type { Library } from "./_cel_types.ts";
import { CelError, Opaque } from "./_cel_values.ts";

/** An address as a number. */
export interface Address {
  readonly family: 4 | 6;
  /** The number, in decimal. */
  readonly number: string;
}

/** A range of addresses. */
export interface Range extends Address {
  /** How many bits all its addresses share. */
  readonly bits: number;
}

function four(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((each) => /^(0|[1-9]\d{0,2})$/.test(each) && Number(each) < 256)) {
    return undefined;
  }
  return parts.reduce((sum, each) => sum * 256n + BigInt(each), 0n);
}

function six(text: string): bigint | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const groups = halves.map((half) => half === "" ? [] : half.split(":"));
  const [head = [], tail = []] = groups;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const all = [...head, ...Array<string>(Math.max(0, missing)).fill("0"), ...tail];
  if (!all.every((each) => /^[0-9a-fA-F]{1,4}$/.test(each))) return undefined;
  return all.reduce((sum, each) => sum * 65536n + BigInt(`0x${each}`), 0n);
}

/** Reads an address; undefined if it is none. */
export function readAddress(text: string): Address | undefined {
  const family = text.includes(":") ? 6 : 4;
  const number = family === 6 ? six(text) : four(text);
  return number === undefined ? undefined : { family, number: String(number) };
}

/** Writes an address in its canonical form. */
export function writeAddress({ family, number }: Address): string {
  const value = BigInt(number);
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - index * 16)) & 0xffffn).toString(16));
  let best = { at: 0, length: 0 };
  for (let at = 0; at < 8; at++) {
    let length = 0;
    while (groups[at + length] === "0") length++;
    if (length > best.length) best = { at, length };
  }
  if (best.length < 2) return groups.join(":");
  return `${groups.slice(0, best.at).join(":")}::${groups.slice(best.at + best.length).join(":")}`;
}

/** Reads a range; undefined if it is none. */
export function readRange(text: string): Range | undefined {
  const [head = "", bits, ...rest] = text.split("/");
  const address = readAddress(head);
  if (!address || bits === undefined || rest.length > 0 || !/^(0|[1-9]\d*)$/.test(bits)) return undefined;
  return Number(bits) <= width(address) ? { ...address, bits: Number(bits) } : undefined;
}

const width = ({ family }: Address): number => family === 4 ? 32 : 128;

/** The range without the bits beyond its prefix. */
export function masked(range: Range): Range {
  const shift = BigInt(width(range) - range.bits);
  return { ...range, number: String((BigInt(range.number) >> shift) << shift) };
}

function inside(range: Range, address: Address, bits = width(address)): boolean {
  return range.family === address.family && bits >= range.bits &&
    masked({ ...address, bits: range.bits }).number === masked(range).number;
}

const IP = "net.IP", CIDR = "net.CIDR";
const of = ({ value }: Opaque): Range => value as Range;

function ip(text: string): Opaque {
  const address = readAddress(text);
  if (!address) {
    throw new CelError(
      `IP Address ${JSON.stringify(text)} parse error during conversion from string: ParseAddr(${
        JSON.stringify(text)
      }): unable to parse IP`,
    );
  }
  return new Opaque(IP, address);
}

function cidr(text: string): Opaque {
  const range = readRange(text);
  if (!range) {
    throw new CelError(
      `network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix(${
        JSON.stringify(text)
      }): no '/'`,
    );
  }
  return new Opaque(CIDR, range);
}

/** True if an address is in one of some ranges. */
const among = (...ranges: string[]) => ({ value }: Opaque): boolean =>
  ranges.some((each) => inside(readRange(each)!, value as Address));

const loopback = among("127.0.0.0/8", "::1/128");
const linkMulticast = among("224.0.0.0/24", "ff02::/16");
const linkUnicast = among("169.254.0.0/16", "fe80::/10");
const unspecified = among("0.0.0.0/32", "::/128");
const multicast = among("224.0.0.0/4", "ff00::/8", "255.255.255.255/32");

/** The functions. */
export const NETWORK: Library = {
  "isIP(string): bool": (text: string) => readAddress(text) !== undefined,
  [`ip(string): ${IP}`]: ip,
  "ip/isCanonical(string): bool": (text: string) => writeAddress(of(ip(text))) === text,
  [`${IP}.family(): int`]: (a: Opaque) => BigInt(of(a).family),
  [`${IP}.isUnspecified(): bool`]: unspecified,
  [`${IP}.isLoopback(): bool`]: loopback,
  [`${IP}.isLinkLocalMulticast(): bool`]: linkMulticast,
  [`${IP}.isLinkLocalUnicast(): bool`]: linkUnicast,
  [`${IP}.isGlobalUnicast(): bool`]: (a: Opaque) => !unspecified(a) && !loopback(a) && !multicast(a) && !linkUnicast(a),
  [`string(${IP}): string`]: (a: Opaque) => writeAddress(of(a)),
  "isCIDR(string): bool": (text: string) => readRange(text) !== undefined,
  [`cidr(string): ${CIDR}`]: cidr,
  [`${CIDR}.containsIP(string): bool`]: (a: Opaque, text: string) => inside(of(a), of(ip(text))),
  [`${CIDR}.containsIP(${IP}): bool`]: (a: Opaque, b: Opaque) => inside(of(a), of(b)),
  [`${CIDR}.containsCIDR(string): bool`]: (a: Opaque, text: string) =>
    inside(of(a), of(cidr(text)), of(cidr(text)).bits),
  [`${CIDR}.containsCIDR(${CIDR}): bool`]: (a: Opaque, b: Opaque) => inside(of(a), of(b), of(b).bits),
  [`${CIDR}.ip(): ${IP}`]: (a: Opaque) => new Opaque(IP, { family: of(a).family, number: of(a).number }),
  [`${CIDR}.masked(): ${CIDR}`]: (a: Opaque) => new Opaque(CIDR, masked(of(a))),
  [`${CIDR}.prefixLength(): int`]: (a: Opaque) => BigInt(of(a).bits),
  [`string(${CIDR}): string`]: (a: Opaque) => `${writeAddress(of(a))}/${of(a).bits}`,
};
