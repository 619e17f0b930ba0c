import { statSync } from "node:fs";
import Database from "better-sqlite3";
import { type Meter, namesQueue } from "./cost.ts";
import { watchEntries } from "./sqlite-entries.ts";

/** The methods of a statement that run it. */
const RUNS = ["run", "get", "all", "iterate"] as const;

const FRAME = /^\s*(?:begin|commit|rollback|savepoint|release)\b/i;

/** Counts what reaches SQLite by every connection that is opened from now on. */
export function meterSqlite(): Meter & Disposable {
  const counted = { statements: 0, commits: 0, rows: 0, entries: 0 };
  let writer: Database.Database | undefined;
  let rowsBefore = 0;
  const unwatch = watchStatements(({ source, database }, result) => {
    if (/^\s*begin immediate/i.test(source) && !database.memory) {
      writer = database;
      rowsBefore = counted.rows;
    }
    if (/^\s*commit/i.test(source) && counted.rows > rowsBefore) counted.commits += 1;
    if (!FRAME.test(source) && !isLook(source, result)) counted.statements += 1;
  });
  return {
    measure: async (work) => {
      if (writer === undefined) throw new Error("No transaction has begun since the meter was made.");
      using _watch = watchEntries(writer, (entries) => {
        counted.rows += 1;
        counted.entries += entries;
      });
      // The log is empty now, so that its size is that of the work.
      writer.pragma("wal_checkpoint(TRUNCATE)");
      Object.assign(counted, { statements: 0, commits: 0, rows: 0, entries: 0 });
      await work();
      return { ...counted, bytes: statSync(`${writer.name}-wal`).size };
    },
    [Symbol.dispose]: unwatch,
  };
}

function isLook(source: string, result: unknown): boolean {
  return namesQueue(source) && (result === undefined || (Array.isArray(result) && result.length === 0));
}

/** Calls `note` after each run of a statement, with its result. Returns how to end it. */
function watchStatements(note: (statement: Database.Statement, result: unknown) => void): () => void {
  const probe = new Database(":memory:");
  type Run = (this: Database.Statement, ...args: unknown[]) => unknown;
  const prototype = Object.getPrototypeOf(probe.prepare("select 1")) as Record<(typeof RUNS)[number], Run>;
  probe.close();
  const originals = RUNS.map((name) => [name, prototype[name]] as const);
  for (const [name, original] of originals)
    prototype[name] = function (...args) {
      const result = original.apply(this, args);
      note(this, result);
      return result;
    };
  return () => {
    for (const [name, original] of originals) prototype[name] = original;
  };
}
