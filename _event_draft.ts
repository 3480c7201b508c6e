/**
 * Builds Events that the server accepts: texts cut to their limits, valid and unique names, full references.
 *
 * ```ts
 * import { cutText, eventName } from "./_event_draft.ts";
 *
 * console.assert(cutText("Grüße", 4, "") === "Grü");
 * console.assert(eventName("system::x", "1a") === "system--x.1a");
 * ```
 *
 * @module
 */
import type { Event } from "./kinds.ts";
import type { Draft, KubernetesObject } from "./resource.ts";

/** The bytes that a note may have. */
const MAX_NOTE = 1024;
/** The bytes that a reason, an action or a reporting instance may have. */
export const MAX_WORD = 128;
const MAX_NAME = 253;

/** What an event says. */
export interface EventDescription {
  /** `Normal` for what is as it should be, `Warning` for what is not. */
  readonly type: "Normal" | "Warning";
  /** Why, as one word in camel case for machines, such as `BackupFailed`; cut to 128 bytes. */
  readonly reason: string;
  /** What happened, for people; cut to 1024 bytes. */
  readonly note: string;
  /** What was done or failed, as one word in camel case; cut to 128 bytes. @default {the reason} */
  readonly action?: string | undefined;
  /** Another object that the event is about. @default {undefined} */
  readonly related?: KubernetesObject | undefined;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Cuts a text to at most that many bytes of UTF-8, between two characters, with the marker at its end if it was cut.
 *
 * Halves of surrogate pairs become U+FFFD, as they do on the wire.
 *
 * @param marker Left out if it is longer than the limit itself
 */
export function cutText(text: string, bytes: number, marker = "…"): string {
  const whole = text.toWellFormed();
  // a UTF-16 unit is at most three bytes
  if (whole.length * 3 <= bytes) return whole;
  const encoded = encoder.encode(whole);
  if (encoded.length <= bytes) return whole;
  const tail = encoder.encode(marker).length <= bytes ? marker : "";
  let end = bytes - encoder.encode(tail).length;
  // the second and later bytes of a character are 10xxxxxx
  while (end > 0 && (encoded[end]! & 0xc0) === 0x80) end--;
  return decoder.decode(encoded.subarray(0, end)) + tail;
}

/** Makes an event's name, a DNS subdomain, of its object's name, as much of it as is valid and fits, and a unique part. */
export function eventName(object: string, unique: string): string {
  const labels = object.toLowerCase().replace(/[^a-z0-9.-]/g, "-").split(".");
  const valid = labels.map((label) => label.replace(/^-+|-+$/g, "")).filter((label) => label !== "").join(".");
  const head = valid.slice(0, MAX_NAME - 1 - unique.length).replace(/[-.]+$/, "");
  return `${head || "event"}.${unique}`;
}

/** Answers with the reference to an object. */
function referTo(object: KubernetesObject): Record<string, string> {
  const { apiVersion, kind, metadata: { namespace, name, uid, resourceVersion } } = object;
  const parts = Object.entries({ apiVersion, kind, namespace, name, uid, resourceVersion });
  return Object.fromEntries(parts.filter((part): part is [string, string] => Boolean(part[1])));
}

/** What else {@linkcode buildEvent} needs. */
export interface EventSource {
  /** The qualified name of the controller. */
  controller: string;
  /** The process. */
  instance: string;
  /** When it happened, as a MicroTime. */
  time: string;
  /** What makes the name unique. */
  unique: string;
}

/** Builds the draft of an event, with all that the server checks in order. */
export function buildEvent(regarding: KubernetesObject, event: EventDescription, source: EventSource): Draft<Event> {
  const { reason, action, note, related } = event;
  const why = word(reason, "Unspecified");
  return {
    metadata: {
      name: eventName(regarding.metadata.name, source.unique),
      namespace: regarding.metadata.namespace || "default",
    },
    eventTime: source.time,
    type: event.type === "Warning" ? "Warning" : "Normal",
    reason: why,
    action: word(action, why),
    note: cutText(String(note ?? ""), MAX_NOTE),
    reportingController: source.controller,
    reportingInstance: source.instance,
    regarding: referTo(regarding),
    ...(related && { related: referTo(related) }),
  };
}

function word(text: unknown, otherwise: string): string {
  return cutText(String(text ?? "").trim(), MAX_WORD, "") || otherwise;
}
