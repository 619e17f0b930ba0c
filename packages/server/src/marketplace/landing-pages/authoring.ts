import { LANDING_PAGE_LIMITS, type LandingPage, type LandingPageStatus, type WrittenLandingPage } from "@mailsvc/sdk/contract";
import { and, eq } from "drizzle-orm";
import { UniqueViolation } from "../../db/errors.ts";
import type { Sanitized } from "../../html/sanitize.ts";
import { ApiError, notFound } from "../../lib/api-error.ts";
import { getBrand } from "../../workspaces/workspaces.ts";
import type { AgentDeps, AgentTx } from "../agent-access.ts";
import { applyContent, type ContentInput } from "./content.ts";
import { getPageRow, type PageRow, showPage, type Viewer } from "./pages.ts";

/*
 * The states of a page. Rows: state. Columns: what happens.
 *
 * |           | the agent publishes, | the brand | the agent or the brand | the agent changes        | the brand |
 * |           | or changes with      | publishes | unpublishes            | content, approval needed | deletes   |
 * |           | status PUBLISHED¹    |           |                        | and not given            |           |
 * | --------- | -------------------- | --------- | ---------------------- | ------------------------ | --------- |
 * | none²     | PUBLISHED            | –         | –                      | DRAFT                    | –         |
 * | DRAFT     | PUBLISHED            | PUBLISHED | DRAFT                  | DRAFT                    | deleted   |
 * | PUBLISHED | PUBLISHED            | PUBLISHED | DRAFT                  | refused                  | deleted   |
 *
 * 1. Refused with approval_required when the brand must approve pages and has not approved this content.
 * 2. Creating a page.
 */

/** The agent that writes a page. */
export interface Author extends Viewer {
  readonly activationId: string;
}

interface PageInput extends ContentInput {
  readonly title?: string | undefined;
  readonly slug?: string | undefined;
  readonly status?: LandingPageStatus | undefined;
  readonly runId?: string | undefined;
}

const NO_CONTENT = {
  ...{ html: null, blocks: null, seo: {}, form: null, hasForm: false },
  ...{ leadMagnetId: null, listId: null, doubleOptIn: false, redirectUrl: null },
};

/** Creates a page. Throws ApiError slug_taken, approval_required, limit_reached, or not_found for what it names. */
export async function createPage(
  tx: AgentTx,
  deps: AgentDeps,
  author: Author,
  input: PageInput & { title: string },
  sanitized: Sanitized | null,
): Promise<WrittenLandingPage> {
  const row = await insertPage(tx, deps, author, input, sanitized);
  return { ...showPage(deps, author, row), removed: sanitized?.removed ?? [] };
}

/** Stores a new page of an agent, or of the brand itself, as `createPage` does. */
export async function insertPage(
  tx: AgentTx,
  deps: AgentDeps,
  author: Viewer,
  input: PageInput & { title: string },
  sanitized: Sanitized | null,
): Promise<PageRow> {
  const { landingPages: t } = tx.t;
  const { workspaceId, activationId } = author;
  if ((await tx.$count(t, eq(t.workspaceId, workspaceId))) >= LANDING_PAGE_LIMITS.pages)
    throw new ApiError("limit_reached", `This workspace has ${LANDING_PAGE_LIMITS.pages} landing pages, which is the limit.`, {
      hint: "Ask the brand to delete pages that are no longer needed.",
    });
  const id = deps.ids("lp");
  const wanted = input.slug ?? toSlug(input.title);
  const clash = await isTaken(tx, workspaceId, wanted);
  if (clash && input.slug !== undefined) throw slugTaken(wanted);
  const now = deps.clock.now();
  const row: PageRow = {
    id,
    workspaceId,
    activationId,
    runId: input.runId ?? null,
    // A slug made of the title gives way.
    slug: clash ? `${wanted}-${id.slice(-6)}` : wanted,
    title: input.title,
    ...(await applyContent(tx, author, NO_CONTENT, input, sanitized)),
    status: input.status ?? "DRAFT",
    version: 1,
    contentMark: id.slice("lp_".length),
    createdAt: now,
    updatedAt: now,
    publishedAt: input.status === "PUBLISHED" ? now : null,
  };
  if (row.status === "PUBLISHED") await assertApproved(tx, row);
  await refuseTakenSlug(row.slug, () => tx.insert(t).values(row));
  return row;
}

