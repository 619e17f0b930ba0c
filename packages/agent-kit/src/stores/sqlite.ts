import { currentTime, turn } from "../runtime.ts";
import type { Store } from "./store.ts";

/** A database of `node:sqlite` (DatabaseSync), better-sqlite3 or `bun:sqlite`. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
}

interface SqliteStatement {
  get(...values: (string | number | null)[]): unknown;
  all(...values: (string | number | null)[]): unknown[];
  run(...values: (string | number | null)[]): { changes: number | bigint };
}

// Expired entries are removed once in this many writes.
const SWEEP_EVERY = 1000;
// Time a statement waits for other processes, ms.
const BUSY_MS = 10_000;
const PAUSE_MS = 10;
// Above every character that a key may contain.
const LAST = "\u{10ffff}";

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS agent_kit (key TEXT PRIMARY KEY, value TEXT NOT NULL, expires_at INTEGER) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS agent_kit_lasting ON agent_kit (key) WHERE expires_at IS NULL;
`;
const LIVE = "(expires_at IS NULL OR expires_at > ?)";

/**
 * A store in the table `agent_kit` of an SQLite database, for any number of processes of one machine:
 * `sqliteStore(new DatabaseSync("agent.db"))`. Switches the database to WAL; writes are flushed, those of one turn of the event loop together.
 */
export function sqliteStore(database: SqliteDatabase): Store {
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  whileBusy(() => database.exec("PRAGMA journal_mode = WAL"));
  database.exec("PRAGMA synchronous = FULL");
  database.exec(SCHEMA);
  const select = database.prepare(`SELECT value FROM agent_kit WHERE key = ? AND ${LIVE}`);
  const insert = database.prepare(
    `INSERT INTO agent_kit (key, value, expires_at) VALUES (?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at WHERE agent_kit.expires_at <= ?`,
  );
  const replace = database.prepare(`UPDATE agent_kit SET value = ?, expires_at = ? WHERE key = ? AND value = ? AND ${LIVE}`);
  const remove = database.prepare(`DELETE FROM agent_kit WHERE key = ? AND value = ? AND ${LIVE}`);
  const sweep = database.prepare("DELETE FROM agent_kit WHERE expires_at <= ?");
  const keys = database.prepare("SELECT key FROM agent_kit WHERE key >= ? AND key < ? AND expires_at IS NULL ORDER BY key");
  const inGroup = groupWrites(database);
  let writes = 0;

  return {
    get: async (key) => (select.get(key, currentTime()) as { value: string } | null | undefined)?.value ?? null,
    swap: async (key, from, to, ttlMs) => {
      const now = currentTime();
      const expiresAt = ttlMs === undefined ? null : Math.ceil(now + ttlMs);
      if (++writes % SWEEP_EVERY === 0) sweep.run(now);
      if (from === null && to === null) return !select.get(key, now);
      const write = (): { changes: number | bigint } => {
        if (from === null) return insert.run(key, to, expiresAt, now);
        if (to === null) return remove.run(key, from, now);
        return replace.run(to, expiresAt, key, from, now);
      };
      return Number((await inGroup(write)).changes) === 1;
    },
    list: async (prefix) => (keys.all(prefix, prefix + LAST) as { key: string }[]).map(({ key }) => key),
  };
}

/** Returns a function that makes writes, all of one turn of the event loop in one transaction: a flush takes as long for many as for one. */
function groupWrites(database: SqliteDatabase): <T>(write: () => T) => Promise<T> {
  let group: { readonly writes: (() => unknown)[]; readonly results: Promise<unknown[]> } | null = null;
  const takeBack = (): void => {
    try {
      database.exec("ROLLBACK TO agent_kit; RELEASE agent_kit");
    } catch {
      // SQLite has done so by itself, as it does when the disk is full.
    }
  };
  const commit = async (writes: readonly (() => unknown)[]): Promise<unknown[]> => {
    await turn();
    group = null;
    // Unlike BEGIN, it also works inside of a transaction of the caller.
    database.exec("SAVEPOINT agent_kit");
    try {
      const results = writes.map((write) => write());
      database.exec("RELEASE agent_kit");
      return results;
    } catch (error) {
      takeBack();
      throw error;
    }
  };
  return async <T>(write: () => T): Promise<T> => {
    if (group === null) {
      const writes: (() => unknown)[] = [];
      group = { writes, results: commit(writes) };
    }
    const { writes, results } = group;
    const at = writes.push(write) - 1;
    return (await results)[at] as T;
  };
}

/** Repeats a statement for which the busy timeout does not hold: two that switch a new file to WAL at once would wait for each other. */
function whileBusy<T>(work: () => T): T {
  for (let waited = 0; ; waited += PAUSE_MS) {
    try {
      return work();
    } catch (error) {
      if (waited >= BUSY_MS || !/locked|busy/i.test(String(error))) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
}
