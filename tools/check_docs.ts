/**
 * Checks what the documents say: every code block is type-checked, run, parsed or looked up, by its language.
 *
 * - `ts`: type-checked as a module of its own; also run, with all permissions, when the fence says `ts run`.
 * - `sh`: tasks, files and flags of `deno` must exist; other programs must be known here.
 * - `json`, `yaml`: parsed.
 * - `text`, `console`: output, not looked at. Any other language, and none, is an error.
 *
 * ```sh
 * deno run -A tools/check_docs.ts README.md
 * ```
 *
 * @module
 */
import { parseAll } from "@std/yaml";

/** A fenced block of a Markdown text. */
export interface Block {
  /** The first word after the fence, such as `ts`. */
  readonly language: string;
  /** The other words after the fence. */
  readonly marks: readonly string[];
  /** The line that its first line of code is in, from 1. */
  readonly line: number;
  /** What is between the fences. */
  readonly code: string;
}

/** What shell commands are looked up in. */
export interface Known {
  /** Names of tasks. */
  readonly tasks: ReadonlySet<string>;
  /** Paths of files and folders, from the root of the checkout. */
  readonly exists: (path: string) => boolean;
  /** Flags of a subcommand of `deno`, such as `--allow-net`. */
  readonly flags: (subcommand: string) => ReadonlySet<string>;
}

/** Programs that readers have or get, whose arguments are their own affair. */
const PROGRAMS: ReadonlySet<string> = new Set(["cd", "curl", "docker", "export", "git", "kubectl", "setup-envtest"]);
const ROOT = `${import.meta.dirname}/..`;

/** The fenced code blocks of a Markdown text. */
export function codeBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  let open: { fence: string; indent: number; words: string[]; line: number; code: string[] } | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const [, indent = "", fence, info = ""] = /^(\s*)(```+|~~~+)\s*(.*)$/.exec(line) ?? [];
    if (open === undefined) {
      if (fence === undefined) continue;
      open = { fence, indent: indent.length, words: info.split(/[\s,]+/), line: index + 2, code: [] };
    } else if (fence?.startsWith(open.fence) && info === "") {
      const [language = "", ...marks] = open.words;
      blocks.push({ language, marks, line: open.line, code: open.code.join("\n") + "\n" });
      open = undefined;
    } else {
      open.code.push(line.slice(open.indent));
    }
  }
  if (open !== undefined) {
    throw new SyntaxError(`Cannot read a document: the block at line ${open.line} is never closed`);
  }
  return blocks;
}

/** What is wrong with the commands of a shell block, one line each. */
export function shellProblems(code: string, known: Known): string[] {
  const commands = code.replaceAll("\\\n", " ").replace(/(^|\s)#.*$/gm, "").split(/\n|&&|\|\|?|;/);
  return commands.flatMap((line) => {
    const words = line.replace(/^\s*\$ /, "").trim().split(/\s+/);
    while (/^[A-Z_]+=/.test(words[0] ?? "")) words.shift();
    if (words[0] === "npx") words.splice(0, words[1] === "-y" ? 2 : 1);
    const [program = "", ...args] = words;
    if (program === "deno") return denoProblems(args, known);
    if (program === "" || PROGRAMS.has(program) || program.startsWith("./")) return [];
    return [`"${program}" is no program that is known to tools/check_docs.ts`];
  });
}

function denoProblems([subcommand = "", ...args]: readonly string[], known: Known): string[] {
  if (subcommand === "task") {
    const name = args.find((arg) => !arg.startsWith("-")) ?? "";
    return known.tasks.has(name) ? [] : [`there is no task "${name}"`];
  }
  const script = args.findIndex((arg) => !arg.startsWith("-"));
  const own = script < 0 ? args : args.slice(0, script);
  const unknown = own.map((arg) => arg.replace(/=.*$/, "")).filter((flag) => !known.flags(subcommand).has(flag));
  const problems = unknown.map((flag) => `deno ${subcommand} has no flag "${flag}"`);
  for (const arg of args) {
    if (/^[\w./-]+\.(ts|md|json)$/.test(arg) && !known.exists(arg)) problems.push(`there is no file "${arg}"`);
  }
  return problems;
}

/** The documents of the checkout, from its root. */
function documents(): string[] {
  const docs = (exists("docs") ? [...Deno.readDirSync(`${ROOT}/docs`)] : []).map(({ name }) => `docs/${name}`);
  return ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", ...docs.filter((path) => path.endsWith(".md")).sort()];
}

function exists(path: string): boolean {
  try {
    Deno.statSync(`${ROOT}/${path}`);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function run(args: readonly string[]): { success: boolean; output: string } {
  const { success, stdout, stderr } = new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).outputSync();
  return { success, output: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}

function known(): Known {
  const { tasks } = JSON.parse(Deno.readTextFileSync(`${ROOT}/deno.json`));
  const flags = new Map<string, ReadonlySet<string>>();
  const flagsOf = (subcommand: string): ReadonlySet<string> => {
    const { output } = run([subcommand, "--help=full"]);
    return new Set(output.match(/(?<=[\s,])--?[a-zA-Z][\w-]*/g) ?? []);
  };
  return {
    tasks: new Set(Object.keys(tasks)),
    exists,
    flags(subcommand) {
      const found = flags.get(subcommand) ?? flagsOf(subcommand);
      flags.set(subcommand, found);
      return found;
    },
  };
}

function toFileUrl(path: string): string {
  return new URL(`file://${Deno.realPathSync(path)}`).href;
}

