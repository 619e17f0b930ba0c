import { FILE_LIMITS } from "@mailsvc/sdk/contract";
import { and, asc, eq, gte, lte, sum } from "drizzle-orm";
import type { AgentTables } from "../../db/agent-tables.ts";
import type { Reader } from "../../db/db.ts";
import type { AgentTx } from "../../deps.ts";
import { ApiError } from "../../lib/api-error.ts";
import type { Upload } from "./upload.ts";

// Bytes of a part: a quarter of a megabyte is read for a piece of a file, whatever its size.
export const PART = 256 * 1024;

type Source = Reader<AgentTables> | AgentTx;

const full = (message: string): ApiError => new ApiError("storage_quota_exceeded", message);
const mb = (bytes: number): string => `${Math.round(bytes / (1024 * 1024))} MB`;

/** What an activation keeps: files and bytes. */
const usedBy = async (q: Source, activationId: string): Promise<{ files: number; bytes: number }> => {
  const { assets, leadMagnets } = q.t;
  const used = { files: 0, bytes: 0 };
  for (const t of [assets, leadMagnets]) {
    const [row] = await q
      .select({ bytes: sum(t.size).mapWith(Number) })
      .from(t)
      .where(eq(t.activationId, activationId));
    used.bytes += row?.bytes ?? 0;
    used.files += await q.$count(t, eq(t.activationId, activationId));
  }
  return used;
};

/** Throws ApiError storage_quota_exceeded when a file has no room with its agent, or in the workspace. */
export const assertRoom = async (q: AgentTx, workspaceId: string, activationId: string | null, size: number): Promise<void> => {
  const { activationBytes, activationFiles, workspaceBytes } = FILE_LIMITS;
  if (activationId !== null) {
    const used = await usedBy(q, activationId);
    if (used.files >= activationFiles) throw full(`This agent keeps ${used.files} files here; more than ${activationFiles} are not taken.`);
    if (used.bytes + size > activationBytes)
      throw full(`This agent keeps ${mb(used.bytes)} here; with this file it would be more than ${mb(activationBytes)}.`);
  }
  const { fileContents: t } = q.t;
  const [all] = await q
    .select({ bytes: sum(t.size).mapWith(Number) })
    .from(t)
    .where(eq(t.workspaceId, workspaceId));
  if ((all?.bytes ?? 0) + size > workspaceBytes) throw full(`The files of this workspace would take more than ${mb(workspaceBytes)}.`);
};

/** Keeps the bytes of a file, once per workspace. */
export const keepContent = async (tx: AgentTx, workspaceId: string, { bytes, sha256 }: Upload): Promise<void> => {
  const { fileContents, fileParts } = tx.t;
  const [added] = await tx.insert(fileContents).values({ workspaceId, sha256, size: bytes.length }).onConflictDoNothing().returning();
  if (!added) return;
  for (let part = 0; part * PART < bytes.length; part += 1)
    await tx.insert(fileParts).values({ workspaceId, sha256, part, bytes: bytes.subarray(part * PART, (part + 1) * PART) });
};

/** Drops the bytes of a file that nothing keeps any more. */
export const dropContent = async (tx: AgentTx, workspaceId: string, sha256: string): Promise<void> => {
  const { assets, leadMagnets, fileContents, fileParts } = tx.t;
  for (const t of [assets, leadMagnets]) if ((await tx.$count(t, and(eq(t.workspaceId, workspaceId), eq(t.sha256, sha256)))) > 0) return;
  for (const t of [fileParts, fileContents]) await tx.delete(t).where(and(eq(t.workspaceId, workspaceId), eq(t.sha256, sha256)));
};

/** The bytes from `first` to `last`, part by part. */
export async function* contentBytes(
  read: Reader<AgentTables>,
  { workspaceId, sha256 }: { workspaceId: string; sha256: string },
  first: number,
  last: number,
): AsyncGenerator<Uint8Array> {
  const { fileParts: t } = read.t;
  // Some parts at a time: few reads, and never a whole file in memory.
  const STEP = 4;
  for (let part = Math.floor(first / PART); part * PART <= last; part += STEP) {
    const rows = await read
      .select({ part: t.part, bytes: t.bytes })
      .from(t)
      .where(
        and(
          eq(t.workspaceId, workspaceId),
          eq(t.sha256, sha256),
          gte(t.part, part),
          lte(t.part, Math.min(part + STEP - 1, Math.floor(last / PART))),
        ),
      )
      .orderBy(asc(t.part));
    if (rows.length === 0) throw new Error("a file's bytes are gone");
    for (const { part: n, bytes } of rows) yield bytes.subarray(Math.max(0, first - n * PART), Math.min(bytes.length, last + 1 - n * PART));
  }
}
