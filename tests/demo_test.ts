import { assert, assertEquals, assertLess, assertMatch, assertStringIncludes } from "@std/assert";
import { lines } from "../_stream.ts";
import { until } from "./control_plane/_wait.ts";
import { ROOT } from "./_deno.ts";
import { processesWith } from "./_processes.ts";

/** A demo that runs with a folder for temporary files of its own. */
interface Demo extends AsyncDisposable {
  /** The lines so far. */
  readonly output: readonly string[];
  /** Waits until a line has a text, and answers with it. */
  says(text: string): Promise<string>;
  kill(signal: Deno.Signal): void;
  /** Waits for the end; answers with the code. */
  ended(): Promise<number>;
  /** What is left of it: files, and command lines of processes. */
  left(): Promise<string[]>;
}

async function demo(...args: string[]): Promise<Demo> {
  const folder = await Deno.makeTempDir();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "tools/demo.ts", ...args],
    cwd: ROOT,
    env: { NO_COLOR: "1", TMPDIR: folder },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const output: string[] = [];
  let over = false;
  const read = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> => {
    for await (const line of lines(stream)) output.push(line);
  };
  const reading = Promise.all([read(child.stdout), read(child.stderr)]);
  const ended = async (): Promise<number> => {
    const { code } = await child.status;
    over = true;
    await reading;
    return code;
  };
  const kill = (signal: Deno.Signal): void => {
    if (!over) child.kill(signal);
  };
  const find = (text: string): string | undefined => output.find((line) => line.includes(text));
  return {
    output,
    kill,
    ended,
    says: (text) => until(`"${text}"`, () => Promise.resolve(find(text)), { explain: () => output.join("\n") }),
    left: async () => [
      ...(await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name),
      ...await processesWith(folder),
    ],
    [Symbol.asyncDispose]: async () => {
      kill("SIGTERM");
      await ended();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

Deno.test("The demo shows what an operator does, and ends in time with code 0, leaving nothing behind", async () => {
  const started = performance.now();
  await using run = await demo();
  const code = await run.ended();
  const seconds = (performance.now() - started) / 1000;
  const text = run.output.join("\n");
  assertEquals(code, 0, text);
  assertLess(seconds, 30);
  const shown: [what: string, line: RegExp][] = [
    ["the command", /you +deno run .*--allow-net .*examples\/backup\.ts --kubeconfig/],
    ["objects", /you +create Backup shop\/nightly of ConfigMap settings/],
    ["the lease", /operator +holds the lease default\/backup-operator as \S+/],
    ["the finalizer", /operator +Backup shop\/nightly: added the finalizer example\.com\/cleanup/],
    ["the child", /operator +ConfigMap shop\/nightly-copy: applied \{"color":"blue"\} as a child of Backup nightly/],
    ["the status", /operator +Backup shop\/nightly: wrote status \{"copy":"nightly-copy","lastRun":"[^"]+"\}/],
    ["the event", /operator +Event Copied on nightly: Copied settings to nightly-copy/],
    ["a failure", /operator +shop\/broken failed: ConfigMap "prices" does not exist; next try in 5 s/],
    ["its back-off", /operator +shop\/broken failed: ConfigMap "prices" does not exist; next try in 10 s/],
    ["its end", /operator +ConfigMap shop\/broken-copy: applied \{"apple":"1"\}/],
    ["a change of spec", /you +change Backup shop\/nightly: spec\.configMap = colors/],
    ["what it leads to", /operator +ConfigMap shop\/nightly-copy: applied \{"sky":"grey"\}/],
    ["a deletion", /you +delete Backup shop\/nightly/],
    ["its cleanup", /operator +ConfigMap shop\/colors: took its mark off/],
    ["the finalizer's end", /operator +Backup shop\/nightly: cleaned up, removed the finalizer example\.com\/cleanup/],
    ["the deletion itself", /server +Backup shop\/nightly is gone/],
    ["garbage collection", /server +ConfigMap shop\/nightly-copy went with its owner nightly/],
    ["metrics", /^ +controller_runtime_reconcile_total\{controller="backup",result="error"\} 2$/],
    ["the leader's metric", /^ +leader_election_master_status\{name="backup-operator"\} 1$/],
    ["the lease's release", /operator +released the lease/],
    ["the end", /demo +the operator ended with code 0/],
  ];
  for (const [what, line] of shown) {
    assert(run.output.some((each) => line.test(each)), `${what} is missing in\n${text}`);
  }
  for (const line of run.output) assertMatch(line, /^( +\d+\.\ds {2}(you|operator|server|demo) +\S| {19}\w+\{)/);
  assertEquals(await run.left(), []);
});

Deno.test("The demo with --keep stays up for kubectl, and ends with code 0 on Ctrl-C, leaving nothing behind", async () => {
  await using run = await demo("--keep");
  await run.says("still running");
  await run.says("delete backup broken -n shop");
  const commands = run.output.filter((line) => line.startsWith("    kubectl ")).map((line) => line.trim().split(" "));
  assertEquals(commands.length, 4);
  for (const [kubectl, ...args] of commands) {
    if (!hasKubectl()) continue;
    const { code, stdout, stderr } = await new Deno.Command(kubectl!, { args, stdin: "null" }).output();
    const text = new TextDecoder().decode(stdout);
    assertEquals([code, new TextDecoder().decode(stderr)], [0, ""], args.join(" "));
    assertStringIncludes(text, args[2] === "configmaps" ? "prices" : "broken");
  }
  assert((await run.left()).length > 0, "the way to see what is left sees it");
  run.kill("SIGINT");
  assertEquals(await run.ended(), 0, run.output.join("\n"));
  assertEquals(await run.left(), []);
});

Deno.test("The demo can be interrupted at any time, and leaves nothing behind", async () => {
  for (const [moment, signal] of [["in memory on", "SIGINT"], ["next try in 5 s", "SIGTERM"]] as const) {
    await using run = await demo();
    await run.says(moment);
    run.kill(signal);
    const started = performance.now();
    assertEquals(await run.ended(), 130, run.output.join("\n"));
    assertLess(performance.now() - started, 5_000);
    assertEquals(await run.left(), []);
    assert(!run.output.some((line) => /error|Uncaught/i.test(line)), run.output.join("\n"));
  }
});

function hasKubectl(): boolean {
  try {
    return new Deno.Command("kubectl", { args: ["version", "--client"], stdout: "null", stderr: "null" }).outputSync()
      .success;
  } catch {
    return false;
  }
}
