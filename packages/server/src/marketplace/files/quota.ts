import { FILE_LIMITS } from "@mailsvc/sdk/contract";
import { and, count, eq, isNotNull, sum } from "drizzle-orm";
import { ApiError } from "../../lib/api-error.ts";
import { MB } from "../../lib/units.ts";
import { lockWorkspaces } from "../../workspaces/workspaces.ts";
import type { AgentTx } from "../agent-access.ts";

/** Owner of a file: an agent, or a person if `activationId` is null. */
export interface FileOwner {
  readonly workspaceId: string;
  readonly activationId: string | null;
}

/**
 * Locks the workspace's row, so that of two transactions that count, add or delete its files, the second sees what the first
 * did.
 */
export async function lockFiles(tx: AgentTx, workspaceId: string): Promise<void> {
  await lockWorkspaces(tx, [workspaceId]);
}

/**
 * Throws ApiError storage_quota_exceeded when a file exceeds the quota of its agent or workspace. Uploads under way count.
 * Exact after `lockFiles`.
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
    if (used.files >= activationFiles) throw quotaExceeded(`This agent has stored ${used.files} files; the limit is ${activationFiles}.`);
    if (used.bytes + size > activationBytes)
      throw quotaExceeded(
        `This agent has stored ${formatMb(used.bytes)}; with this file it would exceed its ${formatMb(activationBytes)}.`,
      );
  }
  // The workspace stores known bytes once.
  if (of === "known bytes") return;
  const { fileContents: t } = tx.t;
  const [all] = await tx
    .select({ bytes: sum(t.size).mapWith(Number) })
    .from(t)
    .where(eq(t.workspaceId, workspaceId));
  if ((all?.bytes ?? 0) + size > workspaceBytes)
    throw quotaExceeded(`With this file the workspace would exceed its ${formatMb(workspaceBytes)} of files.`);
}

function quotaExceeded(message: string): ApiError {
  return new ApiError("storage_quota_exceeded", message);
}

function formatMb(bytes: number): string {
  return `${Math.round(bytes / MB)} MB`;
}

/** Files and bytes of an activation, stored or being uploaded. */
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
