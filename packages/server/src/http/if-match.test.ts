import { expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { createWorld } from "../testing.ts";

test("If-Match is the revision of a change, and where there is none the change is refused", async () => {
  await using world = await createWorld();
  const rules = { field: "tags", operator: "contains", value: "vip" } as const;
  const made = await world.sdk.segments.create({ name: "VIP", rules });
  const rename = async (ifMatch: string, path = `/api/v1/segments/${made.id}`) => {
    const response = await ask(world, { method: "PATCH", path, body: { name: "Names" }, headers: { "if-match": ifMatch } });
    const body = (await response.json()) as { error?: { code: string }; revision?: number };
    return [response.status, body.error?.code ?? body.revision];
  };
  expect(await rename('"nonsense"')).toEqual([412, "version_mismatch"]);
  expect(await rename(`"${made.revision + 1}"`)).toEqual([412, "version_mismatch"]);
  const [status, next] = await rename(`"${made.revision}"`);
  expect(status).toBe(200);
  expect(await rename(`"${made.revision}"`)).toEqual([412, "version_mismatch"]);
  expect((await rename(`W/"${next}"`))[0]).toBe(200);
  expect((await rename("*"))[0]).toBe(200);
  const { id } = await world.sdk.lists.create({ name: "Readers" });
  expect(await rename('"1"', `/api/v1/lists/${id}`)).toEqual([400, "validation_error"]);
});
