import { eq, sql } from "drizzle-orm";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { createDatabase, dropDatabases, type TestDatabase } from "../../../test/postgres.ts";
import { type PostgresServer, startPostgres } from "../../../test/postgres-server.ts";
import { postgresSchema } from "../../schema.pg.ts";
import { StorageUnavailable } from "../errors.ts";
import { encodeBytesArray } from "./arrays.ts";
import { openPostgres, type PostgresDb, type PostgresOptions } from "./database.ts";
import { assertNoServers } from "./migrate.ts";

const databases: TestDatabase[] = [];
const opened: PostgresDb[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((db) => db.close()));
  await Promise.all(databases.splice(0).map((d) => d.drop()));
});
afterAll(dropDatabases);

const open = async (url: string, options: PostgresOptions = {}): Promise<PostgresDb> => {
  const db = await openPostgres(url, postgresSchema, options);
  opened.push(db);
  return db;
};

const fresh = async (kind: "migrated" | "empty" = "migrated"): Promise<string> => {
  const database = await createDatabase(kind);
  databases.push(database);
  return database.url;
};

const put = (db: PostgresDb, name: string): Promise<void> =>
  db.tx(async (tx) => void (await tx.insert(tx.t.meta).values({ name, value: "1" })));
const count = (db: PostgresDb): Promise<number> => Promise.resolve(db.read.$count(db.read.t.meta));

test("an array of bytes is passed in binary, and arrives as it was", async () => {
  const db = await open(await fresh());
  const every = Uint8Array.from({ length: 256 }, (_, i) => i);
  for (const values of [[every, null, new Uint8Array(0), new Uint8Array(70_000).fill(7)], [every], []]) {
    const rows = await db.read.raw<{ v: Buffer | null }>("select v from unnest($1::bytea[]) v", [encodeBytesArray(values)]);
    expect(rows.map(({ v }) => v)).toEqual(values.map((value) => value && Buffer.from(value)));
  }
});

describe("opening", () => {
  test("many servers on an empty database at once: one migrates, the others wait and find it done", async () => {
    const url = await fresh("empty");
    const servers = await Promise.all(Array.from({ length: 5 }, () => open(url, { connections: 2 })));
    await Promise.all(servers.map((db, i) => put(db, `server-${i}`)));
    expect(await count(servers[0] as PostgresDb)).toBe(5);
    const done = await (servers[0] as PostgresDb).read.raw<{ n: number }>("select count(*)::int as n from drizzle.__drizzle_migrations");
    expect(done[0]?.n).toBeGreaterThanOrEqual(1);
  });

  test.each([
    ["nobody listens", "postgres://ada:hidden@127.0.0.1:1/x"],
    ["there is no such host", "postgres://ada:hidden@nowhere.invalid/x"],
  ])("is StorageUnavailable when %s, and tells no password", async (_what, url) => {
    const error = (await openPostgres(url, postgresSchema).catch((e: unknown) => e)) as Error;
    expect(error).toBeInstanceOf(StorageUnavailable);
    expect(`${error.message} ${String(error.cause)}`).not.toMatch(/hidden|ada/);
  });

  test("a database that a newer version has migrated is refused, naming both versions", async () => {
    // Dropped afterwards: a migrated database would be emptied and used again.
    const url = await fresh("empty");
    const db = await open(url);
    await db.read.raw("insert into drizzle.__drizzle_migrations (hash, created_at) values ('later', 4000000000000)");
    await db.read.raw("update drizzle.mailsvc set version = '9.8.7'");
    const error = (await openPostgres(url, postgresSchema).catch((e: unknown) => e)) as Error;
    expect(error).toBeInstanceOf(StorageUnavailable);
    expect(error.message).toContain(`was last used by mailsvc 9.8.7, which is newer than this mailsvc ${postgresSchema.version}`);
  });

  test("another version with the same tables starts beside servers that run; one that changes tables waits for their end", async () => {
    const url = await fresh("empty");
    const db = await open(url);
    await db.read.raw("insert into workers (name, seen_at) values ('one', now())");
    await db.read.raw("update drizzle.mailsvc set version = '0.0.9'");
    await open(url);
    const client = { query: async (text: string) => ({ rows: await db.read.raw(text) }) } as unknown as Parameters<
      typeof assertNoServers
    >[0];
    await expect(assertNoServers(client, "9.8.7")).rejects.toMatchObject({
      isAway: true,
      message: expect.stringMatching(/^1 server of an earlier build still runs on the database, whose tables mailsvc 9\.8\.7 changes/),
    });
    // Killed a while ago.
    await db.read.raw("update workers set seen_at = now() - interval '11 seconds'");
    await assertNoServers(client, "9.8.7");
  });

  test("a database that another build made before its release is refused, and nothing is changed", async () => {
    const url = await fresh("empty");
    const db = await open(url);
    await db.read.raw("update drizzle.__drizzle_migrations set created_at = created_at - 1");
    const refused = openPostgres(url, postgresSchema);
    await expect(refused).rejects.toBeInstanceOf(StorageUnavailable);
    await expect(refused).rejects.toThrow(/was made by another build of mailsvc .+ whose tables this build cannot migrate/);
  });

  test("tells how many connections all processes together may open", async () => {
    const db = await open(await fresh(), { migrate: false, connections: 7 });
    expect(await db.connectionBudget()).toMatchObject({ perProcess: 8, processes: 0 });
    await db.read.raw("insert into workers values ('one', now()), ('two', now()), ('dead', now() - interval '1 hour')");
    expect((await db.connectionBudget()).processes).toBe(2);
  });

  test("a database that does not exist is an error that is over at once", async () => {
    const url = new URL(await fresh());
    url.pathname = "/there_is_no_such_database";
    await expect(openPostgres(url.href, postgresSchema)).rejects.toThrow("3D000");
  });
});

