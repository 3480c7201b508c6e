/**
 * The operator that is simulated: apps with copies of a config and a balancer of a cloud, and routes that gather apps.
 *
 * @module
 */
import { z } from "zod";
import { type Context, Controller, customResource, isNotFound, type ObjectOf, Operator } from "../../mod.ts";
import { delay } from "../../delay.ts";
import { ConfigMap, Namespace } from "../../kinds.ts";
import { INVARIANTS } from "../../testing/simulation/_invariants.ts";
import type { Random } from "../../testing/simulation/_random.ts";
import { outside } from "../../testing/simulation/_virtual_time.ts";
import type { Action, Plan, SimulatedWorld } from "../../testing/simulation/_plan.ts";

const conditions = z.array(z.object({
  type: z.string(),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string(),
  message: z.string(),
  lastTransitionTime: z.iso.datetime(),
  observedGeneration: z.int().optional(),
})).meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] }).optional();

const App = customResource({
  group: "example.com",
  version: "v1",
  kind: "App",
  spec: z.object({
    text: z.string(),
    copies: z.int().default(1),
    balancer: z.boolean().default(false),
    trouble: z.enum(["none", "throws", "hangs", "slow"]).default("none"),
  }),
  status: z.object({ copies: z.int().optional(), conditions }),
});
type App = ObjectOf<typeof App>;

const Route = customResource({
  group: "example.com",
  version: "v1",
  kind: "Route",
  spec: z.object({ to: z.string() }),
  status: z.object({ apps: z.array(z.string()) }).partial(),
});
type Route = ObjectOf<typeof Route>;

const NAMESPACES = ["team-a", "team-b"];
const NAMES = ["one", "two", "three"];
const LEASE = "default";

/** The world outside: balancers by the uid of their app. It takes its time, whatever becomes of who asked. */
class Cloud {
  readonly balancers = new Map<string, string>();

  async set(app: App, ctx: Context): Promise<void> {
    const { metadata: { uid = "" }, spec } = app;
    await this.#after(300, ctx, () => {
      if (spec.balancer) this.balancers.set(uid, spec.text);
      else this.balancers.delete(uid);
    });
  }

  async remove({ metadata: { uid = "" } }: App, ctx: Context): Promise<void> {
    await this.#after(300, ctx, () => this.balancers.delete(uid));
  }

  async #after(ms: number, ctx: Context, change: () => void): Promise<void> {
    ctx.check();
    outside(() => setTimeout(change, ms));
    await delay(ms + 1, ctx.signal);
  }
}

function fleetOperator(cloud: Cloud, attempts: Map<string, number>, leads: boolean): Operator {
  const apps = new Controller(App)
    .owns(ConfigMap, { labelSelector: "app" })
    .timeout({ seconds: 20 })
    .onStatus()
    .reconcile(async (app, ctx) => {
      await beTroubled(app, ctx, attempts);
      const { name } = app.metadata;
      for (let copy = 0; copy < app.spec.copies; copy++) {
        await ctx.applyOwned(
          app,
          ConfigMap.draft({
            metadata: { name: `${name}-${copy}`, labels: { app: name } },
            data: { text: app.spec.text },
          }),
        );
      }
      for (const { metadata } of await ctx.owned(ConfigMap)) {
        const index = Number(metadata.name.slice(name.length + 1));
        if (index >= app.spec.copies) await remove(ctx, metadata);
      }
      await cloud.set(app, ctx);
      await ctx.patchStatus(app, { copies: app.spec.copies });
      await ctx.setCondition(app, { type: "Ready", status: true, reason: "Done" });
      ctx.event(app, { type: "Normal", reason: "Done", note: `Has ${app.spec.copies} copies` });
    })
    .finalizer("example.com/balancer", (app, ctx) => cloud.remove(app, ctx));
  const routes = new Controller(Route)
    .watches(
      App,
      (app, cache) => cache.list(Route, app.metadata.namespace).filter(({ spec }) => spec.to === app.spec.text),
    )
    .owns(ConfigMap, { labelSelector: "route" })
    .reconcile(async (route, ctx) => {
      const { name, namespace } = route.metadata;
      const apps = (await ctx.list(App, { namespace }))
        .filter(({ spec, metadata }) => spec.text === route.spec.to && !metadata.deletionTimestamp)
        .map(({ metadata }) => metadata.name).sort();
      const metadata = { name: `route-${name}`, labels: { route: name } };
      await ctx.applyOwned(route, ConfigMap.draft({ metadata, data: { apps: apps.join() } }));
      await ctx.patchStatus(route, { apps });
    });
  const operator = new Operator("fleet").controller(apps).controller(routes);
  return leads ? operator.leaderElection(LEASE, "fleet") : operator;
}

