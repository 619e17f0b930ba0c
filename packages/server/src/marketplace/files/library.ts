import type { Page } from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { findRows } from "../../db/find.ts";
import { listPage, type PageInput } from "../../db/pagination.ts";
import { assetPath } from "../../html/urls.ts";
import { notFound } from "../../lib/api-error.ts";
import { SealBroken } from "../../lib/seal.ts";
import type { AgentDeps, AgentQuery, AgentTables, AgentTx } from "../agent-access.ts";
import { releaseContent } from "./contents.ts";
import { lockFiles } from "./quota.ts";

/** The libraries of a workspace's files. */
type Library = "assets" | "leadMagnets";

export type FileRow<L extends Library> = AgentTables[L]["$inferSelect"];

const NAMES: Readonly<Record<Library, string>> = { assets: "asset", leadMagnets: "lead magnet" };

/** A file of this workspace; null if there is none with this id. */
export async function findFileRow<L extends Library>(
  q: AgentQuery,
  library: L,
  workspaceId: string,
  id: string,
): Promise<FileRow<L> | null> {
  const t: AgentTables[Library] = q.t[library];
  const [row] = await findRows(q, t, { workspaceId, id });
  return (row as FileRow<L> | undefined) ?? null;
}

/** A file of this workspace. Throws ApiError not_found. */
export async function getFileRow<L extends Library>(q: AgentQuery, library: L, workspaceId: string, id: string): Promise<FileRow<L>> {
  const row = await findFileRow(q, library, workspaceId, id);
  if (row === null) throw notFound(NAMES[library], id);
  return row;
}

/** The files of a workspace, newest first. */
export function listFiles<L extends Library, Item>(
  read: Reader<AgentTables>,
  library: L,
  workspaceId: string,
  input: PageInput,
  show: (row: FileRow<L>) => Item,
): Promise<Page<Item>> {
  const t: AgentTables[Library] = read.t[library];
  return listPage(read, input, { table: t, where: eq(t.workspaceId, workspaceId), toItem: (row) => show(row as FileRow<L>) });
}

/** Deletes a file, and its contents unless another file has the same. Throws ApiError not_found. */
export async function deleteFile<L extends Library>(
  tx: AgentTx,
  deps: Pick<AgentDeps, "queue">,
  library: L,
  workspaceId: string,
  id: string,
): Promise<FileRow<L>> {
  await lockFiles(tx, workspaceId);
  const row = await getFileRow(tx, library, workspaceId, id);
  const t: AgentTables[Library] = tx.t[library];
  await tx.delete(t).where(eq(t.id, id));
  await releaseContent(tx, deps, workspaceId, row.sha256);
  return row;
}

type LinkDeps = Pick<AgentDeps, "baseUrl" | "seal" | "clock">;

/** Access that a link grants. */
type LinkPurpose = "download" | "preview";

/** The public address of an image, for mails and pages elsewhere. */
export function assetUrl({ baseUrl }: Pick<AgentDeps, "baseUrl">, { id }: { id: string }): string {
  return `${baseUrl()}${assetPath(id)}`;
}

/** The address of a lead magnet that works for `ms`. */
export function downloadUrl(deps: LinkDeps, id: string, ms: number): string {
  return `${deps.baseUrl()}${downloadPath(deps, id, ms)}`;
}

/** The path of a lead magnet on this server that works for `ms`. */
export function downloadPath(deps: LinkDeps, id: string, ms: number): string {
  return `/f/${makeLinkToken(deps, "download", id, ms)}`;
}

/** A token for a link that works for `ms`. It is encrypted and authenticated, so it cannot be forged or changed. */
export function makeLinkToken({ seal, clock }: Pick<AgentDeps, "seal" | "clock">, purpose: LinkPurpose, id: string, ms: number): string {
  return Buffer.from(seal.seal(`${clock.now() + ms} ${id}`, `link:${purpose}`)).toString("base64url");
}

/** The id a token grants access to; null for a token that is forged, expired or for another purpose. */
export function openLinkToken({ seal, clock }: Pick<AgentDeps, "seal" | "clock">, purpose: LinkPurpose, token: string): string | null {
  const sealed = Buffer.from(token.slice(0, 200), "base64url");
  // Only the canonical spelling: decoding base64url ignores invalid and surplus characters.
  if (sealed.length < 30 || sealed.toString("base64url") !== token) return null;
  try {
    const [until, id] = seal.open(sealed, `link:${purpose}`).split(" ");
    return clock.now() < Number(until) ? (id ?? null) : null;
  } catch (error) {
    if (error instanceof SealBroken) return null;
    throw error;
  }
}
