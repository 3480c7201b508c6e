import { assertEquals } from "@std/assert";
import { z } from "zod";
import { Client, Controller, customResource, Operator } from "../mod.ts";
import { Backup, operator as backupOperator } from "../examples/backup.ts";
import { operator as secretCopier, SecretCopy } from "../examples/secret_copier.ts";
import { operator as websites, Website } from "../examples/website.ts";
import { ConfigMap, Namespace, Secret } from "../kinds.ts";
import { roles, type ScopedRule } from "../rbac.ts";
import type { ManifestOptions } from "../manifests.ts";
import { ApiServer } from "../testing/mod.ts";
import { VirtualTime } from "../testing/simulation/_virtual_time.ts";

const MINUTES = 60_000;

const condition = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string(),
  message: z.string(),
  lastTransitionTime: z.string(),
  observedGeneration: z.int().optional(),
});

const Widget = customResource({
  group: "example.com",
  version: "v1",
  kind: "Widget",
  spec: z.object({ size: z.int() }),
  status: z.object({ size: z.int(), conditions: z.array(condition) }).partial(),
});

const Fleet = customResource({
  group: "example.com",
  version: "v1",
  kind: "Fleet",
  scope: "Cluster",
  spec: z.object({ size: z.int() }),
  status: z.object({ size: z.int() }).partial(),
});

// Every verb of every rule is taken away in turn, and the whole scenario is played under what is left.

/** What an operator is put through under its own rules. */
interface Scenario {
  readonly operator: () => Operator;
  readonly options?: ManifestOptions;
  /** Objects that are there, as their users made them. */
  readonly before: readonly object[];
  /** What users do later; the operator works for some minutes after each. */
  readonly then: readonly ((server: ApiServer) => unknown)[];
  /** What nothing in the scenario needs: its rules come from what `.owns()` and `.watches()` promise to every reconcile. */
  readonly promised?: readonly string[];
}

/** An operator with all that there is, which uses all that it declares. */
function everything(): Operator {
  const widgets = new Controller(Widget)
    .owns(ConfigMap)
    .watches(Secret, ({ metadata: { name, namespace } }) => [{ name, namespace }])
    .rule({ apiGroups: [""], resources: ["pods/eviction"], verbs: ["create"] })
    .reconcile(async (widget, ctx) => {
      const { name, namespace } = widget.metadata;
      await ctx.get(Secret, name, { live: true });
      await ctx.applyOwned(widget, ConfigMap.draft({ metadata: { name }, data: { size: String(widget.spec.size) } }));
      await ctx.applyOwned(widget, ConfigMap.draft({ metadata: { name: `${name}-old` }, data: {} }));
      if (await ctx.get(ConfigMap, `${name}-old`, { live: true })) {
        await ctx.client.api(ConfigMap).delete({ name: `${name}-old`, namespace: namespace! });
      }
      await ctx.patchStatus(widget, { size: widget.spec.size });
      await ctx.setCondition(widget, { type: "Ready", status: true, reason: "Done" });
      for (let count = 0; count < 2; count++) ctx.event(widget, { type: "Normal", reason: "Done", note: "Done" });
      await ctx.client.request({
        method: "POST",
        path: `/api/v1/namespaces/${namespace}/pods/none/eviction`,
        body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "none", namespace } },
      }).catch((error) => {
        if (error.code !== 404) throw error;
      });
    })
    .finalizer("example.com/cleanup", () => {});
  return new Operator("everything").controller(widgets);
}

/** The same, under a Lease, and with a cluster-scoped kind. */
function everywhere(): Operator {
  const fleets = new Controller(Fleet)
    .watches(Namespace, (_namespace, cache) => cache.list(Fleet))
    .reconcile(async (fleet, ctx) => {
      await ctx.get(Namespace, "default", { live: true });
      await ctx.patchStatus(fleet, { size: fleet.spec.size });
      for (let count = 0; count < 2; count++) ctx.event(fleet, { type: "Normal", reason: "Done", note: "Done" });
    })
    .finalizer("example.com/cleanup", () => {});
  return everything().controller(fleets).leaderElection("default", "everything");
}

const widget = (name: string, size: number): object => ({
  ...Widget.draft({ metadata: { name, namespace: "default" }, spec: { size } }),
});

const settings = (color: string): object => ({
  ...ConfigMap.draft({ metadata: { name: "settings", namespace: "default" }, data: { color } }),
});

const secret = (namespace: string, text: string): object => ({
  ...Secret.draft({ metadata: { name: "s", namespace }, data: { text: btoa(text) } }),
});

/** Lets the next write of a status lose a race, as when somebody else wrote it meanwhile. */
function loseRace(server: ApiServer, resource: string): void {
  server.faults.add({ verb: "patch", resource, subresource: "status", times: 1 } as never, { code: 409 });
}

const WIDGETS: Pick<Scenario, "before" | "then"> = {
  before: [{ ...Secret.draft({ metadata: { name: "w", namespace: "default" } }) }],
  then: [
    (server) => (loseRace(server, "widgets"), server.apply(widget("w", 1))),
    (server) => server.client().api(Widget).delete({ name: "w", namespace: "default" }),
  ],
};

