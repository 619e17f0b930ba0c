import type { LandingPage, LandingPageStatus, LandingPageSummary, Page } from "@mailsvc/sdk/contract";
import { and, eq, getTableColumns, or } from "drizzle-orm";
import type { Reader, Tx } from "../../db/db.ts";
import { findRows } from "../../db/find.ts";
import { listPage, type PageInput } from "../../db/pagination.ts";
import { notFound } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import { HOUR } from "../../lib/units.ts";
import type { ListDeps } from "../../lists/lists.ts";
import type { Queue } from "../../queue/queue.ts";
import type { UnsubscribeDeps } from "../../unsubscribe/unsubscribe.ts";
import type { AgentDeps, AgentQuery, AgentTables } from "../agent-access.ts";
import { makeLinkToken } from "../files/files.ts";
import type { PageTables } from "./tables.ts";

export type PageRow = PageTables["landingPages"]["$inferSelect"];

/** The reader of pages: its own brand sees all; an agent those it made and those that are published. */
export interface Viewer {
  readonly workspaceId: string;
  readonly activationId: string | null;
}

type ShowDeps = Pick<AgentDeps, "baseUrl" | "seal" | "clock">;

export function pagePath(row: Pick<PageRow, "slug" | "id">): string {
  return `/p/${toPageRef(row)}`;
}

/** Path of the page on which visitors unsubscribe from the brand's mail. */
export function unsubscribePath(row: Pick<PageRow, "slug" | "id">): string {
  return `${pagePath(row)}/unsubscribe`;
}

export function pageUrl({ baseUrl }: Pick<AgentDeps, "baseUrl">, row: Pick<PageRow, "slug" | "id">): string {
  return `${baseUrl()}${pagePath(row)}`;
}

/** The id in a page's address; null when it has another form. */
export function parsePageRef(ref: string): string | null {
  const id = /^(?:[a-z0-9-]{1,80}-)?([0-9a-z]{26})$/.exec(ref)?.[1];
  return id === undefined ? null : `lp_${id}`;
}

/** A page this viewer may see. Throws ApiError not_found. */
export async function getPageRow(q: AgentQuery, { workspaceId, activationId }: Viewer, id: string): Promise<PageRow> {
  const { landingPages: t } = q.t;
  const [row] = await findRows(q, t, { workspaceId, id });
  if (!row || (activationId !== null && row.activationId !== activationId && row.status !== "PUBLISHED"))
    throw notFound("landing page", id);
  return row;
}

interface PageFilter extends PageInput {
  status?: LandingPageStatus | undefined;
  activationId?: string | undefined;
}

/** The pages this viewer may see, newest first. */
export async function listPages<Item>(
  read: Reader<AgentTables>,
  { workspaceId, activationId }: Viewer,
  input: PageFilter,
  show: (row: Omit<PageRow, "html" | "blocks">) => Item,
): Promise<Page<Item>> {
  const { landingPages: t } = read.t;
  const { html: _html, blocks: _blocks, ...columns } = getTableColumns(t);
  const where = and(
    eq(t.workspaceId, workspaceId),
    activationId === null ? undefined : or(eq(t.activationId, activationId), eq(t.status, "PUBLISHED")),
    input.status && eq(t.status, input.status),
    input.activationId === undefined ? undefined : eq(t.activationId, input.activationId),
  );
  return listPage(read, input, { table: t, columns, where, toItem: show });
}

/** A page without its content. An agent does not learn which other agent made it. */
export function showSummary(deps: Pick<AgentDeps, "baseUrl">, viewer: Viewer, row: Omit<PageRow, "html" | "blocks">): LandingPageSummary {
  const named = viewer.activationId === null || viewer.activationId === row.activationId;
  return {
    id: row.id,
    slug: row.slug,
    url: pageUrl(deps, row),
    title: row.title,
    status: row.status,
    version: row.version,
    hasForm: row.hasForm,
    leadMagnetId: row.leadMagnetId,
    listId: row.listId,
    runId: named ? row.runId : null,
    createdBy: { agent: row.activationId !== null, activationId: named ? row.activationId : null },
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
    publishedAt: row.publishedAt === null ? null : iso(row.publishedAt),
  };
}

export function showPage(deps: ShowDeps, viewer: Viewer, row: PageRow): LandingPage {
  return {
    ...showSummary(deps, viewer, row),
    html: row.html,
    blocks: row.blocks,
    seo: row.seo,
    form: row.form,
    previewUrl: `${pageUrl(deps, row)}?preview=${makeLinkToken(deps, "preview", row.id, HOUR)}`,
  };
}

/** Deletes a page with its statistics and sign-ups. Throws ApiError not_found. */
export async function deletePage(tx: Tx, deps: PageDeps, workspaceId: string, id: string): Promise<LandingPage> {
  const viewer = { workspaceId, activationId: null };
  const row = await getPageRow(tx, viewer, id);
  const { landingPages, landingPageDays, landingPageVisitors, landingPageReferrers, landingPageSubmissions } = tx.t;
  await tx.delete(landingPages).where(eq(landingPages.id, id));
  for (const t of [landingPageDays, landingPageVisitors, landingPageReferrers, landingPageSubmissions])
    await tx.delete(t).where(eq(t.pageId, id));
  return showPage(deps, viewer, row);
}

/** The name of a page in its address: people read the slug, and the id finds the page after the slug has changed. */
function toPageRef({ slug, id }: Pick<PageRow, "slug" | "id">): string {
  return `${slug}-${id.slice("lp_".length)}`;
}

export interface PageDeps extends AgentDeps, ListDeps, UnsubscribeDeps {
  readonly config: AgentDeps["config"] & ListDeps["config"];
  readonly queue: Queue;
}
