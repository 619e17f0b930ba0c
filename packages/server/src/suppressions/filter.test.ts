import { describe, expect, test, vi } from "vitest";
import { describeDb } from "../../test/describe-db.ts";
import { ask } from "../../test/scenario.ts";
import { realTime } from "../lib/clock.ts";
import { Fingerprints } from "../lib/fingerprints.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { SuppressionFilter } from "./filter.ts";
import type { SuppressionRow } from "./suppressions.ts";

const hello = { from: "a@acme.test", subject: "Hello", text: "x" };
const statusOf = async (world: TestWorld, to: string): Promise<number> =>
  (await ask(world, { path: "/api/v1/send", body: { ...hello, to } })).status;
/** A world whose server has read its suppressions: the first send makes it do so. */
const warm = async (): Promise<TestWorld> => {
  const world = await createWorld();
  await world.sdk.emails.send({ ...hello, to: "first@example.com" });
  await world.settle();
  return world;
};

describe("a suppression counts from the moment it is made", () => {
  test("through the API, and no longer once it is removed", async () => {
    await using world = await warm();
    expect(await statusOf(world, "ada@example.com")).toBe(200);
    await world.sdk.suppressions.create({ email: "Ada@example.com" });
    expect(await statusOf(world, "ada@example.com")).toBe(400);
    await world.sdk.suppressions.delete("ada@example.com");
    expect(await statusOf(world, "ada@example.com")).toBe(200);
  });

  test("through an import, and after a bounce", async () => {
    await using world = await warm();
    await world.sdk.suppressions.import({ entries: [{ email: "ada@example.com", reason: "manual", scope: "all" }] });
    await world.sdk.emails.send({ ...hello, to: "hardbounced@simulator.mailsvc.test" });
    await world.settle();
    expect(await statusOf(world, "ada@example.com")).toBe(400);
    expect(await statusOf(world, "hardbounced@simulator.mailsvc.test")).toBe(400);
  });

  test("after the person was erased", async () => {
    await using world = await warm();
    await world.sdk.suppressions.create({ email: "ada@example.com" });
    await world.sdk.people.erase("ada@example.com");
    expect(await statusOf(world, "ada@example.com")).toBe(400);
    expect(await statusOf(world, "grace@example.com")).toBe(200);
  });

  test("after a snapshot is restored", async () => {
    await using world = await warm();
    await world.sdk.suppressions.create({ email: "ada@example.com" });
    await world.sdk.world.snapshot({ name: "s" });
    await world.sdk.world.reset();
    expect(await statusOf(world, "ada@example.com")).toBe(200);
    await world.sdk.world.restore({ name: "s" });
    expect([await statusOf(world, "ada@example.com"), await statusOf(world, "ada@example.com")]).toEqual([400, 400]);
    await world.settle();
    expect(await statusOf(world, "ada@example.com")).toBe(400);
  });
});

const entry = (email: string): SuppressionRow => ({
  id: `sup_${email}`,
  workspaceId: "ws_1",
  email,
  reason: "manual",
  scope: "all",
  source: "api",
  emailId: null,
  note: null,
  createdAt: 1,
  updatedAt: 1,
});
const known = (filter: SuppressionFilter): Promise<void> =>
  vi.waitFor(() => expect(filter.mayContain("ws_none", ["nobody@example.com"])).toBe(false));

describeDb("the filter", (t) => {
  test("finds every address of a long list, and hardly any other, in its workspace only", async () => {
    const rows = Array.from({ length: 5000 }, (_, i) => entry(`r${i}@example.com`));
    await t.db.tx((tx) => tx.insertAll(tx.t.suppressions, rows));
    const filter = new SuppressionFilter(t.db.read, realTime);
    expect(filter.mayContain("ws_1", ["stranger@example.com"])).toBe(true);
    await known(filter);
    expect(rows.filter(({ email }) => !filter.mayContain("ws_1", [email]))).toEqual([]);
    expect(rows.filter(({ email }) => filter.mayContain("ws_2", [email])).length).toBeLessThan(5);
    expect(filter.mayContain("ws_1", ["stranger@example.com", "r17@example.com"])).toBe(true);
  });

  test("the first lookup may happen inside a transaction", async () => {
    await t.db.tx((tx) => tx.insertAll(tx.t.suppressions, [entry("r@example.com")]));
    const filter = new SuppressionFilter(t.db.read, realTime);
    await t.db.tx(async () => expect(filter.mayContain("ws_1", ["a@example.com"])).toBe(true));
    await known(filter);
    expect(["r", "a"].map((name) => filter.mayContain("ws_1", [`${name}@example.com`]))).toEqual([true, false]);
  });

  test("an address added while the filter loads is found", async () => {
    await t.db.tx((tx) =>
      tx.insertAll(
        tx.t.suppressions,
        Array.from({ length: 4500 }, (_, i) => entry(`r${i}@example.com`)),
      ),
    );
    const filter = new SuppressionFilter(t.db.read, realTime);
    filter.mayContain("ws_1", ["a@example.com"]);
    filter.add("ws_1", "late@example.com");
    await known(filter);
    expect(filter.mayContain("ws_1", ["late@example.com"])).toBe(true);
  });

  test("where other processes write too, every address has to be looked up", () => {
    const filter = new SuppressionFilter(null, realTime);
    expect([filter.mayContain("ws_1", ["a@example.com"]), filter.mayContain("ws_1", ["a@example.com"])]).toEqual([true, true]);
  });
});

test("fingerprints find all texts that were added, however large the set grows", () => {
  const prints = new Fingerprints();
  const texts = Array.from({ length: 20_000 }, (_, i) => `ws_${i % 7} person-${i}@example.com`);
  texts.forEach((text, i) => {
    prints.add(text);
    if (i % 997 === 0) prints.add(text);
  });
  expect(texts.every((text) => prints.mayHave(text))).toBe(true);
  expect(texts.filter((text) => prints.mayHave(`x${text}`)).length).toBeLessThan(5);
});
