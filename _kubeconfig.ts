/**
 * Reads kubeconfig files as kubectl does: merged, one context chosen, files beside them resolved, plugins asked.
 *
 * Only an exec plugin or an auth provider needs `@kubernetes/client-node`; it is loaded then.
 *
 * ```ts
 * import { Kubeconfig } from "./_kubeconfig.ts";
 *
 * const text = JSON.stringify({
 *   "current-context": "c",
 *   contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
 *   clusters: [{ name: "k", cluster: { server: "https://localhost:6443" } }],
 *   users: [{ name: "u", user: { token: "abc" } }],
 * });
 * const config = new Kubeconfig({ paths: "config", env: () => undefined, readFile: () => Promise.resolve(text) });
 * console.assert((await config.read(false)).server === "https://localhost:6443");
 * ```
 *
 * @module
 */
import { dirname, isAbsolute, resolve } from "node:path";
import type { Access } from "./_access.ts";
import { askExec, askProvider, type Chosen, type Entry, type Fields, type Plugged } from "./_credential_plugins.ts";
import { messageOf } from "./errors.ts";

/** Options of {@linkcode Kubeconfig}. */
export interface KubeconfigOptions {
  /** One path, or several as in `KUBECONFIG`. */
  readonly paths: string;
  readonly context?: string | undefined;
  readonly env: (name: string) => string | undefined;
  readonly readFile: (path: string) => Promise<string>;
}

/** Reads a context of some kubeconfig files, again and again. */
export class Kubeconfig {
  readonly #options: KubeconfigOptions;
  #texts = "";
  #chosen: Chosen | undefined;
  /** What the exec plugin, or the provider, last gave; kept until it is to be asked anew. */
  #plugged: Plugged | undefined;

  /** Reads nothing. */
  constructor(options: KubeconfigOptions) {
    this.#options = options;
  }

  /**
   * Reads the files; asks an exec plugin if it has not been asked, or is to be asked anew.
   *
   * @throws {Error} If something is missing or wrong, naming file, context and field
   */
  async read(anew: boolean): Promise<Access> {
    const chosen = await this.#choose();
    const { context, cluster, user } = chosen;
    const origin = `context "${context.name}" of ${context.file}`;
    const plugged = user ? await this.#plug(chosen, user, anew) : {};
    return {
      origin,
      server: text(cluster, "server") ?? fail(cluster, "server", "be set", undefined),
      namespace: text(context, "namespace"),
      ca: await this.#data(cluster, "certificate-authority"),
      cert: plugged.cert ?? (user && await this.#data(user, "client-certificate")),
      key: plugged.key ?? (user && await this.#data(user, "client-key")),
      insecure: flag(cluster, "insecure-skip-tls-verify"),
      serverName: text(cluster, "tls-server-name"),
      proxy: text(cluster, "proxy-url"),
      headers: user ? await this.#headers(user, plugged.authorization) : [],
      expires: plugged.expires,
    };
  }

  async #choose(): Promise<Chosen> {
    const paths = this.#options.paths.split(Deno.build.os === "windows" ? ";" : ":").filter((path) => path !== "");
    const files: { path: string; text: string }[] = [];
    for (const path of paths) {
      const text = await this.#readOptional(path, paths.length > 1);
      if (text !== undefined) files.push({ path, text });
    }
    if (files.length === 0) {
      throw new Error(
        `Cannot read kubeconfig: at least one file must exist: current value is "${this.#options.paths}"`,
      );
    }
    const texts = JSON.stringify(files);
    if (this.#chosen && texts === this.#texts) return this.#chosen;
    const { parse } = await import("@std/yaml");
    // Times stay text: with the default schema they would become dates.
    const read = (text: string): unknown => parse(text, { schema: "core" });
    const documents = files.map(({ path, text }) => ({ file: path, fields: parseDocument(path, text, read) }));
    this.#chosen = choose(documents, this.#options.context);
    this.#texts = texts;
    this.#plugged = undefined;
    return this.#chosen;
  }

  async #readOptional(path: string, optional: boolean): Promise<string | undefined> {
    try {
      return await this.#options.readFile(path);
    } catch (cause) {
      if (optional && cause instanceof Deno.errors.NotFound) return undefined;
      throw new Error(`Cannot read kubeconfig ${path}: ${messageOf(cause)}`, { cause });
    }
  }

  /** What `field-data` (base64) or the file named by `field` holds; the data stands before the file. */
  async #data(entry: Entry, field: string): Promise<string | undefined> {
    const data = text(entry, `${field}-data`);
    if (data) {
      try {
        return new TextDecoder().decode(Uint8Array.from(atob(data), (character) => character.charCodeAt(0)));
      } catch {
        return fail(entry, `${field}-data`, "be base64", "something else");
      }
    }
    return await this.#file(entry, field);
  }

