/**
 * States which format an answer is in: JSON or protocol buffers.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { readProtobuf } from "../../testing/_protobuf.ts";
import { writeProtobuf, writeProtobufEvent } from "../../testing/_protobuf_write.ts";
import type { Body } from "../_api.ts";
import type { Place, Suite } from "./_suite.ts";
import { deployment, map, widget } from "./_widget.ts";

const PROTOBUF = "application/vnd.kubernetes.protobuf";

/** An answer as it came. */
interface Raw {
  readonly code: number;
  readonly type: string | null;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

async function ask(at: Place, path: string, accept: string, init: RequestInit = {}): Promise<Raw> {
  const headers = { accept, ...init.headers as Record<string, string> };
  const response = await at.server.fetch(new Request(`http://server${at.path(path)}`, { ...init, headers }));
  return { code: response.status, type: response.headers.get("content-type"), bytes: await response.bytes() };
}

function parsed({ bytes }: Raw): Body {
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** The same object in both formats, byte by byte. */
async function sameInBoth(at: Place, path: string): Promise<void> {
  const object = parsed(await ask(at, path, "application/json"));
  const { code, type, bytes } = await ask(at, path, PROTOBUF);
  assertEquals([code, type], [object.code ?? 200, PROTOBUF], path);
  assertEquals(bytes.toBase64(), writeProtobuf(object)?.toBase64(), path);
}

/** Registers the behaviours. */
export function formats(suite: Suite): void {
  suite.test("Objects, lists and errors of built-in kinds come in protocol buffers when these are preferred", async (at) => {
    await at.ok("POST configmaps", map("a", { k: "v", empty: "" }));
    await at.ok("POST deployments", deployment("a"));
    for (const path of ["configmaps/a", "deployments/a", "configmaps/b", "/apis/apps"]) await sameInBoth(at, path);
    const list = readProtobuf((await ask(at, "deployments", `${PROTOBUF}, application/json`)).bytes);
    assertEquals([list.kind, list.items[0].spec.template.spec.containers[0].name], ["DeploymentList", "main"]);
    const first = await ask(at, "configmaps/a", `application/json, ${PROTOBUF}`);
    assertEquals(first.type, "application/json");
  });

  suite.test("What is written in protocol buffers is read the same in JSON", async (at) => {
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { k: "é✓" } };
    const init = { method: "POST", body: writeProtobuf(object)!, headers: { "content-type": PROTOBUF } };
    const made = await ask(at, "configmaps", PROTOBUF, init);
    assertEquals([made.code, readProtobuf(made.bytes).data], [201, object.data]);
    const { data, metadata } = await at.ok("GET configmaps/a");
    assertEquals([data, metadata.managedFields[0].operation], [object.data, "Update"]);
    await sameInBoth(at, "configmaps/a");
  });

  suite.test("A watch comes in frames of protocol buffers", async (at) => {
    await at.ok("POST configmaps", map("a", { k: "v" }));
    const path = "configmaps?watch=1&timeoutSeconds=1&fieldSelector=metadata.name=a";
    const events = new TextDecoder().decode((await ask(at, path, "application/json")).bytes).trim().split("\n");
    const { type, bytes } = await ask(at, path, PROTOBUF);
    assertEquals([type, events.length], [`${PROTOBUF};stream=watch`, 1]);
    assertEquals(bytes.toBase64(), writeProtobufEvent(JSON.parse(events[0]!))!.toBase64());
  });

  suite.test("Tables have no protocol buffers: 406, or another format that is accepted", async (at) => {
    const table = "as=Table;g=meta.k8s.io;v=v1";
    const refused = await ask(at, "configmaps", `${PROTOBUF};${table}`);
    assertEquals([refused.code, refused.type], [406, "application/json"]);
    const other = await ask(at, "configmaps", `${PROTOBUF};${table}, application/json;${table}`);
    assertEquals([other.code, parsed(other).kind], [200, "Table"]);
  });

  suite.test("Custom resources have no protocol buffers, but their metadata and errors have", async (at) => {
    await at.widgets();
    await at.ok("POST widgets", widget("a", { size: 1 }));
    for (const path of ["widgets", "widgets/a", "widgets/b", "widgets?watch=1"]) {
      const { code, type, bytes } = await ask(at, path, PROTOBUF);
      assertEquals([code, type, readProtobuf(bytes).reason], [406, PROTOBUF, "NotAcceptable"], path);
    }
    const init = { method: "POST", body: JSON.stringify(widget("c", { size: 1 })) };
    assertEquals((await ask(at, "widgets", PROTOBUF, init)).code, 406);
    assertEquals((await at.send("GET widgets/c")).code, 404);
    const json = await ask(at, "widgets/a", `${PROTOBUF}, application/json`);
    assertEquals([json.code, json.type], [200, "application/json"]);
    const error = await ask(at, "widgets/b", `${PROTOBUF}, application/json`);
    assertEquals([error.code, error.type], [404, PROTOBUF]);
    const metadata = "as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    const partial = await ask(at, "widgets/a", `${PROTOBUF};${metadata}`);
    assertEquals([partial.code, readProtobuf(partial.bytes).metadata.name], [200, "a"]);
  });
}
