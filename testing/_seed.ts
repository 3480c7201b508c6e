/**
 * Stores what every cluster has from the start: the first namespaces and the service of the API server.
 *
 * @module
 */
import type { ServerState } from "./_call.ts";
import { timestamp } from "./_objects.ts";

const NAMESPACES = ["default", "kube-system", "kube-public", "kube-node-lease"];

/** Stores it. */
export function seed(server: ServerState): void {
  const namespaces = server.store.collection("namespaces");
  for (const name of NAMESPACES) {
    namespaces.put("", name, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: {
        name,
        uid: server.uid(),
        creationTimestamp: timestamp(server.now()),
        labels: { "kubernetes.io/metadata.name": name },
      },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    });
  }
}
