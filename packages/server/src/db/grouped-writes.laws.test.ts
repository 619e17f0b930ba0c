import { expect, test, vi } from "vitest";
import { describeDb } from "../../test/describe-db.ts";
import type { Tx } from "./db.ts";
import { StorageUnavailable, UniqueViolation } from "./errors.ts";
import { GroupedWrites } from "./grouped-writes.ts";

const NAMES = Array.from({ length: 50 }, (_, i) => `row-${String(i).padStart(3, "0")}`);

describeDb("grouped writes", (t) => {
  const store = vi.fn(async (tx: Tx, names: readonly string[]) => {
    const rows = names.map((name) => ({ name, value: "1" }));
    await tx.insertAll(tx.t.meta, rows);
    return names.map((name) => `stored ${name}`);
  });
  const group = (check: (tx: Tx, name: string) => Promise<string> = async (_tx, name) => name) => {
    store.mockClear();
    return new GroupedWrites(t.db, { check, store });
  };
  const names = async (): Promise<string[]> =>
    (await t.db.read.select().from(t.db.read.t.meta).orderBy(t.db.read.t.meta.name)).map(({ name }) => name);
  const fulfilled = (ends: readonly PromiseSettledResult<string>[]): string[] =>
    ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
  const reasons = (ends: readonly PromiseSettledResult<string>[]): unknown[] =>
    ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : []));

  test("that arrive together are stored together, each with its own result", async () => {
    const writes = group();
    expect(await Promise.all(NAMES.map((name) => writes.run(name)))).toEqual(NAMES.map((name) => `stored ${name}`));
    expect(store).toHaveBeenCalledTimes(1);
    expect(await names()).toEqual(NAMES);
  });

  test("are divided when more arrive than one transaction takes", async () => {
    const writes = group();
    const many = Array.from({ length: 300 }, (_, i) => `row-${i}`);
    expect(await Promise.all(many.map((name) => writes.run(name)))).toEqual(many.map((name) => `stored ${name}`));
    // Groups that run at the same time do so in any order.
    expect(store.mock.calls.map(([, stored]) => stored.length).sort((one, other) => other - one)).toEqual([128, 128, 44]);
    expect(await names()).toHaveLength(300);
  });

  test("of more than a megabyte are divided, so that small ones do not wait for large ones", async () => {
    const writes = group();
    const sizes = [1_000, 600_000, 600_000, 5_000_000, 1_000, 1_000];
    expect(await Promise.all(sizes.map((size, i) => writes.run(`row-${i}`, size)))).toHaveLength(sizes.length);
    expect(store.mock.calls.map(([, stored]) => stored.length).sort()).toEqual([1, 1, 2, 2]);
  });

  test("lose only those that the check refuses", async () => {
    const refused = new Error("refused");
    const writes = group(async (_tx, name) => {
      if (name.endsWith("7")) throw refused;
      return name;
    });
    const ends = await Promise.allSettled(NAMES.map((name) => writes.run(name)));
    const left = NAMES.filter((name) => !name.endsWith("7"));
    expect(reasons(ends)).toEqual(Array.from({ length: 5 }, () => refused));
    expect(fulfilled(ends)).toEqual(left.map((name) => `stored ${name}`));
    expect(await names()).toEqual(left);
  });

  test("store nothing when the check refuses all of them", async () => {
    const refused = new Error("refused");
    const writes = group(async () => {
      throw refused;
    });
    expect(reasons(await Promise.allSettled(NAMES.map((name) => writes.run(name))))).toHaveLength(NAMES.length);
    expect(store).not.toHaveBeenCalled();
  });

  test("of which one cannot be stored: only that one fails", async () => {
    await t.db.tx((tx) => store(tx, ["row-007"]));
    const writes = group();
    const ends = await Promise.allSettled(NAMES.map((name) => writes.run(name)));
    expect(reasons(ends)).toEqual([expect.any(UniqueViolation)]);
    expect(ends[7]?.status).toBe("rejected");
    expect(await names()).toEqual(NAMES);
  });

  test("are all refused, and not tried again, when the database cannot tell whether it has them", async () => {
    const writes = group();
    store.mockRejectedValueOnce(new StorageUnavailable("gone"));
    const ends = await Promise.allSettled(NAMES.map((name) => writes.run(name)));
    expect(reasons(ends)).toEqual(NAMES.map(() => expect.any(StorageUnavailable)));
    expect(store).toHaveBeenCalledTimes(1);
    expect(await writes.run("row-after")).toBe("stored row-after");
  });

  test("check with what was committed before", async () => {
    const writes = group(async (tx, name) => {
      const [found = []] = await tx.lookUp(tx.t.meta, [{ name: "taken" }]);
      if (found.length > 0) throw new Error("taken");
      return name;
    });
    expect(await writes.run("taken")).toBe("stored taken");
    await expect(writes.run("other")).rejects.toThrow("taken");
  });
});
