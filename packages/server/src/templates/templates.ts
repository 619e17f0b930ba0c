import {
  type contract,
  type HandlerInput,
  MailBlocks,
  type Page,
  type ProposedBy,
  TEMPLATE_LIMITS,
  type Template,
  type TemplateDetail,
  type TemplateVersion,
} from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import { UniqueViolation } from "../db/errors.ts";
import type { PageInput } from "../db/pagination.ts";
import { ApiError, invalid, notFound } from "../lib/api-error.ts";
import { assertRevision } from "../lib/revision.ts";
import { renderMailBlocks } from "./blocks.ts";
import { type CompiledTemplates, compileContent, toApiError } from "./compiled-set.ts";
import { applyChanges, assertComplete, assertFits, type Content, EMPTY_CONTENT, hashContent, toSlug } from "./content.ts";
import { assertNoneBreaks, assertUnused } from "./dependents.ts";
import type { TemplateDeps } from "./deps.ts";
import type { Compiled } from "./engine/engine.ts";
import type { Parse } from "./engine/parser.ts";
import { resolveVersion, type Sendable } from "./sending.ts";
import { NOBODY, showDetail, showTemplate, showVersion } from "./show.ts";
import {
  DRAFT,
  deleteOldVersions,
  deleteTemplateRows,
  findTemplateById,
  findVersionRow,
  insertTemplate,
  insertVersion,
  listTemplateRows,
  listVersionRows,
  replaceDraft,
  type TemplateFilter,
  type TemplateRow,
  updateTemplate,
  type VersionRow,
} from "./store.ts";

type Endpoints = typeof contract.templates;

/** A template by its id. Throws ApiError not_found. */
export async function getTemplateRow(q: Tx | Reader, workspaceId: string, id: string): Promise<TemplateRow> {
  const row = await findTemplateById(q, workspaceId, id);
  if (!row) throw notFound("template", id);
  return row;
}

/** The draft of a template, or one of its published versions. Throws ApiError not_found. */
export async function getVersionRow(q: Tx | Reader, row: TemplateRow, version: number): Promise<VersionRow> {
  const found = await findVersionRow(q, row.id, version);
  if (!found)
    throw new ApiError("not_found", `Version ${version} of ${row.slug} not found.`, {
      hint: `See: mailsvc templates versions ${row.id}`,
    });
  return found;
}

/**
 * Creates a template with its draft, published at once if asked. `proposedBy` names the agent that proposed it. Throws ApiError
 * validation_error or conflict.
 */
export async function createTemplate(
  tx: Tx,
  deps: TemplateDeps,
  workspaceId: string,
  input: HandlerInput<Endpoints["create"]>,
  parse: Parse,
  proposedBy: ProposedBy | null = null,
): Promise<TemplateDetail> {
  const now = deps.clock.now();
  const content = await renderContent(tx, parse, workspaceId, input.kind, applyChanges(EMPTY_CONTENT, input), input);
  const head: TemplateRow = {
    id: deps.ids("tpl"),
    workspaceId,
    slug: input.slug ?? toSlug(input.name),
    name: input.name,
    description: input.description ?? null,
    category: input.category ?? null,
    type: input.type,
    kind: input.kind,
    status: "ACTIVE",
    revision: 1,
    version: null,
    publishedHash: null,
    publishedUses: null,
    draftHash: hashContent(content),
    draftUses: [],
    proposedBy,
    createdAt: now,
    updatedAt: now,
    publishedAt: null,
  };
  const compiled = await checkContent(tx, parse, head, content, true);
  const published = input.publish ? await publishContent(tx, deps, parse, head, content) : {};
  const row = { ...head, draftUses: [...compiled.uses], ...published };
  try {
    await insertTemplate(tx, row);
  } catch (error) {
    if (error instanceof UniqueViolation) throw slugTaken(row.slug);
    throw error;
  }
  const draft = buildVersionRow(deps, row.id, DRAFT, content, null);
  await insertVersion(tx, draft);
  return showDetail(row, draft, compiled, NOBODY);
}

/**
 * Updates a template and its draft, and publishes it if asked. `usedBy` was read before the transaction. Throws ApiError not_found,
 * validation_error or conflict.
 */
