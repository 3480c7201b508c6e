/**
 * Holds the API server in memory against what a real one answered: replays recorded exchanges and kubectl sessions.
 *
 * The recordings lie in `tests/fidelity`; those of another folder of the same layout are replayed when it is given. What may
 * differ is listed in `docs/fidelity.md`, with its reason; the task fails when anything else differs, and when something
 * listed no longer does. Sessions are replayed where there is a `kubectl`.
 *
 * ```sh
 * deno run -A tools/test_fidelity.ts
 * ```
 *
 * @module
 */
import { ApiServer } from "../testing/mod.ts";

const ROUNDS = 3;
const ROOT = `${import.meta.dirname}/..`;
const SCRIPTS = `${ROOT}/tests/fidelity`;
const ADMIN = { name: "admin", uid: "admin-uid", groups: ["system:masters"] };

/** A scenario as the replay reports it. */
interface Scenario {
  readonly name: string;
  readonly area?: string;
  readonly result: "same" | "differ" | "skip";
}

/** The names of the scenarios that may differ, by the table of a Markdown text: those in code marks in the first column. */
export function knownDifferences(markdown: string): Set<string> {
  return new Set([...markdown.matchAll(/^\| `([a-z0-9-]+)` +\|/gm)].map(([, name]) => name!));
}

/** What is wrong with a result: scenarios that differ and are not known to, and known ones that do not differ. */
export function problems(scenarios: readonly Scenario[], known: ReadonlySet<string>): string[] {
  const found: string[] = [];
  for (const { name, result } of scenarios) {
    if (result === "differ" && !known.has(name)) found.push(`${name} differs and is not in docs/fidelity.md`);
    if (result === "same" && known.has(name)) found.push(`${name} is in docs/fidelity.md and does not differ`);
  }
  return found;
}

/** Runs a replay, and again what differs and should not: some scenarios race with the clock. Answers with the scenarios. */
async function replay(script: string, args: readonly string[], known: ReadonlySet<string>): Promise<Scenario[]> {
  let scenarios = await replayOnce(script, args);
  for (let round = 1; round < ROUNDS; round++) {
    const differing = scenarios.filter(({ name, result }) => result === "differ" && !known.has(name));
    if (differing.length === 0) break;
    const names = differing.map(({ name }) => name).join(",");
    console.log(`Once more: ${names}`);
    const again = await replayOnce(script, [...args, "--jobs", "1", "--only", names]);
    scenarios = scenarios.map((each) => again.find(({ name }) => name === each.name) ?? each);
  }
  return scenarios;
}

async function replayOnce(script: string, args: readonly string[]): Promise<Scenario[]> {
  const report = await Deno.makeTempFile({ prefix: "tend-fidelity-", suffix: ".json" });
  try {
    const options = ["--json", report, "--quiet", "--max-diffs", "5"];
    await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-config", "--no-lock", `${SCRIPTS}/${script}`, "replay", ...args, ...options],
    }).spawn().status;
    const text = await Deno.readTextFile(report);
    if (text === "") throw new Error(`Cannot replay with ${script}: it must write a report: it ended without one`);
    return JSON.parse(text).scenarios;
  } finally {
    await Deno.remove(report);
  }
}

/** Answers with a command that forgets the server's history, and takes requests for that until disposed. */
function compactor(server: ApiServer): { command: string } & AsyncDisposable {
  const listener = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, () => {
    server.compact();
    return new Response();
  });
  const command =
    `${Deno.execPath()} eval "await (await fetch('http://127.0.0.1:${listener.addr.port}')).body?.cancel()"`;
  return { command, [Symbol.asyncDispose]: () => listener.shutdown() };
}

async function replayRecordings(folder: string, known: ReadonlySet<string>): Promise<Scenario[]> {
  const users = { "admin-token": ADMIN, "plain-token": { name: "plain", groups: ["fidelity"] } };
  await using server = new ApiServer({ authorization: true, users });
  await using compact = compactor(server);
  const { url } = await server.listen();
  const options = ["--server", url, "--token", "admin-token", "--jobs", "4", "--hook", `compact=${compact.command}`];
  return await replay("fidelity.mjs", [`${folder}/recordings/`, ...options], known);
}

/** Over HTTPS, as kubectl sends its token there alone: what is impersonated has the rights that are stored. */
async function replaySessions(folder: string, known: ReadonlySet<string>): Promise<Scenario[]> {
  await using server = new ApiServer({ authorization: true });
  const { kubeconfig } = await server.listen({ tls: true });
  const file = await Deno.makeTempFile({ prefix: "tend-fidelity-", suffix: ".yaml" });
  try {
    // The context has the name that it had when the sessions were recorded.
    await Deno.writeTextFile(file, kubeconfig.replaceAll("kubernetes-admin", "fidelity"));
    return await replay("kubectl.mjs", [`${folder}/kubectl/`, "--kubeconfig", file, "--jobs", "2"], known);
  } finally {
    await Deno.remove(file);
  }
}

async function hasKubectl(): Promise<boolean> {
  try {
    return (await new Deno.Command("kubectl", { args: ["version", "--client"], stdout: "null", stderr: "null" })
      .output())
      .success;
  } catch {
    return false;
  }
}

async function main(folder: string): Promise<number> {
  const known = knownDifferences(await Deno.readTextFile(`${ROOT}/docs/fidelity.md`));
  const scenarios = await replayRecordings(folder, known);
  if (await hasKubectl()) scenarios.push(...await replaySessions(folder, known));
  else console.log("No kubectl session was replayed: there is no kubectl");
  const wrong = problems(scenarios, known);
  for (const each of wrong) console.log(`FAILED: ${each}`);
  const same = scenarios.filter(({ result }) => result === "same").length;
  console.log(
    `${same} of ${scenarios.length} scenarios are the same; ${wrong.length} are not as docs/fidelity.md says`,
  );
  console.log(
    `${wrong.length === 0 ? "ok" : "FAILED"} | ${scenarios.length - wrong.length} passed | ${wrong.length} failed`,
  );
  return wrong.length === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main(Deno.args[0] ?? SCRIPTS));
