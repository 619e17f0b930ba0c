import {
  type contract,
  findClosest,
  type HandlerInput,
  type HandlerOutput,
  MailBlocks,
  type TemplateBySlug,
  type TemplateDetail,
} from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import { ApiError, invalid } from "../lib/api-error.ts";
import { renderMailBlocks } from "./blocks.ts";
import {
  type CompiledTemplates,
  type CompiledVersion,
  compileContent,
  compileVersion,
  listNamedParts,
  toApiError,
  toErrorDetails,
} from "./compiled-set.ts";
import { type Asker, listUsers } from "./dependents.ts";
import type { TemplateDeps } from "./deps.ts";
import { type Op, RenderError } from "./engine/compile.ts";
import {
  type Allowance,
  type Compiled,
  compileSubject,
  MissingVariables,
  type Part,
  type Rendered,
  render,
  TemplateFaults,
} from "./engine/engine.ts";
import { loadParser } from "./engine/parser.ts";
import { SourceFaults } from "./engine/tree.ts";
import { findWrongTypes, type Values } from "./engine/values.ts";
import { BLOCKS_ERROR, showBySlug, showDetail } from "./show.ts";
import { DRAFT, findTemplateBySlug, findVersionRow, listSlugs, type TemplateRow, type VersionRow } from "./store.ts";

// RFC 5322 2.1.1: a line of a header has at most 998 characters.
const SUBJECT_MAX = 998;

type Endpoints = typeof contract.templates;

/** A version of a template, ready to be sent. */
export interface Sendable extends CompiledVersion {
  readonly slug: string;
  /** 0 for a draft. */
  readonly version: number;
}

/** The published version of a slug, compiled. Throws ApiError template_not_found or template_error. */
export async function resolveBySlug(read: Reader, cache: CompiledTemplates, workspaceId: string, slug: string): Promise<Sendable> {
  const row = await getPublishedTemplate(read, workspaceId, slug);
  const ready = await compileStored(read, cache, row, {
    version: row.version,
    hash: row.publishedHash ?? "",
    uses: row.publishedUses ?? [],
  });
  return { ...ready, slug, version: row.version };
}

/** A version of a template, compiled. Throws ApiError template_error. */
export async function resolveVersion(read: Reader, cache: CompiledTemplates, row: TemplateRow, content: VersionRow): Promise<Sendable> {
  const uses = content.version === DRAFT ? row.draftUses : [...listUsesOf(row, content)];
  return {
    ...(await compileStored(read, cache, row, { version: content.version, hash: content.hash, uses })),
    slug: row.slug,
    version: content.version,
  };
}

export async function getDetail(
  read: Reader,
  deps: Pick<TemplateDeps, "compiledTemplates" | "templateHooks">,
  row: TemplateRow,
  content: VersionRow,
  asker: Asker,
): Promise<TemplateDetail> {
  const compiled = await compileOrExplain(read, deps.compiledTemplates, row, content);
  return showDetail(row, content, compiled, await listUsers(read, deps, row, asker));
}

/** The published template of a slug, with its variables. Throws ApiError template_not_found. */
export async function getBySlug(read: Reader, cache: CompiledTemplates, workspaceId: string, slug: string): Promise<TemplateBySlug> {
  const row = await getPublishedTemplate(read, workspaceId, slug);
  const content = await findVersionRow(read, row.id, row.version);
  if (!content) throw templateNotFound(`The template ${slug} was changed meanwhile. Try again.`);
  return showBySlug(row, content, await compileOrExplain(read, cache, row, content));
}

/** Compiles the subject of a request. Throws ApiError validation_error. */
export async function compileOwnSubject(source: string): Promise<readonly Op[]> {
  try {
    return compileSubject(await loadParser(), source);
  } catch (error) {
    if (!(error instanceof SourceFaults)) throw error;
    const details = toErrorDetails(error.faults.map((fault) => ({ ...fault, part: null, field: "subject" as const })));
    throw new ApiError("validation_error", `subject: ${details[0]?.message ?? error.message}`, { details });
  }
}

/**
 * Renders for sending, within the limits left for the request; the text only if the author wrote one. Throws ApiError
 * validation_error for values of a wrong type, missing_variables with all names, or template_error.
 */
export function renderForSending({ compiled }: Sendable, values: Values, of: string, left: Allowance, subject?: readonly Op[]): Rendered {
  const details = findWrongTypes(compiled.declared, values, of);
  if (details.length > 0)
    throw new ApiError(
      "validation_error",
      details.length === 1 ? (details[0]?.message ?? "") : `${details.length} variables have the wrong type.`,
      {
        details: details.slice(0, 20),
      },
    );
  try {
    return render(compiled, values, { subject, left, onlyWritten: true });
  } catch (error) {
    throw toRenderApiError(error, of);
  }
}

/** Checks that a rendered subject can be a mail header, whether it is sent or only shown. Throws ApiError validation_error. */
export function checkSubject(subject: string): void {
  if (!subject.isWellFormed())
    throw invalid("subject", "invalid_characters", "With these variables, the subject would not be valid Unicode.");
  if (/[\p{Cc}\u2028\u2029]/u.test(subject))
    throw invalid("subject", "invalid_characters", "With these variables, the subject would contain line breaks or control characters.");
  if (subject.length > SUBJECT_MAX)
    throw invalid("subject", "too_big", `With these variables, the subject is longer than ${SUBJECT_MAX} characters.`);
}

