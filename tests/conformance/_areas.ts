/**
 * Names all areas of the conformance suite, and registers them for a server.
 *
 * @module
 */
import type { ConformanceServer } from "./_server.ts";
import { Suite } from "./_suite.ts";
import { aggregation } from "./aggregation.ts";
import { apply } from "./apply.ts";
import { auth } from "./auth.ts";
import { crud } from "./crud.ts";
import { customResources } from "./custom_resources.ts";
import { deletion } from "./deletion.ts";
import { discovery } from "./discovery.ts";
import { edges } from "./edges.ts";
import { formats } from "./formats.ts";
import { kinds } from "./kinds.ts";
import { lists } from "./lists.ts";
import { ownership } from "./ownership.ts";
import { patch } from "./patch.ts";
import { pods } from "./pods.ts";
import { reads } from "./reads.ts";
import { requests } from "./requests.ts";
import { subresources } from "./subresources.ts";
import { shards } from "./shards.ts";
import { validation } from "./validation.ts";
import { watch } from "./watch.ts";

const AREAS = [
  crud,
  patch,
  apply,
  ownership,
  lists,
  reads,
  watch,
  shards,
  deletion,
  customResources,
  validation,
  pods,
  kinds,
  auth,
  discovery,
  aggregation,
  requests,
  formats,
  edges,
  subresources,
];

/** Registers all behaviours as tests of a server. */
export function conformance(server: ConformanceServer): Suite {
  const suite = new Suite(server);
  for (const area of AREAS) area(suite);
  return suite;
}
