import { asc } from "drizzle-orm";
import { expect, test } from "vitest";
import { describeDb } from "../../test/describe-db.ts";
import type { Tx } from "./db.ts";
import { UniqueViolation } from "./errors.ts";

describeDb("many rows at once", (t) => {
  const event = (type: string, data: Record<string, unknown> | null = null) => ({
    workspaceId: "ws",
    type,
    emailId: null,
    contactId: null,
    at: 1,
    data,
  });
  const events = () => t.db.read.select().from(t.db.read.t.events).orderBy(asc(t.db.read.t.events.sequence));
  const contact = (seq: number, email: string) => ({
    seq,
    id: `con_${seq}`,
    workspaceId: "ws",
    email,
    emailKey: email,
    firstName: null as string | null,
    lastName: 'O\'Neil \\ {"x"},',
    phone: null,
    externalId: null,
    language: null,
    status: "SUBSCRIBED" as const,
    tags: ["a,b", '"c"', "{d}", "é", ""],
    customFields: { n: 1, nested: { list: [null, true, "\u2028"] } },
    searchText: "X",
    createdAt: 1_790_000_000_123,
    updatedAt: 0,
  });
  const put = (tx: Tx, ...rows: ReturnType<typeof contact>[]) => tx.insertAll(tx.t.contacts, rows);

  test("are written in the order given, and count on by themselves", async () => {
    await t.db.tx((tx) =>
      tx.insertAll(
        tx.t.events,
        Array.from({ length: 2500 }, (_, i) => event(`e${i}`)),
      ),
    );
    const rows = await events();
    expect(rows.map((r) => r.type)).toEqual(Array.from({ length: 2500 }, (_, i) => `e${i}`));
    expect(new Set(rows.map((r) => r.sequence)).size).toBe(2500);
  });

  test("come back as they were, whatever stands in them", async () => {
    await t.db.tx((tx) => put(tx, contact(1, "a"), { ...contact(2, "b"), firstName: "" }));
    const { contacts } = t.db.read.t;
    expect(await t.db.read.select().from(contacts).orderBy(contacts.seq)).toEqual([contact(1, "a"), { ...contact(2, "b"), firstName: "" }]);
    await t.db.tx((tx) => tx.insertAll(tx.t.events, [event("none"), event("some", { a: [1, null] })]));
    expect((await events()).map((r) => r.data)).toEqual([null, { a: [1, null] }]);
  });

  test("let others read between large ones, and come back whole", async () => {
    const { attachmentParts } = t.db.read.t;
    const parts = Array.from({ length: 12 }, (_, part) => ({ contentsId: 1, position: 0, part, content: Buffer.alloc(700_000, part) }));
    let turns = 0;
    const count = (): void => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await t.db.tx(async (tx) => {
      turns = 0;
      await tx.insertAll(tx.t.attachmentParts, parts);
      expect(turns).toBeGreaterThanOrEqual(parts.length - 1);
    });
    clearImmediate(next);
    const stored = await t.db.read.select().from(attachmentParts).orderBy(attachmentParts.part);
    expect(stored.map(({ part, content }) => [part, content.length, content.at(-1)])).toEqual(
      parts.map(({ part }) => [part, 700_000, part]),
    );
  });

  test("none at all is nothing", async () => {
    await t.db.tx((tx) => tx.insertAll(tx.t.events, []));
    expect(await events()).toEqual([]);
  });

  test("are taken back with their transaction", async () => {
    const boom = new Error("boom");
    await expect(
      t.db.tx(async (tx) => {
        await put(tx, contact(1, "a"));
        throw boom;
      }),
    ).rejects.toBe(boom);
    expect(await t.db.read.$count(t.db.read.t.contacts)).toBe(0);
  });

  test("with keys that were said to be new, one that exists is refused, with all others", async () => {
    await t.db.tx((tx) => put(tx, contact(1, "a")));
    const { contacts } = t.db.read.t;
    const again = t.db.tx((tx) => tx.insertAll(tx.t.contacts, [contact(2, "b"), contact(1, "c")], { newKeys: true }));
    await expect(again).rejects.toThrow(UniqueViolation);
    expect(await t.db.read.$count(contacts)).toBe(1);
    await t.db.tx((tx) => tx.insertAll(tx.t.contacts, [contact(2, "b"), contact(3, "c")], { newKeys: true }));
    expect(await t.db.read.$count(contacts)).toBe(3);
  });

  test("numbers are unused, rising, and nobody else's", async () => {
    await t.db.tx(async (tx) => {
      const [first = 0] = await tx.nextNumbers(tx.t.contacts, 1);
      await put(tx, contact(first, "first"));
    });
    const taken = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        t.db.tx(async (tx) => {
          const numbers = await tx.nextNumbers(tx.t.contacts, 3);
          expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
          await put(tx, ...numbers.map((n, k) => contact(n, `${i}-${k}`)));
          return numbers;
        }),
      ),
    );
    expect(new Set(taken.flat()).size).toBe(24);
    expect(await t.db.read.$count(t.db.read.t.contacts)).toBe(25);
  });

  test("of two who write the same key at once, the later one is run again and sees the other's", async () => {
    let runs = 0;
    const once = () =>
      t.db.tx(async (tx) => {
        runs += 1;
        const { contacts } = tx.t;
        if ((await tx.select().from(contacts)).length > 0) return "there";
        const [seq = 0] = await tx.nextNumbers(contacts, 1);
        await put(tx, contact(seq, "same"));
        return "made";
      });
    const ends = await Promise.all(Array.from({ length: 6 }, once));
    expect(ends.filter((end) => end === "made")).toHaveLength(1);
    expect(runs).toBeGreaterThanOrEqual(6);
    expect(await t.db.read.$count(t.db.read.t.contacts)).toBe(1);
  });
});
