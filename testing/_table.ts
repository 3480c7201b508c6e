/**
 * Makes the tables that `kubectl get` shows.
 *
 * @module
 */
import { view } from "./_behaviour.ts";
import type { Call } from "./_call.ts";
import { partial } from "./_encode.ts";
import type { Fields } from "./_objects.ts";
import type { Revision } from "./_store.ts";

/** How long ago, as kubectl says it. */
export function age(from: string | undefined, now: Date): string {
  if (from === undefined) return "<unknown>";
  const seconds = Math.floor((now.getTime() - Date.parse(from)) / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  return duration(seconds);
}

/** A duration in seconds, as kubectl says it. */
export function duration(seconds: number): string {
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`;
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return hours % 24 === 0 ? `${days}d` : `${days}d${hours % 24}h`;
  if (days < 730) return `${days}d`;
  const years = Math.floor(days / 365);
  if (years < 8) return days % 365 === 0 ? `${years}y` : `${years}y${days % 365}d`;
  return `${years}y`;
}

/** The table of these objects. */
export function tableOf(call: Call, revisions: readonly Revision[], metadata: Fields, now: Date): Fields {
  const { info } = call;
  const columnDefinitions: Fields[] = [
    { name: "Name", type: "string", format: "name", description: "", priority: 0 },
    { name: "Age", type: "date", format: "", description: "", priority: 0 },
  ];
  const rows = revisions.map((revision) => {
    const object = view(info, revision);
    return { cells: [object.metadata.name, age(object.metadata.creationTimestamp, now)], object: partial(object) };
  });
  return { kind: "Table", apiVersion: "meta.k8s.io/v1", metadata, columnDefinitions, rows };
}
