/** Reads the modules of this checkout, for tests that look at all of them. */
import { ROOT } from "./_deno.ts";

/** Folders whose modules are not looked at: packages that only stand in, and what is not source. */
const ELSEWHERE: ReadonlySet<string> = new Set([".git", ".deno", "coverage", "node_modules", "std"]);

/** The paths of all modules, from the root of the checkout, sorted: `client.ts`, `testing/mod.ts`, ... */
export async function modulePaths(folder = ""): Promise<string[]> {
  const paths: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(`${ROOT}/${folder}`)) {
    if (isDirectory && !ELSEWHERE.has(name)) paths.push(...await modulePaths(`${folder}${name}/`));
    if (!isDirectory && name.endsWith(".ts")) paths.push(folder + name);
  }
  return paths.sort();
}

/** Whether a module, or data that it imports, is part of what is published: at the top, or in `testing/`. */
export function isPublished(path: string): boolean {
  return /^(testing\/(simulation\/)?)?[^/]+\.(ts|json)$/.test(path);
}

/** Whether only its own folder may import a module. */
export function isPrivate(path: string): boolean {
  return /(^|\/)_[^/]*$/.test(path);
}

/** The text of a module. */
export async function source(path: string): Promise<string> {
  return await Deno.readTextFile(`${ROOT}/${path}`);
}

/** A module's text without its comments; strings that look like comments go too, which no test here minds. */
export function withoutComments(text: string): string {
  return text.replace(/\/\*[^]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "");
}
