/**
 * Holds one state of one object: as a value while it is recent, and as JSON from then on.
 *
 * All that reads a state, be it an answer, a list or a watch, shares the one text that is written of it; a server with many
 * objects holds little more than these texts.
 *
 * ```ts
 * import { Recent, Revision } from "./_revision.ts";
 *
 * const metadata = { name: "a", labels: { app: "web" } };
 * const revision = new Revision({ apiVersion: "v1", kind: "Pod", metadata }, { version: 7, namespace: "", name: "a" }, new Recent(1));
 * revision.forget();
 * console.assert(revision.object.metadata.labels?.app === "web");
 * ```
 *
 * @module
 */
import { entriesText, type ManagerEntry } from "./_manager_entries.ts";
import type { Kube } from "./_objects.ts";

/** An object as it was at some time. */
export interface State {
  /** The object, frozen by agreement; it carries its resource version. */
  readonly object: Kube;
  /** The resource version. */
  readonly version: number;
  /** What it was written as: shown as that it is as it is stored. */
  readonly writtenAs?: string | undefined;
}

/** Where and when a state is of. */
export interface Stamp {
  readonly version: number;
  readonly namespace: string;
  readonly name: string;
  readonly writtenAs?: string | undefined;
}

/** What a text has in the place of managers: no other member of that name in metadata is a number. */
const PLACE = '"managedFields":0';

/** One state of one stored object. */
export class Revision implements State {
  /** The resource version. */
  readonly version: number;
  /** The object's namespace; empty at cluster scope. */
  readonly namespace: string;
  /** The object's name. */
  readonly name: string;
  /** The object's labels. */
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** What it was written as: shown as that it is as it is stored. */
  readonly writtenAs: string | undefined;
  readonly #recent: Recent;
  /** The entries of managers, if they are shared with other objects: they are kept apart. */
  readonly #managers: readonly ManagerEntry[] | undefined;
  #object: Kube | undefined;
  /** The JSON of the object, with something else in the place of its managers. */
  #text: string | undefined;

  /** Takes the object, with its resource version in it, and what remembers its value for a while. */
  constructor(object: Kube, { version, namespace, name, writtenAs }: Stamp, recent: Recent) {
    this.version = version;
    this.namespace = namespace;
    this.name = name;
    this.labels = object.metadata.labels;
    this.writtenAs = writtenAs;
    this.#recent = recent;
    this.#managers = sharedManagers(object);
    this.#object = object;
    recent.add(this);
  }

  /** The object, frozen by agreement. */
  get object(): Kube {
    if (this.#object === undefined) {
      const object = this.#object = JSON.parse(this.#text!) as Kube;
      if (this.#managers) object.metadata.managedFields = this.#managers as unknown as ManagedFields;
      this.#recent.add(this);
    }
    return this.#object;
  }

  /** The object's JSON; written once. */
  get text(): string {
    const text = this.#text ??= this.#write();
    if (!this.#managers) return text;
    const at = text.indexOf(PLACE) + PLACE.length;
    return text.slice(0, at - 1) + entriesText(this.#managers) + text.slice(at);
  }

  /** Lets go of the value, which is read from the JSON when it is needed again. */
  forget(): void {
    this.#text ??= this.#write();
    this.#object = undefined;
  }

  #write(): string {
    const object = this.#object!;
    if (!this.#managers) return JSON.stringify(object);
    return JSON.stringify({ ...object, metadata: { ...object.metadata, managedFields: 0 } });
  }
}

type ManagedFields = Required<Kube["metadata"]>["managedFields"];

/** The entries of managers that an object shares with others, if their place in its JSON can be found. */
function sharedManagers(object: Kube): readonly ManagerEntry[] | undefined {
  const entries = object.metadata.managedFields as readonly ManagerEntry[] | undefined;
  if (entriesText(entries) === undefined) return undefined;
  for (const member in object) {
    if (member === "metadata") return entries;
    if (typeof object[member] !== "string") return undefined;
  }
  return undefined;
}

/** The states whose values are kept at hand: the last ones that were written or read again. */
export class Recent {
  readonly #size: number;
  readonly #kept: Revision[] = [];
  #next = 0;

  /** Takes how many there are. */
  constructor(size: number) {
    this.#size = size;
  }

  /** Adds a state that has a value; the oldest loses its own. */
  add(revision: Revision): void {
    const oldest = this.#kept[this.#next];
    this.#kept[this.#next] = revision;
    this.#next = (this.#next + 1) % this.#size;
    if (oldest !== revision) oldest?.forget();
  }
}
