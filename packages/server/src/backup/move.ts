import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { DatabaseSchema } from "../db/db.ts";
import { findFact, writeFact } from "../db/facts.ts";
import type { Move } from "../db/place.ts";
import { openPostgres, type PostgresDb } from "../db/postgres/database.ts";
import { COUNT_SERVERS } from "../db/postgres/migrate.ts";
import { describeDatabase } from "../db/postgres/place.ts";
import { createDataFolder } from "../db/sqlite/folder.ts";
import { foreseePlace, readMove } from "../db/sqlite/place.ts";
import { describeHolder, findMove, HOLDER, markMovedAway } from "../installation/installation.ts";
import { iso, systemClock } from "../lib/clock.ts";
import { assertNotMoved, CopyRefused, type CopyReport, copyToPostgres } from "../migrate/migrate.ts";
import { createBackup, readBackup } from "./backup.ts";
import { BackupRefused } from "./report.ts";
import { restoreFolder } from "./restore.ts";

/** Connections of servers, and of what else of this program works on a database. */
const COUNT_CONNECTIONS = `SELECT count(*)::int AS n FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'mailsvc' AND pid <> pg_backend_pid()`;

/**
 * Moves an installation from a Postgres database to a folder, or to another database. The old database notes first where its data goes,
 * so that no server starts there any more, and keeps its rows; a move that was interrupted is repeated. Throws CopyRefused (servers run on
 * the database, it was moved elsewhere, or the target is in use), StorageUnavailable, or CopyError and BackupDamaged for a faulty copy.
 */
export async function moveFromPostgres(schema: DatabaseSchema, { from, to }: { from: string; to: string }): Promise<CopyReport> {
  const isDatabase = /^postgres(?:ql)?:/.test(to);
  if (!isDatabase) createDataFolder(to);
  const at = iso(systemClock.now());
  const move: Move = { at, to: isDatabase ? describeDatabase(to) : `${realpathSync(to)} on ${hostname()}` };
  const db = await openPostgres(from, schema, { migrate: false, connections: 1 });
  const scratch = mkdtempSync(join(isDatabase ? tmpdir() : dirname(resolve(to)), ".mailsvc-move-"));
  try {
    await db.assertMigrated();
    const resumed = await leave(db, move);
    const folder = join(scratch, "installation");
    try {
      const file = join(scratch, "installation.backup");
      const { tables, rows } = await backUp(schema, from, file);
      // A repeated move must find the rows in the target as it left them, so the holder does not depend on the time.
      const held = (value: string, unfinished: string): string =>
        isDatabase ? markMovedAway(value, null) : describeHolder(foreseePlace(to, unfinished), at);
      restoreFolder(schema, file, readBackup(file), { folder: isDatabase ? folder : to, held });
      if (isDatabase) await copyToPostgres(schema, { from: folder, to });
      return { from: describeDatabase(from), tables, rows, resumed };
    } catch (error) {
      // Servers may start on the target as soon as the folder in between has noted the move, or since an earlier try. Otherwise the old
      // database goes on.
      if (!resumed && readMove(folder) === null) await changeHolder(db, (value) => markMovedAway(value, null));
      throw error instanceof BackupRefused ? new CopyRefused(error.message) : error;
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
    await db.close();
  }
}

async function backUp(schema: DatabaseSchema, from: string, file: string): Promise<Pick<CopyReport, "tables" | "rows">> {
  const { rows } = await createBackup(schema, { data: "", databaseUrl: from, target: file });
  return { rows, tables: readBackup(file).tables };
}

/** Notes in a database where its data goes. Answers whether that was noted before. Throws CopyRefused while servers run on it. */
async function leave(db: PostgresDb, move: Move): Promise<boolean> {
  let resumed = false;
  await changeHolder(db, (value) => {
    const before = findMove(value);
    assertNotMoved(before, move.to);
    resumed = before !== null;
    return markMovedAway(value, before ?? move);
  });
  // Asked afterwards, because a server that starts from now on reads the note.
  const counts = await Promise.all([COUNT_SERVERS, COUNT_CONNECTIONS].map((sql) => db.read.raw<{ n: number }>(sql)));
  if (counts.every(([row]) => row?.n === 0)) return resumed;
  if (!resumed) await changeHolder(db, (value) => markMovedAway(value, null));
  throw new CopyRefused("Servers run on the database, or have run in the last ten seconds. Stop all of them, then try again.");
}

async function changeHolder(db: PostgresDb, change: (value: string) => string): Promise<void> {
  await db.tx(async (tx) => {
    const holder = await findFact(tx, HOLDER);
    if (holder === null) throw new CopyRefused("No server has run on the database yet: there is nothing to move.");
    await writeFact(tx, HOLDER, change(holder));
  });
}
