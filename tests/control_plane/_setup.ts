/** Gives the tests of one file a control plane that they share. */
import { ControlPlane, type ControlPlaneOptions } from "../../testing/control_plane.ts";
import { controlPlaneAssets } from "../../tools/build_control_plane.ts";

/** Starts a control plane of a test's own. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  return await ControlPlane.start({ assets: await controlPlaneAssets(), ...options });
}

/**
 * Starts a control plane before the first test of the file that calls this and ends it after the last.
 *
 * Tests share its data: give each a namespace, and each cluster-scoped object a name, of its own.
 */
export function sharedControlPlane(options: ControlPlaneOptions = {}): () => ControlPlane {
  let plane: ControlPlane | undefined;
  Deno.test.beforeAll(async () => {
    plane = await startControlPlane(options);
  });
  Deno.test.afterAll(async () => {
    await plane?.[Symbol.asyncDispose]();
  });
  return () => {
    if (plane === undefined) throw new Error("Cannot use the control plane: it is there in tests only");
    return plane;
  };
}
