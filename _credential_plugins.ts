/**
 * Asks what a kubeconfig names for credentials: an exec plugin, or an auth provider, both through client-node.
 *
 * ```ts
 * import type { Plugged } from "./_credential_plugins.ts";
 *
 * const plugged: Plugged = { authorization: "Bearer abc", expires: Date.parse("2030-01-01T00:00:00Z") };
 * console.assert(plugged.authorization !== undefined);
 * ```
 *
 * @module
 */
import type { KubeConfig } from "@kubernetes/client-node";
import { excerpt } from "./_answer.ts";
import { redact, secretArguments, secretSettings } from "./_redact.ts";
import { messageOf } from "./errors.ts";

/** What a part of a kubeconfig says. */
export type Fields = Readonly<Record<string, unknown>>;

/** A cluster, user or context, and the file that says so. */
export interface Entry {
  readonly file: string;
  /** Names it in errors, such as `user "admin"`. */
  readonly what: string;
  readonly name: string;
  readonly fields: Fields;
}

/** What the chosen context leads to. */
export interface Chosen {
  readonly context: Entry;
  readonly cluster: Entry;
  readonly user: Entry | undefined;
}

/** Credentials that a plugin gave. */
export interface Plugged {
  readonly authorization?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** In ms since 1970. */
  readonly expires?: number | undefined;
  /** What asked, if it is to be asked again. */
  readonly config?: KubeConfig | undefined;
}

/** Runs an exec plugin once. */
export async function askExec(
  chosen: Chosen,
  exec: Fields,
  ca: string | undefined,
  beside: (path: string) => string,
): Promise<Plugged> {
  const { command, args, apiVersion, interactiveMode } = exec;
  const fail = (what: string): Error =>
    new Error(`Cannot get credentials for ${describe(chosen)}: the exec command ${JSON.stringify(command)} ${what}`);
  if (typeof command !== "string" || command === "") throw fail("must be a text");
  if (interactiveMode === "Always") throw fail("asks a person (interactiveMode is Always), which is not supported");
  const info = {
    apiVersion: apiVersion ?? "client.authentication.k8s.io/v1",
    kind: "ExecCredential",
    spec: { interactive: false, ...(exec.provideClusterInfo === true ? { cluster: clusterInfo(chosen, ca) } : {}) },
  };
  const user = {
    name: "user",
    exec: {
      // a bare name is looked up in PATH, any other path is beside the kubeconfig
      command: /[/\\]/.test(command) ? beside(command) : command,
      args: Array.isArray(args) ? args.map(String) : [],
      env: [
        ...variables(exec).map(([name, value]) => ({ name, value })),
        { name: "KUBERNETES_EXEC_INFO", value: JSON.stringify(info) },
      ],
    },
  };
  const config = await load(user);
  let plugged: Plugged;
  try {
    plugged = await apply(config);
  } catch (error) {
    // these show part of the output, which may be a token
    if (error instanceof SyntaxError) throw fail("answered with something else than JSON");
    if (error instanceof TypeError) throw fail("answered with something else than an ExecCredential with a status");
    // no cause: it may show the arguments, and has all that the command said
    const secrets = [...secretArguments(user.exec.args), ...secretSettings(variables(exec), true)];
    throw fail(`failed: ${excerpt(redact(messageOf(error), secrets)) || "it said nothing"}`);
  }
  if (!plugged.authorization && !plugged.cert) throw fail("answered with neither a token nor a client certificate");
  return { ...plugged, expires: expiryOf(config) };
}

/** Asks an auth provider, such as `oidc`; the one before is asked again, for it may have what it needs to renew. */
export async function askProvider(chosen: Chosen, provider: Fields, before: Plugged | undefined): Promise<Plugged> {
  const config = before?.config ?? await load({ name: "user", authProvider: provider });
  try {
    const plugged = await apply(config);
    if (!plugged.authorization) throw new Error("it gave no token");
    return { ...plugged, config };
  } catch (error) {
    const settings = Object.entries(provider.config ?? {}).filter(([name]) => !PUBLIC_SETTINGS.includes(name));
    // the parser's error quotes what may be a token
    const reason = error instanceof SyntaxError
      ? "it was answered with something that cannot be read"
      : error instanceof Error
      ? excerpt(redact(error.message, secretSettings(settings, true)))
      : "unknown";
    throw new Error(
      `Cannot get credentials for ${describe(chosen)}: the auth-provider ${
        JSON.stringify(provider.name)
      } failed: ${reason}`,
    );
  }
}

/** Settings of auth providers that are no secrets. */
const PUBLIC_SETTINGS = ["idp-issuer-url", "client-id", "cmd-path", "expiry", "expires-on", "expires-in"];

/** The variables that a plugin is to get, as far as they are ones. */
function variables({ env }: Fields): [string, string][] {
  return (Array.isArray(env) ? env : []).flatMap((one): [string, string][] =>
    typeof one?.name === "string" && typeof one.value === "string" ? [[one.name, one.value]] : []
  );
}

function describe({ context, user }: Chosen): string {
  return `${user?.what} in context "${context.name}" of ${context.file}`;
}

function clusterInfo({ cluster }: Chosen, ca: string | undefined): Fields {
  const { extensions, ...fields } = cluster.fields;
  const found = Array.isArray(extensions)
    ? extensions.find((one) => one?.name === "client.authentication.k8s.io/exec")
    : undefined;
  return {
    server: fields.server,
    "tls-server-name": fields["tls-server-name"],
    "insecure-skip-tls-verify": fields["insecure-skip-tls-verify"],
    "certificate-authority-data": ca === undefined ? undefined : new TextEncoder().encode(ca).toBase64(),
    "proxy-url": fields["proxy-url"],
    ...(found ? { config: found.extension } : {}),
  };
}

/** The server is none: only the credentials are asked for. */
async function load(user: Fields): Promise<KubeConfig> {
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: "cluster", server: "https://unused.invalid", skipTLSVerify: false }],
    users: [user],
    contexts: [{ name: "context", cluster: "cluster", user: "user" }],
    currentContext: "context",
  });
  return config;
}

async function apply(config: KubeConfig): Promise<Plugged> {
  const options: { headers?: Record<string, string>; cert?: string; key?: string } = {};
  await config.applyToHTTPSOptions(options);
  return { authorization: options.headers?.Authorization, cert: options.cert, key: options.key };
}

/** When an exec plugin's credentials end; client-node knows, but does not tell. */
function expiryOf(config: KubeConfig): number | undefined {
  const { authenticators } = config as unknown as {
    authenticators?: readonly { tokenCache?: Record<string, { status?: { expirationTimestamp?: unknown } } | null> }[];
  };
  for (const { tokenCache } of authenticators ?? []) {
    const expires = Date.parse(String(tokenCache?.user?.status?.expirationTimestamp));
    if (!Number.isNaN(expires)) return expires;
  }
  return undefined;
}
