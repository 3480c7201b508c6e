/**
 * Runs real clients against the API server in memory: a program on client-go and controller-runtime, one on client-node, and
 * kubectl, over HTTPS with tokens, with client certificates, and over HTTP.
 *
 * It needs Go and Node, and reaches the Go proxy and npm the first time. Where either is missing it says so and fails.
 *
 * ```sh
 * deno run -A tools/test_clients.ts
 * ```
 *
 * @module
 */
import { ApiServer } from "../testing/mod.ts";
import type { Listening } from "../testing/mod.ts";
import { hasKubectl, kubectlChecks } from "../tests/clients/kubectl.ts";
import {
  type CheckResult,
  type ClientProgram,
  denoProgram,
  goProgram,
  nodeProgram,
  runChecks,
} from "./client_programs.ts";

/** A way to reach a server. */
interface Way {
  readonly name: string;
  readonly authorization: boolean;
  listen(server: ApiServer): Promise<Listening>;
}

const WAYS: readonly Way[] = [
  { name: "HTTPS and tokens", authorization: true, listen: (server) => server.listen({ tls: true }) },
  {
    name: "HTTPS and client certificates",
    authorization: true,
    listen: (server) => server.listen({ clientCertificates: true }),
  },
  { name: "HTTP", authorization: false, listen: (server) => server.listen() },
];

/** What runs. */
interface Programs {
  readonly inGo: ClientProgram;
  readonly inScript: readonly ClientProgram[];
}

/** Prints the results, and how many are good and bad. */
function report(title: string, results: readonly CheckResult[]): { passed: number; failed: number } {
  console.log(`--- ${title}`);
  for (const { name, problem } of results) {
    console.log(problem === undefined ? `${name} ... ok` : `${name} ... FAILED (${problem})`);
  }
  const failed = results.filter(({ problem }) => problem !== undefined).length;
  return { passed: results.length - failed, failed };
}

async function runWay(way: Way, programs: Programs, folder: string): Promise<{ passed: number; failed: number }> {
  const { inGo, inScript } = programs;
  await using server = new ApiServer({ authorization: way.authorization });
  const listening = await way.listen(server);
  const kubeconfig = `${folder}/admin`;
  await Deno.writeTextFile(kubeconfig, listening.kubeconfig, { mode: 0o600 });
  const flags = way.authorization ? [] : ["-without-authorization"];
  const running: Promise<[string, CheckResult[]]>[] = [
    runChecks(inGo, kubeconfig, flags).then((results) => [inGo.name, results]),
  ];
  // client-node refuses HTTP.
  for (const each of way.authorization ? inScript : []) {
    running.push(runChecks(each, kubeconfig).then((results) => [each.name, results]));
  }
  if (hasKubectl) running.push(kubectlChecks(listening, folder, way.authorization).then((all) => ["kubectl", all]));
  let passed = 0, failed = 0;
  for (const [name, results] of await Promise.all(running)) {
    const counted = report(`${name} over ${way.name}`, results);
    passed += counted.passed;
    failed += counted.failed;
  }
  return { passed, failed };
}

async function main(): Promise<number> {
  const started = performance.now();
  let passed = 0, failed = 0;
  if (!hasKubectl) console.log("No kubectl was run: there is none");
  const programs = { inGo: await goProgram(), inScript: [await nodeProgram(), denoProgram()] };
  for (const way of WAYS) {
    const folder = await Deno.makeTempDir({ prefix: "tend-clients-" });
    try {
      const counted = await runWay(way, programs, folder);
      passed += counted.passed;
      failed += counted.failed;
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  }
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(`\n${failed === 0 ? "ok" : "FAILED"} | ${passed} passed | ${failed} failed (${seconds}s)`);
  return failed === 0 ? 0 : 1;
}

if (import.meta.main) {
  try {
    Deno.exit(await main());
  } catch (error) {
    console.log(`FAILED: ${error instanceof Error ? error.message : error}`);
    Deno.exit(1);
  }
}
