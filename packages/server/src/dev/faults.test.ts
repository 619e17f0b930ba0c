import { ERROR_CODES, ERRORS } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const hello = { from: "a@acme.test", to: "ada@example.com", subject: "Hello", text: "x" };
const send = (world: TestWorld, headers: Record<string, string> = {}) => ask(world, { path: "/api/v1/send", body: hello, headers });
const statuses = async (world: TestWorld, n: number): Promise<number[]> => {
  const out: number[] = [];
  for (let i = 0; i < n; i += 1) out.push((await send(world)).status);
  return out;
};
const total = async (world: TestWorld) => (await world.sdk.emails.list()).pagination.total;

test.each(ERROR_CODES)("%s can be made to happen, and the answer names the rule", async (code) => {
  await using world = await createWorld();
  const rule = await world.sdk.faults.add({ method: "POST", path: "/api/v1/send", code });
  const response = await send(world);
  expect(response.status).toBe(ERRORS[code].status);
  expect(response.headers.get("x-mailsvc-fault")).toBe(rule.id);
  expect(await response.json()).toMatchObject({ error: { code, status: ERRORS[code].status } });
  expect(await total(world)).toBe(0);
});

describe("a rule hits", () => {
  test("its method and path only; a star stands for anything", async () => {
    await using world = await createWorld();
    await world.sdk.faults.add({ method: "GET", path: "/api/v1/emails/*", code: "internal_error" });
    expect((await send(world)).status).toBe(200);
    expect((await ask(world, { method: "GET", path: "/api/v1/emails" })).status).toBe(200);
    expect((await ask(world, { method: "GET", path: "/api/v1/emails/em_x" })).status).toBe(500);
    expect((await ask(world, { path: "/api/v1/emails/em_x/cancel" })).status).toBe(404);
  });

  test("a dot in its path stands for a dot", async () => {
    await using world = await createWorld();
    await world.sdk.faults.add({ path: "/openapi.json", code: "internal_error" });
    await world.sdk.faults.add({ path: "/api.v1.me", code: "internal_error" });
    expect((await ask(world, { method: "GET", path: "/openapi.json" })).status).toBe(500);
    expect((await ask(world, { method: "GET", path: "/api/v1/me" })).status).toBe(200);
  });

  test("after as many requests as it skips, as often as it counts", async () => {
    await using world = await createWorld();
    const { id } = await world.sdk.faults.add({ path: "/api/v1/send", code: "queue_failed", skip: 2, count: 3 });
    expect(await statuses(world, 7)).toEqual([200, 200, 500, 500, 500, 200, 200]);
    expect((await world.sdk.faults.list()).data).toMatchObject([{ id, matched: 7, hits: 3 }]);
  });

  test("a share of requests, the same ones for the same seed", async () => {
    const run = async (seed: number) => {
      await using world = await createWorld();
      await world.sdk.faults.add({ path: "/api/v1/send", code: "queue_failed", rate: 0.3, seed });
      // The world must live until the last answer is there.
      return await statuses(world, 60);
    };
    const first = await run(7);
    expect(await run(7)).toEqual(first);
    expect(await run(8)).not.toEqual(first);
    expect(first.filter((s) => s === 500).length).toBeGreaterThan(8);
    expect(first.filter((s) => s === 500).length).toBeLessThan(30);
  });

  test("never the dev endpoints, or it could not be removed again", async () => {
    await using world = await createWorld();
    await world.sdk.faults.add({ code: "internal_error" });
    await world.sdk.faults.add({ code: "internal_error", path: "/__dev/*" });
    expect((await send(world)).status).toBe(500);
    expect(await world.sdk.faults.clear()).toEqual({ deleted: 2 });
    expect((await send(world)).status).toBe(200);
  });
});

test("a delay holds the answer back and lets it through", async () => {
  await using world = await createWorld();
  await world.sdk.faults.add({ path: "/api/v1/send", delayMs: 40 });
  const since = performance.now();
  const response = await send(world);
  expect(performance.now() - since).toBeGreaterThanOrEqual(38);
  expect(response.status).toBe(200);
  expect(response.headers.get("x-mailsvc-fault")).toMatch(/^flt_/);
});

test("a cut connection before the work leaves nothing behind; after the work, the work is done", async () => {
  await using world = await createWorld();
  await world.sdk.faults.add({ path: "/api/v1/send", drop: true, count: 1 });
  await world.sdk.faults.add({ path: "/api/v1/send", drop: true, when: "after", count: 1 });
  await expect(send(world)).rejects.toThrow("fetch failed");
  expect(await total(world)).toBe(0);
  await expect(send(world)).rejects.toThrow("fetch failed");
  expect(await total(world)).toBe(1);
});

test("an answer lost after the work is made good by asking again with the same Idempotency-Key", async () => {
  await using world = await createWorld();
  await world.sdk.faults.add({ path: "/api/v1/send", code: "internal_error", when: "after", count: 1 });
  const key = { "idempotency-key": "order-1" };
  expect((await send(world, key)).status).toBe(500);
  const again = await send(world, key);
  expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
  expect(await world.inbox.all()).toHaveLength(1);
});

test("the client recovers by itself from one lost answer, and sends once", async () => {
  await using world = await createWorld();
  await world.sdk.faults.add({ path: "/api/v1/send", drop: true, when: "after", count: 1 });
  await world.sdk.emails.send(hello);
  expect(await total(world)).toBe(1);
});
