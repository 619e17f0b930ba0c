import { FILE_LIMITS } from "@mailsvc/sdk/contract";
import { and, count, eq, isNotNull, sum } from "drizzle-orm";
import type { AgentTx } from "../../deps.ts";
import { ApiError } from "../../lib/api-error.ts";

/** Who saves a file: an agent, or a person. */
export interface FileOwner {
  readonly workspaceId: string;
  readonly activationId: string | null;
}

/**
 * Writes the workspace's row: of two transactions that count its files, add one or drop one at once, the later one sees
 * what the other did.
 */
export async function lockFiles(tx: AgentTx, workspaceId: string): Promise<void> {
  await tx.update(tx.t.workspaces).set({ id: workspaceId }).where(eq(tx.t.workspaces.id, workspaceId));
}

/**
 * Throws ApiError storage_quota_exceeded when a file has no room with its agent, or in the workspace. Exact behind
 * `lockFiles`; what others are still uploading counts.
 */
export async function assertQuota(
  tx: AgentTx,
  { workspaceId, activationId }: FileOwner,
  size: number,
  of: "new bytes" | "known bytes" = "new bytes",
): Promise<void> {
  const { activationBytes, activationFiles, workspaceBytes } = FILE_LIMITS;
  if (activationId !== null) {
    const used = await getUsage(tx, { workspaceId, activationId });
    if (used.files >= activationFiles)
      throw quotaExceeded(`This agent keeps ${used.files} files here; more than ${activationFiles} are not taken.`);
    if (used.bytes + size > activationBytes)
      throw quotaExceeded(
        `This agent keeps ${formatMb(used.bytes)} here; with this file it would be more than ${formatMb(activationBytes)}.`,
      );
  }
  // What the workspace has already takes no more of its room.
  if (of === "known bytes") return;
  const { fileContents: t } = tx.t;
  const [all] = await tx
    .select({ bytes: sum(t.size).mapWith(Number) })
    .from(t)
    .where(eq(t.workspaceId, workspaceId));
  if ((all?.bytes ?? 0) + size > workspaceBytes)
    throw quotaExceeded(`The files of this workspace would take more than ${formatMb(workspaceBytes)}.`);
}

function quotaExceeded(message: string): ApiError {
  return new ApiError("storage_quota_exceeded", message);
}

function formatMb(bytes: number): string {
  return `${Math.round(bytes / (1024 * 1024))} MB`;
}

/** What an activation keeps, and what it is about to: files and bytes. */
async function getUsage(tx: AgentTx, { workspaceId, activationId }: { workspaceId: string; activationId: string }) {
  const { assets, leadMagnets, fileContents: c } = tx.t;
  const used = { files: 0, bytes: 0 };
  for (const [t, where] of [
    [assets, eq(assets.activationId, activationId)],
    [leadMagnets, eq(leadMagnets.activationId, activationId)],
    [c, and(eq(c.workspaceId, workspaceId), eq(c.activationId, activationId), isNotNull(c.stagedAt))],
  ] as const) {
    const [row] = await tx
      .select({ files: count(), bytes: sum(t.size).mapWith(Number) })
      .from(t)
      .where(where);
    used.files += row?.files ?? 0;
    used.bytes += row?.bytes ?? 0;
  }
  return used;
}
