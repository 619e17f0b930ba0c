import { asc, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { describeDb } from "../../test/describe-db.ts";
import type { Tx } from "./db.ts";
import { MisplacedQuery, StorageUnavailable, UniqueViolation } from "./errors.ts";

// On SQLite such transactions share commits.
describeDb("transactions at the same time", (t) => {
  const boom = new Error("boom");
  const put = (tx: Tx, name: string, value = "1") => tx.insertAll(tx.t.meta, [{ name, value }]);
  const names = async (): Promise<string[]> =>
    (await t.db.read.select().from(t.db.read.t.meta).orderBy(t.db.read.t.meta.name)).map((r) => r.name);
  const event = (type: string) => ({ workspaceId: "ws", type, emailId: null, contactId: null, at: 1, data: null });

  test("keep what they wrote once they have answered, each with its own result", async () => {
    const results = await Promise.all(
      Array.from({ length: 300 }, (_, i) =>
        t.db.tx(async (tx) => {
          await put(tx, `row-${i}`);
          return i;
        }),
      ),
    );
    expect(results).toEqual(Array.from({ length: 300 }, (_, i) => i));
    expect(await names()).toHaveLength(300);
  });

  test("are not answered before their rows can be read by others", async () => {
    const { meta } = t.db.read.t;
    const seen = await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        await t.db.tx((tx) => put(tx, `row-${i}`));
        return t.db.read.$count(meta, eq(meta.name, `row-${i}`));
      }),
    );
    expect(seen).toEqual(Array.from({ length: 20 }, () => 1));
  });

  test("lose only their own rows when they throw", async () => {
    const ends = await Promise.allSettled(
      Array.from({ length: 30 }, (_, i) =>
        t.db.tx(async (tx) => {
          await put(tx, `caller-${String(i).padStart(2, "0")}`);
          if (i % 3 === 1) throw boom;
        }),
      ),
    );
    expect(ends.filter((end) => end.status === "rejected").map((end) => end.reason)).toEqual(Array.from({ length: 10 }, () => boom));
    expect(await names()).toEqual(ends.flatMap((end, i) => (end.status === "fulfilled" ? [`caller-${String(i).padStart(2, "0")}`] : [])));
  });

  test("of which one takes a key that exists: only that one fails", async () => {
    await t.db.tx((tx) => put(tx, "taken"));
    const ends = await Promise.allSettled(
      ["a", "b", "taken", "c", "d"].map((name) =>
        t.db.tx(async (tx) => {
          await put(tx, `${name}-before`);
          await put(tx, name);
        }),
      ),
    );
    expect(ends.map((end) => end.status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled", "fulfilled"]);
    expect(ends[2]).toMatchObject({ reason: expect.any(UniqueViolation) });
    expect(await names()).toEqual(["a", "a-before", "b", "b-before", "c", "c-before", "d", "d-before", "taken"]);
  });

  test("of which several take the same key: one gets it", async () => {
    const ends = await Promise.allSettled(Array.from({ length: 8 }, () => t.db.tx((tx) => put(tx, "same"))));
    expect(ends.filter((end) => end.status === "fulfilled")).toHaveLength(1);
    for (const end of ends) if (end.status === "rejected") expect(end.reason).toBeInstanceOf(UniqueViolation);
    expect(await names()).toEqual(["same"]);
  });

  test("of which one writes a row that cannot be stored: only that one fails", async () => {
    const ends = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => t.db.tx((tx) => put(tx, `row-${i}`, i === 7 ? (null as unknown as string) : "1"))),
    );
    expect(ends.flatMap((end, i) => (end.status === "rejected" ? [i] : []))).toEqual([7]);
    expect(await names()).toHaveLength(19);
  });

  test("that read and change a row lose nothing", async () => {
    await t.db.tx((tx) => put(tx, "counter", "0"));
    const { meta } = t.db.read.t;
    const increment = (i: number) =>
      t.db.tx(async (tx) => {
        await put(tx, `step-${i}`);
        const [row] = await tx.select().from(meta).where(eq(meta.name, "counter"));
        await tx
          .update(meta)
          .set({ value: String(Number(row?.value) + 1) })
          .where(eq(meta.name, "counter"));
      });
    await Promise.all(Array.from({ length: 100 }, (_, i) => increment(i)));
    expect((await t.db.read.select().from(meta).where(eq(meta.name, "counter")))[0]?.value).toBe("100");
    expect(await names()).toHaveLength(101);
  });

  test("are guarded, whatever they catch: a query that needed more is not skipped", async () => {
    const sum = await t.db.tx(async (tx) => {
      await put(tx, "a");
      const rows = await Promise.resolve()
        .then(() => tx.select().from(tx.t.meta))
        .catch(() => []);
      return rows.length;
    });
    expect(sum).toBe(1);
  });

  test("run their hooks once, after the commit, and none after a failure", async () => {
    const ran: number[] = [];
    const ends = await Promise.allSettled(
      Array.from({ length: 6 }, (_, i) =>
        t.db.tx(async (tx) => {
          tx.afterCommit(() => ran.push(i));
          await put(tx, `row-${i}`);
          if (i === 2) throw boom;
          if (i === 4) await tx.select().from(tx.t.meta);
          expect(ran).not.toContain(i);
        }),
      ),
    );
    expect(ends.filter((end) => end.status === "fulfilled")).toHaveLength(5);
    expect(ran.sort()).toEqual([0, 1, 3, 4, 5]);
  });

  test("see committed rows when they look up, and their own", async () => {
    await t.db.tx((tx) => put(tx, "a", "committed"));
    const found = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        t.db.tx(async (tx) => {
          const before = await tx.lookUp(tx.t.meta, [{ name: "a" }, { name: `own-${i}` }]);
          await put(tx, `own-${i}`);
          return [before, await tx.lookUp(tx.t.meta, [{ name: `own-${i}` }])];
        }),
      ),
    );
    expect(found).toEqual(
      Array.from({ length: 10 }, (_, i) => [[[{ name: "a", value: "committed" }], []], [[{ name: `own-${i}`, value: "1" }]]]),
    );
  });

  test("look up rows of all kinds of columns as reads give them, outside a transaction too", async () => {
    const key = {
      workspaceId: "ws",
      name: "k",
      permissions: ["contacts:read" as const],
      preview: "p",
      owner: true,
      test: false,
      revokedAt: null,
      lastUsedAt: null,
      expiresAt: null,
      senders: null,
      networks: null,
    };
    const rows = [
      { ...key, id: "1", hash: "1", createdAt: 8_640_000_000_000_000 },
      { ...key, id: "2", hash: "2", createdAt: -1 },
    ];
    await t.db.tx((tx) => tx.insertAll(tx.t.keys, rows));
    const { keys } = t.db.read.t;
    expect(await t.db.read.lookUp(keys, [{ id: "2" }, { id: "none" }, { id: "1" }])).toEqual([[rows[1]], [], [rows[0]]]);
    expect((await t.db.read.lookUp(keys, [{ workspaceId: "ws" }]))[0]).toHaveLength(2);
    expect(await t.db.read.lookUp(keys, [])).toEqual([]);
  });

  test("number their rows, each with its own numbers", async () => {
    const numbers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => t.db.tx((tx) => tx.insertNumbered(tx.t.events, [event(`a${i}`), event(`b${i}`)]))),
    );
    expect(new Set(numbers.flat()).size).toBe(20);
    const { events } = t.db.read.t;
    const rows = await t.db.read.select().from(events).orderBy(asc(events.sequence));
    expect(rows.map(({ sequence, type }) => [sequence, type])).toEqual(
      numbers
        .flatMap(([first, second], i) => [
          [first, `a${i}`],
          [second, `b${i}`],
        ])
        .sort(([a], [b]) => Number(a) - Number(b)),
    );
  });

  test("without rows are answered as well", async () => {
    expect(await t.db.tx(async () => 42)).toBe(42);
    await expect(t.db.tx(() => Promise.reject(boom))).rejects.toBe(boom);
  });

  test("refuse queries outside them, inside them and after their end", async () => {
    let leaked: Tx | undefined;
    await t.db.tx(async (tx) => {
      leaked = tx;
      await put(tx, "a");
    });
    await expect((async () => leaked && put(leaked, "late"))()).rejects.toThrow(MisplacedQuery);
    await expect(t.db.tx(async () => void (await t.db.read.lookUp(t.db.read.t.meta, [{ name: "a" }])))).rejects.toThrow(MisplacedQuery);
    await expect(t.db.tx(async () => t.db.tx((inner) => put(inner, "b")))).rejects.toThrow(MisplacedQuery);
    expect(await names()).toEqual(["a"]);
  });

  test("are finished before the database closes, and refused afterwards", async () => {
    const pending = Array.from({ length: 10 }, (_, i) => t.db.tx((tx) => put(tx, `row-${i}`)));
    await t.db.close();
    await Promise.all(pending);
    await expect(t.db.tx((tx) => put(tx, "late"))).rejects.toThrow(StorageUnavailable);
  });
});
