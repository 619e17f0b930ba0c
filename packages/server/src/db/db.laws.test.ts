import { eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { describeDb } from "../../test/describe-db.ts";
import type { Tx } from "./db.ts";
import { MisplacedQuery, StorageUnavailable, UniqueViolation } from "./errors.ts";

describeDb("every database", (t) => {
  const put = (tx: Tx, name: string, value = "1") => tx.insert(tx.t.meta).values({ name, value });
  const names = async (): Promise<string[]> =>
    (await t.db.read.select().from(t.db.read.t.meta).orderBy(t.db.read.t.meta.name)).map((r) => r.name);
  const stored = async (name: string): Promise<string | undefined> =>
    (await t.db.read.select().from(t.db.read.t.meta).where(eq(t.db.read.t.meta.name, name)))[0]?.value;
  const boom = new Error("boom");

  test("keeps what a transaction wrote once it has answered, and hands its result on", async () => {
    const answer = await t.db.tx(async (tx) => {
      await put(tx, "a");
      return 42;
    });
    expect(answer).toBe(42);
    expect(await names()).toEqual(["a"]);
  });

  test("takes back everything of a transaction that throws, and throws the same error", async () => {
    const failing = t.db.tx(async (tx) => {
      await put(tx, "a");
      await put(tx, "b");
      throw boom;
    });
    await expect(failing).rejects.toBe(boom);
    expect(await names()).toEqual([]);
  });

  test("a transaction that throws before its first query is rejected like any other", async () => {
    await expect(
      t.db.tx(() => {
        throw boom;
      }),
    ).rejects.toBe(boom);
  });

  test("of callers that arrive together only the failing one loses its rows", async () => {
    const callers = Array.from({ length: 30 }, (_, i) =>
      t.db.tx(async (tx) => {
        await put(tx, `caller-${String(i).padStart(2, "0")}`);
        if (i % 3 === 1) throw boom;
        return i;
      }),
    );
    const ends = await Promise.allSettled(callers);
    expect(ends.filter((e) => e.status === "rejected")).toHaveLength(10);
    expect(await names()).toEqual(ends.flatMap((e, i) => (e.status === "fulfilled" ? [`caller-${String(i).padStart(2, "0")}`] : [])));
  });

  test("no caller is answered before its rows can be read by others", async () => {
    const seen = await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        await t.db.tx((tx) => put(tx, `row-${i}`));
        return stored(`row-${i}`);
      }),
    );
    expect(seen).toEqual(Array.from({ length: 20 }, () => "1"));
  });

  test("a transaction sees its own rows; nobody else does until it commits", async () => {
    const watcher: { before?: Promise<string[]> } = {};
    await t.db.tx(async (tx) => {
      await put(tx, "secret");
      expect(await tx.select().from(tx.t.meta)).toHaveLength(1);
      tx.afterCommit(() => {
        watcher.before = names();
      });
    });
    expect(await watcher.before).toEqual(["secret"]);
  });

  test("a write made while another transaction is open is not lost when that one rolls back", async () => {
    let second: Promise<unknown> = Promise.resolve();
    let begun = (): void => {};
    const open = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const first = t.db.tx(async (tx) => {
      await put(tx, "doomed");
      begun();
      await put(tx, "doomed too");
      throw boom;
    });
    // A BEGIN … COMMIT by hand on one connection loses this row in silence, and answers this caller "ok".
    second = open.then(() => t.db.tx((tx) => put(tx, "kept")));
    await expect(first).rejects.toBe(boom);
    await second;
    expect(await names()).toEqual(["kept"]);
  });

  test("a transaction that breathes lets others read meanwhile, and stays one: all of its rows or none", async () => {
    const seen: string[][] = [];
    const long = (end: () => void) =>
      t.db.tx(async (tx) => {
        for (let i = 0; i < 5; i += 1) {
          await put(tx, `part-${i}`);
          const before = seen.length;
          do await Promise.all([tx.breathe(), tx.breathe()]);
          while (seen.length === before);
        }
        end();
      });
    let reading = true;
    const reader = (async () => {
      while (reading) {
        seen.push(await names());
        await new Promise((next) => setImmediate(next));
      }
    })();
    await expect(
      long(() => {
        throw boom;
      }),
    ).rejects.toBe(boom);
    const beside = long(() => {});
    await Promise.all([beside, t.db.tx((tx) => put(tx, "other"))]);
    reading = false;
    await reader;
    expect(seen.length).toBeGreaterThanOrEqual(10);
    for (const rows of seen) expect([0, 5]).toContain(rows.filter((name) => name.startsWith("part-")).length);
    expect((await names()).sort()).toEqual(["other", ...Array.from({ length: 5 }, (_, i) => `part-${i}`)]);
  });

  test("a thousand parallel read-modify-writes lose nothing", async () => {
    await t.db.tx((tx) => put(tx, "counter", "0"));
    const { meta } = t.db.read.t;
    const increment = () =>
      t.db.tx(async (tx) => {
        const [row] = await tx.select().from(meta).where(eq(meta.name, "counter"));
        await tx
          .update(meta)
          .set({ value: String(Number(row?.value) + 1) })
          .where(eq(meta.name, "counter"));
      });
    // All at once, some would wait longer for a connection of Postgres than a busy machine gives them.
    for (let wave = 0; wave < 5; wave += 1) await Promise.all(Array.from({ length: 200 }, increment));
    expect(await stored("counter")).toBe("1000");
  });

  test("a second row with the same unique key is a UniqueViolation that gives nothing away", async () => {
    await t.db.tx((tx) => put(tx, "ada@secret.example"));
    const error: unknown = await t.db.tx((tx) => put(tx, "ada@secret.example", "hidden")).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(UniqueViolation);
    const told = `${(error as Error).message} ${String((error as Error).cause)}`;
    expect(told).not.toMatch(/secret|hidden|insert|meta|sql/i);
  });

  test("inside the transaction, too, a duplicate is a UniqueViolation that can be caught there", async () => {
    await t.db.tx((tx) => put(tx, "a"));
    const caught = await t.db
      .tx(async (tx) => {
        try {
          await put(tx, "a");
          return null;
        } catch (error) {
          throw new Error("conflict", { cause: error });
        }
      })
      .catch((e: Error) => e.cause);
    expect(caught).toBeInstanceOf(UniqueViolation);
  });

  test("a query that fails for another reason tells neither SQL nor parameters", async () => {
    const { meta } = t.db.read.t;
    const error = (await t.db
      .tx((tx) => tx.update(meta).set({ value: sql`null` }).where(eq(meta.name, "ada@secret.example")))
      .then(() => t.db.tx((tx) => tx.insert(meta).values({ name: "ada@secret.example", value: sql`null` as unknown as string })))
      .catch((e: unknown) => e)) as Error;
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(UniqueViolation);
    expect(error.message).not.toMatch(/secret|insert|meta/i);
  });

  test("a read outside the open transaction is refused, and the caller's rows are taken back", async () => {
    const misplaced = t.db.tx(async (tx) => {
      await put(tx, "a");
      await t.db.read.select().from(t.db.read.t.meta);
    });
    await expect(misplaced).rejects.toThrow(MisplacedQuery);
    expect(await names()).toEqual([]);
  });

  test("a transaction inside another one is refused", async () => {
    const nested = t.db.tx(async (tx) => {
      await put(tx, "a");
      await t.db.tx((inner) => put(inner, "b"));
    });
    await expect(nested).rejects.toThrow(MisplacedQuery);
    expect(await names()).toEqual([]);
  });

  test("a query after the end of its transaction is refused, whether it committed or not", async () => {
    let leaked: Tx | undefined;
    await t.db.tx(async (tx) => {
      leaked = tx;
      await put(tx, "a");
    });
    const late = async () => leaked && put(leaked, "late");
    await expect(late()).rejects.toThrow(MisplacedQuery);
    expect(await names()).toEqual(["a"]);
  });

  test("a refused query does not harm those that wait at the same time", async () => {
    const bad = t.db.tx(async () => void (await t.db.read.select().from(t.db.read.t.meta)));
    const good = [1, 2, 3].map((n) => t.db.tx((tx) => put(tx, `good-${n}`)));
    await expect(bad).rejects.toThrow(MisplacedQuery);
    await Promise.all(good);
    expect(await names()).toEqual(["good-1", "good-2", "good-3"]);
  });

  test("what is to run after the commit runs once the rows are there, in order", async () => {
    const ran: string[] = [];
    await t.db.tx(async (tx) => {
      tx.afterCommit(() => ran.push("first"));
      await put(tx, "a");
      tx.afterCommit(() => ran.push("second"));
      expect(ran).toEqual([]);
    });
    expect(ran).toEqual(["first", "second"]);
  });

  test("what is to run after the commit never runs when the transaction rolls back", async () => {
    const ran: string[] = [];
    const failing = t.db.tx(async (tx) => {
      tx.afterCommit(() => ran.push("never"));
      await put(tx, "a");
      throw boom;
    });
    await expect(failing).rejects.toBe(boom);
    await t.db.tx((tx) => put(tx, "b"));
    expect(ran).toEqual([]);
  });

  test("a hook that throws harms neither its own caller nor the next ones", async () => {
    await expect(
      t.db.tx(async (tx) => {
        tx.afterCommit(() => {
          throw boom;
        });
        await put(tx, "a");
        return "done";
      }),
    ).resolves.toBe("done");
    await t.db.tx((tx) => put(tx, "b"));
    expect(await names()).toEqual(["a", "b"]);
  });

  test("flags, JSON, bytes and instants come back as they went in", async () => {
    const { keys, attachments, inbox } = t.db.read.t;
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    const far = 8_640_000_000_000_000;
    const key = { workspaceId: "ws", name: "k", permissions: ["contacts:read" as const], preview: "p", test: false, createdAt: far };
    await t.db.tx(async (tx) => {
      await tx.insert(keys).values({ ...key, id: "1", owner: true, hash: "1", revokedAt: null });
      await tx.insert(keys).values({ ...key, id: "2", owner: false, hash: "2", revokedAt: 2 ** 31 + 1 });
      await tx
        .insert(attachments)
        .values({ contentsId: 2 ** 40, position: 0, filename: "f", contentType: "x/y", contentId: null, size: 256, content: bytes });
      await tx.insert(inbox).values({
        id: "m",
        emailId: null,
        workspaceId: null,
        to: "t",
        from: "f",
        subject: "",
        size: 0,
        raw: new Uint8Array(0),
        receivedAt: -1,
        test: false,
      });
    });
    const rows = await t.db.read.select().from(keys).orderBy(keys.id);
    expect(rows.map((r) => [r.owner, r.permissions, r.createdAt, r.revokedAt])).toEqual([
      [true, ["contacts:read"], far, null],
      [false, ["contacts:read"], far, 2 ** 31 + 1],
    ]);
    const [file] = await t.db.read.select().from(attachments);
    expect([...(file?.content ?? [])]).toEqual([...bytes]);
    const [mail] = await t.db.read.select().from(inbox);
    expect(mail).toMatchObject({ receivedAt: -1, subject: "" });
    expect(mail?.raw).toHaveLength(0);
  });

  test("a flag can be asked for by its value", async () => {
    const { keys } = t.db.read.t;
    await t.db.tx((tx) =>
      tx.insert(keys).values(
        [true, false].map((owner, i) => ({
          id: `${i}`,
          hash: `${i}`,
          workspaceId: "w",
          name: "n",
          permissions: [],
          preview: "",
          owner,
          test: false,
          createdAt: 0,
          revokedAt: null,
        })),
      ),
    );
    expect(await t.db.read.$count(keys, eq(keys.owner, true))).toBe(1);
  });

  test("JSON that is absent is null, and not the text 'null'", async () => {
    const { events } = t.db.read.t;
    const event = { workspaceId: "w", type: "email.queued", emailId: null, at: 0 };
    await t.db.tx(async (tx) => {
      await tx.insert(events).values({ ...event, data: null });
      await tx.insert(events).values({ ...event, data: { nested: { list: [1, "two", null, true], text: 'quote " and \\' } } });
    });
    const rows = await t.db.read.select().from(events).orderBy(events.sequence);
    expect(rows.map((r) => r.data)).toEqual([null, { nested: { list: [1, "two", null, true], text: 'quote " and \\' } }]);
    expect(await t.db.read.$count(events, sql`${events.data} is null`)).toBe(1);
  });

  test.each([
    ["emoji and their joiners", "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽"],
    ["text beyond the basic plane", "𝒜𐍈𠜎"],
    ["combining marks, not composed", "e\u0301 \u202Eabc\u202C"],
    ["quotes, percent signs and SQL", `'; DROP TABLE meta; -- %s _ \\ "`],
    ["line breaks and tabs", "a\r\nb\tc\n"],
    ["a long text", "ü".repeat(100_000)],
    ["nothing at all", ""],
  ])("text keeps %s", async (_what, text) => {
    await t.db.tx((tx) => put(tx, "text", text));
    expect(await stored("text")).toBe(text);
  });

  test("a counter counts in the order of insertion", async () => {
    const { events } = t.db.read.t;
    const add = () =>
      t.db.tx((tx) =>
        tx
          .insert(events)
          .values({ workspaceId: "w", type: "email.queued", emailId: null, at: 0, data: null })
          .returning({ n: events.sequence }),
      );
    const [first] = await add();
    const [second] = await add();
    const [third] = await add();
    expect(second?.n).toBeGreaterThan(first?.n ?? 0);
    expect(third?.n).toBeGreaterThan(second?.n ?? 0);
  });

  test("an upsert by its unique columns updates the row that is there", async () => {
    const { meta } = t.db.read.t;
    const upsert = (value: string) =>
      t.db.tx((tx) => tx.insert(meta).values({ name: "a", value }).onConflictDoUpdate({ target: meta.name, set: { value } }));
    await upsert("1");
    await upsert("2");
    expect(await stored("a")).toBe("2");
  });

  test("a prepared statement serves many transactions, each with its own parameters", async () => {
    const { meta } = t.db.read.t;
    const add = (name: string) =>
      t.db.tx(async (tx) => {
        const statement = tx.prepared("law_add", (q, _, arg) => q.insert(meta).values({ name: arg("name"), value: arg("value") }));
        await statement.execute({ name, value: `value of ${name}` });
      });
    await Promise.all(["a", "b", "c"].map(add));
    expect(await names()).toEqual(["a", "b", "c"]);
    expect(await stored("b")).toBe("value of b");
  });

  test("a prepared statement is guarded like any other query", async () => {
    const { meta } = t.db.read.t;
    const all = () => t.db.read.prepared("law_all", (q) => q.select().from(meta)).execute({});
    expect(await all()).toEqual([]);
    const misplaced = t.db.tx(async (tx) => {
      await put(tx, "a");
      await all();
    });
    await expect(misplaced).rejects.toThrow(MisplacedQuery);
  });

  test("answers a ping while it is open", async () => {
    await expect(t.db.ping()).resolves.toBeUndefined();
  });

  test("once closed it refuses reads, writes and pings as StorageUnavailable; closing twice is harmless", async () => {
    const pending = t.db.tx((tx) => put(tx, "in time"));
    await t.db.close();
    await pending;
    await expect(t.db.tx((tx) => put(tx, "late"))).rejects.toThrow(StorageUnavailable);
    await expect(t.db.ping()).rejects.toThrow(StorageUnavailable);
    await expect(names()).rejects.toThrow(StorageUnavailable);
    await t.db.close();
  });
});
