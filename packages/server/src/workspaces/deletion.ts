import type { Workspace } from "@mailsvc/sdk/contract";
import { and, eq, ne } from "drizzle-orm";
import type { Db, Tx } from "../db/db.ts";
import { findFact } from "../db/facts.ts";
import { ApiError } from "../lib/api-error.ts";
import { MINUTE, SECOND } from "../lib/units.ts";
import type { JobHandler } from "../queue/queue.ts";
import { listRelaysOf } from "../relays/relays.ts";
import { listOwnedTables, type WorkspaceDataByTable } from "./declarations.ts";
import { findSlice, type RowKey } from "./owned-rows.ts";
import { FIRST_WORKSPACE, getWorkspace, type WorkspaceDeps } from "./workspaces.ts";

/** Job kind: deletes the rows of a deleted workspace. */
export const CLEAR_WORKSPACE_JOB = "workspaces.clear";

// Rows deleted in one transaction: a few ms of work, during which other writers wait.
const CHUNK = 300;
// Tables and windows looked at before the job commits and goes on, real time.
const LOOK_MS = 20;
// Writes of another server, which had been admitted when the workspace was deleted, have ended after this time.
const LATE_MS = MINUTE;
// Most of them have ended after this time: rows that name other rows are then not added any more.
const OTHERS_MS = 5 * SECOND;

/** Position of a job that deletes rows. Its field is not named `workspaceId`, so that it is no job of the workspace. */
interface Position {
  readonly deleted: string;
  readonly table: number;
  readonly after: RowKey | null;
  /** True if this pass has found rows. */
  readonly found: boolean;
  /** Passes before this one. */
  readonly passes: number;
}

/**
 * Deletes a workspace: from this transaction on its keys are refused and nothing of it is sent. A job deletes its rows. Throws ApiError
 * not_found, or invalid_state for the first workspace, one whose agents work in other workspaces, and one that has relays of its own.
 */
export async function deleteWorkspace(tx: Tx, deps: WorkspaceDeps, data: WorkspaceDataByTable, id: string): Promise<Workspace> {
  const workspace = await getWorkspace(tx, id);
  await assertDeletable(tx, workspace);
  for (const { stop } of listOwnedTables(data)) await stop?.(tx, deps, id);
  await tx.delete(tx.t.workspaces).where(eq(tx.t.workspaces.id, id));
  const start: Position = { deleted: id, table: 0, after: null, found: false, passes: 0 };
  const isAlone = (deps.queue.workers?.live ?? 1) === 1;
  const runAt = deps.clock.now() + (isAlone ? 0 : OTHERS_MS);
  await deps.queue.enqueue(tx, { kind: CLEAR_WORKSPACE_JOB, payload: { ...start }, runAt });
  tx.afterCommit(() => {
    deps.keyCache.clear();
    deps.keyWatch.checkNow();
    deps.tracker.links.clear();
  });
  return workspace;
}

async function assertDeletable(tx: Tx, { id, name }: Workspace): Promise<void> {
  const { activations: a, listings: l } = tx.t;
  if ((await findFact(tx, FIRST_WORKSPACE)) === id)
    throw new ApiError(
      "invalid_state",
      `${name} is the first workspace of this server, which sends mail of its own from it: it cannot be deleted.`,
    );
  const [other] = await tx
    .select({ slug: l.slug })
    .from(l)
    .innerJoin(a, and(eq(a.listingId, l.id), ne(a.workspaceId, id), ne(a.status, "deactivated")))
    .where(eq(l.workspaceId, id))
    .limit(1);
  if (other)
    throw new ApiError("invalid_state", `The agent ${other.slug} of this workspace is active in other workspaces.`, {
      hint: `Cancel its listing first, with a key of the workspace: mailsvc listings cancel ${other.slug}`,
    });
  const relays = await listRelaysOf(tx, id);
  if (relays.length > 0)
    throw new ApiError("invalid_state", `These relays are for this workspace only: ${relays.join(", ")}.`, {
      hint: "Remove them first, or open them to all: mailsvc relays update NAME --no-workspace-id",
    });
}

/**
 * Deletes the rows of a deleted workspace, in chunks and table by table. Each chunk commits together with the job for the next one. Passes
 * follow until one finds nothing, because another server may still have been writing.
 */
export function clearWorkspace(deps: WorkspaceDeps & { readonly db: Db }, data: WorkspaceDataByTable): JobHandler {
  const tables = listOwnedTables(data);
  const goOn = (position: Position, runAt?: number) => ({
    kind: CLEAR_WORKSPACE_JOB,
    payload: { ...position },
    ...(runAt !== undefined && { runAt }),
  });
  return async ({ payload }) => {
    let position = payload as unknown as Position;
    const { deleted: workspaceId } = position;
    const until = deps.clock.real.now() + LOOK_MS;
    do {
      const table = tables[position.table];
      if (!table) return { commit: (tx) => endPass(tx, position) };
      const slice = await findSlice(deps.db.read, table, workspaceId, position.after, CHUNK);
      const next = slice.next ? { after: slice.next } : { after: null, table: position.table + 1 };
      position = { ...position, ...next, found: position.found || slice.count > 0 };
      const { where } = slice;
      if (where !== null)
        return {
          commit: async (tx) => {
            if (table.remove) await table.remove(tx, where, deps);
            else await tx.delete(tx.t[table.name as "meta"]).where(where);
            await deps.queue.enqueue(tx, goOn(position));
          },
        };
    } while (deps.clock.real.now() < until);
    return { commit: (tx) => deps.queue.enqueue(tx, goOn(position)) };
  };

  async function endPass(tx: Tx, position: Position): Promise<void> {
    const { deleted, found, passes } = position;
    const removed = await deps.queue.cancelAllOf(tx, deleted, CHUNK);
    if (removed === CHUNK) return deps.queue.enqueue(tx, goOn({ ...position, found: true }));
    if (passes > 0 && !found && removed === 0) return;
    const next: Position = { deleted, table: 0, after: null, found: false, passes: passes + 1 };
    await deps.queue.enqueue(tx, goOn(next, deps.clock.now() + LATE_MS));
  }
}