async function remove(ctx: Context, { name, namespace, uid }: ConfigMap["metadata"]): Promise<void> {
  try {
    await ctx.client.api(ConfigMap).delete({ name, namespace: namespace! }, { uid });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function beTroubled(
  { metadata: { uid = "", generation }, spec }: App,
  ctx: Context,
  attempts: Map<string, number>,
) {
  const key = `${uid} ${generation}`;
  const attempt = (attempts.get(key) ?? 0) + 1;
  attempts.set(key, attempt);
  if (spec.trouble === "slow") await delay(3_000, ctx.signal);
  if (attempt > 3 || spec.trouble === "none") return;
  if (spec.trouble === "throws") throw new Error(`does not work at attempt ${attempt}`);
  if (spec.trouble === "hangs") {
    await new Promise((_, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
  }
}

function drawAction(random: Random, only?: readonly string[]): Action {
  const namespace = random.pick(NAMESPACES);
  const name = random.pick(NAMES);
  const at = `${namespace}/${name}`;
  const text = random.pick(["red", "green"]);
  const spec = {
    text,
    copies: random.below(3),
    balancer: random.chance(0.5),
    trouble: random.chance(0.7) ? "none" as const : random.pick(["throws", "hangs", "slow"] as const),
  };
  const kinds: readonly [string, number, () => Action][] = [
    ["create", 4, () => ({
      name: `create app ${at} ${JSON.stringify(spec)}`,
      run: ({ client }) => client.api(App).create(App.draft({ metadata: { name, namespace }, spec })),
    })],
    ["change", 4, () => ({
      name: `change app ${at} ${JSON.stringify(spec)}`,
      run: ({ client }) => client.api(App).patch({ name, namespace }, { spec }),
    })],
    ["delete", 3, () => ({
      name: `delete app ${at}`,
      run: ({ client }) => client.api(App).delete({ name, namespace }),
    })],
    ["recreate", 2, () => ({
      name: `delete app ${at} and create it anew ${JSON.stringify(spec)}`,
      run: async ({ client }) => {
        await client.api(App).delete({ name, namespace });
        for (let tries = 0; tries < 100 && await client.api(App).find({ name, namespace }); tries++) await delay(100);
        await client.api(App).create(App.draft({ metadata: { name, namespace }, spec }));
      },
    })],
    ["route", 2, () => ({
      name: `create or change route ${at} to ${text}`,
      run: async ({ client }) => {
        const draft = Route.draft({ metadata: { name, namespace }, spec: { to: text } });
        await client.api(Route).apply(draft, { fieldManager: "user", force: true });
      },
    })],
    ["unroute", 1, () => ({
      name: `delete route ${at}`,
      run: ({ client }) => client.api(Route).delete({ name, namespace }),
    })],
    ["delete copy", 5, () => ({
      name: `delete the first copy of app ${at}`,
      run: ({ client }) => client.api(ConfigMap).delete({ name: `${name}-0`, namespace }),
    })],
    ["spoil copy", 2, () => ({
      name: `spoil the first copy of app ${at}`,
      run: ({ client }) => client.api(ConfigMap).patch({ name: `${name}-0`, namespace }, { data: { text: "spoiled" } }),
    })],
    ["spoil status", 1, () => ({
      name: `spoil the status of app ${at}`,
      run: ({ client }) => client.api(App).status.patch({ name, namespace }, { status: { copies: 77 } }),
    })],
    ["namespace", 0.5, () => ({
      name: `delete namespace ${namespace}, and make it anew`,
      run: async ({ client }) => {
        await client.api(Namespace).delete({ name: namespace });
        for (let tries = 0; tries < 5000 && await client.api(Namespace).find({ name: namespace }); tries++) {
          await delay(300);
        }
        await client.api(Namespace).create(Namespace.draft({ metadata: { name: namespace } }));
      },
    })],
    ["kind", 0.3, () => ({
      name: "delete the kind App, and define it anew",
      run: async (world) => {
        const crd = App.crd();
        const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}`;
        await world.client.request({ method: "DELETE", path });
        const there = () => world.client.request({ path }).then(() => true, () => false);
        for (let tries = 0; tries < 5000 && await there(); tries++) await delay(300);
        await world.server.apply(crd);
      },
    })],
  ];
  const drawn = kinds.filter(([kind]) => only?.includes(kind) ?? true);
  let ticket = random.next() * drawn.reduce((sum, [, weight]) => sum + weight, 0);
  return drawn.find(([, weight]) => (ticket -= weight) < 0)![2]();
}

/** Makes what one seed simulates: the operator, a user who does something at random, and what is to be at the end. */
export function fleet(random: Random, replicas: number, only?: readonly string[]): Plan {
  const cloud = new Cloud();
  const attempts = new Map<string, number>();
  const leads = replicas > 1 || random.chance(0.5);
  return {
    operator: () => fleetOperator(cloud, attempts, leads),
    replicas,
    workloads: false,
    resources: ["apps", "routes", "configmaps"],
    actions: Array.from({ length: random.between(3, 14) }, () => drawAction(random, only)),
    world: async ({ client }) => {
      for (const name of NAMESPACES) await client.api(Namespace).create(Namespace.draft({ metadata: { name } }));
      const spec = { text: "red", copies: 2, balancer: true, trouble: "none" as const };
      for (const name of NAMES.slice(0, 2)) {
        await client.api(App).create(App.draft({ metadata: { name, namespace: "team-a" }, spec }));
      }
    },
    horizon: 60_000,
    patience: 1_500_000,
    invariants: INVARIANTS,
    expectations: { childrenMatch: childrenMatch, statusMatches, balancersMatch: balancersMatch(cloud), routesMatch },
  };
}

async function childrenMatch({ client }: SimulatedWorld): Promise<void> {
  const wanted = (await client.api(App).list()).items.flatMap(({ metadata, spec }) =>
    Array.from(
      { length: spec.copies },
      (_, copy) => `${metadata.namespace}/${metadata.name}-${copy} ${spec.text} ${metadata.uid}`,
    )
  );
  const there = (await client.api(ConfigMap).list({ labelSelector: "app" })).items.map(({ metadata, data }) =>
    `${metadata.namespace}/${metadata.name} ${data?.text} ${metadata.ownerReferences?.[0]?.uid}`
  );
  expectSame("copies of apps", there, wanted);
}

async function statusMatches({ client }: SimulatedWorld): Promise<void> {
  for (const { metadata, spec, status } of (await client.api(App).list()).items) {
    const ready = status?.conditions?.find(({ type }) => type === "Ready");
    const seen = [status?.copies, ready?.status, ready?.observedGeneration];
    expectSame(`the status of app ${metadata.name}`, seen, [spec.copies, "True", metadata.generation]);
  }
}

function balancersMatch(cloud: Cloud): Plan["expectations"][string] {
  return async ({ client }) => {
    const wanted = (await client.api(App).list()).items.filter(({ spec }) => spec.balancer)
      .map(({ metadata, spec }) => `${metadata.uid} ${spec.text}`);
    expectSame("balancers", [...cloud.balancers].map(([uid, text]) => `${uid} ${text}`), wanted);
  };
}

async function routesMatch({ client }: SimulatedWorld): Promise<void> {
  const apps = (await client.api(App).list()).items;
  for (const { metadata, spec, status } of (await client.api(Route).list()).items) {
    const wanted = apps.filter((app) => app.metadata.namespace === metadata.namespace && app.spec.text === spec.to)
      .map((app) => app.metadata.name).sort().join();
    const { data } = await client.api(ConfigMap).get({
      name: `route-${metadata.name}`,
      namespace: metadata.namespace!,
    });
    expectSame(`route ${metadata.name}`, [data?.apps ?? "", status?.apps?.join()], [wanted, wanted]);
  }
}

function expectSame(what: string, there: readonly unknown[], wanted: readonly unknown[]): void {
  const [is, should] = [there, wanted].map((each) => [...each].map(String).sort().join("; "));
  if (is !== should) throw new Error(`${what}: there are ${is}, there should be ${should}`);
}