  async #file(entry: Entry, field: string): Promise<string | undefined> {
    const name = text(entry, field);
    if (!name) return undefined;
    const path = beside(entry, name);
    try {
      return await this.#options.readFile(path);
    } catch (cause) {
      return fail(entry, field, "name a file that can be read", `${JSON.stringify(path)} (${messageOf(cause)})`);
    }
  }

  async #headers(user: Entry, authorization: string | undefined): Promise<[string, string][]> {
    const headers: [string, string][] = [];
    const token = (await this.#file(user, "tokenFile"))?.trim() || text(user, "token")?.trim();
    const name = text(user, "username");
    if (token) headers.push(["authorization", `Bearer ${token}`]);
    else if (authorization) headers.push(["authorization", authorization]);
    else if (name) headers.push(["authorization", basic(name, text(user, "password") ?? "")]);
    const as = text(user, "as");
    const uid = text(user, "as-uid");
    const groups = strings(user, "as-groups", user.fields["as-groups"]);
    const extra = fieldsOf(user, "as-user-extra", user.fields["as-user-extra"]);
    if (as) headers.push(["impersonate-user", as]);
    if (uid) headers.push(["impersonate-uid", uid]);
    for (const group of groups) headers.push(["impersonate-group", group]);
    for (const [key, values] of Object.entries(extra)) {
      const header = `impersonate-extra-${headerName(key.toLowerCase())}`;
      for (const value of strings(user, `as-user-extra.${key}`, values)) headers.push([header, value]);
    }
    return headers;
  }

  async #plug(chosen: Chosen, user: Entry, anew: boolean): Promise<Plugged> {
    const { exec, "auth-provider": provider } = user.fields;
    if (exec) {
      if (!this.#plugged || anew) {
        const ca = await this.#data(chosen.cluster, "certificate-authority");
        this.#plugged = await askExec(chosen, fieldsOf(user, "exec", exec), ca, (command) => beside(user, command));
      }
    } else if (provider) {
      // it renews what it gives by itself, and may have got a new refresh token by that: so it is kept
      this.#plugged = await askProvider(chosen, fieldsOf(user, "auth-provider", provider), this.#plugged);
    }
    return this.#plugged ?? {};
  }
}

