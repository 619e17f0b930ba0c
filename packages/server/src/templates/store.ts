import type { Page } from "@mailsvc/sdk/contract";
import { and, desc, eq, lt, or, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { contains } from "../db/dialect.ts";
import { findRows } from "../db/find.ts";
import { listPage, type PageInput } from "../db/pagination.ts";
import type { TemplateTables } from "./tables.ts";

export type TemplateRow = TemplateTables["templates"]["$inferSelect"];
export type VersionRow = TemplateTables["templateVersions"]["$inferSelect"];

/** The version number of a draft. */
export const DRAFT = 0;

const MAX_SLUGS = 500;

export async function findTemplateById(q: Tx | Reader, workspaceId: string, id: string): Promise<TemplateRow | null> {
  const { templates: t } = q.t;
  const [row] = await findRows(q, t, { workspaceId, id });
  return row ?? null;
}

/** Prepared, since each send reads its template and the parts of it. */
export async function findTemplateBySlug(q: Tx | Reader, workspaceId: string, slug: string): Promise<TemplateRow | null> {
  const [row] = await findRows(q, q.t.templates, { workspaceId, slug });
  return row ?? null;
}

/** The slugs, out of these, that templates have. */
export async function findSlugs(q: Tx | Reader, workspaceId: string, slugs: readonly string[]): Promise<string[]> {
  if (slugs.length === 0) return [];
  return (await findRows(q, q.t.templates, { workspaceId, slug: [...slugs] })).map(({ slug }) => slug);
}

/** The slugs of what can be sent, the newest first, as many as are worth comparing with a misspelt one. */
export async function listSlugs(read: Reader, workspaceId: string): Promise<string[]> {
  const { templates: t } = read.t;
  const where = and(eq(t.workspaceId, workspaceId), eq(t.type, "transactional"));
  const rows = await read.select({ slug: t.slug }).from(t).where(where).orderBy(desc(t.id)).limit(MAX_SLUGS);
  return rows.map(({ slug }) => slug);
}

export async function findVersionRow(q: Tx | Reader, templateId: string, version: number): Promise<VersionRow | null> {
  const [row] = await findRows(q, q.t.templateVersions, { templateId, version });
  return row ?? null;
}

export async function insertTemplate(tx: Tx, row: TemplateRow): Promise<void> {
  await tx.insert(tx.t.templates).values(row);
}

export async function insertVersion(tx: Tx, row: VersionRow): Promise<void> {
  await tx.insert(tx.t.templateVersions).values(row);
}

export async function replaceDraft(tx: Tx, row: VersionRow): Promise<void> {
  const { templateVersions: t } = tx.t;
  const { templateId: _template, version: _version, ...content } = row;
  await tx
    .update(t)
    .set(content)
    .where(and(eq(t.templateId, row.templateId), eq(t.version, DRAFT)));
}

/** Updates a template; false when it is no longer at the revision it was read at. */
export async function updateTemplate(tx: Tx, row: TemplateRow, patch: Partial<TemplateRow>): Promise<boolean> {
  const { templates: t } = tx.t;
  const changed = await tx
    .update(t)
    .set(patch)
    .where(and(eq(t.id, row.id), eq(t.revision, row.revision)))
    .returning({ id: t.id });
  return changed.length > 0;
}

export async function deleteTemplateRows(tx: Tx, id: string): Promise<void> {
  await tx.delete(tx.t.templateVersions).where(eq(tx.t.templateVersions.templateId, id));
  await tx.delete(tx.t.templates).where(eq(tx.t.templates.id, id));
}

/** Deletes published versions before `oldest`. */
export async function deleteOldVersions(tx: Tx, templateId: string, oldest: number): Promise<void> {
  const { templateVersions: t } = tx.t;
  await tx.delete(t).where(and(eq(t.templateId, templateId), lt(t.version, oldest), sql`${t.version} <> ${DRAFT}`));
}

export type TemplateUse = Pick<
  TemplateRow,
  "id" | "slug" | "name" | "type" | "kind" | "status" | "version" | "draftUses" | "publishedUses"
>;

/** All templates of a workspace with the slugs they use. */
export async function listTemplateUses(q: Tx | Reader, workspaceId: string): Promise<TemplateUse[]> {
  const { templates: t } = q.t;
  return q
    .select({
      id: t.id,
      slug: t.slug,
      name: t.name,
      type: t.type,
      kind: t.kind,
      status: t.status,
      version: t.version,
      draftUses: t.draftUses,
      publishedUses: t.publishedUses,
    })
    .from(t)
    .where(eq(t.workspaceId, workspaceId));
}

export interface TemplateFilter {
  search?: string | undefined;
  category?: string | undefined;
  type?: TemplateRow["type"] | undefined;
  status?: TemplateRow["status"] | undefined;
}

/** A page of templates, newest first. */
export function listTemplateRows<Item>(
  q: Reader,
  workspaceId: string,
  input: PageInput & TemplateFilter,
  toItem: (row: TemplateRow) => Item,
): Promise<Page<Item>> {
  return listPage(q, input, { table: q.t.templates, where: buildFilter(q, workspaceId, input), toItem });
}

export type VersionHead = Pick<VersionRow, "id" | "version" | "subject" | "restoredFrom" | "createdAt">;

/** A page of the published versions of a template, newest first. */
export function listVersionRows<Item>(
  q: Reader,
  templateId: string,
  input: PageInput,
  toItem: (version: VersionHead) => Item,
): Promise<Page<Item>> {
  const { templateVersions: t } = q.t;
  const columns = { id: t.id, version: t.version, subject: t.subject, restoredFrom: t.restoredFrom, createdAt: t.createdAt };
  return listPage(q, input, { table: t, columns, where: isPublishedVersion(q, templateId), toItem });
}

function buildFilter(q: Reader, workspaceId: string, { search, category, type, status }: TemplateFilter) {
  const { templates: t } = q.t;
  return and(
    eq(t.workspaceId, workspaceId),
    search ? or(contains(q.sqlDialect, t.name, search), contains(q.sqlDialect, t.description, search)) : undefined,
    category === undefined ? undefined : eq(t.category, category),
    type && eq(t.type, type),
    status && eq(t.status, status),
  );
}

function isPublishedVersion(q: Reader, templateId: string) {
  const { templateVersions: t } = q.t;
  return and(eq(t.templateId, templateId), sql`${t.version} <> ${DRAFT}`);
}
