/** Runs the programs of tests/clients/ against the real server: what they find in the one in memory is right here, too. */
import { hasKubectl, kubectlChecks } from "../clients/kubectl.ts";
import { type CheckResult, denoProgram, goProgram, nodeProgram, runChecks } from "../../tools/client_programs.ts";
import { sharedControlPlane } from "./_setup.ts";

const plane = sharedControlPlane();

/** A step for each check. */
async function hold(t: Deno.TestContext, results: readonly CheckResult[]): Promise<void> {
  for (const { name, problem } of results) {
    await t.step(name, () => {
      if (problem !== undefined) throw new Error(problem);
    });
  }
}

Deno.test("The program on client-go and controller-runtime does its work on a control plane", async (t) => {
  const admin = plane().user("gopher", ["system:masters"]);
  await hold(t, await runChecks(await goProgram(), admin.kubeconfig));
});

Deno.test("The program on client-node does its work on a control plane, under Node and Deno", async (t) => {
  for (const program of [await nodeProgram(), denoProgram()]) {
    await t.step(program.name, async (t) => await hold(t, await runChecks(program, plane().kubeconfig)));
  }
});

Deno.test({
  name: "kubectl does its work on a control plane, as an admin and as somebody with a client certificate",
  ignore: !hasKubectl,
  async fn(t) {
    const kubeconfigOf = (name: string, groups: readonly string[] = []): string =>
      Deno.readTextFileSync(plane().user(name, groups).kubeconfig);
    const folder = await Deno.makeTempDir({ prefix: "tend-clients-" });
    try {
      const reached = { kubeconfig: await Deno.readTextFile(plane().kubeconfig), kubeconfigOf };
      await hold(t, await kubectlChecks(reached, folder, true));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