const SCENARIOS: Record<string, Scenario> = {
  "an operator with every feature, of all namespaces": {
    operator: everywhere,
    before: WIDGETS.before,
    then: [
      ...WIDGETS.then,
      (
        server,
      ) => (loseRace(server, "fleets"),
        server.apply({ ...Fleet.draft({ metadata: { name: "f" }, spec: { size: 1 } }) })),
      (server) => server.client().api(Fleet).delete("f"),
    ],
  },
  "an operator with every feature, of one namespace": {
    operator: () => everything().leaderElection("operators", "everything"),
    options: { namespaces: ["default"], namespace: "operators" },
    before: WIDGETS.before,
    then: WIDGETS.then,
  },
  "examples/backup.ts": {
    operator: () => backupOperator,
    before: [settings("blue")],
    then: [
      (server) => (
        loseRace(server, "backups"),
          server.apply({
            ...Backup.draft({
              metadata: { name: "b", namespace: "default" },
              spec: { configMap: "settings", everyMinutes: 60 },
            }),
          })
      ),
      (server) => server.apply(settings("red")),
      (server) => server.client().api(Backup).delete({ name: "b", namespace: "default" }),
    ],
    promised: ["get configmaps", "delete configmaps", "patch events.events.k8s.io"],
  },
  "examples/secret_copier.ts": {
    operator: () => secretCopier,
    before: [
      ...["a", "b"].map((name) => ({ ...Namespace.draft({ metadata: { name, labels: { copy: "" } } }) })),
      secret("default", "blue"),
      secret("b", "its own"),
    ],
    then: [
      (server) => (
        loseRace(server, "secretcopies"),
          server.apply({
            ...SecretCopy.draft({ metadata: { name: "c" }, spec: { namespace: "default", name: "s", label: "copy" } }),
          })
      ),
      (server) => server.apply(secret("default", "red")),
      (server) => server.client().api(SecretCopy).delete("c"),
    ],
    promised: ["get namespaces", "get secrets"],
  },
  "examples/website.ts": {
    operator: () => websites,
    before: [],
    then: [
      (server) => (
        loseRace(server, "websites"),
          server.apply({
            ...Website.draft({ metadata: { name: "w", namespace: "default" }, spec: { html: "hello", replicas: 1 } }),
          })
      ),
    ],
    promised: [
      ...["configmaps", "services", "deployments.apps"].flatMap((kind) => [`get ${kind}`, `delete ${kind}`]),
      "create events.events.k8s.io",
      "patch events.events.k8s.io",
    ],
  },
};

/** How a run went: what was refused. */
async function forbidden(
  { operator, options = {}, before, then }: Scenario,
  rules: readonly ScopedRule[],
): Promise<string[]> {
  const made = operator();
  const { namespace = "default", namespaces } = options;
  const user = {
    name: `system:serviceaccount:${namespace}:${made.name}`,
    groups: ["system:serviceaccounts", "system:authenticated"],
  };
  using time = new VirtualTime({ random: () => 0.5 });
  time.install();
  const server = new ApiServer({ authorization: true, users: { token: user }, now: () => time.epoch + time.now });
  const client = new Client({
    server: "http://localhost",
    token: "token",
    fetch: (request) => time.busy(server.fetch(request)),
    now: () => time.now,
    random: () => 0.5,
  });
  const finish = async (work: unknown): Promise<void> => {
    let over = false;
    const settled = Promise.resolve(work).finally(() => over = true);
    await time.run(() => over, 600_000);
    await settled;
  };
  await finish(server.apply([
    ...["operators", "shop"].map((name) => ({ ...Namespace.draft({ metadata: { name } }) })),
    ...made.crds(),
    ...roles(rules, { name: made.name, serviceAccount: made.name, namespace }),
    ...before,
  ]));
  const stop = new AbortController();
  const run = made.run({
    client,
    namespaces,
    identity: "me",
    signals: false,
    signal: stop.signal,
    now: () => time.now,
    random: () => 0.5,
  });
  let seen = 0;
  /** Looks at each request once. */
  const refusal = (): boolean => {
    while (seen < server.requests.length && server.requests[seen]!.code !== 403) {
      if (server.requests[seen]!.code === 0) return false;
      seen++;
    }
    return seen < server.requests.length;
  };
  await time.run(refusal, 5_000);
  for (const act of then) {
    if (refusal()) break;
    await finish(act(server));
    await time.run(refusal, 10 * MINUTES);
  }
  stop.abort();
  await finish(run);
  await client.close();
  const refused = server.requests.filter(({ code }) => code === 403).map(({ method, path }) => `${method} ${path}`);
  await finish(server.close());
  return refused;
}

/** Every rule with one verb on one resource, and the others. */
function* withoutOne(rules: readonly ScopedRule[]): Generator<{ left: string; others: ScopedRule[] }> {
  const single = rules.flatMap((rule) =>
    rule.resources.flatMap((resource) => rule.verbs.map((verb) => ({ ...rule, resources: [resource], verbs: [verb] })))
  );
  for (const one of single) {
    const { namespace, apiGroups: [group], resources: [resource], verbs: [verb] } = one;
    const place = namespace === undefined ? "" : `${namespace}: `;
    yield {
      left: `${place}${verb} ${resource}${group && `.${group}`}`,
      others: single.filter((other) => other !== one),
    };
  }
}

for (const [name, scenario] of Object.entries(SCENARIOS)) {
  Deno.test(`Under its generated rules alone ${name} is refused nothing, and without any one of them it is`, async () => {
    const { operator, options = {}, promised = [] } = scenario;
    const rules = operator().rules({ namespaces: options.namespaces });
    assertEquals(await forbidden(scenario, rules), []);
    const superfluous: string[] = [];
    for (const { left, others } of withoutOne(rules)) {
      if ((await forbidden(scenario, others)).length === 0) superfluous.push(left);
    }
    assertEquals(superfluous, promised, "what nothing needs");
    const kinds = new Set(operator().roles(options).map(({ kind }) => kind));
    assertEquals(kinds.has("ClusterRole"), options.namespaces === undefined, "namespaces need no ClusterRole");
  });
}