/** Type-checks and runs TypeScript blocks; answers with what is wrong. */
function scriptProblems(blocks: ReadonlyMap<string, Block>): string[] {
  if (blocks.size === 0) return [];
  const folder = Deno.makeTempDirSync({ prefix: "tend-docs-" });
  try {
    const files = new Map<string, string>();
    for (const [where, { code }] of blocks) {
      const file = `${folder}/${where.replaceAll(/[^\w.]/g, "_")}.ts`;
      // What a reader has beside the block is here in the checkout.
      Deno.writeTextFileSync(file, code.replaceAll(/(from ")\.\//g, `$1${toFileUrl(ROOT)}/`));
      files.set(where, file);
    }
    const config = ["--config", `${ROOT}/deno.json`];
    const checked = run(["check", "--quiet", ...config, ...files.values()]);
    if (!checked.success) return [checked.output];
    return [...blocks].filter(([, { marks }]) => marks.includes("run")).flatMap(([where]) => {
      const { success, output } = run([
        "run",
        "--quiet",
        "-A",
        "--preload",
        `${ROOT}/tools/strict_assert.ts`,
        ...config,
        files.get(where)!,
      ]);
      return success ? [] : [`${where}: it fails when it is run\n${output}`];
    });
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

function dataProblems({ language, code }: Block): string[] {
  try {
    if (language === "json") JSON.parse(code);
    else parseAll(code, { schema: "core" });
    return [];
  } catch (error) {
    return [`${(error as Error).message}`];
  }
}

function main(paths: readonly string[]): number {
  const lookUp = known();
  const problems: string[] = [];
  const scripts = new Map<string, Block>();
  let blocks = 0;
  for (const path of paths) {
    for (const block of codeBlocks(Deno.readTextFileSync(path.startsWith("/") ? path : `${ROOT}/${path}`))) {
      const where = `${path}:${block.line}`;
      const say = (found: readonly string[]): void => void problems.push(...found.map((each) => `${where}: ${each}`));
      blocks++;
      if (block.language === "ts") scripts.set(where, block);
      else if (block.language === "sh") say(shellProblems(block.code, lookUp));
      else if (["json", "yaml"].includes(block.language)) say(dataProblems(block));
      else if (!["text", "console"].includes(block.language)) say([`no check for language "${block.language}"`]);
    }
  }
  problems.push(...scriptProblems(scripts));
  for (const problem of problems) console.error(problem);
  console.log(`${blocks} code blocks in ${paths.length} documents, ${problems.length} problems`);
  return problems.length === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(main(Deno.args.length > 0 ? Deno.args : documents()));
