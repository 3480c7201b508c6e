/** Runs kubectl, as people do, with a cache of its own. */

/** Whether there is a kubectl to run; the tests that need one are ignored without. */
export const hasKubectl: boolean = await (async () => {
  try {
    return (await new Deno.Command("kubectl", { args: ["version", "--client"], stdout: "null", stderr: "null" })
      .output())
      .success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
})();

/** Runs kubectl against a server; answers with what it prints. @throws {Error} If it fails */
export async function kubectl(kubeconfig: string, args: readonly string[], input = ""): Promise<string> {
  const cache = `${kubeconfig}.cache`; // Beside it, so that it goes with the control plane.
  const child = new Deno.Command("kubectl", {
    args: ["--kubeconfig", kubeconfig, "--cache-dir", cache, ...args],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { code, stdout, stderr } = await child.output();
  const [out, problems] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")} ended with ${code}\n${out}${problems}`);
  return out!;
}