/** Renders a preview: missing values are shown as written in the source. Throws ApiError template_error. */
export function preview(compiled: Compiled, values: Values): HandlerOutput<Endpoints["preview"]> {
  try {
    const { subject, html, text, missing: missingVariables } = render(compiled, values, { lenient: true });
    if (subject !== null) checkSubject(subject);
    return { subject, html, text, missingVariables: [...missingVariables] };
  } catch (error) {
    throw toRenderApiError(error, "variables");
  }
}

/** Checks and renders sources that are not stored. Throws ApiError template_error. */
export async function renderSources(
  read: Reader,
  workspaceId: string,
  input: HandlerInput<Endpoints["render"]>,
): Promise<HandlerOutput<Endpoints["render"]>> {
  const parse = await loadParser();
  if (input.blocks && input.html) throw invalid("blocks", "not_allowed", "Give either blocks or html.");
  const given = new Map<string, Part & { type: TemplateRow["type"] }>();
  for (const [slug, part] of Object.entries(input.parts ?? {}))
    given.set(slug, {
      slug,
      type: slug === input.layout ? "layout" : "partial",
      html: part.html || null,
      text: part.text || null,
      variables: part.declare ?? [],
    });
  const content = {
    subject: input.subject || null,
    html: input.blocks ? await renderMailBlocks(read, parse, workspaceId, MailBlocks.parse(input.blocks)) : input.html || null,
    text: input.text || null,
    layout: input.layout ?? null,
    variables: input.declare ?? [],
  };
  let compiled: Compiled;
  try {
    // No stored template has this slug, so it replaces none.
    compiled = await compileContent(read, parse, workspaceId, { slug: "", type: input.type, content }, true, given);
  } catch (error) {
    if (error instanceof TemplateFaults) throw toApiError("template_error", error);
    throw error;
  }
  return { ...preview(compiled, input.variables ?? {}), variables: [...compiled.variables] };
}

function templateNotFound(message: string, hint?: string): ApiError {
  return new ApiError("template_not_found", message, hint === undefined ? {} : { hint });
}

/** The published row of a slug. Throws ApiError template_not_found. */
async function getPublishedTemplate(read: Reader, workspaceId: string, slug: string): Promise<TemplateRow & { version: number }> {
  const row = await findTemplateBySlug(read, workspaceId, slug);
  if (!row) {
    const closest = findClosest(slug, await listSlugs(read, workspaceId));
    throw templateNotFound(
      `Template ${JSON.stringify(slug.slice(0, 100))} not found.`,
      closest === null ? undefined : `Did you mean ${closest}?`,
    );
  }
  if (row.type !== "transactional")
    throw templateNotFound(`${slug} is a ${row.type} template. Only transactional templates can be sent by slug.`);
  if (row.status === "INACTIVE")
    throw templateNotFound(`The template ${slug} is inactive.`, `Activate it: mailsvc templates unarchive ${row.id}`);
  const { version } = row;
  if (version === null) throw templateNotFound(`The template ${slug} is not published.`, `Publish it: mailsvc templates publish ${row.id}`);
  return { ...row, version };
}

function blocksError(): ApiError {
  return new ApiError("template_error", BLOCKS_ERROR, { hint: "Create the template as HTML, or of kind BLOCKS, to send it." });
}

async function compileStored(
  read: Reader,
  cache: CompiledTemplates,
  row: TemplateRow,
  version: { version: number; hash: string; uses: readonly string[] },
): Promise<CompiledVersion> {
  if (row.kind === "JSON_BLOCKS") throw blocksError();
  try {
    return await compileVersion(read, cache, loadParser, row, version, version.version === DRAFT);
  } catch (error) {
    throw toApiError("template_error", error);
  }
}

// An older version may use other parts than the published one.
function listUsesOf(row: TemplateRow, content: VersionRow): readonly string[] {
  return content.version === row.version ? (row.publishedUses ?? []) : listNamedParts(content);
}

/** The compiled version, or the reason why it cannot be compiled. */
async function compileOrExplain(read: Reader, cache: CompiledTemplates, row: TemplateRow, content: VersionRow): Promise<Compiled | string> {
  try {
    return (await resolveVersion(read, cache, row, content)).compiled;
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
}

/** A failed rendering as an API error. `of` is the path of the variables: `variables`, or those of one recipient. */
function toRenderApiError(error: unknown, of: string): unknown {
  if (error instanceof MissingVariables)
    return new ApiError("missing_variables", error.message, {
      details: error.names.map((name) => ({ path: `${of}.${name}`, code: "required", message: `${name} is required.` })),
    });
  if (error instanceof RenderError) {
    const at = error.at === null ? {} : { line: error.at.line, column: error.at.column };
    const location = error.at === null ? "" : `Line ${error.at.line}, column ${error.at.column}: `;
    return new ApiError("template_error", error.message, {
      details: [{ path: "", code: error.code, message: `${location}${error.message}`, ...at }],
    });
  }
  return error;
}
