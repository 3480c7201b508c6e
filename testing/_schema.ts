/**
 * Describes the objects of a kind: the structural schema of a custom resource, or what a built-in kind's OpenAPI says.
 *
 * ```ts
 * import type { Schema } from "./_schema.ts";
 *
 * const schema: Schema = { type: "object", properties: { spec: { type: "object" } } };
 * ```
 *
 * @module
 */

/** How the items of a list are told apart. */
export type ListType = "atomic" | "set" | "map";

/** A rule in CEL. */
export interface ValidationRule {
  /** The expression; true for a valid value. */
  rule: string;
  /** What an error says. */
  message?: string;
  /** An expression whose value an error says. */
  messageExpression?: string;
  /** The cause's reason. */
  reason?: string;
  /** The path that an error names, below the value. */
  fieldPath?: string;
  /** Whether `oldSelf` may be missing. */
  optionalOldSelf?: boolean;
}

/** A schema. Built-in kinds' schemas may refer to themselves: walk them along a value, never on their own. */
export interface Schema {
  /** The type; absent for int-or-string and for what may be anything. */
  type?: string;
  /** A format that narrows the type. */
  format?: string;
  /** For people. */
  description?: string;
  /** For people. */
  title?: string;
  /** The value of a missing field. */
  default?: unknown;
  /** Whether null is a value. */
  nullable?: boolean;
  /** An object's known fields. */
  properties?: Record<string, Schema>;
  /** What all other fields look like. */
  additionalProperties?: Schema | boolean;
  /** What a list's items look like. */
  items?: Schema;
  /** Fields that must be there. */
  required?: string[];
  /** The allowed values. */
  enum?: unknown[];
  /** Lower bound. */
  minimum?: number;
  /** Upper bound. */
  maximum?: number;
  /** Whether the lower bound itself is out. */
  exclusiveMinimum?: boolean;
  /** Whether the upper bound itself is out. */
  exclusiveMaximum?: boolean;
  /** What a number must be a multiple of. */
  multipleOf?: number;
  /** Fewest characters. */
  minLength?: number;
  /** Most characters. */
  maxLength?: number;
  /** A regular expression that must match somewhere. */
  pattern?: string;
  /** Fewest items. */
  minItems?: number;
  /** Most items. */
  maxItems?: number;
  /** Whether no item may come twice. */
  uniqueItems?: boolean;
  /** Fewest fields. */
  minProperties?: number;
  /** Most fields. */
  maxProperties?: number;
  /** Schemas that must all hold. */
  allOf?: Schema[];
  /** Schemas of which one must hold. */
  anyOf?: Schema[];
  /** Schemas of which exactly one must hold. */
  oneOf?: Schema[];
  /** A schema that must not hold. */
  not?: Schema;
  /** Whether the object has `apiVersion`, `kind` and `metadata`. */
  "x-kubernetes-embedded-resource"?: boolean;
  /** Whether the value is an integer or a string. */
  "x-kubernetes-int-or-string"?: boolean;
  /** Whether fields that the schema does not name are kept. */
  "x-kubernetes-preserve-unknown-fields"?: boolean;
  /** How the items of a list are told apart; atomic by default. */
  "x-kubernetes-list-type"?: ListType;
  /** The fields that tell the items of a list map apart. */
  "x-kubernetes-list-map-keys"?: string[];
  /** Whether an object is owned as a whole. */
  "x-kubernetes-map-type"?: "granular" | "atomic";
  /** Rules in CEL. */
  "x-kubernetes-validations"?: ValidationRule[];
  /** Built-in kinds: how a strategic merge patch treats a list or object. */
  "x-kubernetes-patch-strategy"?: string;
  /** Built-in kinds: the key by which a strategic merge patch merges a list. */
  "x-kubernetes-patch-merge-key"?: string;
}

/** Returns the schema of a field of an object; undefined if the schema knows nothing of it. */
export function fieldSchema(schema: Schema, name: string): Schema | undefined {
  const { properties, additionalProperties } = schema;
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name];
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}
