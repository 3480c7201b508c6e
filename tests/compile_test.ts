import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { operator } from "../examples/backup.ts";
import type { Deployment } from "../kinds.ts";
import { DENO_FLAGS } from "../manifests.ts";
import { codeBlocks } from "../tools/check_docs.ts";
import { deno, ROOT } from "./_deno.ts";

const DOCUMENT = await Deno.readTextFile(`${ROOT}/docs/compile.md`);

/** The arguments of each `deno compile` in the document. */
function compiles(): string[][] {
  const texts = codeBlocks(DOCUMENT).map(({ code }) => code.replaceAll("\\\n", " "));
  return texts.flatMap((text) => [...text.matchAll(/deno (compile .*)/g)].map(([, args]) => args!.trim().split(/\s+/)));
}

Deno.test("docs/compile.md compiles with exactly the flags that the manifests run Deno with", () => {
  const commands = compiles();
  assertEquals(commands.length, 2, "on one's own machine, and in the image");
  for (const args of commands) {
    assertEquals(args.slice(1, args.indexOf("--output")), DENO_FLAGS);
  }
});

Deno.test("deno compile takes the command of docs/compile.md, and embeds all that the operator may load", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const [command] = compiles();
    const args = command!.map((arg, index) => command![index - 1] === "--output" ? `${folder}/${arg}` : arg);
    // This Deno takes the place of the runtime that would be downloaded: what comes out cannot start, but is complete.
    const { code, stderr } = await deno(args, { env: { DENORT_BIN: Deno.execPath() } });
    assertEquals(code, 0, stderr);
    for (const name of ["client-node", "zod", "backup.ts", "operator.ts"]) {
      assertStringIncludes(stderr, name);
    }
    const { isFile, size } = await Deno.stat(`${folder}/backup-operator`);
    assert(isFile && size > 1e6);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("docs/compile.md has an image that the Deployment's security context accepts", () => {
  const [image] = codeBlocks(DOCUMENT).filter(({ code }) => code.startsWith("FROM")).map(({ code }) => code);
  assertMatch(image!, /^USER [1-9]\d*$/m);
  const [binary] = /^ENTRYPOINT \["(.+)"\]$/m.exec(image!)!.slice(1);
  assertStringIncludes(image!, `COPY --from=build ${binary} ${binary}\n`);
  const objects = operator.manifests({ program: false });
  const { spec } = objects.find(({ kind }) => kind === "Deployment") as unknown as Deployment;
  const pod = spec!.template.spec!;
  assertEquals(pod.securityContext?.runAsNonRoot, true);
  assertEquals(pod.containers[0]!.args, ["run"], "arguments of the operator alone");
});
