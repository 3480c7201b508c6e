/**
 * Takes secrets out of texts that somebody else wrote, before they are thrown or logged: a server, a proxy or a plugin may
 * repeat what it was given.
 *
 * ```ts
 * import { redact } from "./_redact.ts";
 *
 * console.assert(redact("invalid token abcdef", ["abcdef"]) === "invalid token [redacted]");
 * ```
 *
 * @module
 */

/** What stands in the place of a secret. */
const REDACTED = "[redacted]";
/** Shorter ones are no secrets, and would tear other words apart. */
const SHORTEST = 4;
/** What is a secret by its looks: a JSON web token, a private key, the user part of a URL. */
const LOOKS: readonly [RegExp, string][] = [
  [/\beyJ[\w-]{4,}\.[\w-]{4,}\.[\w-]*/g, REDACTED],
  [/-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,20}PRIVATE KEY-----)?/g, REDACTED],
  [/:\/\/[^\s/@"']{1,300}@/g, `://${REDACTED}@`],
];
/** Settings that hold a secret, by their names. */
const SECRET_NAME = /secret|token|passw|passphrase|credential|private|api-?_?key|auth/i;

/** The text without the secrets, and without what looks like one. */
export function redact(text: string, secrets: Iterable<string> = []): string {
  let redacted = text;
  // the longest first: one may be a part of another
  const all = [...new Set(secrets)].filter((secret) => secret.length >= SHORTEST).sort((a, b) => b.length - a.length);
  for (const secret of all) redacted = redacted.replaceAll(secret, REDACTED);
  for (const [looks, instead] of LOOKS) redacted = redacted.replace(looks, instead);
  return redacted;
}

/** The error, or, if it or one of its causes shows a secret, one that says the same without. */
export function redactError(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof Error)) return typeof error === "string" ? redact(error, secrets) : error;
  const { name, message, stack = "" } = error;
  const cause = redactError(error.cause, secrets);
  const shown = [message, stack];
  if (cause === error.cause && shown.every((text) => redact(text, secrets) === text)) return error;
  const copy = new Error(redact(message, secrets), cause === undefined ? {} : { cause });
  copy.name = name;
  return copy;
}

/** The secrets in the headers that say who we are, and in the URL of a proxy. */
export function secretsOf(
  connection: { headers(): readonly (readonly [string, string])[]; readonly proxy?: string | undefined },
): string[] {
  const secrets: string[] = [];
  for (const [name, value] of connection.headers()) {
    if (name !== "authorization") continue;
    const [, scheme = "", credentials = value] = /^(\w+) +(.*)$/.exec(value) ?? [];
    secrets.push(credentials);
    if (scheme === "Basic") secrets.push(...passwordIn(credentials));
  }
  const { password = "" } = URL.parse(connection.proxy ?? "") ?? {};
  return [...secrets, password, decoded(password)];
}

/** The values of the settings whose names say that they are secret; `always` takes those of all names. */
export function secretSettings(settings: Iterable<readonly [string, unknown]>, always = false): string[] {
  return [...settings].flatMap(([name, value]) =>
    typeof value === "string" && (always || SECRET_NAME.test(name)) ? [value] : []
  );
}

/** The arguments of a command that are secret by the names of their flags: `--token=abc`, or `--token abc`. */
export function secretArguments(args: readonly unknown[]): string[] {
  return args.flatMap((arg, index) => {
    if (typeof arg !== "string") return [];
    const [, name = "", value = ""] = /^-*([^=]*)=(.*)$/s.exec(arg) ?? [];
    const before = args[index - 1];
    const flag = typeof before === "string" && before.startsWith("-") && !before.includes("=") ? before : "";
    return secretSettings([[name, value], [flag, arg]]);
  });
}

function passwordIn(credentials: string): string[] {
  try {
    return [new TextDecoder().decode(Uint8Array.fromBase64(credentials)).replace(/^[^:]*:/, "")];
  } catch {
    return [];
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
