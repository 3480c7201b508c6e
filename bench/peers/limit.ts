/**
 * The benchmark's operator without a framework: lists, watches, parses and counts, and keeps no objects. What is left is what
 * Deno and the server cost.
 *
 * It has no retries of failed writes, no leader election and no probes: it is no operator to run.
 *
 * @module
 */
import { type Assignment, assignment, type Counted, obey, Tally, tell } from "./_kit.ts";

const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

interface Widget {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  readonly spec: Counted & { readonly title: string };
  readonly status?: { readonly observed?: number };
}

/** Where the server is, and how it is asked. */
interface Server {
  readonly url: string;
  readonly token: string;
  readonly http: Deno.HttpClient;
}

/** Finds the server by the files of a pod, or by those that a kubeconfig names. */
async function connect(): Promise<Server> {
  const path = Deno.env.get("KUBECONFIG");
  const config = path === undefined ? "" : await Deno.readTextFile(path);
  const named = (field: string): string | undefined => new RegExp(`${field}: *"?([^"\\s]+)`).exec(config)?.[1];
  const [host, port] = [Deno.env.get("KUBERNETES_SERVICE_HOST"), Deno.env.get("KUBERNETES_SERVICE_PORT")];
  const ca = await Deno.readTextFile(named("certificate-authority") ?? `${ACCOUNT}/ca.crt`);
  const token = await Deno.readTextFile(named("tokenFile") ?? `${ACCOUNT}/token`);
  const http = Deno.createHttpClient({ caCerts: [ca] });
  return { url: named("server") ?? `https://${host}:${port}`, token: token.trim(), http };
}

async function send({ url, token, http }: Server, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, accept: "application/json", ...init.headers };
  const response = await fetch(url + path, { ...init, headers, client: http });
  if (!response.ok) throw new Error(`${init.method ?? "GET"} ${path}: ${response.status} ${await response.text()}`);
  return response;
}

async function patch(server: Server, path: string, type: string, body: unknown): Promise<void> {
  const headers = { "content-type": `application/${type}` };
  const response = await send(server, path, { method: "PATCH", headers, body: JSON.stringify(body) });
  await response.body?.cancel();
}

const group = "apis/bench.example.com/v1";

/** One reconcile. */
async function reconcile(widget: Widget, server: Server, tally: Tally, { work }: Assignment): Promise<void> {
  const { metadata: { name, namespace, uid }, spec, status } = widget;
  tally.begin(spec);
  const { revision, title } = spec;
  if (work === "status" && status?.observed !== revision) {
    tally.writes++;
    const body = { status: { observed: revision, message: `Observed revision ${revision}` } };
    await patch(server, `/${group}/namespaces/${namespace}/widgets/${name}/status`, "merge-patch+json", body);
  } else if (work === "owned") {
    tally.writes++;
    const owner = { apiVersion: "bench.example.com/v1", kind: "Widget", name, uid, controller: true };
    const path = `/api/v1/namespaces/${namespace}/configmaps/${name}?fieldManager=limit&force=true`;
    await patch(server, path, "apply-patch+yaml", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace, ownerReferences: [owner] },
      data: { revision: `${revision}`, title },
    });
  }
  tally.finish(spec);
}

/** Works on the objects that come in, so many at once; an object is begun once for each revision. */
class Workers {
  readonly #queue: Widget[] = [];
  #at = 0;
  #running = 0;
  readonly #work: (widget: Widget) => Promise<void>;
  readonly #limit: number;

  constructor(limit: number, work: (widget: Widget) => Promise<void>) {
    this.#limit = limit;
    this.#work = work;
  }

  add(widget: Widget): void {
    this.#queue.push(widget);
    if (this.#running < this.#limit) void this.#run();
  }

  async #run(): Promise<void> {
    this.#running++;
    while (this.#at < this.#queue.length) {
      const next = this.#queue[this.#at++]!;
      if (this.#at === this.#queue.length) this.#queue.length = this.#at = 0;
      await this.#work(next);
    }
    this.#running--;
  }
}

/** Lists once, and watches from there for ever. */
async function follow(server: Server, path: string, take: (widget: Widget) => void): Promise<never> {
  const list = await (await send(server, `${path}?resourceVersion=0`)).json();
  let version: string = list.metadata.resourceVersion;
  for (const item of list.items as Widget[]) take(item);
  while (true) {
    const query = `watch=1&allowWatchBookmarks=true&resourceVersion=${version}`;
    const response = await send(server, `${path}?${query}`, { headers: { "accept-encoding": "identity" } });
    let rest = "";
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        const { type, object } = JSON.parse(line);
        if (type === "ERROR") throw new Error(`The watch failed: ${line}`);
        version = object.metadata.resourceVersion;
        if (type === "ADDED" || type === "MODIFIED") take(object);
      }
    }
  }
}

/** Counts what comes in at once, or hands it to workers. */
function taker(server: Server, tally: Tally, assigned: Assignment): (widget: Widget) => void {
  if (assigned.work === "noop") {
    return ({ spec }) => {
      if (tally.hasBegun(spec)) return;
      tally.begin(spec);
      tally.finish(spec);
    };
  }
  const workers = new Workers(assigned.workers, (widget) => reconcile(widget, server, tally, assigned));
  return (widget) => {
    if (!tally.hasBegun(widget.spec)) workers.add(widget);
  };
}

if (import.meta.main) {
  const assigned = assignment();
  const tally = new Tally(assigned, tell);
  Deno.addSignalListener("SIGTERM", () => Deno.exit(0));
  void obey(tally).then(() => Deno.exit(0));
  const server = await connect();
  const place = assigned.namespace === "" ? "" : `/namespaces/${assigned.namespace}`;
  await follow(server, `/${group}${place}/widgets`, taker(server, tally, assigned));
}
