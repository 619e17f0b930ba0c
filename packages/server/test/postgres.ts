import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { inject } from "vitest";
import { postgresBackend } from "../src/backend.pg.ts";
import { openPool } from "../src/db/postgres/pool.ts";

/** Sort order of texts in a database: by their bytes, or that of a language. */
type TextOrder = "bytes" | "language";

/** A new database, which is gone after `drop`. */
export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

let server: Promise<string> | undefined;
let local: Promise<string> | undefined;

/** The Postgres server of this run: TEST_POSTGRES_URL, or one of our own. Throws a sentence when there is none to be had. */
function postgresUrl(): Promise<string> {
  server ??= (async () => {
    const response = await fetch(inject("postgresStarterUrl"));
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return text;
  })();
  return server;
}

// Each process of tests migrates one database and copies it: 40 ms instead of 300.
let template: Promise<string> | undefined;

/** Connections by which databases are emptied, by their names: a new one would have to learn all tables first, 25 ms. */
const cleaners = new Map<string, pg.Client>();

/** Pools of databases, by their URLs, for one world after another: a new connection costs as much as most tests. */
const pools = new Map<string, pg.Pool>();
/** The databases whose pool a world has. */
const lent = new Set<string>();

/** Databases that were used and emptied again. */
const spare: string[] = [];

// Emptying a database takes 3 ms; making a new one takes 50 to 500, depending on the disk. Empty tables are skipped. A
// table that has grown large is truncated, which removes its file; the rows of others are deleted.
const EMPTY = `do $$
declare t record;
begin
  for t in select nspname from pg_namespace where nspname like 'mailsvc\\_snapshot\\_%' loop
    execute format('drop schema %I cascade', t.nspname);
  end loop;
  for t in select c.oid::regclass as name, pg_relation_size(c.oid) as size from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname = 'public' loop
    if t.size > 1000000 then
      execute format('truncate %s cascade', t.name);
    elsif t.size > 0 then
      execute format('delete from %s', t.name);
    end if;
  end loop;
  perform setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) from pg_sequences
    where schemaname = 'public' and last_value is not null;
end $$`;

// Number of databases that the next test file is likely to want at once.
const KEPT = 4;

/** Removes databases that a test file leaves unused, but for a few: for `afterAll`. The rest goes at the end of the run. */
export async function dropDatabases(): Promise<void> {
  for (const name of spare.splice(KEPT)) await drop(name);
}

const migratedUrls = new Set<string>();

/** True for a database that has our tables from the beginning, so that nobody need look whether they are there. */
export function isMigrated(url: string): boolean {
  return migratedUrls.has(url);
}

/** Lends the pool of a database to its first user after it was made or emptied. Later users open their own, as further servers do. */
export function borrowPool(url: string): pg.Pool | undefined {
  if (lent.has(url)) return;
  lent.add(url);
  const pool = pools.get(url) ?? openPool(url);
  pools.set(url, pool);
  return pool;
}

/** Creates an empty database: with our tables, or without. Only one without them can sort by a language; it needs Postgres 15. */
export async function createDatabase(kind: "migrated" | "empty" = "migrated", order: TextOrder = "bytes"): Promise<TestDatabase> {
  const used = kind === "migrated" ? spare.pop() : undefined;
  const name = used ?? nameOf("test");
  const sorted = order === "language" ? " TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'" : "";
  const from = kind === "migrated" ? ` TEMPLATE "${await migrated()}"` : sorted;
  if (!used) await admin((c) => c.query(`CREATE DATABASE "${name}"${from}`));
  const url = kind === "migrated" ? await databaseUrl(name) : onServer(name, await postgresUrl());
  if (kind === "migrated") migratedUrls.add(url);
  return { url, drop: async () => void (await (kind === "migrated" ? recycle(name) : drop(name))) };
}

/** The major version of the server. */
export async function getServerVersion(): Promise<number> {
  const { rows } = await admin((c) => c.query<{ version: string }>("select current_setting('server_version_num') as version"));
  return Math.floor(Number(rows[0]?.version) / 10_000);
}

async function admin<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: await postgresUrl() });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The URL of a database with our tables: by the server's socket where it is on this machine, which takes less processor time than TCP. */
async function databaseUrl(name: string): Promise<string> {
  local ??= findSocket();
  return onServer(name, await local);
}

function onServer(name: string, server: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

async function findSocket(): Promise<string> {
  const url = new URL(await postgresUrl());
  const { rows } = await admin((c) => c.query<{ folders: string }>("select current_setting('unix_socket_directories') as folders"));
  const folder = rows[0]?.folders.split(", ").find((path) => existsSync(join(path, `.s.PGSQL.${url.port || "5432"}`)));
  if (folder) url.searchParams.set("host", folder);
  return url.href;
}

/** A name no other database has, by which the end of the run knows that it may be dropped. */
function nameOf(kind: "template" | "test"): string {
  return `mailsvc_${kind}_${inject("postgresRun")}_${randomBytes(6).toString("hex")}`;
}

async function drop(name: string): Promise<void> {
  const url = await databaseUrl(name);
  await Promise.all([cleaners.get(name)?.end(), pools.get(url)?.end()]).catch(() => {});
  cleaners.delete(name);
  pools.delete(url);
  await admin((c) => c.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`));
}

async function cleanerOf(name: string): Promise<pg.Client> {
  const known = cleaners.get(name);
  if (known) return known;
  const client = new pg.Client({ connectionString: await databaseUrl(name) });
  // A test may cut all connections: then the next one takes a new one.
  const gone = (): void => {
    if (cleaners.get(name) === client) cleaners.delete(name);
  };
  client.on("error", gone).on("end", gone);
  await client.connect();
  cleaners.set(name, client);
  return client;
}

function migrated(): Promise<string> {
  template ??= (async () => {
    const name = nameOf("template");
    await admin((c) => c.query(`CREATE DATABASE "${name}"`));
    await (await postgresBackend(await databaseUrl(name))).db.close();
    return name;
  })();
  return template;
}

// Postgres: admin_shutdown, which pg_terminate_backend causes too.
const CONNECTION_CUT = "57P01";

async function recycle(name: string): Promise<void> {
  const cleaner = await cleanerOf(name);
  try {
    await cleaner.query(EMPTY);
  } catch (error) {
    // The test has cut all connections, and this one is only now told so.
    if ((error as { code?: string }).code !== CONNECTION_CUT) throw error;
    return drop(name);
  }
  lent.delete(await databaseUrl(name));
  spare.push(name);
}
