/**
 * Checks how webhooks are reached: by a URL, or by a Service.
 *
 * ```ts
 * import { causesOf } from "./_checks.ts";
 * import { clientConfig } from "./_webhook_client.ts";
 *
 * console.assert(causesOf(clientConfig, { url: "http://a" }, "clientConfig").length === 1);
 * ```
 *
 * @module
 */
import { type Check, needed } from "./_checks.ts";
import { validateName } from "./_metadata.ts";
import { type Cause, cause } from "./_status.ts";

const FORM = "; desired format: https://host[/path]";

const PARTS = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/(?:([^/?#]*)@)?([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/;

/** Takes a URL that says a host, and no more than a path. */
const url: Check = (value: string, at, causes) => {
  const tell = (part: string, why: string): void => void causes.push(cause.invalid(at, part, why));
  const [, scheme = "", user, host = "", query = "", fragment = ""] = PARTS.exec(value) ?? [];
  if (scheme.toLowerCase() !== "https") tell(scheme, `'https' is the only allowed URL scheme${FORM}`);
  if (host === "") tell(host, `host must be specified${FORM}`);
  if (user !== undefined) tell(user, "user information is not permitted in the URL");
  if (fragment !== "") tell(fragment, "fragments are not permitted in the URL");
  if (query !== "") tell(query, "query parameters are not permitted in the URL");
};

function pathRules(path: string): string[] {
  if (path === "" || path === "/") return [];
  if (path === "//") return ["segment[0] may not be empty"];
  const steps = path.slice(1).replace(/\/$/, "").split("/");
  return [
    ...(path.startsWith("/") ? [] : ["must start with a '/'"]),
    ...steps.flatMap((step, index) =>
      step === ""
        ? [`segment[${index}] may not be empty`]
        : validateName(step, "subdomain").map((why) => `segment[${index}]: ${why}`)
    ),
  ];
}

/** Takes a reference to a Service. */
const service: Check = ({ name, namespace, path, port = 0 }, at, causes) => {
  // The two are mixed up by the real server, and so they are here.
  needed()(namespace, `${at}.name`, causes);
  needed()(name, `${at}.namespace`, causes);
  if (port < 1 || port > 65535) {
    causes.push(cause.invalid(`${at}.port`, port, "port is not valid: must be between 1 and 65535, inclusive"));
  }
  causes.push(...pathRules(path ?? "").map((why) => cause.invalid(`${at}.path`, path, why)));
};

/** Takes a URL or a Service. */
export const clientConfig: Check = (value, at, causes: Cause[]) => {
  const { url: address, service: reference } = value ?? {};
  if ((address === undefined) === (reference === undefined)) {
    causes.push(cause.required(at, "exactly one of url or service is required"));
  } else if (address !== undefined) url(address, `${at}.url`, causes);
  else service(reference, `${at}.service`, causes);
};
