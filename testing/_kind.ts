/**
 * Describes how a kind behaves, and what of the server it may use for that.
 *
 * ```ts
 * import type { Behaviour } from "./_kind.ts";
 *
 * const leases: Behaviour = { createOnUpdate: true };
 * console.assert(leases.createOnUpdate);
 * ```
 *
 * @module
 */
import type { User } from "./_user.ts";
import type { Fields } from "./_objects.ts";
import type { Cause } from "./_status.ts";
import type { Store } from "./_store.ts";

/** What of the server a kind may use. */
export interface Ground {
  /** All objects. */
  readonly store: Store;
  /** Wall time. */
  now(): Date;
  /** Between 0 and 1. */
  random(): number;
  /** A fresh uid. */
  uid(): string;
}

/** How a kind behaves; what is absent is the common way. */
export interface Behaviour {
  /** Fills in what the client left out; after every decoding. What it throws as a DecodeError could not be read. */
  readonly defaults?: (object: Fields) => void;
  /** Sets what only the server may; at creation, after defaults. */
  readonly prepareCreate?: (object: Fields, server: Ground, user: User) => void;
  /** Sets what an update may not change. */
  readonly prepareUpdate?: (object: Fields, old: Fields, server: Ground) => void;
  /** What a client is warned of; before it is validated. */
  readonly warnings?: (object: Fields, old?: Fields) => string[];
  /** What is wrong with an object; `warn` is told what is wrong but may stay. */
  readonly validate?: (
    object: Fields,
    apiVersion: string,
    subresource: string,
    old?: Fields,
    warn?: (text: string) => void,
  ) => Cause[];
  /** The group that errors name, if it is not that of the resource. */
  readonly errorGroup?: string;
  /** What is wrong with a change. */
  readonly validateUpdate?: (object: Fields, old: Fields, apiVersion: string) => Cause[];
  /** What the generation counts the changes of; absent if the kind has no generation. */
  readonly desired?: (object: Fields) => unknown;
  /** True if a write to /status leaves all metadata alone. */
  readonly statusKeepsMetadata?: boolean;
  /** What a write to /status leaves alone of the metadata. */
  readonly statusKeeps?: readonly string[];
  /** True if /status is the only way to write the status. */
  readonly status?: boolean;
  /** Sets what a write to /status may not change. */
  readonly prepareStatus?: (object: Fields, old: Fields, server: Ground) => void;
  /** What comes of a write to other subresources: the object as it was, with the part that this is about. */
  readonly parts?: Readonly<Record<string, (object: Fields, old: Fields, server: Ground) => Fields>>;
  /** True if a new object keeps the status that it comes with. */
  readonly keepsStatus?: boolean;
  /** True if PUT makes what is not there. */
  readonly createOnUpdate?: boolean;
  /** True if DELETE answers with the object. */
  readonly returnsDeleted?: boolean;
  /** True if an update must say which version it was made for. */
  readonly conditionalUpdate?: boolean;
  /** True if finalizers need no domain. */
  readonly bareFinalizers?: boolean;
  /** The rule for names. @default {"subdomain"} */
  readonly names?: "subdomain" | "label" | "path" | "label1035";
  /** Fields that selectors may use beside name and namespace. */
  readonly selectable?: readonly string[];
  /** The same, by apiVersion, where versions differ. */
  readonly selectableIn?: Readonly<Record<string, readonly string[]>>;
  /** The object as field selectors see it. */
  readonly selectedForm?: (object: Fields) => Fields;
  /** What is said of a field that selectors may not use. */
  readonly unselectable?: (path: string) => string;
  /** What a selector sees where the field is absent. */
  readonly selectDefaults?: Readonly<Record<string, string>>;
  /** Seconds of grace that a deletion gives, by what it asks for. @default {0} */
  readonly grace?: (object: Fields, asked: number | undefined) => number;
  /** Sets what a deletion changes beside the metadata; answers with a copy. */
  readonly prepareDelete?: (object: Fields) => Fields;
  /** True if a deletion first marks the object its own way, whatever becomes of dependents. */
  readonly marksItself?: boolean;
  /** True if a deletion orphans dependents unless it is told otherwise. */
  readonly orphans?: boolean;
  /** Converts to how it is stored, from the version that it was written in. */
  readonly toStorage?: (object: Fields, apiVersion: string) => Fields;
  /** Converts from how it is stored. */
  readonly fromStorage?: (object: Fields, apiVersion: string) => Fields;
}
