import { assertEquals } from "@std/assert";
import { denoOk } from "./_deno.ts";

/** What each export of the package has, types included. */
const SURFACE: Readonly<Record<string, readonly string[]>> = {
  "mod.ts": [],
  "kinds.ts": [],
  "testing/mod.ts": [],
};

interface Documentation {
  readonly nodes: Readonly<Record<string, { readonly symbols: readonly { readonly name: string }[] }>>;
}

async function symbolsOf(path: string): Promise<readonly { readonly name: string }[]> {
  const { nodes }: Documentation = JSON.parse((await denoOk(["doc", "--json", path])).stdout);
  return Object.values(nodes).flatMap(({ symbols }) => symbols);
}

/** Whether a type somewhere in a piece of documentation is `any`. */
function hasAny(node: unknown): boolean {
  if (typeof node !== "object" || node === null) return false;
  const { kind, value } = node as { kind?: unknown; value?: unknown };
  return (kind === "keyword" && value === "any") || Object.values(node).some(hasAny);
}

for (const [path, names] of Object.entries(SURFACE)) {
  Deno.test(`${path} exports what it is meant to, and nothing else`, async () => {
    assertEquals((await symbolsOf(path)).map(({ name }) => name).sort(), names);
  });

  Deno.test(`${path} has no 'any' in its public types`, async () => {
    assertEquals((await symbolsOf(path)).filter(hasAny).map(({ name }) => name), []);
  });
}
