import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { createDatabase, dropDatabases, getServerVersion } from "../../../test/postgres.ts";
import { createWorld } from "../../testing.ts";

afterAll(dropDatabases);

test("all texts are compared by their bytes, whatever language the database sorts by", async ({ skip }) => {
  if ((await getServerVersion()) < 15) skip("Postgres 14 sorts no database by ICU");
  const database = await createDatabase("empty", "language");
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await using world = await createWorld({ databaseUrl: database.url });
    const { rows } = await client.query(
      `select table_name, column_name from information_schema.columns
       where table_schema = 'public' and data_type = 'text' and collation_name is distinct from 'C'`,
    );
    expect(rows).toEqual([]);
    // In the order of a language, the capital would come behind the small letter, and "ch" behind "h" in some.
    for (const name of ["b", "B", "a"]) await world.sdk.lists.create({ name });
    const { rows: sorted } = await client.query("select name from lists order by name");
    expect(sorted.map(({ name }) => name)).toEqual(["B", "a", "b"]);
  } finally {
    await client.end();
    await database.drop();
  }
});

test("a database that cannot store all characters is refused with the way to make one", async () => {
  const database = await createDatabase("empty", "bytes");
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const name = `ascii_${process.pid}`;
  try {
    await client.query(`create database ${name} encoding 'SQL_ASCII' template template0`);
    const url = new URL(database.url);
    url.pathname = `/${name}`;
    await expect(createWorld({ databaseUrl: url.href })).rejects.toThrow(
      "The database uses the encoding SQL_ASCII, which cannot store all characters. mailsvc needs UTF8: createdb",
    );
  } finally {
    await client.query(`drop database if exists ${name} with (force)`);
    await client.end();
    await database.drop();
  }
});
