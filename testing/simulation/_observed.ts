/**
 * Sees from outside what an operator does: its runs, what it reads, and what is stored.
 *
 * ```ts
 * import { readChunk } from "./_observed.ts";
 * import { Chronicle } from "./_chronicle.ts";
 * import { Process } from "./_virtual_time.ts";
 *
 * const chronicle = new Chronicle(() => 0, false);
 * readChunk(chronicle, new Process("a"), new TextEncoder().encode('{"type":"BOOKMARK","object":{}}\n'));
 * ```
 *
 * @module
 */
import { configOf, type Controller, copyOf } from "../../controller.ts";
import { keyOf, type KubernetesObject, type Resource } from "../../resource.ts";
import type { Chronicle } from "./_chronicle.ts";
import type { Run } from "./_events.ts";
import type { Process } from "./_virtual_time.ts";

/** A controller whose runs are seen from outside. */
export function observed(
  controller: Controller<KubernetesObject>,
  process: Process,
  chronicle: Chronicle,
  now: () => number,
): Controller<KubernetesObject> {
  const { reconcile, finalizer } = configOf(controller);
  type Reconcile = NonNullable<typeof reconcile>;
  const seen = (inner: Reconcile, cleanup: boolean): Reconcile => async (object, ctx) => {
    const key = keyOf(object);
    const run: Run = { process, controller: controller.name, key, object, cleanup, signal: ctx.signal, began: now() };
    const what = `${cleanup ? "cleanup" : "reconcile"} of ${run.controller} ${run.key}`;
    chronicle.tell(process.name, `${what} begins, at generation ${object.metadata.generation ?? "-"}`);
    chronicle.notify((observer) => observer.began?.(run));
    try {
      const action = await inner(object, ctx);
      run.requeued = action?.after !== undefined;
      return action;
    } catch (error) {
      run.error = error ?? new Error("nothing was thrown");
      throw error;
    } finally {
      run.ended = now();
      chronicle.tell(process.name, `${what} ends${run.error === undefined ? "" : ` with ${run.error}`}`);
      chronicle.notify((observer) => observer.ended?.(run));
    }
  };
  return copyOf(controller, {
    ...(reconcile ? { reconcile: seen(reconcile, false) } : {}),
    ...(finalizer ? { finalizer: { ...finalizer, cleanup: seen(finalizer.cleanup, true) } } : {}),
  });
}

/** Notes what a process reads of a watch. */
export function readChunk(chronicle: Chronicle, process: Process, chunk: Uint8Array): void {
  let bookmark = true;
  for (const line of new TextDecoder().decode(chunk).split("\n")) {
    if (line === "" || line.startsWith('{"type":"BOOKMARK"')) continue;
    bookmark = false;
    if (!line.startsWith('{"type":"DELETED"')) continue;
    const { metadata } = JSON.parse(line).object;
    chronicle.tell(process.name, `reads that ${metadata.name} (${metadata.uid}) is gone`);
    chronicle.notify((observer) => observer.readDeletion?.(process, metadata.uid));
  }
  if (!bookmark) chronicle.notify((observer) => observer.read?.(process));
}

/** Notes how all objects of a kind come and go. */
export async function watchKind(
  chronicle: Chronicle,
  kind: Resource,
  fetch: (path: string) => Promise<Response>,
): Promise<void> {
  const { body } = await fetch(`${kind.path()}?watch=true`);
  let rest = "";
  for await (const text of body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      const { type, object } = JSON.parse(line);
      if (type === "DELETED") chronicle.notify((observer) => observer.gone?.(object, kind));
      else if (type === "ADDED" || type === "MODIFIED") chronicle.notify((observer) => observer.stored?.(object, kind));
    }
  }
}
