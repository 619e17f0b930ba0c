import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { createDatabase, dropDatabases, getServerVersion } from "../../../test/postgres.ts";
import { createWorld } from "../../testing.ts";
import { openListener } from "./listener.ts";
import { clientOptions, openPool } from "./pool.ts";

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

test("each connection has limits of time, and the settings for plans", async () => {
  const database = await createDatabase("empty");
  const pool = openPool(database.url, 2);
  try {
    const names = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "random_page_cost", "jit"];
    const { rows } = await pool.query("select name, setting from pg_settings where name = any ($1)", [names]);
    expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
      statement_timeout: "30000",
      lock_timeout: "10000",
      idle_in_transaction_session_timeout: "10000",
      random_page_cost: "1.1",
      jit: "off",
    });
  } finally {
    await pool.end();
    await database.drop();
  }
});

test.each([
  ["off", "on"],
  ["local", "local"],
  ["remote_apply", "remote_apply"],
])("on a database whose synchronous_commit is %s, commits are %s: none is answered before it is on disk", async (setting, used) => {
  const database = await createDatabase("empty");
  const name = new URL(database.url).pathname.slice(1);
  const admin = openPool(database.url, 1);
  await admin.query(`alter database "${name}" set synchronous_commit to ${setting}`);
  await admin.end();
  const pool = openPool(database.url, 1);
  try {
    expect((await pool.query("show synchronous_commit")).rows).toEqual([{ synchronous_commit: used }]);
  } finally {
    await pool.query(`alter database "${name}" reset synchronous_commit`);
    await pool.end();
    await database.drop();
  }
});

test("a user who may not create tables, a search_path without a schema, and a database that takes no writes say what to do", async () => {
  const database = await createDatabase("empty");
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const user = `weak_${process.pid}`;
  const name = new URL(database.url).pathname.slice(1);
  const url = new URL(database.url);
  try {
    await client.query(`create role ${user} login`);
    url.username = user;
    await expect(createWorld({ databaseUrl: url.href })).rejects.toThrow(
      `The user ${user} may not create the tables of mailsvc (42501). Make it the owner: alter database ${name} owner to ${user}`,
    );
    await client.query(`alter database ${name} owner to ${user}`);
    await client.query(`alter role ${user} set search_path = nowhere`);
    await expect(createWorld({ databaseUrl: url.href })).rejects.toThrow(
      `The search_path of the user ${user} names no schema that exists (3F000)`,
    );
    await client.query(`alter role ${user} reset search_path`);
    await client.query(`alter role ${user} set default_transaction_read_only = on`);
    await expect(createWorld({ databaseUrl: url.href })).rejects.toThrow("takes no writes (25006)");
    await client.query(`alter role ${user} reset default_transaction_read_only`);
    await using world = await createWorld({ databaseUrl: url.href });
    expect(await world.sdk.lists.create({ name: "a" })).toMatchObject({ name: "a" });
  } finally {
    await client.end();
    await database.drop();
    const admin = openPool(database.url.replace(/[^/]+$/, "postgres"), 1);
    await admin.query(`drop role if exists ${user}`);
    await admin.end();
  }
});

test("a listener asks one question after the other, as the driver wants it", async () => {
  const database = await createDatabase("empty");
  const warnings: Error[] = [];
  const keep = (warning: Error): void => void warnings.push(warning);
  process.on("warning", keep);
  const listener = await openListener(clientOptions(database.url), { notified: () => {}, lost: () => {} });
  try {
    const refused = listener.query("select 1 / 0").catch((error: unknown) => String(error));
    const answers = Promise.all([1, 2, 3].map((i) => listener.query("select $1::int as i", [i])));
    expect(await refused).toBe("Error: A query failed (22012).");
    expect(await answers).toEqual([[{ i: 1 }], [{ i: 2 }], [{ i: 3 }]]);
    await new Promise((turn) => setImmediate(turn));
    expect(warnings).toEqual([]);
  } finally {
    process.off("warning", keep);
    await listener.close();
    await database.drop();
  }
});
