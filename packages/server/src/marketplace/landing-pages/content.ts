import type { PageBlock, PageForm, PageSeo } from "@mailsvc/sdk/contract";
import { FORM_MARK, type Sanitized, sanitizeInTurns } from "../../html/sanitize.ts";
import { invalid, notFound } from "../../lib/api-error.ts";
import { findLists } from "../../lists/lists.ts";
import type { AgentDeps, AgentTx } from "../agent-access.ts";
import { assertAssets, getFileRow } from "../files/files.ts";
import type { PageRow, Viewer } from "./pages.ts";

/** The content fields of a request. */
export interface ContentInput {
  readonly html?: string | null | undefined;
  readonly blocks?: PageBlock[] | null | undefined;
  readonly seo?: PageSeo | null | undefined;
  readonly form?: PageForm | null | undefined;
  readonly leadMagnetId?: string | null | undefined;
  readonly listId?: string | null | undefined;
  readonly doubleOptIn?: boolean | undefined;
  readonly redirectUrl?: string | null | undefined;
}

/** Sanitizes the HTML, before the transaction begins because a large page takes a while. Throws ApiError validation_error. */
export async function checkContent({ html, blocks }: ContentInput, { baseUrl }: Pick<AgentDeps, "baseUrl">): Promise<Sanitized | null> {
  if (typeof html === "string" && blocks) throw invalid("blocks", "unexpected", "A page has html or blocks, not both.");
  return typeof html === "string" ? sanitizeInTurns(html, [baseUrl()]) : null;
}

type Content = Pick<PageRow, "html" | "blocks" | "seo" | "form" | "hasForm" | "leadMagnetId" | "listId" | "doubleOptIn" | "redirectUrl">;

/**
 * The content of a page after a change. Throws ApiError not_found for a list or image that is not the brand's, and for a lead magnet that
 * is neither the brand's nor the agent's own.
 */
export async function applyContent(
  tx: AgentTx,
  { workspaceId, activationId }: Viewer,
  before: Content,
  input: ContentInput,
  sanitized: Sanitized | null,
): Promise<Content> {
  const { blocks, seo, form, leadMagnetId, listId } = input;
  if (leadMagnetId) await assertLeadMagnet(tx, { workspaceId, activationId }, leadMagnetId);
  if (listId) await assertList(tx, workspaceId, listId);
  const images = blocks?.flatMap((block) => (block.type === "image" ? [block.assetId] : [])) ?? [];
  await assertAssets(tx, workspaceId, [...images, ...(sanitized?.assets ?? []), ...(seo?.ogAssetId ? [seo.ogAssetId] : [])]);
  const after = {
    // Each replaces the other.
    html: sanitized ? sanitized.html : input.html === null || blocks ? null : before.html,
    blocks: blocks !== undefined ? blocks : sanitized ? null : before.blocks,
    seo: seo === undefined ? before.seo : (seo ?? {}),
    form: form === undefined ? before.form : form,
    leadMagnetId: leadMagnetId === undefined ? before.leadMagnetId : leadMagnetId,
    listId: listId === undefined ? before.listId : listId,
    doubleOptIn: input.doubleOptIn ?? before.doubleOptIn,
    redirectUrl: input.redirectUrl === undefined ? before.redirectUrl : input.redirectUrl,
  };
  return { ...after, hasForm: needsForm(after) };
}

async function assertLeadMagnet(tx: AgentTx, { workspaceId, activationId }: Viewer, id: string): Promise<void> {
  const { activationId: owner } = await getFileRow(tx, "leadMagnets", workspaceId, id);
  if (owner !== null && owner !== activationId) throw notFound("lead magnet", id);
}

async function assertList(tx: AgentTx, workspaceId: string, id: string): Promise<void> {
  if (!(await findLists(tx, workspaceId, [id])).has(id)) throw notFound("list", id);
}

function needsForm({ html, blocks, form, leadMagnetId, listId }: Omit<Content, "hasForm">): boolean {
  return (
    form !== null ||
    leadMagnetId !== null ||
    listId !== null ||
    (html?.includes(FORM_MARK) ?? false) ||
    (blocks?.some((block) => block.type === "form") ?? false)
  );
}