const CONTENT = ["title", "slug", "html", "blocks", "seo", "form", "leadMagnetId", "listId", "doubleOptIn", "redirectUrl"] as const;

/** Changes what is sent. Throws ApiError not_found, version_mismatch, slug_taken or approval_required. */
export async function updatePage(
  tx: AgentTx,
  deps: AgentDeps,
  author: Author,
  { id, version, ...input }: PageInput & { id: string; version?: number | undefined },
  ifMatch: string | null,
  sanitized: Sanitized | null,
): Promise<WrittenLandingPage> {
  const row = await changePage(tx, deps, author, { id, version, ...input }, ifMatch, sanitized);
  return { ...showPage(deps, author, row), removed: sanitized?.removed ?? [] };
}

/** Stores changes of a page of an agent, or of the brand itself, as `updatePage` does. */
export async function changePage(
  tx: AgentTx,
  deps: AgentDeps,
  author: Viewer,
  { id, version, ...input }: PageInput & { id: string; version?: number | undefined },
  ifMatch: string | null,
  sanitized: Sanitized | null,
): Promise<PageRow> {
  const before = await getOwnPageRow(tx, author, id);
  assertVersion(before, version, ifMatch);
  if (Object.values(input).every((value) => value === undefined)) return before;
  if (input.slug !== undefined && input.slug !== before.slug && (await isTaken(tx, author.workspaceId, input.slug)))
    throw slugTaken(input.slug);
  const now = deps.clock.now();
  const changes = CONTENT.some((field) => input[field] !== undefined);
  const changed: PageRow = {
    ...before,
    title: input.title ?? before.title,
    slug: input.slug ?? before.slug,
    runId: input.runId ?? before.runId,
    ...(await applyContent(tx, author, before, input, sanitized)),
    version: before.version + 1,
    contentMark: changes ? deps.ids("lp").slice("lp_".length) : before.contentMark,
    updatedAt: now,
  };
  const row = applyStatus(changed, input.status ?? before.status, now);
  if (row.status === "PUBLISHED" && (changes || before.status !== "PUBLISHED")) await assertApproved(tx, row);
  await save(tx, row);
  return row;
}

/** Publishes or unpublishes a page for the agent that made it. Throws ApiError not_found or approval_required. */
export async function setOwnStatus(
  tx: AgentTx,
  deps: AgentDeps,
  author: Author,
  id: string,
  status: LandingPageStatus,
): Promise<LandingPage> {
  const before = await getOwnPageRow(tx, author, id);
  if (status === "PUBLISHED" && before.status !== status) await assertApproved(tx, before);
  return setStatus(tx, deps, author, before, status);
}

/** The same for the brand, which needs no approval. Throws ApiError not_found. */
export async function setStatusForBrand(
  tx: AgentTx,
  deps: AgentDeps,
  workspaceId: string,
  id: string,
  status: LandingPageStatus,
): Promise<LandingPage> {
  const viewer = { workspaceId, activationId: null };
  return setStatus(tx, deps, viewer, await getPageRow(tx, viewer, id), status);
}

function slugTaken(slug: string): ApiError {
  return new ApiError("slug_taken", `The slug ${slug} is taken in this workspace.`, {
    details: [{ path: "slug", code: "slug_taken", message: "Another page has this slug." }],
  });
}

