import { and, asc, eq, gte, isNull, lte } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import type { AgentDeps, AgentQuery, AgentTables, AgentTx } from "../agent-access.ts";
import { assertQuota, type FileOwner, lockFiles } from "./quota.ts";
import type { Upload } from "./upload.ts";

// Bytes of a part, the unit in which files are written and read: 256 KiB, whatever the size of the file.
export const PART_BYTES = 256 * 1024;

/** Deletes the parts of deleted or abandoned contents, a few at a time. */
export const SWEEP_JOB = "agent.file.sweep";

/** Contents that are written but not yet part of a file. */
export interface Staged {
  readonly contentId: string;
}

type Writer = Pick<AgentDeps, "ids" | "clock" | "queue">;

/** The bytes of one part of a file. */
export function getPart({ bytes }: Upload, part: number): Uint8Array {
  return bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES);
}

/** The stored contents of a workspace with this hash. */
export async function findContent(q: AgentQuery, workspaceId: string, sha256: string): Promise<{ id: string } | null> {
  const { fileContents: t } = q.t;
  const [row] = await q
    .select({ id: t.id })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.sha256, sha256), isNull(t.stagedAt)));
  return row ?? null;
}

/**
 * Stores the bytes of a file once per workspace. Staged contents only need a change of their row; other bytes are written
 * here. Throws ApiError storage_quota_exceeded.
 */
export async function storeContent(tx: AgentTx, deps: Writer, owner: FileOwner, upload: Upload, staged: Staged | null): Promise<void> {
  const { fileContents: t, fileParts } = tx.t;
  const { workspaceId } = owner;
  await lockFiles(tx, workspaceId);
  const known = await findContent(tx, workspaceId, upload.sha256);
  if (known) {
    if (staged) await deleteContent(tx, deps, staged);
    // An agent's quota counts every file it has, even when the workspace already stores the bytes.
    await assertQuota(tx, owner, upload.bytes.length, "known bytes");
    return;
  }
  if (staged) {
    const [kept] = await tx.update(t).set({ activationId: null, stagedAt: null }).where(eq(t.id, staged.contentId)).returning({ id: t.id });
    if (kept) return;
  }
  await assertQuota(tx, owner, upload.bytes.length);
  const id = deps.ids("fc");
  await tx.insert(t).values({ id, workspaceId, sha256: upload.sha256, size: upload.bytes.length, activationId: null, stagedAt: null });
  for (let part = 0; part * PART_BYTES < upload.bytes.length; part += 1)
    await tx.insert(fileParts).values({ contentId: id, part, bytes: getPart(upload, part) });
}

/** Deletes contents; a job deletes their parts. */
export async function deleteContent(tx: AgentTx, deps: Pick<AgentDeps, "queue">, { contentId }: Staged): Promise<void> {
  await tx.delete(tx.t.fileContents).where(eq(tx.t.fileContents.id, contentId));
  await deps.queue.enqueue(tx, { kind: SWEEP_JOB, payload: { contentId } });
}

/** Deletes the contents with this hash unless another file still has them. Call it after `lockFiles`. */
export async function releaseContent(tx: AgentTx, deps: Pick<AgentDeps, "queue">, workspaceId: string, sha256: string): Promise<void> {
  const { assets, leadMagnets } = tx.t;
  for (const t of [assets, leadMagnets]) if ((await tx.$count(t, and(eq(t.workspaceId, workspaceId), eq(t.sha256, sha256)))) > 0) return;
  const kept = await findContent(tx, workspaceId, sha256);
  if (kept) await deleteContent(tx, deps, { contentId: kept.id });
}

/** The bytes from `first` to `last`, as a stream of parts. */
export async function* readContent(
  read: Reader<AgentTables>,
  { workspaceId, sha256 }: { workspaceId: string; sha256: string },
  first: number,
  last: number,
): AsyncGenerator<Uint8Array> {
  const { fileParts: t } = read.t;
  const content = await findContent(read, workspaceId, sha256);
  if (!content) throw new Error("the contents of a file are missing");
  // A few parts at a time: few queries, and never a whole file in memory.
  const STEP = 4;
  for (let part = Math.floor(first / PART_BYTES); part * PART_BYTES <= last; part += STEP) {
    const rows = await read
      .select({ part: t.part, bytes: t.bytes })
      .from(t)
      .where(and(eq(t.contentId, content.id), gte(t.part, part), lte(t.part, Math.min(part + STEP - 1, Math.floor(last / PART_BYTES)))))
      .orderBy(asc(t.part));
    if (rows.length === 0) throw new Error("the contents of a file are missing");
    for (const { part: n, bytes } of rows)
      yield bytes.subarray(Math.max(0, first - n * PART_BYTES), Math.min(bytes.length, last + 1 - n * PART_BYTES));
  }
}
