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
}

/** True if a figure has met its goal, or has none. */
export function isMet({ measured, atLeast = -Infinity, atMost = Infinity }: Figure): boolean {
  return measured >= atLeast && measured <= atMost;
}

function number(value: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 });
}

function goal({ atLeast, atMost, unit }: Figure): string {
  if (atLeast !== undefined) return `>= ${number(atLeast)} ${unit}`;
  return atMost === undefined ? "" : `<= ${number(atMost)} ${unit}`;
}

/** The figures as a table of texts. */
export function table(figures: readonly Figure[]): string {
  const rows = [
    ["figure", "goal", "measured", ""],
    ...figures.map((each) => [
      each.figure,
      goal(each),
      `${number(each.measured)} ${each.unit}`,
      isMet(each) ? "" : "MISSED",
    ]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = ([figure, goal, measured, note]: string[]): string =>
    `${figure!.padEnd(widths[0]!)}  ${goal!.padStart(widths[1]!)}  ${measured!.padStart(widths[2]!)}  ${note}`
      .trimEnd();
  return rows.map(line).join("\n");
}

/** The middle of some numbers. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1]!;
}