function toSlug(title: string): string {
  return (
    title
      .normalize("NFKD")
      .toLowerCase()
      .replace(/\p{M}+/gu, "")
      .replace(/[^a-z0-9]+/g, "-")
      .slice(0, 60)
      .replace(/^-+|-+$/g, "") || "page"
  );
}

async function isTaken(tx: AgentTx, workspaceId: string, slug: string): Promise<boolean> {
  const { landingPages: t } = tx.t;
  return (await tx.$count(t, and(eq(t.workspaceId, workspaceId), eq(t.slug, slug)))) > 0;
}

async function refuseTakenSlug(slug: string, write: () => PromiseLike<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (error instanceof UniqueViolation) throw slugTaken(slug);
    throw error;
  }
}

/**
 * A page that this agent, or the brand, made itself. Throws ApiError not_found, also for a published page of another agent, which it may
 * read.
 */
async function getOwnPageRow(tx: AgentTx, author: Viewer, id: string): Promise<PageRow> {
  const row = await getPageRow(tx, author, id);
  if (row.activationId !== author.activationId) throw notFound("landing page", id);
  return row;
}

async function save(tx: AgentTx, row: PageRow): Promise<void> {
  const { landingPages: t } = tx.t;
  const { id, workspaceId: _workspace, activationId: _activation, createdAt: _created, ...set } = row;
  await refuseTakenSlug(row.slug, () => tx.update(t).set(set).where(eq(t.id, id)));
}

function applyStatus(row: PageRow, status: LandingPageStatus, now: number): PageRow {
  return row.status === status ? row : { ...row, status, publishedAt: status === "PUBLISHED" ? now : row.publishedAt };
}

/** Throws ApiError version_mismatch unless the caller has read the version there is: by its field, or by an If-Match header. */
function assertVersion({ version }: PageRow, wanted: number | undefined, ifMatch: string | null): void {
  const named =
    ifMatch === null || ifMatch.trim() === "*" || ifMatch.split(",").some((one) => one.trim().replace(/^W\//, "") === `"${version}"`);
  if (named && (wanted === undefined || wanted === version)) return;
  throw new ApiError("version_mismatch", `The landing page is at version ${version}.`, {
    details: [{ path: "version", code: "version_mismatch", message: String(version) }],
  });
}

async function setStatus(tx: AgentTx, deps: AgentDeps, viewer: Viewer, before: PageRow, status: LandingPageStatus): Promise<LandingPage> {
  if (before.status === status) return showPage(deps, viewer, before);
  const now = deps.clock.now();
  const row = applyStatus({ ...before, version: before.version + 1, updatedAt: now }, status, now);
  await save(tx, row);
  return showPage(deps, viewer, row);
}

/** Throws ApiError approval_required when the brand must approve pages of agents and has not approved this one. */
async function assertApproved(tx: AgentTx, page: PageRow): Promise<void> {
  if (page.activationId === null) return;
  const brand = await getBrand(tx, page.workspaceId);
  if (!brand.publishNeedsApproval || (await isApproved(tx, page))) return;
  throw new ApiError("approval_required", "This brand approves pages before they are published, and each change of a published page.", {
    details: [
      {
        path: "status",
        code: "approval_required",
        message: `Keep it as DRAFT, post an APPROVAL_REQUEST with approval.preview {"kind":"landing_page","id":"${page.id}"}, and publish after its approval_response says approved.`,
      },
    ],
  });
}

/** True if the brand has approved the current content of the page: in answer to a request made after its last change. */
async function isApproved(tx: AgentTx, page: PageRow): Promise<boolean> {
  const { approvals: t } = tx.t;
  const rows = await tx
    .select({ messageId: t.messageId, preview: t.preview })
    .from(t)
    .where(and(eq(t.activationId, page.activationId ?? ""), eq(t.status, "APPROVED")));
  return rows.some(
    ({ messageId, preview }) =>
      preview?.kind === "landing_page" && preview.id === page.id && messageId.slice(messageId.indexOf("_") + 1) > page.contentMark,
  );
}