/** What API servers decode the name of a header from. */
function headerName(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[()]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function basic(name: string, password: string): string {
  return `Basic ${new TextEncoder().encode(`${name}:${password}`).toBase64()}`;
}

/** A path in a kubeconfig is relative to that file. */
function beside(entry: Entry, path: string): string {
  return isAbsolute(path) ? path : resolve(dirname(entry.file), path);
}

function parseDocument(path: string, text: string, parse: (text: string) => unknown): Fields {
  let document: unknown;
  try {
    document = parse(text) ?? {};
  } catch (cause) {
    // the message of a YAML error may show the line, and that a token
    const line = /line (\d+)|\((\d+):\d+\)/.exec(messageOf(cause));
    throw new SyntaxError(`Cannot read kubeconfig ${path}: it must be YAML${line ? `: ${line[0]}` : ""}`);
  }
  if (!isFields(document)) {
    throw new TypeError(`Cannot read kubeconfig ${path}: it must be a mapping: current value is ${kindOf(document)}`);
  }
  return document;
}

/** Merges as kubectl does: the first file that names something wins. */
function choose(documents: readonly { file: string; fields: Fields }[], wanted: string | undefined): Chosen {
  const clusters = entries(documents, "clusters", "cluster");
  const users = entries(documents, "users", "user");
  const contexts = entries(documents, "contexts", "context");
  const files = documents.map(({ file }) => file).join(", ");
  const current = wanted || documents.map(({ fields }) => fields["current-context"]).find((name) => name);
  const known = [...contexts.keys()].map((name) => JSON.stringify(name)).join(", ") || "none";
  if (typeof current !== "string") {
    throw new TypeError(
      `Cannot read kubeconfig ${files}: 'current-context' must name one of the contexts (${known}): current value is ${
        Deno.inspect(current)
      }`,
    );
  }
  const context = contexts.get(current);
  if (!context) {
    throw new TypeError(
      `Cannot read kubeconfig ${files}: the context must be one of ${known}: current value is "${current}"`,
    );
  }
  const name = text(context, "cluster") ?? fail(context, "cluster", "be set", undefined);
  const cluster = clusters.get(name) ?? fail(context, "cluster", "name a cluster that is there", name);
  const userName = text(context, "user");
  const user = userName
    ? users.get(userName) ?? fail(context, "user", "name a user that is there", userName)
    : undefined;
  return { context, cluster, user };
}

function entries(
  documents: readonly { file: string; fields: Fields }[],
  plural: string,
  singular: string,
): Map<string, Entry> {
  const found = new Map<string, Entry>();
  for (const { file, fields } of documents) {
    const list = fields[plural] ?? [];
    if (!Array.isArray(list)) {
      throw new TypeError(
        `Cannot read kubeconfig ${file}: '${plural}' must be a list: current value is ${kindOf(list)}`,
      );
    }
    for (const [index, item] of list.entries()) {
      const name = isFields(item) ? item.name : undefined;
      if (typeof name !== "string" || name === "") {
        throw new TypeError(
          `Cannot read kubeconfig ${file}: '${plural}[${index}].name' must be a text: current value is ${kindOf(name)}`,
        );
      }
      const entry = { file, what: `${singular} "${name}"`, name, fields: {} };
      if (!found.has(name)) found.set(name, { ...entry, fields: fieldsOf(entry, singular, item[singular]) });
    }
  }
  return found;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  return value === null
    ? "null"
    : Array.isArray(value)
    ? "a list"
    : value === undefined
    ? "undefined"
    : `a ${typeof value}`;
}

/** @throws {TypeError} Always, naming file, entry and field; takes care that `value` holds no secret */
function fail(entry: Entry, field: string, rule: string, value: string | undefined): never {
  throw new TypeError(
    `Cannot read kubeconfig ${entry.file}: ${entry.what}: '${field}' must ${rule}: current value is ${value}`,
  );
}

function fieldsOf(entry: Entry, field: string, value: unknown): Fields {
  return isFields(value ?? {}) ? (value ?? {}) as Fields : fail(entry, field, "be a mapping", kindOf(value));
}

function text(entry: Entry, field: string): string | undefined {
  const value = entry.fields[field] ?? undefined;
  return value === undefined || typeof value === "string"
    ? value || undefined
    : fail(entry, field, "be a text", kindOf(value));
}

function flag(entry: Entry, field: string): boolean {
  const value = entry.fields[field] ?? false;
  return typeof value === "boolean" ? value : fail(entry, field, "be true or false", kindOf(value));
}

function strings(entry: Entry, field: string, value: unknown): string[] {
  const list = value ?? [];
  return Array.isArray(list) && list.every((one) => typeof one === "string")
    ? list
    : fail(entry, field, "be a list of texts", kindOf(value));
}
