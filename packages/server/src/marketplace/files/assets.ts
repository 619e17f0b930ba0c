import { ASSET_TYPES, type Asset, FILE_LIMITS, type Page } from "@mailsvc/sdk/contract";
import { and, desc, eq, inArray, lt } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { type PageInput, pageOf } from "../../db/pagination.ts";
import type { AgentDeps, AgentTx } from "../../deps.ts";
import type { FileBody } from "../../http/body/upload.ts";
import { ApiError, invalid, notFound } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import type { AgentTables, Tables } from "../../schema.ts";
import { assetUrl } from "./asset-url.ts";
import { deleteContent, releaseContent, type Staged, storeContent } from "./contents.ts";
import { type ImageSize, imageSize } from "./image-size.ts";
import { type FileOwner, lockFiles } from "./room.ts";
import { checkUpload, type FileInput, type Upload } from "./upload.ts";

export type AssetRow = Tables["assets"]["$inferSelect"];

type Source = Reader<AgentTables> | AgentTx;

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

/** An image that may be kept. Throws ApiError, of `checkUpload` or corrupt_file or validation_error for one too large to show. */
export function checkImage(input: FileInput, file: FileBody): Upload & ImageSize {
  const upload = checkUpload(input, file, { types: ASSET_TYPES, max: FILE_LIMITS.asset });
  const size = imageSize(upload.type, upload.bytes);
  if (!size) throw new ApiError("corrupt_file", "The image does not say how large it is: it is broken or cut off.");
  if (size.width * size.height > FILE_LIMITS.assetPixels)
    throw invalid("file", "too_big", `The image is ${size.width} x ${size.height}; at most ${FILE_LIMITS.assetPixels} pixels are taken.`);
  return { ...upload, ...size };
}

interface AssetFields {
  alt?: string | null | undefined;
  tags?: readonly string[] | undefined;
  externalId?: string | null | undefined;
}

/** An image that was looked at, and where its bytes wait. */
export type StagedImage = Upload & ImageSize & { readonly staged: Staged | null };

/** Saves an image; the same one again answers what is there. Throws ApiError storage_quota_exceeded. */
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
    return { status: 200, body: showAsset(deps, known) };
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

/** One image. Throws ApiError not_found. */
export async function findAsset(q: Source, workspaceId: string, id: string): Promise<AssetRow> {
  const { assets: t } = q.t;
  const [row] = await q
    .select()
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.id, id)));
  if (!row) throw notFound("asset", id);
  return row;
}

/** Throws ApiError not_found for the first of these images that is not in the library. */
export async function assertAssets(q: Source, workspaceId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const { assets: t } = q.t;
  const rows = await q
    .select({ id: t.id })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), inArray(t.id, [...ids])));
  const known = new Set(rows.map(({ id }) => id));
  const missing = ids.find((id) => !known.has(id));
  if (missing !== undefined) throw notFound("asset", missing);
}

export async function listAssets(
  read: Reader<AgentTables>,
  deps: Pick<AgentDeps, "baseUrl">,
  workspaceId: string,
  input: PageInput,
): Promise<Page<Asset>> {
  const { assets: t } = read.t;
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
    (row) => showAsset(deps, row),
  );
}

/** Deletes an image, and lets go of it as the logo. Throws ApiError not_found. */
export async function deleteAsset(
  tx: AgentTx,
  deps: Pick<AgentDeps, "baseUrl" | "queue">,
  workspaceId: string,
  id: string,
): Promise<Asset> {
  await lockFiles(tx, workspaceId);
  const row = await findAsset(tx, workspaceId, id);
  const { assets: t, brands: b } = tx.t;
  await tx.delete(t).where(eq(t.id, id));
  await releaseContent(tx, deps, workspaceId, row.sha256);
  await tx
    .update(b)
    .set({ logoAssetId: null })
    .where(and(eq(b.workspaceId, workspaceId), eq(b.logoAssetId, id)));
  return showAsset(deps, row);
}
