import { ASSET_TYPES, type Asset, FILE_LIMITS } from "@mailsvc/sdk/contract";
import { and, eq } from "drizzle-orm";
import { findRows } from "../../db/find.ts";
import type { FileBody } from "../../http/body/upload.ts";
import { ApiError, invalid, notFound } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import { forgetLogo } from "../../workspaces/workspaces.ts";
import type { AgentDeps, AgentQuery, AgentTx } from "../agent-access.ts";
import { deleteContent, type Staged, storeContent } from "./contents.ts";
import { type ImageSize, imageSize } from "./image-size.ts";
import { assetUrl, deleteFile, type FileRow } from "./library.ts";
import { type FileOwner, lockFiles } from "./quota.ts";
import { checkUpload, type FileInput, type Upload } from "./upload.ts";

type AssetRow = FileRow<"assets">;

export function showAsset(deps: Pick<AgentDeps, "baseUrl">, row: AssetRow): Asset {
  return {
    id: row.id,
    url: assetUrl(deps, row),
    fileName: row.fileName,
    contentType: row.contentType as Asset["contentType"],
    size: row.size,
    width: row.width,
    height: row.height,
    sha256: row.sha256,
    alt: row.alt,
    tags: row.tags,
    externalId: row.externalId,
    createdAt: iso(row.createdAt),
  };
}

/** Checks an image. Throws ApiError as `checkUpload` does, corrupt_file, or validation_error for too many pixels. */
export function checkImage(input: FileInput, file: FileBody): Upload & ImageSize {
  const upload = checkUpload(input, file, { types: ASSET_TYPES, max: FILE_LIMITS.asset });
  const size = imageSize(upload.type, upload.bytes);
  if (!size) throw new ApiError("corrupt_file", "The image is broken or cut off: its width and height cannot be read.");
  if (size.width * size.height > FILE_LIMITS.assetPixels)
    throw invalid(
      "file",
      "too_big",
      `The image has ${size.width} x ${size.height} pixels; the limit is ${FILE_LIMITS.assetPixels} pixels.`,
    );
  return { ...upload, ...size };
}

interface AssetFields {
  alt?: string | null | undefined;
  tags?: readonly string[] | undefined;
  externalId?: string | null | undefined;
}

/** A checked image, and its contents if they are staged. */
export type StagedImage = Upload & ImageSize & { readonly staged: Staged | null };

/**
 * Stores an image. The same bytes again return the stored one, with status 200; it gets an `alt` if it had none. Throws ApiError
 * storage_quota_exceeded.
 */
export async function saveAsset(
  tx: AgentTx,
  deps: AgentDeps,
  owner: FileOwner,
  { alt = null, tags = [], externalId = null }: AssetFields,
  image: StagedImage,
): Promise<{ status: 200 | 201; body: Asset }> {
  const { assets: t } = tx.t;
  const { workspaceId, activationId } = owner;
  await lockFiles(tx, workspaceId);
  const same = and(eq(t.workspaceId, workspaceId), eq(t.sha256, image.sha256));
  const [known] = await tx.select().from(t).where(same);
  if (known) {
    if (image.staged) await deleteContent(tx, deps, image.staged);
    if (known.alt !== null || alt === null) return { status: 200, body: showAsset(deps, known) };
    await tx.update(t).set({ alt }).where(eq(t.id, known.id));
    return { status: 200, body: showAsset(deps, { ...known, alt }) };
  }
  await storeContent(tx, deps, owner, image, image.staged);
  const row: AssetRow = {
    id: deps.ids("ast"),
    workspaceId,
    activationId,
    sha256: image.sha256,
    fileName: image.fileName,
    contentType: image.type,
    size: image.bytes.length,
    width: image.width,
    height: image.height,
    alt,
    tags: [...new Set(tags)],
    externalId,
    createdAt: deps.clock.now(),
  };
  await tx.insert(t).values(row);
  return { status: 201, body: showAsset(deps, row) };
}

/** Throws ApiError not_found for the first of these images that is not in the library. */
export async function assertAssets(q: AgentQuery, workspaceId: string, ids: readonly string[]): Promise<void> {
  const rows = await findRows(q, q.t.assets, { workspaceId, id: ids });
  const known = new Set(rows.map(({ id }) => id));
  const missing = ids.find((id) => !known.has(id));
  if (missing !== undefined) throw notFound("asset", missing);
}

/** Deletes an image. A brand whose logo it was has none afterwards. Throws ApiError not_found. */
export async function deleteAsset(
  tx: AgentTx,
  deps: Pick<AgentDeps, "baseUrl" | "queue">,
  workspaceId: string,
  id: string,
): Promise<Asset> {
  const row = await deleteFile(tx, deps, "assets", workspaceId, id);
  await forgetLogo(tx, workspaceId, id);
  return showAsset(deps, row);
}
