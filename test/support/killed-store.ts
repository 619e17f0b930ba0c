import { existsSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { startPostgres } from "../../packages/server/test/postgres-server.ts";

/** The database of servers that are killed. */
interface KilledStore {
  /** Flags for a server that uses it. */
  readonly flags: readonly string[];
  /** The emails that are `sending`, as killed servers left them. */
  listSending(): Promise<string[]>;
  /** Returns the number of remaining jobs that deliver email, and true if the database says that it is sound. */
  inspect(): Promise<{ readonly jobs: number; readonly sound: boolean }>;
  dispose(): Promise<void>;
}

/** The databases that kills are tried on, each with the function that makes one for a data folder. */
export const KILLED_STORES = [
  ["SQLite", openSqlite],
  ["Postgres", openPostgres],
] as const;

async function openSqlite(data: string): Promise<KilledStore> {
  const file = join(data, "mailsvc.db");
  const read = <T>(work: (db: Database.Database) => T): T => {
    const db = new Database(file, { readonly: true });
    try {
      return work(db);
    } finally {
      db.close();
    }
  };
  return {
    flags: [],
    listSending: async () => {
      // A server may be killed before it has made its tables.
      if (!existsSync(file)) return [];
      return read((db) => {
        const made = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'emails'").get();
        return made ? (db.prepare("SELECT id FROM emails WHERE status = 'sending'").pluck().all() as string[]) : [];
      });
    },
    inspect: async () =>
      read((db) => ({
        jobs: db.prepare("SELECT count(*) FROM emails WHERE lane IS NOT NULL").pluck().get() as number,
        sound: db.pragma("integrity_check", { simple: true }) === "ok",
      })),
    dispose: async () => {},
  };
}

async function openPostgres(): Promise<KilledStore> {
  const database = await startPostgres({ durable: true });
  const read = async <T>(work: (client: pg.Client) => Promise<T>): Promise<T> => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  };
  return {
    flags: ["--database-url", database.url],
    listSending: () =>
      read(async (client) => {
        // The transactions of a killed process end once Postgres notices that its connections are gone.
        await client.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'mailsvc'");
        const made = await client.query("select 1 from pg_class where relname = 'emails'");
        if (made.rowCount === 0) return [];
        const { rows } = await client.query<{ id: string }>("select id from emails where status = 'sending'");
        return rows.map(({ id }) => id);
      }),
    inspect: () =>
      read(async (client) => {
        const { rows } = await client.query<{ jobs: number }>("select count(*)::int as jobs from emails where lane is not null");
        return { jobs: rows[0]?.jobs ?? 0, sound: true };
      }),
    dispose: database.dispose,
  };
}
