/**
 * Stands in for `jsr:@std/yaml` in this checkout, where JSR cannot be reached: reads with `npm:js-yaml`, which needs no
 * permission, as the real one does not, and writes with `npm:yaml`.
 *
 * @module
 */
import { loadAll } from "js-yaml";
import { stringify as write } from "yaml";

/** Options of {@linkcode stringify}; the part of the real ones that this repository uses. */
export interface StringifyOptions {
  /** Columns after which text is folded; -1 never folds. @default {80} */
  lineWidth?: number;
  /** Leaves out what YAML cannot hold instead of throwing. @default {false} */
  skipInvalid?: boolean;
  /** Writes a repeated object out again instead of an alias. @default {true} */
  useAnchors?: boolean;
}

/** Options of {@linkcode parse} and {@linkcode parseAll}; the part of the real ones that this repository uses. */
export interface ParseOptions {
  /** How plain scalars are read; by the real default an unquoted time becomes a `Date`. @default {"default"} */
  schema?: "core" | "default";
  /** Whether a key may come twice: the last one stays. @default {false} */
  allowDuplicateKeys?: boolean;
}

/** Reads one YAML document. */
export function parse(content: string, options: ParseOptions = {}): unknown {
  const documents = parseAll(content, options) as unknown[];
  if (documents.length > 1) {
    throw new SyntaxError("Found more than 1 document in the stream: expected a single document");
  }
  return documents[0] ?? null;
}

/** Reads every document of a stream; the answer is a list of them. */
export function parseAll(content: string, options: ParseOptions = {}): unknown {
  if (options.schema !== "core") throw new TypeError(`Cannot read YAML: this stand-in knows the schema "core" alone`);
  try {
    return loadAll(content, null, { json: options.allowDuplicateKeys ?? false });
  } catch (error) {
    throw new SyntaxError((error as Error).message);
  }
}

/** Writes a value as one YAML document. */
export function stringify(data: unknown, options: StringifyOptions = {}): string {
  const { lineWidth = 80, useAnchors = true } = options;
  return write(data, { lineWidth: lineWidth < 0 ? 0 : lineWidth, aliasDuplicateObjects: useAnchors, version: "1.1" });
}
