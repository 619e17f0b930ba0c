import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { listShapes, RowSum, type Shape } from "../db/copy/shapes.ts";
import { openSource } from "../db/copy/source.ts";
import { openTarget } from "../db/copy/target.ts";
import type { DatabaseSchema } from "../db/db.ts";
import type { Move } from "../db/place.ts";
import { openPostgres } from "../db/postgres/database.ts";
import { describeDatabase, findDatabasePlace } from "../db/postgres/place.ts";
import { lockFolder } from "../db/sqlite/folder.ts";
import { migrateFile } from "../db/sqlite/migrate.ts";
import { markMoved, readMove } from "../db/sqlite/place.ts";
import { describeHolder, HOLDER, MASTER_KEY } from "../installation/installation.ts";
import { iso, systemClock } from "../lib/clock.ts";
import { KEY_FILE } from "../lib/key-file.ts";
import { FIRST_WORKSPACE } from "../workspaces/workspaces.ts";
import { type CopiedTable, CopyError, type CopyOptions, CopyRefused, type CopyReport } from "./report.ts";

export { CopyRefused, type CopyReport } from "./report.ts";

/**
 * Copies an installation from a folder to a Postgres database: all rows. It may be interrupted at any moment and
 * started again, because rows and the progress record are written in one transaction. At the end both sides are read and
 * compared. Until the copy has ended, no server starts on the target. If it `moves` the installation, the folder then notes where it went,
 * and no server starts on it any more; otherwise the folder is only read.
 * Throws CopyRefused (nothing to move, or the target is in use), StorageUnavailable (a server uses the folder, or
 * Postgres cannot be reached) or CopyError.
 */
export async function copyToPostgres(
  schema: DatabaseSchema,
  { from, to, moves = true, onProgress = () => {} }: CopyOptions,
): Promise<CopyReport> {
  const file = join(from, "mailsvc.db");
  if (!existsSync(file)) throw new CopyRefused(`There is no mailsvc database in ${from}.`);
  const unlock = lockFolder(from);
  try {
    assertNotMoved(readMove(from), describeDatabase(to));
    migrateFile(file, schema.version);
    const source = openSource(file);
    const db = await openPostgres(to, schema, { copying: true }).catch((error: unknown) => {
      source.close();
      throw error;
    });
    try {
      const target = openTarget(db);
      const name = source.fact(FIRST_WORKSPACE);
      if (name === null) throw new CopyRefused(`The database in ${from} is empty: no server has run there.`);
      const begun = await target.begun();
      if (begun !== null && begun !== name) throw new CopyRefused("Another installation is being copied into this database.");
      if (begun === null) {
        if (!(await target.isEmpty())) throw new CopyRefused("The target holds an installation already. Use an empty database.");
        await target.begin(name);
      }

      const shapes = listShapes(schema.tables);
      const total = shapes.reduce((sum, { table }) => sum + source.count(table), 0);
      let done = 0;
      const sums = new Map<string, RowSum>();
      const copy = async (shape: Shape): Promise<void> => {
        const { table } = shape;
        const reached = await target.progress(table);
        const sum = new RowSum();
        sums.set(table, sum);
        let read = 0;
        for (let chunk = source.next(shape, null); chunk; chunk = source.next(shape, chunk.last)) {
          const { rows } = chunk;
          read += rows.length;
          for (const row of rows) sum.add(row);
          // Rows that an earlier run has copied are only added up. Chunks end where they ended then, because the folder has not changed.
          if (read > reached) await target.chunk(table, read, (tx) => target.insert(tx, shape, rows));
          done += rows.length;
          onProgress({ phase: "copy", table, done, total });
        }
      };
      for (const shape of shapes) await copy(shape);

      const copied: CopiedTable[] = [];
      done = 0;
      for (const shape of shapes) {
        const there = sums.get(shape.table) ?? new RowSum();
        const here = await target.sum(shape);
        if (here.rows !== there.rows || here.checksum !== there.checksum)
          throw new CopyError(
            `Table ${shape.table} differs: ${there.rows} rows with checksum ${there.checksum} in the folder, ${here.rows} with ${here.checksum} in Postgres.`,
          );
        copied.push({ table: shape.table, rows: here.rows, checksum: here.checksum });
        done += here.rows;
        onProgress({ phase: "check", table: shape.table, done, total });
        await target.setCounter(shape);
      }
      // The key that encrypts secrets is in a file of the folder.
      const key = join(from, KEY_FILE);
      const facts = existsSync(key) ? { [MASTER_KEY]: readFileSync(key, "utf8").trim() } : {};
      const at = iso(systemClock.now());
      // Before the target opens: at no moment would servers start on both.
      if (moves) markMoved(from, { at, to: describeDatabase(to) });
      await target.finish(moves ? { ...facts, [HOLDER]: describeHolder((await findDatabasePlace(db.read.raw, to)).stamp, at) } : facts);
      return { from, tables: copied, rows: total, resumed: begun !== null };
    } finally {
      source.close();
      await db.close();
    }
  } finally {
    unlock();
  }
}

/** Throws CopyRefused for data that was moved to another place than `to`, where the same move may be repeated. */
export function assertNotMoved(move: Move | null, to: string): void {
  if (move === null || move.to === to) return;
  throw new CopyRefused(
    `The data was moved to ${move.to} at ${move.at}. Move it from there. To go back to what is here, stop the servers there for good and start one here once with --take-over.`,
  );
}
