import type { Store } from "./store.ts";

/** A pool or client of `pg` (or anything with its `query`), or a client of `postgres` (Postgres.js). */
export type PostgresClient = PgClient | PostgresJs;

interface PgClient {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
}

interface PostgresJs {
  unsafe(text: string, values: (string | number | null)[]): PromiseLike<readonly unknown[]>;
}

/** Options of `postgresStore`. */
export interface PostgresStoreOptions {
  /** The name of the table, created on first use. Default: `agent_kit`. */
  table?: string;
}

// Above every character that a key may contain.
const LAST = "\u{10ffff}";
// Expired entries are removed once in this many writes.
const SWEEP_EVERY = 1000;
// Two processes that create the same table at once: one of them gets one of these.
const EXISTS = new Set(["23505", "42P07", "42710"]);

/** A store in a table of a Postgres database, for any number of processes on any number of machines. */
export function postgresStore(client: PostgresClient, { table = "agent_kit" }: PostgresStoreOptions = {}): Store {
  const name = `"${table.replaceAll('"', '""')}"`;
  const send = async <R>(text: string, ...values: (string | number | null)[]): Promise<readonly R[]> =>
    "unsafe" in client ? ((await client.unsafe(text, values)) as readonly R[]) : ((await client.query(text, values)).rows as R[]);
  const expiry = (n: number): string => `now() + $${n}::float8 * interval '1 millisecond'`;
  const live = "(expires_at IS NULL OR expires_at > now())";
  let writes = 0;
  let created: Promise<unknown> | undefined;
  /** Creates the table once; a failure is tried again with the next use. */
  const prepare = (): Promise<unknown> => {
    created ??= send(
      `CREATE TABLE IF NOT EXISTS ${name} (key text COLLATE "C" PRIMARY KEY, value text NOT NULL, expires_at timestamptz)`,
    ).catch((error) => {
      created = undefined;
      if (!EXISTS.has(String((error as { code?: unknown }).code))) throw error;
    });
    return created;
  };

  return {
    get: async (key) => {
      await prepare();
      const [row] = await send<{ value: string }>(`SELECT value FROM ${name} WHERE key = $1 AND ${live}`, key);
      return row?.value ?? null;
    },
    swap: async (key, from, to, ttlMs = undefined) => {
      await prepare();
      const ttl = ttlMs ?? null;
      if (++writes % SWEEP_EVERY === 0) await send(`DELETE FROM ${name} WHERE expires_at <= now()`);
      if (from === null && to === null) return (await send(`SELECT 1 FROM ${name} WHERE key = $1 AND ${live}`, key)).length === 0;
      if (from === null) {
        const insert = `INSERT INTO ${name} (key, value, expires_at) VALUES ($1, $2, ${expiry(3)}) ON CONFLICT (key) DO UPDATE
          SET value = excluded.value, expires_at = excluded.expires_at WHERE ${name}.expires_at <= now() RETURNING 1`;
        return (await send(insert, key, to, ttl)).length === 1;
      }
      if (to === null)
        return (await send(`DELETE FROM ${name} WHERE key = $1 AND value = $2 AND ${live} RETURNING 1`, key, from)).length === 1;
      const update = `UPDATE ${name} SET value = $2, expires_at = ${expiry(3)} WHERE key = $1 AND value = $4 AND ${live} RETURNING 1`;
      return (await send(update, key, to, ttl, from)).length === 1;
    },
    list: async (prefix) => {
      await prepare();
      const text = `SELECT key FROM ${name} WHERE key >= $1 AND key < $2 AND expires_at IS NULL ORDER BY key`;
      return (await send<{ key: string }>(text, prefix, prefix + LAST)).map(({ key }) => key);
    },
    now: async () => {
      const [row] = await send<{ ms: number | string }>("SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms");
      return Number(row?.ms);
    },
  };
}
