import { FILE_LIMITS, LEAD_MAGNET_TYPES, type LeadMagnet, type Page } from "@mailsvc/sdk/contract";
import { and, desc, eq, lt } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { type PageInput, pageOf } from "../../db/pagination.ts";
import type { AgentDeps, AgentTx } from "../../deps.ts";
import type { FileBody } from "../../http/body/upload.ts";
import { ApiError, notFound } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import type { AgentTables, Tables } from "../../schema.ts";
import { releaseContent, type Staged, storeContent } from "./contents.ts";
import { imageSize } from "./image-size.ts";
import { makeLinkToken } from "./links.ts";
import { type FileOwner, lockFiles } from "./room.ts";
import { checkUpload, type FileInput, type Upload } from "./upload.ts";
import { listZipEntries } from "./zip.ts";

export type LeadMagnetRow = Tables["leadMagnets"]["$inferSelect"];

type Source = Reader<AgentTables> | AgentTx;
type LinkDeps = Pick<AgentDeps, "baseUrl" | "seal" | "clock">;

const HOUR = 3_600_000;

/** A link to a lead magnet that works for `ms`. */
export function downloadUrl(deps: LinkDeps, id: string, ms: number): string {
  return `${deps.baseUrl()}${downloadPath(deps, id, ms)}`;
}

/** The same for pages of this server. */
export function downloadPath(deps: LinkDeps, id: string, ms: number): string {
  return `/f/${makeLinkToken(deps, "download", id, ms)}`;
}

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

/** A file that may be given out. Throws ApiError, of `checkUpload` or corrupt_file. */
export function checkLeadMagnet(input: FileInput, file: FileBody): Upload {
  const upload = checkUpload(input, file, { types: LEAD_MAGNET_TYPES, max: FILE_LIMITS.leadMagnet });
  const { type, bytes } = upload;
  const broken =
    (type.startsWith("image/") && imageSize(type, bytes) === null) ||
    (/zip|officedocument/.test(type) && listZipEntries(bytes) === null) ||
    (type === "application/pdf" && !Buffer.from(bytes.subarray(-2048)).includes("%%EOF"));
  if (broken) throw new ApiError("corrupt_file", "The file is broken or cut off: its end is missing, or does not fit its beginning.");
  return upload;
}

/** A file that was looked at, and where its bytes wait. */
export type StagedFile = Upload & { readonly staged: Staged | null };

/** Saves a lead magnet. Throws ApiError storage_quota_exceeded. */
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

/** One lead magnet. Throws ApiError not_found. */
export async function findLeadMagnet(q: Source, workspaceId: string, id: string): Promise<LeadMagnetRow> {
  const { leadMagnets: t } = q.t;
  const [row] = await q
    .select()
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.id, id)));
  if (!row) throw notFound("lead magnet", id);
  return row;
}

/** Changes what people read of a lead magnet. Throws ApiError not_found or not_owner. */
export async function updateLeadMagnet(
  tx: AgentTx,
  deps: AgentDeps,
  { workspaceId, activationId }: FileOwner,
  id: string,
  { title, description }: { title?: string | undefined; description?: string | null | undefined },
): Promise<LeadMagnet> {
  const before = await findLeadMagnet(tx, workspaceId, id);
  if (before.activationId !== activationId) throw new ApiError("not_owner", "This lead magnet was not uploaded by this agent.");
  const row: LeadMagnetRow = {
    ...before,
    title: title ?? before.title,
    description: description === undefined ? before.description : description,
  };
  await tx.update(tx.t.leadMagnets).set({ title: row.title, description: row.description }).where(eq(tx.t.leadMagnets.id, id));
  return showLeadMagnet(deps, row);
}

export async function listLeadMagnets(
  read: Reader<AgentTables>,
  deps: LinkDeps,
  workspaceId: string,
  input: PageInput,
): Promise<Page<LeadMagnet>> {
  const { leadMagnets: t } = read.t;
  const where = eq(t.workspaceId, workspaceId);
  return pageOf(
    input,
    ({ before, limit, offset }) =>
      read
        .select()
        .from(t)
        .where(and(where, before === null ? undefined : lt(t.id, before)))
        .orderBy(desc(t.id))
        .limit(limit)
        .offset(offset),
    () => read.$count(t, where),
    (row) => showLeadMagnet(deps, row),
  );
}

/** Deletes a lead magnet; pages let go of it. Throws ApiError not_found. */
export async function deleteLeadMagnet(
  tx: AgentTx,
  deps: LinkDeps & Pick<AgentDeps, "queue">,
  workspaceId: string,
  id: string,
): Promise<LeadMagnet> {
  await lockFiles(tx, workspaceId);
  const row = await findLeadMagnet(tx, workspaceId, id);
  const { leadMagnets: t, landingPages: p } = tx.t;
  await tx.delete(t).where(eq(t.id, id));
  await tx.update(p).set({ leadMagnetId: null }).where(eq(p.leadMagnetId, id));
  await releaseContent(tx, deps, workspaceId, row.sha256);
  return showLeadMagnet(deps, row);
}