export async function updateDraft(
  tx: Tx,
  deps: TemplateDeps,
  workspaceId: string,
  input: HandlerInput<Endpoints["update"]>,
  { parse, usedBy }: { readonly parse: Parse; readonly usedBy: TemplateDetail["usedBy"] },
): Promise<TemplateDetail> {
  const row = await getTemplateRow(tx, workspaceId, input.id);
  assertRevision("template", row.revision, input.revision);
  const slug = input.slug ?? row.slug;
  const type = input.type ?? row.type;
  if (slug !== row.slug || type !== row.type) await assertUnused(tx, row, slug === row.slug ? "of another type" : "renamed");
  const before = await getVersionRow(tx, row, DRAFT);
  const kind = input.kind ?? row.kind;
  if (kind !== row.kind && row.kind !== "BLOCKS")
    throw invalid("kind", "not_allowed", "Only a template of kind BLOCKS can become one of kind HTML.");
  const changed = applyChanges(kind === row.kind ? before : { ...before, blocks: null }, input);
  const content = await renderContent(tx, parse, workspaceId, kind, changed, input);
  const next = { ...row, slug, type, kind };
  const compiled = await checkContent(tx, parse, next, content, true);
  const draft = { ...buildVersionRow(deps, row.id, DRAFT, content, null), id: before.id };
  if (draft.hash !== before.hash) await replaceDraft(tx, draft);
  const publishing = input.publish && draft.hash !== row.publishedHash;
  const published = publishing ? await publishContent(tx, deps, parse, next, content) : {};
  const changedRow = await saveTemplate(tx, row, {
    slug,
    type,
    kind,
    name: input.name ?? row.name,
    description: input.description === undefined ? row.description : input.description,
    category: input.category === undefined ? row.category : input.category,
    revision: row.revision + 1,
    draftHash: draft.hash,
    draftUses: [...compiled.uses],
    updatedAt: deps.clock.now(),
    ...published,
  });
  return showDetail(changedRow, draft, compiled, usedBy);
}

/** Publishes the draft. Does nothing when it is published already. Throws ApiError not_found, validation_error or conflict. */
export async function publishDraft(
  tx: Tx,
  deps: TemplateDeps,
  workspaceId: string,
  { id, revision }: HandlerInput<Endpoints["publish"]>,
  parse: Parse,
): Promise<Template> {
  const row = await getTemplateRow(tx, workspaceId, id);
  assertRevision("template", row.revision, revision);
  if (row.publishedHash === row.draftHash) return showTemplate(row);
  const published = await publishContent(tx, deps, parse, row, applyChanges(await getVersionRow(tx, row, DRAFT), {}));
  return showTemplate(await saveTemplate(tx, row, { ...published, revision: row.revision + 1, updatedAt: deps.clock.now() }));
}

/**
 * Publishes an earlier version again. The draft becomes that version too, unless it has unpublished changes. Throws ApiError not_found,
 * validation_error or conflict.
 */
export async function rollBack(
  tx: Tx,
  deps: TemplateDeps,
  workspaceId: string,
  { id, version, revision }: HandlerInput<Endpoints["rollback"]>,
  parse: Parse,
): Promise<Template> {
  const row = await getTemplateRow(tx, workspaceId, id);
  assertRevision("template", row.revision, revision);
  const earlier = await getVersionRow(tx, row, version);
  if (earlier.hash === row.publishedHash) return showTemplate(row);
  // Blocks of a version from before the template became one of HTML: their HTML is what was sent.
  const content = applyChanges(row.kind === "HTML" ? { ...earlier, blocks: null } : earlier, {});
  const published = await publishContent(tx, deps, parse, row, content, version);
  const follows = row.draftHash === row.publishedHash;
  if (follows) {
    const draft = await getVersionRow(tx, row, DRAFT);
    await replaceDraft(tx, { ...buildVersionRow(deps, row.id, DRAFT, content, null), id: draft.id });
  }
  return showTemplate(
    await saveTemplate(tx, row, {
      ...published,
      ...(follows && { draftHash: earlier.hash, draftUses: published.publishedUses ?? [] }),
      revision: row.revision + 1,
      updatedAt: deps.clock.now(),
    }),
  );
}

/** Archives or activates a template; idempotent. Throws ApiError not_found or conflict. */
export async function setStatus(
  tx: Tx,
  deps: TemplateDeps,
  workspaceId: string,
  id: string,
  status: Template["status"],
): Promise<Template> {
  const row = await getTemplateRow(tx, workspaceId, id);
  if (row.status === status) return showTemplate(row);
  if (status === "INACTIVE") await assertUnused(tx, row, "archived");
  return showTemplate(await saveTemplate(tx, row, { status, revision: row.revision + 1, updatedAt: deps.clock.now() }));
}

/** Deletes a template with all its versions. Throws ApiError not_found or conflict. */
export async function deleteTemplate(tx: Tx, workspaceId: string, id: string): Promise<Template> {
  const row = await getTemplateRow(tx, workspaceId, id);
  await assertUnused(tx, row, "deleted");
  await deleteTemplateRows(tx, id);
  return showTemplate(row);
}

export function listTemplates(read: Reader, workspaceId: string, input: PageInput & TemplateFilter): Promise<Page<Template>> {
  return listTemplateRows(read, workspaceId, input, showTemplate);
}

