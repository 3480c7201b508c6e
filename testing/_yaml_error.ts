/**
 * Says what is wrong with a YAML text in the words of Go's parser.
 *
 * ```ts
 * import { yamlError } from "./_yaml_error.ts";
 *
 * console.assert(yamlError("a: [", new Error("(1:5)")) === "yaml: line 1: did not find expected node content");
 * ```
 *
 * @module
 */

/** What a flow collection that is not closed still wants. */
function unclosed(text: string): string | undefined {
  const open: string[] = [];
  const bare = text.replaceAll(/"(?:[^"\\]|\\.)*"|'[^']*'|(?:^|\s)#[^\n]*/g, "x");
  for (const character of bare) {
    if (character === "[" || character === "{") open.push(character);
    else if ((character === "]" || character === "}") && open.length > 0) open.pop();
  }
  const last = open.at(-1);
  if (last === undefined) return undefined;
  if (/[[,{:]\s*$/.test(bare)) return "did not find expected node content";
  return `did not find expected ',' or '${last === "[" ? "]" : "}"}'`;
}

/** Writes an error; `cause` is what another parser says of it. */
export function yamlError(text: string, { message }: Error): string {
  const line = Number(/\((\d+):\d+\)/.exec(message)?.[1] ?? 1);
  const at = (number: number): string => number > 0 ? `line ${number}: ` : "";
  const flow = unclosed(text);
  if (flow !== undefined) return `yaml: ${at(text.trimEnd().split("\n").length)}${flow}`;
  const later = at(line > 1 ? line : 0);
  const bad = text.split("\n")[line - 1] ?? "";
  if (/^\s*\t/.test(bad) || /:\s+[@`]/.test(bad)) return `yaml: ${later}found character that cannot start any token`;
  if (/within a (single|double) quoted/.test(message)) return `yaml: ${later}found unexpected end of stream`;
  const alias = /unidentified alias "(.*)"/.exec(message)?.[1];
  if (alias !== undefined) return `yaml: unknown anchor '${alias}' referenced`;
  if (/^[^"'{[]*: [^"'{[]*: /.test(bad) || /indentation of a mapping/.test(message)) {
    return `yaml: ${later}mapping values are not allowed in this context`;
  }
  if (/multiline|missed|could not find|implicit map|expected ':'/i.test(message)) {
    return `yaml: ${at(line + 1)}could not find expected ':'`;
  }
  return `yaml: ${at(line)}${message.split("\n")[0]}`;
}
