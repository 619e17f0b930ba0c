import { existsSync } from "node:fs";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import type { Db } from "../db/db.ts";
import { StorageUnavailable } from "../db/errors.ts";
import { createKey, hashKey, KeyCache, makeKey, OPERATOR_KEY } from "../keys/keys.ts";
import type { Clock } from "../lib/clock.ts";
import { makeIds } from "../lib/ids.ts";
import type { Random } from "../lib/random.ts";
import { FIRST_WORKSPACE, getWorkspace } from "../workspaces/workspaces.ts";
import type { WorkspaceAccess } from "./access.ts";

/** Throws StorageUnavailable for a folder without a database, which would otherwise become a new installation. */
export function assertInstalled(folder: string): void {
  if (existsSync(join(folder, "mailsvc.db"))) return;
  throw new StorageUnavailable(`There is no mailsvc.db in ${folder}. Name the data folder with --data.`);
}

/**
 * Creates another owner key in the database itself, for people who have lost theirs: of the first workspace, or the one given.
 * Existing keys stay valid. Throws ApiError not_found for an unknown workspace.
 */
export async function createRecoveryKey(
  db: Db,
  { clock, random, workspaceId }: { clock: Clock; random: Random; workspaceId: string | null },
): Promise<WorkspaceAccess> {
  const deps = {
    clock,
    random,
    ids: makeIds(clock, random),
    config: { dev: false },
    keyCache: new KeyCache(db, Number.POSITIVE_INFINITY, clock.real.now),
  };
  return db.tx(async (tx) => {
    const { meta } = tx.t;
    const [first] = await tx.select().from(meta).where(eq(meta.name, FIRST_WORKSPACE));
    const workspace = await getWorkspace(tx, workspaceId ?? first?.value ?? "");
    const { key } = await createKey(tx, deps, workspace.id, { name: "owner (recovered)", permissions: [], owner: true });
    return { workspaceId: workspace.id, apiKey: key };
  });
}

/**
 * Makes another operator key in the database itself, for people who have lost theirs. An installation has one, so that the lost
 * one is refused from now on. Throws StorageUnavailable for an empty database.
 */
export async function replaceOperatorKey(db: Db, random: Random): Promise<string> {
  const key = makeKey(random, "op");
  await db.tx(async (tx) => {
    const { meta } = tx.t;
    const changed = await tx
      .update(meta)
      .set({ value: hashKey(key) })
      .where(eq(meta.name, OPERATOR_KEY))
      .returning({ name: meta.name });
    if (changed.length === 0) throw new StorageUnavailable("There is no installation in this database yet. Start the server once.");
  });
  return key;
}
