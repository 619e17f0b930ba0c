import { eq } from "drizzle-orm";
import pg from "pg";
import { afterAll, expect, test, vi } from "vitest";
import { createDatabase, dropDatabases } from "../../test/postgres.ts";
import { silentLog } from "../lib/log.ts";
import { createWorld } from "../testing.ts";

afterAll(dropDatabases);

test("a transaction that adds what another one has added since it began to read runs again, and sees it", async () => {
  const database = await createDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await using world = await createWorld({ databaseUrl: database.url });
    let tries = 0;
    const found = await world.app.deps.db.tx(async (tx) => {
      const { meta } = tx.t;
      tries += 1;
      const [row] = await tx.select().from(meta).where(eq(meta.name, "race"));
      if (row) return row.value;
      await client.query("insert into meta (name, value) values ('race', 'theirs')");
      await tx.insert(meta).values({ name: "race", value: "ours" });
      return "ours";
    });
    expect([tries, found]).toEqual([2, "theirs"]);
  } finally {
    await client.end();
    await database.drop();
  }
});

test("people are erased while their suppressions are imported, without an error", async () => {
  const database = await createDatabase();
  try {
    const error = vi.fn();
    await using world = await createWorld({ databaseUrl: database.url, log: { ...silentLog, error } });
    const emails = Array.from({ length: 20 }, (_, i) => `ada${i}@example.com`);
    const add = (): Promise<unknown> => world.sdk.suppressions.import({ entries: emails.map((email) => ({ email })) });
    for (let i = 0; i < 5; i += 1) {
      await add();
      // Nothing is stored about a person who was erased already: 404.
      await Promise.allSettled([add(), ...emails.map((email) => world.sdk.people.erase(email)), add()]);
    }
    // The SDK repeats a call that was answered by 500.
    expect(error.mock.calls).toEqual([]);
  } finally {
    await database.drop();
  }
});
