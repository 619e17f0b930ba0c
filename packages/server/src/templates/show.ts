import type { Template, TemplateBySlug, TemplateDetail, TemplateVersion } from "@mailsvc/sdk/contract";
import { iso } from "../lib/clock.ts";
import { RenderError } from "./engine/compile.ts";
import { type Compiled, type Rendered, render } from "./engine/engine.ts";
import { DRAFT, type TemplateRow, type VersionHead, type VersionRow } from "./store.ts";

export function showTemplate(row: TemplateRow): Template {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    description: row.description,
    category: row.category,
    type: row.type,
    kind: row.kind,
    status: row.status,
    version: row.version,
    hasUnpublishedChanges: row.draftHash !== row.publishedHash,
    uses: [...new Set([...row.draftUses, ...(row.publishedUses ?? [])])].sort(),
    proposedBy: row.proposedBy,
    revision: row.revision,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
    publishedAt: row.publishedAt === null ? null : iso(row.publishedAt),
  };
}

export function showVersion(row: TemplateRow, version: VersionHead): TemplateVersion {
  return {
    id: version.id,
    version: version.version,
    current: version.version === row.version,
    subject: version.subject,
    restoredFrom: version.restoredFrom,
    createdAt: iso(version.createdAt),
  };
}

export const BLOCKS_ERROR = "A template of kind JSON_BLOCKS cannot be rendered.";

const NOTHING: Rendered = { subject: null, html: null, text: null, missing: [] };

/** Users of a new template: none. */
export const NOBODY: TemplateDetail["usedBy"] = { templates: [], campaigns: [], automations: [] };

/** A template with its content. `compiled` is the compiled version, or the reason why there is none. */
export function showDetail(
  row: TemplateRow,
  version: VersionRow,
  compiled: Compiled | string,
  usedBy: TemplateDetail["usedBy"],
): TemplateDetail {
  const { subject, html, text, error } = renderForDisplay(row, compiled);
  return {
    ...showTemplate(row),
    shownVersion: version.version === DRAFT ? null : version.version,
    from: version.from,
    replyTo: version.replyTo,
    layout: version.layout,
    renderedFrom: version.renderedFrom,
    subject: row.kind === "JSON_BLOCKS" ? version.subject : subject,
    html,
    text,
    renderError: error,
    variables: typeof compiled === "string" ? [] : [...compiled.variables],
    usedBy,
    source: { subject: version.subject, html: version.html, text: version.text, blocks: version.blocks, variables: version.variables },
  };
}

/** A template that can be sent by its slug. */
export function showBySlug(row: TemplateRow, version: VersionRow, compiled: Compiled | string): TemplateBySlug {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    description: row.description,
    category: row.category,
    type: row.type,
    kind: row.kind,
    version: version.version,
    subject: version.subject,
    from: version.from,
    variables: typeof compiled === "string" ? [] : [...compiled.variables],
    publishedAt: iso(row.publishedAt ?? row.updatedAt),
  };
}

/** A template rendered with its defaults, or the reason why it cannot be. */
function renderForDisplay(row: TemplateRow, compiled: Compiled | string): Rendered & { error: string | null } {
  if (row.kind === "JSON_BLOCKS") return { ...NOTHING, error: BLOCKS_ERROR };
  if (typeof compiled === "string") return { ...NOTHING, error: compiled };
  try {
    return { ...render(compiled, {}, { lenient: true }), error: null };
  } catch (error) {
    if (!(error instanceof RenderError)) throw error;
    return { ...NOTHING, error: error.message };
  }
}
