import { FILE_LIMITS, LEAD_MAGNET_TYPES, type LeadMagnet } from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import type { FileBody } from "../../http/body/upload.ts";
import { ApiError, notFound } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import { HOUR } from "../../lib/units.ts";
import type { AgentDeps, AgentTx } from "../agent-access.ts";
import { type Staged, storeContent } from "./contents.ts";
import { imageSize } from "./image-size.ts";
import { deleteFile, downloadUrl, type FileRow, getFileRow } from "./library.ts";
import type { FileOwner } from "./quota.ts";
import { checkUpload, type FileInput, listZipEntries, type Upload } from "./upload.ts";

type LeadMagnetRow = FileRow<"leadMagnets">;

type LinkDeps = Pick<AgentDeps, "baseUrl" | "seal" | "clock">;

export function showLeadMagnet(deps: LinkDeps, row: LeadMagnetRow): LeadMagnet {
  return {
    id: row.id,
    title: row.title,
    description: row.description,
    fileName: row.fileName,
    contentType: row.contentType as LeadMagnet["contentType"],
    size: row.size,
    sha256: row.sha256,
    downloadUrl: downloadUrl(deps, row.id, FILE_LIMITS.linkHours * HOUR),
    createdAt: iso(row.createdAt),
  };
}

/** Checks a lead magnet. Throws ApiError as `checkUpload` does, or corrupt_file. */
export function checkLeadMagnet(input: FileInput, file: FileBody): Upload {
  const upload = checkUpload(input, file, { types: LEAD_MAGNET_TYPES, max: FILE_LIMITS.leadMagnet });
  const { type, bytes } = upload;
  const broken =
    (type.startsWith("image/") && imageSize(type, bytes) === null) ||
    (/zip|officedocument/.test(type) && listZipEntries(bytes) === null) ||
    (type === "application/pdf" && !Buffer.from(bytes.subarray(-2048)).includes("%%EOF"));
  if (broken) throw new ApiError("corrupt_file", "The file is broken or cut off: its end is missing or does not match its beginning.");
  return upload;
}

/** A checked file, and its contents if they are staged. */
export type StagedFile = Upload & { readonly staged: Staged | null };

/** Stores a lead magnet. Throws ApiError storage_quota_exceeded. */
export async function saveLeadMagnet(
  tx: AgentTx,
  deps: AgentDeps,
  owner: FileOwner,
  fields: { title: string; description?: string | null | undefined; runId?: string | undefined },
  upload: StagedFile,
): Promise<LeadMagnet> {
  const { workspaceId, activationId } = owner;
  await storeContent(tx, deps, owner, upload, upload.staged);
  const row: LeadMagnetRow = {
    id: deps.ids("lm"),
    workspaceId,
    activationId,
    runId: fields.runId ?? null,
    sha256: upload.sha256,
    title: fields.title,
    description: fields.description ?? null,
    fileName: upload.fileName,
    contentType: upload.type,
    size: upload.bytes.length,
    createdAt: deps.clock.now(),
  };
  await tx.insert(tx.t.leadMagnets).values(row);
  return showLeadMagnet(deps, row);
}

/** Changes the title or description of an agent's own lead magnet. Throws ApiError not_found, also for another agent's. */
export async function updateLeadMagnet(
  tx: AgentTx,
  deps: AgentDeps,
  { workspaceId, activationId }: FileOwner,
  id: string,
  { title, description }: { title?: string | undefined; description?: string | null | undefined },
): Promise<LeadMagnet> {
  const before = await getFileRow(tx, "leadMagnets", workspaceId, id);
  if (before.activationId !== activationId) throw notFound("lead magnet", id);
  const row: LeadMagnetRow = {
    ...before,
    title: title ?? before.title,
    description: description === undefined ? before.description : description,
  };
  await tx.update(tx.t.leadMagnets).set({ title: row.title, description: row.description }).where(eq(tx.t.leadMagnets.id, id));
  return showLeadMagnet(deps, row);
}

/** Deletes a lead magnet. Landing pages that offered it stay up without it. Throws ApiError not_found. */
export async function deleteLeadMagnet(
  tx: AgentTx,
  deps: LinkDeps & Pick<AgentDeps, "queue">,
  workspaceId: string,
  id: string,
): Promise<LeadMagnet> {
  const row = await deleteFile(tx, deps, "leadMagnets", workspaceId, id);
  const { landingPages: p } = tx.t;
  await tx.update(p).set({ leadMagnetId: null }).where(eq(p.leadMagnetId, id));
  return showLeadMagnet(deps, row);
}