describe("transactions that meet", () => {
  test("the later of two that change the same row runs again on what the first one left, and its hooks run once", async () => {
    const db = await open(await fresh(), { migrate: false });
    const { meta } = db.read.t;
    await db.tx((tx) => tx.insert(meta).values({ name: "n", value: "0" }));
    let runs = 0;
    let hooks = 0;
    const add = (): Promise<void> =>
      db.tx(async (tx) => {
        runs += 1;
        tx.afterCommit(() => {
          hooks += 1;
        });
        const [row] = await tx.select().from(meta).where(eq(meta.name, "n"));
        await tx.raw("select pg_sleep(0.02)");
        await tx
          .update(meta)
          .set({ value: String(Number(row?.value) + 1) })
          .where(eq(meta.name, "n"));
      });
    await Promise.all([add(), add(), add()]);
    expect((await db.read.select().from(meta))[0]?.value).toBe("3");
    expect(runs).toBeGreaterThan(3);
    expect(hooks).toBe(3);
  });

  test("two that lock the same rows the other way round both succeed", async () => {
    const db = await open(await fresh(), { migrate: false });
    const { meta } = db.read.t;
    await put(db, "a");
    await put(db, "b");
    const touch = (...names: string[]): Promise<void> =>
      db.tx(async (tx) => {
        for (const name of names) {
          await tx
            .update(meta)
            .set({ value: sql`${meta.value} || 'x'` })
            .where(eq(meta.name, name));
          await tx.raw("select pg_sleep(0.02)");
        }
      });
    await Promise.all([touch("a", "b"), touch("b", "a")]);
    expect((await db.read.select().from(meta).orderBy(meta.name)).map((r) => r.value)).toEqual(["1xx", "1xx"]);
  });

  test("a failure that was caught inside does not let the rest be stored", async () => {
    const db = await open(await fresh(), { migrate: false });
    await put(db, "a");
    const swallowed = db.tx(async (tx) => {
      await tx.insert(tx.t.meta).values({ name: "b", value: "1" });
      await tx
        .insert(tx.t.meta)
        .values({ name: "a", value: "2" })
        .catch(() => {});
    });
    await expect(swallowed).rejects.toThrow("nothing was stored");
    expect(await count(db)).toBe(1);
  });

  test("a hundred that fail leave every connection fit for use", async () => {
    const db = await open(await fresh(), { migrate: false, connections: 2 });
    const boom = new Error("boom");
    const ends = await Promise.allSettled(
      Array.from({ length: 100 }, (_, i) =>
        db.tx(async (tx) => {
          await tx.insert(tx.t.meta).values({ name: "same", value: "1" });
          if (i % 2 === 0) throw boom;
          await tx.raw("select no_such_function()");
        }),
      ),
    );
    expect(ends.every((e) => e.status === "rejected")).toBe(true);
    await Promise.all([1, 2, 3, 4].map((n) => put(db, `after-${n}`)));
    expect(await count(db)).toBe(4);
  });
});

describe("a database that goes away", () => {
  let server: PostgresServer;
  afterEach(() => server.dispose());

  test("is StorageUnavailable while it is down, and works again by itself once it is back", async () => {
    server = await startPostgres({ durable: true });
    const db = await openPostgres(server.url, postgresSchema);
    await put(db, "before");
    const during = Promise.allSettled([db.tx(async (tx) => void (await tx.raw("select pg_sleep(5)"))), db.read.raw("select pg_sleep(5)")]);
    await db.read.raw("select pg_sleep(0.1)");
    await server.stop();
    for (const end of await during) expect(end).toMatchObject({ status: "rejected", reason: expect.any(StorageUnavailable) });
    await expect(put(db, "lost")).rejects.toThrow(StorageUnavailable);
    await expect(count(db)).rejects.toThrow(StorageUnavailable);
    await expect(db.ping()).rejects.toThrow(StorageUnavailable);
    await server.start();
    await db.ping();
    await put(db, "after");
    expect(await count(db)).toBe(2);
    await db.close();
  });

  test("connections that were cut while nobody used them are replaced without anybody noticing", async () => {
    server = await startPostgres({ durable: true });
    const db = await openPostgres(server.url, postgresSchema);
    await Promise.all(Array.from({ length: 8 }, (_, i) => put(db, `row-${i}`)));
    await db.read.raw(
      "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and application_name = 'mailsvc'",
    );
    await db.read.raw("select pg_sleep(0.1)");
    await Promise.all(Array.from({ length: 8 }, (_, i) => put(db, `new-${i}`)));
    expect(await count(db)).toBe(16);
    await db.close();
  });
});
