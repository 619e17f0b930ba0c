import type { ErrorDetail } from "@mailsvc/sdk/contract";
import { LRUCache } from "lru-cache";
import type { Reader, Tx } from "../db/db.ts";
import { ApiError } from "../lib/api-error.ts";
import { MB } from "../lib/units.ts";
import type { Content } from "./content.ts";
import { type Compiled, compileSet, type FieldFault, type Part, TemplateFaults, type TemplateSet } from "./engine/engine.ts";
import type { Parse } from "./engine/parser.ts";
import { DRAFT, findTemplateBySlug, findVersionRow, type TemplateRow } from "./store.ts";

/** A layout or partial of the workspace: the version in use, and the slugs it uses. */
interface PartHead {
  readonly row: TemplateRow;
  readonly version: number;
  readonly hash: string;
  readonly uses: readonly string[];
}

type Parts = ReadonlyMap<string, PartHead>;

// Layouts and partials one template may include, directly and indirectly.
const MAX_PARTS = 100;

/** Finds the layout and partials of a template by the slugs it uses, and theirs. Missing ones are left out. */
async function findParts(q: Tx | Reader, workspaceId: string, uses: readonly string[], drafts: boolean): Promise<Parts> {
  const parts = new Map<string, PartHead>();
  const asked = new Set<string>();
  const waiting = [...uses];
  for (let slug = waiting.shift(); slug !== undefined && asked.size < MAX_PARTS; slug = waiting.shift()) {
    if (asked.has(slug)) continue;
    asked.add(slug);
    const row = await findTemplateBySlug(q, workspaceId, slug);
    const head = row && toPartHead(row, drafts);
    if (!head) continue;
    parts.set(slug, head);
    waiting.push(...head.uses);
  }
  return parts;
}

/** The content to compile, with its slug and type. */
export interface Subject {
  readonly slug: string;
  readonly type: TemplateRow["type"];
  readonly content: Pick<Content, "subject" | "html" | "text" | "layout" | "variables">;
}

