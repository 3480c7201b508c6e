/** Reads Prometheus' text format strictly: whatever a scrape could stumble over is an error that names the line. */

/** One line of numbers. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric: its description and all its samples. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly Sample[];
}

/** What was scraped. */
export class Scrape {
  readonly families: ReadonlyMap<string, Family>;

  constructor(families: ReadonlyMap<string, Family>) {
    this.families = families;
  }

  /** The samples of that name whose labels include the given ones. */
  samples(name: string, labels: Readonly<Record<string, string>> = {}): readonly Sample[] {
    const wanted = Object.entries(labels);
    return [...this.families.values()].flatMap(({ samples }) => samples)
      .filter((sample) => sample.name === name && wanted.every(([label, value]) => sample.labels[label] === value));
  }

  /** The value of the only such sample; undefined if there is none. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
    const found = this.samples(name, labels);
    if (found.length > 1) throw new Error(`Cannot tell the value of ${name}: it has ${found.length} series`);
    return found[0]?.value;
  }

  /** How many series there are. */
  get size(): number {
    return [...this.families.values()].reduce((sum, { samples }) => sum + samples.length, 0);
  }
}

interface Draft {
  name: string;
  help?: string;
  type?: string;
  samples: Sample[];
  closed: boolean;
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const TYPES = ["counter", "gauge", "histogram", "summary", "untyped"];
const SUFFIXES: Readonly<Record<string, RegExp>> = { histogram: /_(bucket|sum|count)$/, summary: /_(sum|count)$/ };

/**
 * Reads a scrape.
 *
 * @throws {SyntaxError} If the text breaks a rule of the format, or a histogram contradicts itself
 */
export function parseMetrics(text: string): Scrape {
  const drafts = new Map<string, Draft>();
  const seen = new Set<string>();
  let open: Draft | undefined;
  const enter = (name: string): Draft => {
    if (open?.name === name) return open;
    if (open) open.closed = true;
    open = drafts.get(name) ?? { name, samples: [], closed: false };
    if (open.closed) throw new SyntaxError(`the lines of ${name} are not together`);
    drafts.set(name, open);
    return open;
  };
  if (!text.endsWith("\n")) throw new SyntaxError("Cannot read metrics: the last line does not end");
  for (const [index, line] of text.split("\n").entries()) {
    try {
      const description = new RegExp(`^# (HELP|TYPE) (${NAME})(?: (.*))?$`, "s").exec(line);
      if (description) describe(enter(description[2]!), description[1]!, description[3] ?? "");
      else if (line.trim() !== "" && !line.startsWith("#")) {
        const sample = parseSample(line);
        const identity = `${sample.name}${JSON.stringify(Object.entries(sample.labels).sort())}`;
        if (seen.has(identity)) throw new SyntaxError(`the series ${identity} is there twice`);
        seen.add(identity);
        enter(familyOf(sample.name, drafts)).samples.push(sample);
      } else if (/^#\s*(HELP|TYPE)\b/.test(line)) throw new SyntaxError("the description is malformed");
    } catch (error) {
      throw new SyntaxError(`Cannot read metrics: line ${index + 1}: ${(error as Error).message}: ${line}`);
    }
  }
  const families = [...drafts.values()].map((draft): [string, Family] => {
    const { name, help, type, samples } = draft;
    if (help === undefined || type === undefined) {
      throw new SyntaxError(`Cannot read metrics: ${name} has no ${help === undefined ? "HELP" : "TYPE"}`);
    }
    if (type === "histogram") checkHistogram(name, samples);
    if (type === "counter") checkCounter(name, samples);
    return [name, { name, help, type, samples }];
  });
  return new Scrape(new Map(families));
}

function describe(draft: Draft, what: string, value: string): void {
  if (draft.samples.length > 0) throw new SyntaxError(`${what} comes after the samples`);
  if (what === "HELP") {
    if (draft.help !== undefined) throw new SyntaxError("there is a second HELP");
    draft.help = unescape(value, false);
    return;
  }
  if (draft.type !== undefined) throw new SyntaxError("there is a second TYPE");
  if (!TYPES.includes(value)) throw new SyntaxError(`there is no type "${value}"`);
  draft.type = value;
}

function familyOf(sample: string, drafts: ReadonlyMap<string, Draft>): string {
  for (const [type, suffix] of Object.entries(SUFFIXES)) {
    const family = sample.replace(suffix, "");
    if (family !== sample && drafts.get(family)?.type === type) return family;
  }
  return sample;
}

function parseSample(line: string): Sample {
  const [, name, labels, value] = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)(?: -?[0-9]+)?$`, "s").exec(line) ?? [];
  if (name === undefined || value === undefined) throw new SyntaxError("it is no sample");
  return { name, labels: parseLabels(labels ?? ""), value: parseValue(value) };
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\.)*)"(?:,|$)/y;
  while (label.lastIndex < text.length) {
    const match = label.exec(text);
    if (!match) throw new SyntaxError("the labels are malformed");
    if (Object.hasOwn(labels, match[1]!)) throw new SyntaxError(`the label ${match[1]} is there twice`);
    labels[match[1]!] = unescape(match[2]!, true);
  }
  return labels;
}

function unescape(text: string, quotes: boolean): string {
  return text.replace(/\\(.?)/g, (_, escaped) => {
    if (escaped === "n") return "\n";
    if (escaped === "\\" || (quotes && escaped === '"')) return escaped;
    throw new SyntaxError(`"\\${escaped}" is no escape`);
  });
}

function parseValue(text: string): number {
  if (/^[+-]?Inf$/.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
  if (/^nan$/i.test(text)) return NaN;
  if (!/^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?$/i.test(text)) throw new SyntaxError(`"${text}" is no number`);
  return Number(text);
}

function checkCounter(name: string, samples: readonly Sample[]): void {
  for (const { value } of samples) {
    if (!(value >= 0)) throw new SyntaxError(`Cannot read metrics: the counter ${name} is ${value}`);
  }
}

function checkHistogram(name: string, samples: readonly Sample[]): void {
  const series = Map.groupBy(samples, ({ labels: { le: _, ...rest } }) => JSON.stringify(Object.entries(rest).sort()));
  for (const [labels, group] of series) {
    const fail = (reason: string): never => {
      throw new SyntaxError(`Cannot read metrics: the histogram ${name}${labels}: ${reason}`);
    };
    const buckets = group.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) => parseValue(labels.le ?? fail("a bucket has no 'le'")));
    const counts = buckets.map(({ value }) => value);
    if (bounds.some((bound, index) => index > 0 && !(bound > bounds[index - 1]!))) fail("its bounds do not ascend");
    if (counts.some((count, index) => index > 0 && count < counts[index - 1]!)) fail("its buckets do not accumulate");
    if (bounds.at(-1) !== Infinity) fail("it has no bucket +Inf");
    const count = group.filter((sample) => sample.name === `${name}_count`);
    if (count.length !== 1 || count[0]!.value !== counts.at(-1)) fail("its count is not that of the bucket +Inf");
    if (group.filter((sample) => sample.name === `${name}_sum`).length !== 1) fail("it has no sum");
  }
}
