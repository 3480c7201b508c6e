/**
 * Serves a JSR registry on loopback: takes what `deno publish` uploads and gives it to whoever imports it, with `JSR_URL` set to it.
 *
 * It knows the few routes that Deno uses. Every package exists, every token will do, and nothing is kept after it is closed.
 *
 * ```ts
 * import { JsrRegistry } from "./jsr_registry.ts";
 *
 * await using registry = new JsrRegistry();
 * console.log(`JSR_URL=${registry.url} deno publish --token any`);
 * ```
 *
 * @module
 */

/** A version of a package, as it was published. */
export interface PublishedVersion {
  /** What can be imported: `.` or `./name`, and the file of each. */
  readonly exports: Readonly<Record<string, string>>;
  /** The files by path, such as `/mod.ts`. */
  readonly files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
}

const TAR_BLOCK = 512;

/** The files in a tar archive by path, each path starting with a slash. */
export function readTar(archive: Uint8Array<ArrayBuffer>): Map<string, Uint8Array<ArrayBuffer>> {
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  const text = (from: number, length: number): string =>
    new TextDecoder().decode(archive.subarray(from, from + length)).replace(/\0[^]*$/, "");
  for (let offset = 0; offset + TAR_BLOCK <= archive.length && archive[offset] !== 0;) {
    const size = Number.parseInt(text(offset + 124, 12), 8);
    const type = text(offset + 156, 1);
    if (type !== "0" && type !== "") {
      throw new Error(`Cannot read an archive: entries must be plain files: got ${type}`);
    }
    const prefix = text(offset + 345, 155);
    const name = (prefix === "" ? "" : `${prefix}/`) + text(offset, 100);
    files.set(`/${name.replace(/^\.?\//, "")}`, archive.slice(offset + TAR_BLOCK, offset + TAR_BLOCK + size));
    offset += TAR_BLOCK + Math.ceil(size / TAR_BLOCK) * TAR_BLOCK;
  }
  return files;
}

async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

function notFound(): Response {
  return Response.json({ code: "notFound", message: "There is no such thing" }, { status: 404 });
}

/** A registry that listens on loopback until it is disposed of. */
export class JsrRegistry implements AsyncDisposable {
  /** The address to set `JSR_URL` to; it ends with a slash. */
  readonly url: string;
  /** What was asked for, such as `GET /@std/yaml/meta.json`. */
  readonly requests: string[] = [];
  readonly #packages = new Map<string, Map<string, PublishedVersion>>();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  /** Starts to listen. */
  constructor() {
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => this.#answer(request),
    );
    this.url = `http://127.0.0.1:${this.#server.addr.port}/`;
  }

  /** A version of a package that was published, such as `@std/yaml`. */
  published(name: string, version: string): PublishedVersion | undefined {
    return this.#packages.get(name)?.get(version);
  }

  /** Stops to listen. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    this.requests.push(`${request.method} ${pathname}`);
    const api = /^\/api\/scopes\/([^/]+)\/packages\/([^/]+)(?:\/versions\/([^/]+))?$/.exec(pathname);
    if (api !== null) {
      const [, scope, name, version] = api;
      const id = `@${scope}/${name}`;
      if (version === undefined) return Response.json({ scope, name });
      if (request.method === "POST") return await this.#publish(id, version, searchParams.get("config"), request);
      return this.published(id, version) === undefined ? notFound() : Response.json({ scope, package: name, version });
    }
    const [, id = "", rest = ""] = /^\/(@[^/]+\/[^/]+)\/(.+)$/.exec(pathname) ?? [];
    if (rest === "meta.json") return this.#meta(id);
    const [, metaOf] = /^([^/]+)_meta\.json$/.exec(rest) ?? [];
    if (metaOf !== undefined) return await this.#versionMeta(id, metaOf);
    const slash = rest.indexOf("/");
    const file = this.published(id, rest.slice(0, slash))?.files.get(decodeURI(rest.slice(slash)));
    return file === undefined ? notFound() : new Response(file, { headers: { "content-type": contentType(rest) } });
  }

  async #publish(id: string, version: string, config: string | null, request: Request): Promise<Response> {
    const files = readTar(await gunzip(new Uint8Array(await request.arrayBuffer())));
    const settings = JSON.parse(new TextDecoder().decode(files.get(config ?? "/deno.json")));
    const exports = typeof settings.exports === "string" ? { ".": settings.exports } : settings.exports;
    const versions = this.#packages.get(id) ?? new Map<string, PublishedVersion>();
    this.#packages.set(id, versions.set(version, { exports, files }));
    return Response.json({ id: crypto.randomUUID(), status: "success", error: null });
  }

  #meta(id: string): Response {
    const versions = [...this.#packages.get(id)?.keys() ?? []];
    if (versions.length === 0) return notFound();
    const [scope, name] = id.slice(1).split("/");
    const latest = versions.at(-1);
    return Response.json({ scope, name, latest, versions: Object.fromEntries(versions.map((each) => [each, {}])) });
  }

  async #versionMeta(id: string, version: string): Promise<Response> {
    const published = this.published(id, version);
    if (published === undefined) return notFound();
    const manifest: Record<string, { size: number; checksum: string }> = {};
    for (const [path, bytes] of published.files) {
      manifest[path] = { size: bytes.length, checksum: `sha256-${await sha256(bytes)}` };
    }
    return Response.json({ manifest, exports: published.exports });
  }
}

function contentType(path: string): string {
  return path.endsWith(".ts") ? "text/typescript" : "application/octet-stream";
}
