import type { ErrorDetail } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import { ApiError } from "../lib/api-error.ts";
import type { Content } from "./content.ts";
import { type Compiled, compileSet, type FieldFault, type Part, TemplateFaults, type TemplateSet } from "./engine/engine.ts";
import type { Parse } from "./engine/parser.ts";
import { DRAFT, findTemplateBySlug, findVersionRow, type TemplateRow } from "./store.ts";

/** A layout or partial as it stands in the workspace: which version of it counts, and what that uses. */
interface PartHead {
  readonly row: TemplateRow;
  readonly version: number;
  readonly hash: string;
  readonly uses: readonly string[];
}

export type Parts = ReadonlyMap<string, PartHead>;

// Layouts and partials one template may draw in, counted through.
const MAX_PARTS = 100;

/** Finds what a template is put together from, by the slugs it uses and those they use. What is not there is left out. */
export async function findParts(q: Tx | Reader, workspaceId: string, uses: readonly string[], drafts: boolean): Promise<Parts> {
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

/** What is compiled: a content under its slug, as a template or as a part. */
export interface Subject {
  readonly slug: string;
  readonly type: TemplateRow["type"];
  readonly content: Pick<Content, "subject" | "html" | "text" | "layout" | "variables">;
}

/** Slugs a source names as partials, before anything of it is checked: enough to find them. */
export function listNamedParts({ html, text, layout }: Pick<Content, "html" | "text" | "layout">): string[] {
  const slugs = new Set<string>(layout === null ? [] : [layout]);
  for (const source of [html, text])
    for (const [, slug] of (source ?? "").matchAll(/\{\{~?>\s*"?([a-z0-9_-]{1,100})/g)) slugs.add(slug as string);
  return [...slugs].slice(0, MAX_PARTS);
}

/** Compiles a content with the parts of the workspace as they stand. `given` stand in for those of the workspace. Throws BundleFaults. */
export async function compileContent(
  q: Tx | Reader,
  parse: Parse,
  workspaceId: string,
  subject: Subject,
  drafts: boolean,
  given: ReadonlyMap<string, Part & { type: TemplateRow["type"] }> = new Map(),
): Promise<Compiled> {
  const slugs = [...listNamedParts(subject.content), ...[...given.values()].flatMap((part) => listNamedParts({ ...part, layout: null }))];
  const loaded = await loadParts(q, await findParts(q, workspaceId, slugs, drafts));
  for (const [slug, part] of given) loaded.set(slug, part);
  return compileSet(parse, buildTemplateSet(subject, loaded));
}

/** A version ready to be rendered, and whom it is from. */
export interface CompiledVersion {
  readonly compiled: Compiled;
  readonly from: string | null;
  readonly replyTo: string | null;
}

// Compiled templates, by the hashes of all their sources: what such a key stands for never changes, so nothing has to be
// told to forget. Bounded by the characters of the sources; compiled they take some ten times as much.
const cache = new Map<string, CompiledVersion>();
let cacheSize = 0;
const MAX_CACHE_SIZE = 8 * 1024 * 1024;

/** A stored version, compiled once. Throws BundleFaults. */
export async function compileVersion(
  q: Tx | Reader,
  parse: () => Promise<Parse>,
  row: TemplateRow,
  version: { readonly version: number; readonly hash: string; readonly uses: readonly string[] },
  drafts: boolean,
): Promise<CompiledVersion> {
  const parts = version.uses.length === 0 ? NO_PARTS : await findParts(q, row.workspaceId, version.uses, drafts);
  const key = [row.type, row.slug, version.hash, ...[...parts].map(([slug, part]) => `${slug}:${part.row.type}:${part.hash}`)].join(" ");
  const before = cache.get(key);
  if (before) {
    // The one used last is forgotten last.
    cache.delete(key);
    cache.set(key, before);
    return before;
  }
  const content = await findVersionRow(q, row.id, version.version);
  if (!content) throw new ApiError("template_not_found", `The template ${row.slug} was deleted at this moment.`);
  const compiled = compileSet(await parse(), buildTemplateSet({ slug: row.slug, type: row.type, content }, await loadParts(q, parts)));
  const made = { compiled, from: content.from, replyTo: content.replyTo };
  // Of two that compiled the same at once, one is enough.
  if (!cache.has(key)) addToCache(key, made);
  return made;
}

const NO_PARTS: Parts = new Map();

/** Faults as details of an error: `html`, or `footer.html` for one in a part. */
export function toErrorDetails(faults: readonly FieldFault[]): ErrorDetail[] {
  return faults.slice(0, 20).map(({ part, field, line, column, code, message }) => ({
    path: part === null ? field : `${part}.${field}`,
    code,
    message: `Line ${line}, column ${column}: ${message}`,
    line,
    column,
  }));
}

/** Faults as an error of the API: `validation_error` for what is being saved, `template_error` for what is stored. */
export function toApiError(code: "validation_error" | "template_error", error: unknown): unknown {
  if (!(error instanceof TemplateFaults)) return error;
  const details = toErrorDetails(error.faults);
  const [first] = details;
  return new ApiError(code, `${first?.path ?? "The template"}: ${first?.message ?? error.message}`, { details });
}

/** Of a layout or partial, the published version; for a draft that uses it, its own draft when it has none yet. */
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
  // So that a circle that leads back here is seen before it is closed.
  if (type === "partial") partials.set(slug, { slug, html: content.html, text: content.text, variables: content.variables });
  const layout = content.layout === null ? undefined : loaded.get(content.layout);
  if (content.layout !== null && layout?.type !== "layout")
    throw new TemplateFaults([
      { line: 1, column: 1, code: "unknown_layout", message: `There is no layout ${content.layout}.`, part: null, field: "layout" },
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

function addToCache(key: string, one: CompiledVersion): void {
  cache.set(key, one);
  cacheSize += one.compiled.size;
  for (const [oldest, { compiled }] of cache) {
    if (cacheSize <= MAX_CACHE_SIZE || cache.size === 1) return;
    cache.delete(oldest);
    cacheSize -= compiled.size;
  }
}
