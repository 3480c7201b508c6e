import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { codeBlocks, type Known, shellProblems } from "../tools/check_docs.ts";
import { deno } from "./_deno.ts";

const KNOWN: Known = {
  tasks: new Set(["ok", "test:control-plane"]),
  exists: (path) => path === "examples/backup.ts",
  flags: () => new Set(["-A", "--allow-net"]),
};

Deno.test("codeBlocks() finds the blocks with their language, marks and lines", () => {
  const text = "# Title\n\n```ts run\nconst a = 1;\n```\n\n- item\n\n  ```sh\n  deno\n  ```\n\n````text\n```\n````\n";
  assertEquals(codeBlocks(text), [
    { language: "ts", marks: ["run"], line: 4, code: "const a = 1;\n" },
    { language: "sh", marks: [], line: 10, code: "deno\n" },
    { language: "text", marks: [], line: 14, code: "```\n" },
  ]);
});

Deno.test("codeBlocks() refuses a block without an end", () => {
  assertThrows(() => codeBlocks("```ts\nx\n"), SyntaxError, "the block at line 2 is never closed");
});

Deno.test("shellProblems() finds nothing wrong with commands that exist", () => {
  const commands = [
    "npx -y deno task ok",
    "$ deno task test:control-plane # builds first; and then tests | it",
    "deno run -A examples/backup.ts --help",
    "deno run --allow-net=localhost \\\n  examples/backup.ts",
    "KUBECONFIG=x deno run -A examples/backup.ts && kubectl get pods | kubectl apply -f -",
    "# a remark",
    "./operator run",
  ];
  for (const command of commands) assertEquals(shellProblems(`${command}\n`, KNOWN), [], command);
});

Deno.test("shellProblems() names tasks, files, flags and programs that do not exist", () => {
  const cases: [string, string][] = [
    ["deno task nothing", 'there is no task "nothing"'],
    ["npx -y deno run -A examples/gone.ts", 'there is no file "examples/gone.ts"'],
    ["deno run --allow-nets examples/backup.ts", 'deno run has no flag "--allow-nets"'],
    ["KUBECONFIG=x frobnicate", '"frobnicate" is no program that is known to tools/check_docs.ts'],
    ["kubectl get pods && deno task nothing", 'there is no task "nothing"'],
  ];
  for (const [command, problem] of cases) assertEquals(shellProblems(command, KNOWN), [problem], command);
});

Deno.test("check_docs finds blocks that do not compile, do not run, do not parse and cannot be checked", async () => {
  const file = await Deno.makeTempFile({ suffix: ".md" });
  const text = [
    "```ts\nconst a: string = 1;\n```",
    "```yaml\na: [\n```",
    "```json\n{]\n```",
    "```cobol\n```",
    "```sh\ndeno task nothing\n```",
  ];
  try {
    await Deno.writeTextFile(file, text.join("\n"));
    const { code, stdout, stderr } = await deno(["run", "-A", "tools/check_docs.ts", file]);
    assertEquals(code, 1);
    assertMatch(stdout, /^5 code blocks in 1 documents, 5 problems/);
    for (const problem of [/TS2322/, /\.md:5: /, /\.md:8: /, /language "cobol"/, /no task "nothing"/]) {
      assertMatch(stderr, problem);
    }
    await Deno.writeTextFile(file, '```ts run\nthrow new Error("on purpose");\n```\n');
    assertMatch(
      (await deno(["run", "-A", "tools/check_docs.ts", file])).stderr,
      /it fails when it is run\n.*on purpose/,
    );
  } finally {
    await Deno.remove(file);
  }
});
