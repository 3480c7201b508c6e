import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import { customResource } from "../../crd.ts";
import { delay } from "../../delay.ts";
import { isInvalid, isNotFound } from "../../errors.ts";
import { CustomResourceDefinition } from "../../kinds.ts";
import { cases } from "../_crd_cases.ts";
import { sharedControlPlane } from "./_setup.ts";

const plane = sharedControlPlane();

/** All cases in one kind, each in a field of its own, so that the server publishes one schema instead of a hundred. */
const names = Object.keys(cases);
const fieldOf = (name: string): string => `f${names.indexOf(name)}`;
const All = customResource({
  group: "cases.example.com",
  version: "v1",
  kind: "All",
  spec: z.object(Object.fromEntries(
    Object.entries(cases).map(([name, { zod }]) => [fieldOf(name), z.object({ value: zod }).optional()]),
  )),
});

Deno.test("customResource() and a real server agree on each schema and value of the table", async () => {
  await using client = plane().client();
  const definitions = client.api(CustomResourceDefinition);
  await definitions.create(All.crd());
  const api = client.api(All);
  while (true) {
    try {
      await api.list();
      break;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      await delay(100);
    }
  }
  const { status } = await definitions.get(All.id);
  assertEquals(status!.conditions!.map(({ type, status }) => `${type}=${status}`).sort(), [
    "Established=True",
    "NamesAccepted=True",
  ]);

  /** What the server would store; undefined if it refuses the value. */
  const store = async (field: string, value: unknown): Promise<{ value?: unknown } | undefined> => {
    const spec = { [field]: value === undefined ? {} : { value } };
    try {
      const options = { namespace: "default", dryRun: true };
      return (await api.create({ metadata: { name: "a" }, spec }, options)).spec[field] as { value?: unknown };
    } catch (error) {
      if (isInvalid(error)) return undefined;
      throw error;
    }
  };
  for (const [name, { zod, accepts, refuses }] of Object.entries(cases)) {
    for (const value of accepts) {
      const stored = await store(fieldOf(name), value);
      assert(stored, `${name}: ${Deno.inspect(value)} is refused`);
      assertEquals(stored.value, zod.parse(value), name);
    }
    for (const value of refuses) {
      assertEquals(await store(fieldOf(name), value), undefined, `${name}: ${Deno.inspect(value)} is accepted`);
    }
  }
});
