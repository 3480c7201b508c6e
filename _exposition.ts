/**
 * Writes the words of Prometheus' text format, version 0.0.4: numbers as Go prints them, help texts, labels.
 *
 * ```ts
 * import { formatLabels, formatNumber } from "./_exposition.ts";
 *
 * console.assert(formatNumber(1e-8) === "1e-08");
 * console.assert(formatLabels(["path"], ['C:\\"x"']) === 'path="C:\\\\\\"x\\""');
 * ```
 *
 * @module
 */

const METRIC = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/;
const NAME_IN_LINE = /^(?:#[ \t]+(?:HELP|TYPE)[ \t]+)?([a-zA-Z_:][a-zA-Z0-9_:]*)/;

/** True for the name of a metric. */
export function isMetricName(value: unknown): boolean {
  return typeof value === "string" && METRIC.test(value);
}

/** True for the name of a label; those that begin with two underscores are Prometheus' own. */
export function isLabelName(value: unknown): boolean {
  return typeof value === "string" && LABEL.test(value);
}

/**
 * A number as Go's `strconv.FormatFloat(value, 'g', -1, 64)` prints it, which is how Prometheus' own clients write it: a
 * bucket's bound is a label, and has to be the same text in all programs.
 */
export function formatNumber(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value < 0 ? "-Inf" : "+Inf";
  const [digits = "", power = ""] = value.toExponential().split("e");
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return String(value);
  return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

/** A help text in one line. */
export function formatHelp(help: string): string {
  return help.toWellFormed().replace(/[\\\n]/g, (found) => found === "\n" ? "\\n" : "\\\\");
}

/** Labels as they are between the braces. */
export function formatLabels(names: readonly string[], values: readonly string[]): string {
  return names.map((name, index) => `${name}="${escapeValue(values[index]!)}"`).join(",");
}

function escapeValue(value: string): string {
  return value.replace(/[\\\n"]/g, (found) => found === "\n" ? "\\n" : `\\${found}`);
}

/** A line of one number. */
export function formatSample(name: string, labels: string, value: number): string {
  return `${name}${labels === "" ? "" : `{${labels}}`} ${formatNumber(value)}`;
}

/** The lines of a text in this format, without those of metrics that are `taken`; what is left is taken from then on. */
export function takeLines(text: string, taken: Set<string>): string[] {
  const found = new Set<string>();
  const lines = text.split("\n").filter((line) => {
    const name = NAME_IN_LINE.exec(line)?.[1];
    if (name !== undefined && !taken.has(name)) found.add(name);
    return line.trim() !== "" && (name === undefined || found.has(name));
  });
  for (const name of found) taken.add(name);
  return lines;
}
