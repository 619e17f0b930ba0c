import { eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { describeDb } from "../../test/describe-db.ts";

describeDb("many changes at once", (t) => {
  const email = (id: string, status: "queued" | "sending" | "cancelled" = "queued") => ({
    workspaceId: "ws",
    id,
    contentsId: 1,
    to: "ada@acme.example",
    toKey: "ada@acme.example",
    status,
    attempts: 0,
    inDoubt: false,
    lastError: null,
    createdAt: 1,
    scheduledAt: null,
    nextAttemptAt: 1,
    faults: 0,
    bytes: 0,
    sentAt: null,
    updatedAt: 1,
  });
  const put = (...rows: ReturnType<typeof email>[]) => t.db.tx((tx) => tx.insertAll(tx.t.emails, rows));
  const read = () => t.db.read.select().from(t.db.read.t.emails).orderBy(t.db.read.t.emails.id);
  const claim = (id: string, had = 0) => ({
    where: { workspaceId: "ws", id, status: "queued" as const, attempts: had },
    set: { status: "sending" as const, attempts: had + 1, updatedAt: 2 },
  });

  test("change the rows that are as expected, and tell which", async () => {
    await put(email("em_1"), email("em_2", "cancelled"), email("em_3"), email("em_4"));
    const changed = await t.db.tx((tx) =>
      tx.updateAll(tx.t.emails, [claim("em_4"), claim("em_2"), claim("em_none"), claim("em_1"), claim("em_3", 7)]),
    );
    expect(changed).toEqual([true, false, false, true, false]);
    expect((await read()).map(({ id, status, attempts }) => [id, status, attempts])).toEqual([
      ["em_1", "sending", 1],
      ["em_2", "cancelled", 0],
      ["em_3", "queued", 0],
      ["em_4", "sending", 1],
    ]);
  });

  test("leave the other columns alone, and keep values of all kinds", async () => {
    await put(email("em_1"), email("em_2"));
    const lastError = { message: 'try "later", \\ {now}', smtpCode: 421, enhancedCode: null };
    await t.db.tx((tx) =>
      tx.updateAll(tx.t.emails, [
        { where: { workspaceId: "ws", id: "em_1" }, set: { inDoubt: true, lastError, sentAt: 8_640_000_000_000_000 } },
        { where: { workspaceId: "ws", id: "em_2" }, set: { inDoubt: false, lastError: null, sentAt: null } },
      ]),
    );
    expect(await read()).toEqual([
      expect.objectContaining({ ...email("em_1"), inDoubt: true, lastError, sentAt: 8_640_000_000_000_000 }),
      expect.objectContaining(email("em_2")),
    ]);
    const { emails } = t.db.read.t;
    expect(await t.db.read.$count(emails, sql`${emails.lastError} is null`)).toBe(1);
  });

  test("delete the rows that are as expected, and tell which", async () => {
    await put(email("em_1"), email("em_2", "cancelled"), email("em_3"));
    const queued = (id: string) => ({ id, workspaceId: "ws", status: "queued" as const, scheduledAt: null });
    const rows = [queued("em_3"), queued("em_2"), queued("em_none"), queued("em_1")];
    expect(await t.db.tx((tx) => tx.deleteAll(tx.t.emails, rows))).toEqual([true, false, false, true]);
    expect((await read()).map(({ id }) => id)).toEqual(["em_2"]);
    expect(await t.db.tx((tx) => tx.deleteAll(tx.t.emails, []))).toEqual([]);
  });

  test("compare null with null", async () => {
    await put(email("em_1"), email("em_2"));
    const at = (id: string, scheduledAt: number | null, next: number) => ({
      where: { workspaceId: "ws", id, scheduledAt },
      set: { scheduledAt: next },
    });
    expect(await t.db.tx((tx) => tx.updateAll(tx.t.emails, [at("em_1", null, 5), at("em_2", 4, 5)]))).toEqual([true, false]);
    expect(await t.db.tx((tx) => tx.updateAll(tx.t.emails, [at("em_1", null, 6), at("em_2", null, 6)]))).toEqual([false, true]);
    expect((await read()).map((row) => row.scheduledAt)).toEqual([5, 6]);
  });

  test("none at all is nothing", async () => {
    expect(await t.db.tx((tx) => tx.updateAll(tx.t.emails, []))).toEqual([]);
  });

  test("are taken back with their transaction", async () => {
    await put(email("em_1"));
    const boom = new Error("boom");
    const failing = t.db.tx(async (tx) => {
      await tx.updateAll(tx.t.emails, [claim("em_1")]);
      throw boom;
    });
    await expect(failing).rejects.toBe(boom);
    expect((await read())[0]?.status).toBe("queued");
  });

  test("of two who want the same rows at once, each row goes to one", async () => {
    const ids = Array.from({ length: 50 }, (_, i) => `em_${String(i).padStart(2, "0")}`);
    await put(...ids.map((id) => email(id)));
    const takers = await Promise.all(
      [ids, ids.toReversed(), ids].map((order) =>
        t.db.tx((tx) =>
          tx.updateAll(
            tx.t.emails,
            order.map((id) => claim(id)),
          ),
        ),
      ),
    );
    expect(takers.flat().filter((changed) => changed)).toHaveLength(50);
    expect(await t.db.read.$count(t.db.read.t.emails, eq(t.db.read.t.emails.attempts, 1))).toBe(50);
  });
});
