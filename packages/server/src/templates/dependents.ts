import { type ErrorDetail, TEMPLATE_LIMITS, type TemplateDetail } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import type { DeveloperKey } from "../http/auth.ts";
import { ApiError } from "../lib/api-error.ts";
import { compileContent, toErrorDetails } from "./compiled-set.ts";
import type { Content } from "./content.ts";
import type { TemplateDeps } from "./deps.ts";
import { TemplateFaults } from "./engine/engine.ts";
import type { Parse } from "./engine/parser.ts";
import { NOBODY } from "./show.ts";
import { findVersionRow, listTemplateUses, type TemplateRow, type TemplateUse } from "./store.ts";

/** Key that asks for a template. Users of the template are shown as far as it may read them. */
export type Asker = Pick<DeveloperKey, "owner" | "permissions">;

/** Lists the users of a template: templates that include it, and campaigns and automations that send it. A limited number of each. */
export async function listUsers(
  read: Reader,
  { templateHooks }: Pick<TemplateDeps, "templateHooks">,
  row: TemplateRow,
  asker: Asker,
): Promise<TemplateDetail["usedBy"]> {
  const templates = (isPart(row) ? await listTemplateUses(read, row.workspaceId) : [])
    .filter((one) => isUser(one, row))
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, TEMPLATE_LIMITS.usedBy)
    .map(({ id, slug, name }) => ({ id, slug, name }));
  const [campaigns, automations] = (["campaigns:read", "automations:read"] as const).map(
    (permission) => asker.owner || asker.permissions.has(permission),
  );
  const senders = campaigns || automations ? await templateHooks.listSenders(read, row) : NOBODY;
  return { templates, campaigns: campaigns ? senders.campaigns : [], automations: automations ? senders.automations : [] };
}

function isUser(one: TemplateUse, { slug }: TemplateRow): boolean {
  return one.slug !== slug && (one.draftUses.includes(slug) || one.publishedUses?.includes(slug) === true);
}

/** Throws ApiError conflict when templates use this layout or partial. `what` says what was to be done with it. */
export async function assertUnused(tx: Tx, row: TemplateRow, what: string): Promise<void> {
  if (!isPart(row)) return;
  const all = await listTemplateUses(tx, row.workspaceId);
  const users = all.filter((one) => isUser(one, row));
  if (users.length === 0) return;
  const names = users.slice(0, 5).map((t) => t.slug);
  throw new ApiError("conflict", `${row.slug} cannot be ${what}: ${names.join(", ")}${users.length > 5 ? ", …" : ""} use it.`, {
    details: users.slice(0, 20).map((t) => ({ path: t.slug, code: "in_use", message: `${t.slug} uses ${row.slug}.` })),
    hint: "Remove it from these templates and publish them first.",
  });
}

// Templates compiled again when a part of theirs is published. Faults in further ones show when they are sent.
const MAX_CHECKED = 100;

/** Throws ApiError conflict when published templates could no longer be rendered with this layout or partial. */
export async function assertNoneBreaks(tx: Tx, parse: Parse, row: TemplateRow, content: Content): Promise<void> {
  if (!isPart(row) || row.version === null) return;
  const given = new Map([
    [row.slug, { slug: row.slug, type: row.type, html: content.html, text: content.text, variables: content.variables }],
  ]);
  const broken: ErrorDetail[] = [];
  for (const user of findDependents(await listTemplateUses(tx, row.workspaceId), row.slug).slice(0, MAX_CHECKED)) {
    const theirs = await findVersionRow(tx, user.id, user.version as number);
    if (!theirs) continue;
    try {
      await compileContent(tx, parse, row.workspaceId, { slug: user.slug, type: user.type, content: theirs }, false, given);
    } catch (error) {
      if (!(error instanceof TemplateFaults)) throw error;
      const [first] = toErrorDetails(error.faults);
      broken.push({ path: user.slug, code: "would_break", message: `${user.slug}: ${first?.path}: ${first?.message}` });
    }
  }
  if (broken.length === 0) return;
  throw new ApiError(
    "conflict",
    `With this ${row.type} ${broken.length === 1 ? broken[0]?.path : `${broken.length} templates`} could not be sent.`,
    {
      details: broken.slice(0, 20),
      hint: "Correct it, or change these templates first.",
    },
  );
}

function isPart({ type }: Pick<TemplateRow, "type">): boolean {
  return type === "layout" || type === "partial";
}

/** Published templates that use a part, directly or through other parts. */
function findDependents(all: readonly TemplateUse[], slug: string): TemplateUse[] {
  const reached = new Set([slug]);
  for (let before = 0; before !== reached.size; ) {
    before = reached.size;
    for (const one of all) if (isPart(one) && one.publishedUses?.some((used) => reached.has(used))) reached.add(one.slug);
  }
  return all.filter(
    (one) => !isPart(one) && one.version !== null && one.kind !== "JSON_BLOCKS" && one.publishedUses?.some((used) => reached.has(used)),
  );
}
