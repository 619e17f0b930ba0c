import { and, asc, eq, gt, inArray, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import type { WorkspaceTables } from "./tables.ts";

/** Committed rows, or those of a transaction that may act for an agent. */
type Query = Reader<WorkspaceTables> | Tx<WorkspaceTables>;

/** A workspace whose mail is sent. */
interface LivingWorkspace {
  /** True if it receives the replies to all mail without a Reply-To of its own. */
  readonly receivesReplies: boolean;
}

/** The ids of the oldest workspaces, at most `limit`. */
export async function listWorkspaceIds(read: Query, limit: number): Promise<string[]> {
  const { workspaces: t } = read.t;
  return (await read.select({ id: t.id }).from(t).orderBy(t.id).limit(limit)).map(({ id }) => id);
}

/** A query for the ids of all workspaces, for conditions on tables whose keys start with them. */
export function selectWorkspaceIds(q: Query) {
  const { workspaces: t } = q.t;
  return q.select({ id: t.id }).from(t);
}

/** A query for the ids of the workspaces with a name. */
export function selectWorkspacesNamed(q: Query, name: string) {
  const { workspaces: t } = q.t;
  return q.select({ id: t.id }).from(t).where(eq(t.name, name));
}

/** The id of the workspace that follows an id; null after the last one. "" comes before the first one. */
export async function findWorkspaceAfter(q: Query, after: string): Promise<string | null> {
  const { workspaces: t } = q.t;
  const [next] = await q.select({ id: t.id }).from(t).where(gt(t.id, after)).orderBy(asc(t.id)).limit(1);
  return next?.id ?? null;
}

/** True if there is a workspace with this id. */
export async function hasWorkspace(read: Query, id: string): Promise<boolean> {
  return (await findRows(read, read.t.workspaces, { id })).length > 0;
}

/** The names of workspaces by their ids, without those that do not exist. */
export async function loadWorkspaceNames(q: Query, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  return new Map((await findRows(q, q.t.workspaces, { id: ids })).map(({ id, name }) => [id, name]));
}

/** Finds the workspaces that exist, since mail of a deleted one is no longer sent, with what else their mail depends on. */
export async function findLiving(q: Query, ids: readonly string[]): Promise<ReadonlyMap<string, LivingWorkspace>> {
  if (ids.length === 0) return new Map();
  return new Map((await findRows(q, q.t.workspaces, { id: ids })).map(({ id, replies }) => [id, { receivesReplies: replies }]));
}

/**
 * Locks the rows of these workspaces, so that of two transactions that count what a workspace has and change it, the second sees what the
 * first did. Call it before anything else in the transaction: locks taken in another order deadlock.
 */
export async function lockWorkspaces(tx: Tx<WorkspaceTables>, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const { workspaces: t } = tx.t;
  // An update and not only a lock: on Postgres the later transaction must run again instead of using its old snapshot.
  await tx
    .update(t)
    .set({ id: sql`${t.id}` })
    .where(inArray(t.id, [...ids]));
}

/** Locks the row of a workspace. After a transaction that has written it meanwhile, this one runs again, and sees what that one did. */
export async function awaitWorkspace(tx: Tx<WorkspaceTables>, id: string): Promise<void> {
  const { workspaces: t } = tx.t;
  await tx.sqlDialect.awaitingLocked(tx.select({ id: t.id }).from(t).where(eq(t.id, id)));
}

/** Writes the row of a workspace where transactions run side by side, so that one which locks it at the same time runs again. */
export async function writeWorkspace(tx: Tx<WorkspaceTables>, id: string): Promise<void> {
  const { workspaces: t } = tx.t;
  await tx
    .update(t)
    .set({ id: sql`${t.id}` })
    .where(and(eq(t.id, id), tx.sqlDialect.concurrent));
}
