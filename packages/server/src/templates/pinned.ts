import type { Reader, Tx } from "../db/db.ts";
import { ApiError } from "../lib/api-error.ts";
import { collectSet, type Subject, toApiError } from "./compiled-set.ts";
import { type Compiled, compileSet, type Part, type TemplateSet } from "./engine/engine.ts";
import type { Parse } from "./engine/parser.ts";
import { BLOCKS_ERROR } from "./show.ts";
import { findVersionRow, type TemplateRow } from "./store.ts";

/** A template with its layout and partials, as plain data: what is sent over hours must not change meanwhile. */
export interface PinnedTemplate extends Omit<TemplateSet, "partials"> {
  readonly partials: readonly Part[];
}

/** Own sources, in place of a template. */
interface OwnSource {
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
}

/** Throws ApiError template_error for a template that can never be sent: blocks of an editor, a layout or a partial. */
export function assertSendable(row: Pick<TemplateRow, "kind" | "type" | "slug">): void {
  if (row.kind === "JSON_BLOCKS")
    throw new ApiError("template_error", BLOCKS_ERROR, { hint: "Create the template as HTML, or of kind BLOCKS, to send it." });
  if (row.type === "layout" || row.type === "partial")
    throw new ApiError("template_error", `${row.slug} is a ${row.type}. Only transactional and marketing templates can be sent.`);
}

/**
 * Pins the published version of a template, with another subject, and tells where it wants replies. Throws ApiError template_not_found or
 * template_error.
 */
export async function pinPublished(
  q: Tx | Reader,
  parse: Parse,
  row: TemplateRow,
  subject: string,
): Promise<{ readonly source: PinnedTemplate; readonly replyTo: string | string[] | null }> {
  assertSendable(row);
  if (row.status === "INACTIVE")
    throw new ApiError("template_not_found", `The template ${row.slug} is inactive.`, {
      hint: `Activate it: mailsvc templates unarchive ${row.id}`,
    });
  const content = row.version === null ? null : await findVersionRow(q, row.id, row.version);
  if (!content)
    throw new ApiError("template_not_found", `The template ${row.slug} is not published.`, {
      hint: `Publish it: mailsvc templates publish ${row.id}`,
    });
  const set = { slug: row.slug, type: row.type, content: { ...content, subject } };
  return { source: await pin(q, parse, row.workspaceId, set, "template_error"), replyTo: content.replyTo };
}

/** Pins own sources with the partials they use. Throws ApiError validation_error with the place of each fault. */
export function pinOwn(q: Tx | Reader, parse: Parse, workspaceId: string, source: OwnSource): Promise<PinnedTemplate> {
  // No stored template has this slug.
  const subject: Subject = { slug: "", type: "marketing", content: { ...source, layout: null, variables: [] } };
  return pin(q, parse, workspaceId, subject, "validation_error");
}

/** Compiles a pinned template. */
export function compilePinned(parse: Parse, { partials, ...pinned }: PinnedTemplate): Compiled {
  return compileSet(parse, { ...pinned, partials: new Map(partials.map((part) => [part.slug, part])) });
}

async function pin(
  q: Tx | Reader,
  parse: Parse,
  workspaceId: string,
  subject: Subject,
  code: "validation_error" | "template_error",
): Promise<PinnedTemplate> {
  try {
    const set = await collectSet(q, workspaceId, subject, false);
    const pinned = { ...set, partials: [...set.partials.values()] };
    compilePinned(parse, pinned);
    return pinned;
  } catch (error) {
    throw toApiError(code, error);
  }
}
