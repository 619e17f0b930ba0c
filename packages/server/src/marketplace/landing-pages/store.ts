import type { LandingPageStatus, Page } from "@mailsvc/sdk/contract";
import { and, desc, eq, lt, or } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { type PageInput, pageOf } from "../../db/pagination.ts";
import type { AgentTx } from "../../deps.ts";
import { notFound } from "../../lib/api-error.ts";
import type { AgentTables } from "../../schema.ts";
import type { PageRow } from "./address.ts";

export type Source = Reader<AgentTables> | AgentTx;

/** Who looks at pages: a brand sees all of its own, an agent those it made and those that are out. */
export interface Viewer {
  readonly workspaceId: string;
  readonly activationId: string | null;
}

/** A page this viewer may see. Throws ApiError not_found. */
export async function findPage(q: Source, { workspaceId, activationId }: Viewer, id: string): Promise<PageRow> {
  const { landingPages: t } = q.t;
  const [row] = await q
    .select()
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.id, id)));
  if (!row || (activationId !== null && row.activationId !== activationId && row.status !== "PUBLISHED"))
    throw notFound("landing page", id);
  return row;
}

export interface PageFilter extends PageInput {
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
  const {
    html: _html,
    blocks: _blocks,
    ...columns
  } = {
    id: t.id,
    workspaceId: t.workspaceId,
    activationId: t.activationId,
    runId: t.runId,
    slug: t.slug,
    title: t.title,
    html: t.html,
    blocks: t.blocks,
    seo: t.seo,
    form: t.form,
    hasForm: t.hasForm,
    leadMagnetId: t.leadMagnetId,
    listId: t.listId,
    status: t.status,
    version: t.version,
    contentMark: t.contentMark,
    createdAt: t.createdAt,
    updatedAt: t.updatedAt,
    publishedAt: t.publishedAt,
  };
  const where = and(
    eq(t.workspaceId, workspaceId),
    activationId === null ? undefined : or(eq(t.activationId, activationId), eq(t.status, "PUBLISHED")),
    input.status && eq(t.status, input.status),
    input.activationId === undefined ? undefined : eq(t.activationId, input.activationId),
  );
  return pageOf(
    input,
    ({ before, limit, offset }) =>
      read
        .select(columns)
        .from(t)
        .where(and(where, before === null ? undefined : lt(t.id, before)))
        .orderBy(desc(t.id))
        .limit(limit)
        .offset(offset),
    () => read.$count(t, where),
    show,
  );
}
