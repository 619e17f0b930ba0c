import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqlite } from "../db/sqlite/database.ts";
import { sqliteSchema } from "../schema.sqlite.ts";

let template: Promise<Uint8Array> | undefined;

/** The file of an empty, migrated database. It is made once per process: a copy is a millisecond, all migrations are 80. */
export function emptyDatabase(): Promise<Uint8Array> {
  template ??= (async () => {
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-template-"));
    const db = await openSqlite(folder, sqliteSchema, { synchronous: "OFF" });
    await db.exclusive((c) => c.pragma("wal_checkpoint(TRUNCATE)"));
    await db.close();
    const bytes = readFileSync(join(folder, "mailsvc.db"));
    rmSync(folder, { recursive: true, force: true });
    return bytes;
  })();
  return template;
}
