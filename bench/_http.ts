/**
 * Measures writes over HTTP: a server here, and a client in a process of its own.
 *
 * @module
 */
import { ApiServer } from "../testing/mod.ts";
import type { Figure } from "./_figures.ts";
import { connect } from "./_sockets.ts";
import { DEFINITION } from "./_world.ts";
import { measureWrites, processorTime } from "./_writes.ts";

/** How many requests are under way at once. */
const CONCURRENCY = 10;

/** How many writes of each kind there are. */
const WRITES = 5000;

/** Serves a client that measures. */
export async function overHttp(): Promise<Figure[]> {
  await using server = new ApiServer();
  await server.apply(DEFINITION);
  const { url } = await server.listen();
  const client = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", `${import.meta.dirname}/api_server.ts`, "--client", url],
    stdout: "piped",
    stderr: "inherit",
  });
  const before = processorTime();
  const { stdout, success } = await client.output();
  if (!success) throw new Error("The client failed");
  const figures: Figure[] = JSON.parse(new TextDecoder().decode(stdout));
  const measured = (processorTime() - before) / (WRITES * figures.length);
  return [...figures, { figure: "what the server spends on a write over HTTP", measured, unit: "us" }];
}

/** Measures from the client's side. */
export async function fromOutside(url: string): Promise<Figure[]> {
  const { send, close } = await connect(url, CONCURRENCY);
  const figures = await measureWrites(send, WRITES, "over HTTP", 3000, CONCURRENCY);
  close();
  return figures;
}
