import { hash } from "node:crypto";
import { type ErrorDetail, type MailBlocks, RESERVED_SLUG, type Template } from "@mailsvc/sdk/contract";
import { ApiError } from "../lib/api-error.ts";
import { assertBlocksFinished } from "./blocks.ts";
import { toApiError } from "./compiled-set.ts";
import { compileSet, type FieldFault, TemplateFaults, type TemplateSet } from "./engine/engine.ts";
import { findUnplain } from "./engine/markup.ts";
import type { Parse } from "./engine/parser.ts";
import { readSource } from "./engine/read.ts";
import { type Role, SourceFaults } from "./engine/tree.ts";
import { findBadDeclarations } from "./engine/values.ts";
import type { VersionRow } from "./store.ts";

/** The content of a version, without the fields about the version itself. */
export type Content = Pick<
  VersionRow,
  "subject" | "from" | "replyTo" | "html" | "text" | "blocks" | "renderedFrom" | "layout" | "variables"
>;

type ContentChanges = { [F in keyof Content]?: Content[F] | undefined };

export const EMPTY_CONTENT: Content = {
  subject: null,
  from: null,
  replyTo: null,
  html: null,
  text: null,
  blocks: null,
  renderedFrom: null,
  layout: null,
  variables: [],
};

/** The content after a request's changes. An empty text counts as none. A new html or text was not rendered from the old files. */
export function applyChanges(before: Content, given: ContentChanges): Content {
  const pick = <F extends keyof Content>(field: F): Content[F] => {
    const value = given[field];
    return value === undefined ? before[field] : ((value === "" ? null : value) as Content[F]);
  };
  const isRewritten = (["html", "text"] as const).some((field) => given[field] !== undefined && pick(field) !== before[field]);
  return {
    subject: pick("subject"),
    from: pick("from"),
    replyTo: pick("replyTo"),
    html: pick("html"),
    text: pick("text"),
    blocks: pick("blocks"),
    renderedFrom: given.renderedFrom === undefined && isRewritten ? null : pick("renderedFrom"),
    layout: pick("layout"),
    variables: pick("variables"),
  };
}

/** The hash of a content: equal contents have equal hashes, in every workspace and on every server. */
export function hashContent({ subject, from, replyTo, html, text, blocks, renderedFrom, layout, variables }: Content): string {
  // A database may change the order of the files.
  const origin = renderedFrom && [renderedFrom.kind, Object.entries(renderedFrom.files).sort(([a], [b]) => (a < b ? -1 : 1))];
  return hash("sha256", JSON.stringify([subject, from, replyTo, html, text, blocks, layout, variables, origin]), "hex");
}

/** Checks that a content has only fields its kind and type allow. Throws ApiError validation_error. */
export function assertFits({ type, kind }: Pick<Template, "type" | "kind">, content: Content): void {
  const none = (fields: readonly (keyof Content)[], what: string): ErrorDetail[] =>
    fields.flatMap((path) => (content[path] === null ? [] : [{ path, code: "not_allowed", message: `${what} cannot have ${path}.` }]));
  const part = type === "layout" || type === "partial";
  const faults = [
    ...(kind === "JSON_BLOCKS"
      ? none(["html", "text", "renderedFrom", "layout"], "A JSON_BLOCKS template")
      : kind === "BLOCKS"
        ? none(["renderedFrom", "layout"], "A BLOCKS template")
        : none(["blocks"], "An HTML template")),
    ...(part ? none(["subject", "from", "replyTo", "layout"], `A ${type}`) : []),
    ...findBadDeclarations(content.variables),
    ...(part && kind !== "HTML" ? [{ path: "kind", code: "not_allowed", message: `A ${type} must be of kind HTML.` }] : []),
  ];
  if (faults.length > 0) refuse(faults);
}

/** Checks that a content is complete enough to be sent or used. Throws ApiError validation_error. */
export function assertComplete({ type, kind }: Pick<Template, "type" | "kind">, content: Content): void {
  const faults: ErrorDetail[] = [];
  const need = (path: keyof Content, message: string): void => void faults.push({ path, code: "required", message });
  if (kind === "JSON_BLOCKS") {
    if (content.blocks === null) need("blocks", "A JSON_BLOCKS template needs blocks before it is published.");
  } else if (kind === "BLOCKS") {
    const blocks = content.blocks as MailBlocks | null;
    if (content.html === null) need("blocks", "A BLOCKS template needs blocks before it is published.");
    else assertBlocksFinished(blocks ?? []);
  } else if (content.html === null && content.text === null) need("html", "A template needs html, text or both before it is published.");
  if ((type === "transactional" || type === "marketing") && content.subject === null)
    need("subject", "A template needs a subject before it is published.");
  if (faults.length > 0) refuse(faults);
}

/**
 * A slug from a name: `Order shipped!` becomes `order-shipped`, and `Batch`, which is taken, `batch-template`. Throws ApiError
 * validation_error when nothing is left.
 */
export function toSlug(name: string): string {
  const slug = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 100)
    .replace(/-+$/, "");
  if (slug === "") refuse([{ path: "slug", code: "required", message: "No slug can be derived from this name. Provide a slug." }]);
  return slug === RESERVED_SLUG ? `${slug}-template` : slug;
}

function refuse(details: ErrorDetail[]): never {
  throw new ApiError(
    "validation_error",
    details.length === 1 ? (details[0] as ErrorDetail).message : `${details.length} fields are not valid.`,
    {
      details,
    },
  );
}

type Sources = Readonly<Record<Role, string | null>>;

const ROLES: readonly Role[] = ["subject", "html", "text"];

/**
 * Checks sources that somebody outside of the workspace proposes: they compile without its layouts and partials. `plain` ones are the
 * same mail for every reader, but for fields of contacts. Throws ApiError validation_error with the place of each fault.
 */
export function checkProposed(parse: Parse, sources: Sources, plain: boolean): void {
  const set: TemplateSet = { slug: "", ...sources, variables: [], isLayout: false, layout: null, partials: new Map() };
  try {
    if (plain) assertPlain(parse, set);
    compileSet(parse, set);
  } catch (error) {
    throw toApiError("validation_error", error);
  }
}

function assertPlain(parse: Parse, set: TemplateSet): void {
  const faults = ROLES.flatMap((role): FieldFault[] => {
    const source = set[role];
    if (source === null) return [];
    try {
      return findUnplain(readSource(parse, source, { role })).map((fault) => ({ ...fault, part: null, field: role }));
    } catch (error) {
      if (error instanceof SourceFaults) return error.faults.map((fault) => ({ ...fault, part: null, field: role }));
      throw error;
    }
  });
  if (faults.length > 0) throw new TemplateFaults(faults);
}