/** Slugs a source seems to use, found before it is parsed. */
export function listNamedParts({ html, text, layout }: Pick<Content, "html" | "text" | "layout">): string[] {
  const slugs = new Set<string>(layout === null ? [] : [layout]);
  for (const source of [html, text])
    for (const [, slug] of (source ?? "").matchAll(/\{\{~?>\s*"?([a-z0-9_-]{1,100})/g)) slugs.add(slug as string);
  return [...slugs].slice(0, MAX_PARTS);
}

type GivenParts = ReadonlyMap<string, Part & { type: TemplateRow["type"] }>;

/** Compiles a content with the parts of the workspace; `given` parts replace those. Throws TemplateFaults. */
export async function compileContent(
  q: Tx | Reader,
  parse: Parse,
  workspaceId: string,
  subject: Subject,
  drafts: boolean,
  given?: GivenParts,
): Promise<Compiled> {
  return compileSet(parse, await collectSet(q, workspaceId, subject, drafts, given));
}

/** A content with the parts of the workspace that it uses; `given` parts replace those. Throws TemplateFaults. */
export async function collectSet(
  q: Tx | Reader,
  workspaceId: string,
  subject: Subject,
  drafts: boolean,
  given: GivenParts = new Map(),
): Promise<TemplateSet> {
  const slugs = [...listNamedParts(subject.content), ...[...given.values()].flatMap((part) => listNamedParts({ ...part, layout: null }))];
  const loaded = await loadParts(q, await findParts(q, workspaceId, slugs, drafts));
  for (const [slug, part] of given) loaded.set(slug, part);
  return buildTemplateSet(subject, loaded);
}

/** A stored version, compiled once. Throws TemplateFaults. */
export async function compileVersion(
  q: Tx | Reader,
  cache: CompiledTemplates,
  parse: () => Promise<Parse>,
  row: TemplateRow,
  version: { readonly version: number; readonly hash: string; readonly uses: readonly string[] },
  drafts: boolean,
): Promise<CompiledVersion> {
  const parts = version.uses.length === 0 ? NO_PARTS : await findParts(q, row.workspaceId, version.uses, drafts);
  const key = [row.type, row.slug, version.hash, ...[...parts].map(([slug, part]) => `${slug}:${part.row.type}:${part.hash}`)].join(" ");
  const before = cache.versions.get(key);
  if (before) return before;
  const content = await findVersionRow(q, row.id, version.version);
  if (!content) throw new ApiError("template_not_found", `The template ${row.slug} was deleted meanwhile.`);
  const compiled = compileSet(await parse(), buildTemplateSet({ slug: row.slug, type: row.type, content }, await loadParts(q, parts)));
  const made = { compiled, from: content.from, replyTo: content.replyTo };
  cache.versions.set(key, made);
  return made;
}

const NO_PARTS: ReadonlyMap<string, PartHead> = new Map();

/** Faults as details of an API error, with the path `html`, or `footer.html` for one in a part. */
export function toErrorDetails(faults: readonly FieldFault[]): ErrorDetail[] {
  return faults.slice(0, 20).map(({ part, field, line, column, code, message }) => ({
    path: part === null ? field : `${part}.${field}`,
    code,
    message: `Line ${line}, column ${column}: ${message}`,
    line,
    column,
  }));
}

/**
 * Faults as an API error: `validation_error` for a template being saved, `template_error` for a stored one. Other errors are returned
 * unchanged.
 */
export function toApiError(code: "validation_error" | "template_error", error: unknown): unknown {
  if (!(error instanceof TemplateFaults)) return error;
  const details = toErrorDetails(error.faults);
  const [first] = details;
  return new ApiError(code, `${first?.path ?? "The template"}: ${first?.message ?? error.message}`, { details });
}

/** The published version of a layout or partial; for drafts also its draft, when it was never published. */
function toPartHead(row: TemplateRow, drafts: boolean): PartHead | null {
  if (row.status !== "ACTIVE" || (row.type !== "layout" && row.type !== "partial")) return null;
  if (row.version !== null && row.publishedHash !== null)
    return { row, version: row.version, hash: row.publishedHash, uses: row.publishedUses ?? [] };
  return drafts ? { row, version: DRAFT, hash: row.draftHash, uses: row.draftUses } : null;
}

/** Reads the sources of parts. */
async function loadParts(q: Tx | Reader, parts: Parts): Promise<Map<string, Part & { type: TemplateRow["type"] }>> {
  const loaded = new Map<string, Part & { type: TemplateRow["type"] }>();
  for (const [slug, { row, version }] of parts) {
    const content = await findVersionRow(q, row.id, version);
    if (content) loaded.set(slug, { slug, type: row.type, html: content.html, text: content.text, variables: content.variables });
  }
  return loaded;
}

function buildTemplateSet(
  { slug, type, content }: Subject,
  loaded: ReadonlyMap<string, Part & { type: TemplateRow["type"] }>,
): TemplateSet {
  const partials = new Map<string, Part>([...loaded].filter(([, part]) => part.type === "partial"));
  // So that a circle back to this part is found.
  if (type === "partial") partials.set(slug, { slug, html: content.html, text: content.text, variables: content.variables });
  const layout = content.layout === null ? undefined : loaded.get(content.layout);
  if (content.layout !== null && layout?.type !== "layout")
    throw new TemplateFaults([
      { line: 1, column: 1, code: "unknown_layout", message: `Layout ${content.layout} not found.`, part: null, field: "layout" },
    ]);
  return {
    slug,
    subject: content.subject,
    html: content.html,
    text: content.text,
    variables: content.variables,
    isLayout: type === "layout",
    layout: layout ?? null,
    partials,
  };
}

/** A compiled version with its sender. */
export interface CompiledVersion {
  readonly compiled: Compiled;
  readonly from: string | null;
  readonly replyTo: string | string[] | null;
}

// Characters of sources; compiled, they take about ten times as much memory.
const MAX_SIZE = 8 * MB;
// Each is a few hundred KB at most.
const MAX_PINNED = 50;
// Characters of subjects: those of some thousand campaigns.
const MAX_SUBJECTS = MB / 4;

/** Templates that are compiled already, by the hashes of all their sources, so that an entry never becomes outdated. */
export class CompiledTemplates {
  readonly versions = new LRUCache<string, CompiledVersion>({
    maxSize: MAX_SIZE,
    sizeCalculation: ({ compiled }) => Math.max(1, compiled.size),
  });
  /** Templates of campaigns. */
  readonly pinned = new LRUCache<string, Compiled>({ max: MAX_PINNED });
  /** The subjects of campaigns alone, for lists. */
  readonly subjects = new LRUCache<string, Compiled>({ maxSize: MAX_SUBJECTS, sizeCalculation: ({ size }) => Math.max(1, size) });
}
