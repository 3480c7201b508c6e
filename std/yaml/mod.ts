/**
 * Stands in for `jsr:@std/yaml` in this checkout, over `npm:yaml`, where JSR cannot be reached.
 *
 * @module
 */
import { parseAllDocuments, parseDocument, stringify as write } from "yaml";

/** Options of {@linkcode stringify}; the part of the real ones that this repository uses. */
export interface StringifyOptions {
  /** Columns after which text is folded; -1 never folds. @default {80} */
  lineWidth?: number;
  /** Leaves out what YAML cannot hold instead of throwing. @default {false} */
  skipInvalid?: boolean;
  /** Writes a repeated object out again instead of an alias. @default {true} */
  useAnchors?: boolean;
}

/** Reads one YAML document. */
export function parse(content: string): unknown {
  const document = parseDocument(content);
  if (document.errors.length > 0) throw new SyntaxError(document.errors[0]!.message);
  return document.toJS();
}

/** Reads every document of a stream. */
export function parseAll(content: string): unknown[] {
  const documents = parseAllDocuments(content);
  if (!Array.isArray(documents)) return [];
  return documents.map((document) => {
    if (document.errors.length > 0) throw new SyntaxError(document.errors[0]!.message);
    return document.toJS() as unknown;
  });
}

/** Writes a value as one YAML document. */
export function stringify(data: unknown, options: StringifyOptions = {}): string {
  const { lineWidth = 80, useAnchors = true } = options;
  return write(data, { lineWidth: lineWidth < 0 ? 0 : lineWidth, aliasDuplicateObjects: useAnchors, version: "1.1" });
}