/** The published versions, newest first. Throws ApiError not_found. */
export async function listVersions(
  read: Reader,
  workspaceId: string,
  { id, ...page }: PageInput & { id: string },
): Promise<Page<TemplateVersion>> {
  const row = await getTemplateRow(read, workspaceId, id);
  return listVersionRows(read, row.id, page, (version) => showVersion(row, version));
}

/** A version of a template by its id, ready to render; the draft without a number. Throws ApiError not_found or template_error. */
export async function resolveById(
  read: Reader,
  cache: CompiledTemplates,
  workspaceId: string,
  id: string,
  version = DRAFT,
): Promise<Sendable> {
  const row = await getTemplateRow(read, workspaceId, id);
  return resolveVersion(read, cache, row, await getVersionRow(read, row, version));
}

export { assertBlocksFinished, renderMailBlocks } from "./blocks.ts";
export { CompiledTemplates } from "./compiled-set.ts";
export {
  type ContactFields,
  getContactValues,
  relaxVariables,
  renderContactMail,
  renderContactSubject,
  UNSUBSCRIBE_URL,
  VIEW_URL,
} from "./contact-mail.ts";
export { checkProposed } from "./content.ts";
export { type Compiled, MissingVariables, makeAllowance, TemplateFaults } from "./engine/engine.ts";
export { loadParser, type Parse } from "./engine/parser.ts";
export { assertSendable, compilePinned, type PinnedTemplate, pinOwn, pinPublished } from "./pinned.ts";
export { checkSubject, compileOwnSubject, renderForSending, resolveBySlug, type Sendable } from "./sending.ts";
export { findSlugs, findTemplateById, findTemplateBySlug } from "./store.ts";

function slugTaken(slug: string): ApiError {
  return new ApiError("conflict", `The slug ${slug} is taken.`, {
    details: [
      { path: "slug", code: "taken", message: `Another template has the slug ${slug}. Choose another slug, or update that template.` },
    ],
  });
}

/** A content with the HTML of the blocks that a request gives. Throws ApiError validation_error for HTML beside blocks. */
async function renderContent(
  tx: Tx,
  parse: Parse,
  workspaceId: string,
  kind: Template["kind"],
  content: Content,
  given: { readonly html?: string | null | undefined; readonly blocks?: readonly object[] | null | undefined },
): Promise<Content> {
  if (kind !== "BLOCKS") return content;
  if (given.html) throw invalid("html", "not_allowed", "The HTML of a BLOCKS template is rendered from its blocks. Give blocks.");
  if (given.blocks === undefined) return content;
  return { ...content, html: await renderMailBlocks(tx, parse, workspaceId, MailBlocks.parse(given.blocks ?? [])) };
}

/** Compiles a content with its parts. Throws ApiError validation_error with each fault's line and column. */
async function checkContent(
  tx: Tx,
  parse: Parse,
  row: Pick<TemplateRow, "workspaceId" | "slug" | "type" | "kind">,
  content: Content,
  drafts: boolean,
): Promise<Compiled> {
  assertFits(row, content);
  try {
    return await compileContent(tx, parse, row.workspaceId, { slug: row.slug, type: row.type, content }, drafts);
  } catch (error) {
    throw toApiError("validation_error", error);
  }
}

function buildVersionRow(
  deps: TemplateDeps,
  templateId: string,
  version: number,
  content: Content,
  restoredFrom: number | null,
): VersionRow {
  return {
    templateId,
    version,
    id: deps.ids("tver"),
    ...content,
    hash: hashContent(content),
    restoredFrom,
    createdAt: deps.clock.now(),
  };
}

/** Publishes a content, after compiling it with the published versions of its parts. */
async function publishContent(
  tx: Tx,
  deps: TemplateDeps,
  parse: Parse,
  row: TemplateRow,
  content: Content,
  restoredFrom: number | null = null,
): Promise<Partial<TemplateRow>> {
  assertComplete(row, content);
  const { uses } = await checkContent(tx, parse, row, content, false);
  await assertNoneBreaks(tx, parse, row, content);
  const version = (row.version ?? 0) + 1;
  const written = buildVersionRow(deps, row.id, version, content, restoredFrom);
  await insertVersion(tx, written);
  await deleteOldVersions(tx, row.id, version - TEMPLATE_LIMITS.versions + 1);
  return { version, publishedHash: written.hash, publishedUses: [...uses], publishedAt: written.createdAt };
}

async function saveTemplate(tx: Tx, row: TemplateRow, patch: Partial<TemplateRow>): Promise<TemplateRow> {
  try {
    if (await updateTemplate(tx, row, patch)) return { ...row, ...patch };
  } catch (error) {
    if (error instanceof UniqueViolation) throw slugTaken(patch.slug ?? row.slug);
    throw error;
  }
  throw new ApiError("conflict", "The template was changed meanwhile. Read it again.", {
    details: [{ path: "revision", code: "outdated", message: "Another request changed the template first." }],
  });
}
