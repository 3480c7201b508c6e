/**
 * Tests operators without a cluster: an API server in memory, and a real one on loopback.
 *
 * ```ts
 * import { ApiServer } from "@tend/operator/testing";
 *
 * await using server = new ApiServer();
 * const response = await server.fetch(new Request("http://kubernetes/api/v1/namespaces/default"));
 * console.assert(response.status === 200);
 * ```
 *
 * @module
 */
export { ApiServer } from "./api_server.ts";
export {
  type ApiServerClientOptions,
  type ApiServerOptions,
  type Listening,
  type ListenOptions,
  type RestartOptions,
} from "./_api_server_options.ts";
export { type RecordedRequest } from "./_recorded_request.ts";
export { type ControllerName } from "./_controllers.ts";
export { type ExpectedRequest, type ExpectOptions } from "./_expectation.ts";
export { type Fault, type FaultMatch, type Faults, type PartitionOptions, type TimedMatch } from "./_faults.ts";
export { type FakeContext, fakeContext, type FakeContextOptions } from "./fake_context.ts";
export { type LagBy } from "./_lag.ts";
export { type RequestMatch, type RequestSubject } from "./_match.ts";
export {
  ControlPlane,
  type ControlPlaneOptions,
  type PauseOptions,
  type PlaneUser,
  type ServiceAccountOptions,
} from "./control_plane.ts";
export {
  type CrashPoint,
  type InvariantName,
  type Perturbation,
  type PerturbationKind,
  type PlannedAction,
  type Schedule,
  simulate,
  type SimulatedWorld,
  type SimulateOptions,
  SimulationError,
  type SimulationReport,
  type WorldFunction,
} from "./simulation/simulate.ts";
