/**
 * Holds what a benchmark measured against its goals, and prints it.
 *
 * ```ts
 * import { table } from "./_figures.ts";
 *
 * console.log(table([{ figure: "creates", measured: 12_000, unit: "/s", atLeast: 10_000 }]));
 * ```
 *
 * @module
 */

/** Something that was measured. */
export interface Figure {
  /** What. */
  readonly figure: string;
  /** How much. */
  readonly measured: number;
  /** Of what, such as `ms`. */
  readonly unit: string;
  /** The goal, where more is better. */
  readonly atLeast?: number;
  /** The goal, where less is better. */
  readonly atMost?: number;
  /** What one costs, in us of the processor: it depends less on what else the machine does. */
  readonly cpu?: number;
}

/** True if a figure has met its goal, or has none. */
export function isMet({ measured, atLeast = -Infinity, atMost = Infinity }: Figure): boolean {
  return measured >= atLeast && measured <= atMost;
}

function number(value: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 });
}

/** What is said of a goal: nothing when it is met or there is none, else by how much of it it is missed. */
function missed(figure: Figure): string {
  const { measured, atLeast, atMost } = figure;
  const aim = atLeast ?? atMost;
  if (isMet(figure) || aim === undefined) return "";
  return aim === 0 ? "MISSED" : `MISSED by ${number(Math.abs(measured - aim) / aim * 100)} %`;
}

function goal({ atLeast, atMost, unit }: Figure): string {
  if (atLeast !== undefined) return `>= ${number(atLeast)} ${unit}`;
  return atMost === undefined ? "" : `<= ${number(atMost)} ${unit}`;
}

/** The figures as a table of texts. */
export function table(figures: readonly Figure[]): string {
  const rows = [
    ["figure", "goal", "measured", "processor", ""],
    ...figures.map((each) => [
      each.figure,
      goal(each),
      `${number(each.measured)} ${each.unit}`,
      each.cpu === undefined ? "" : `${number(each.cpu)} us`,
      missed(each),
    ]),
  ];
  if (figures.every(({ cpu }) => cpu === undefined)) rows.forEach((row) => row.splice(3, 1));
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = ([figure, ...cells]: string[]): string => {
    const note = cells.pop();
    const right = cells.map((cell, index) => cell.padStart(widths[index + 1]!));
    return [figure!.padEnd(widths[0]!), ...right, note].join("  ").trimEnd();
  };
  return rows.map(line).join("\n");
}

/** The middle of some numbers. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1]!;
}
