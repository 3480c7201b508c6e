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
export { ApiServer, type ApiServerOptions, type RecordedRequest } from "./api_server.ts";
export { ControlPlane, type ControlPlaneOptions, type PlaneUser, type ServiceAccountOptions } from "./control_plane.ts";
