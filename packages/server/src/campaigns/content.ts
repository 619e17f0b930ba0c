import type { AbTest, MailBlocks, VariantName } from "@mailsvc/sdk/contract";
import { VARIANT_NAMES } from "@mailsvc/sdk/contract";
import { asc, eq, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { sizeOfLarge } from "../emails/emails.ts";
import { ApiError, invalid } from "../lib/api-error.ts";
import {
  assertBlocksFinished,
  assertSendable,
  getTemplateRow,
  type Parse,
  type PinnedTemplate,
  pinOwn,
  pinPublished,
} from "../templates/templates.ts";
import type { CampaignRow } from "./campaigns.ts";

/** The fields of a campaign that make up its content. */
interface Draft {
  readonly workspaceId: string;
  readonly subjectLine: string;
  readonly previewText: string | null;
  readonly templateId: string | null;
  readonly html: string | null;
  readonly text: string | null;
  readonly blocks: MailBlocks | null;
  readonly replyTo: string | string[] | null;
  readonly abTest: AbTest | null;
}

/** The content of a campaign, or of one variant. */
interface DraftVariant {
  /** Null without an A/B test. */
  readonly name: VariantName | null;
  /** Path of a field in a request: the variant's own field, or the campaign's if the variant has none. */
  readonly pathOf: (field: string) => string;
  readonly subjectLine: string;
  readonly previewText: string | null;
  readonly templateId: string | null;
  readonly html: string | null;
  readonly text: string | null;
}

/** Contents that a campaign sends: its own, or each variant of its A/B test completed with the fields of the campaign. */
export function listVariants(draft: Draft): DraftVariant[] {
  const { subjectLine, previewText, templateId, html, text, abTest } = draft;
  const own = { subjectLine, previewText, templateId, html, text };
  if (abTest === null) return [{ name: null, pathOf: (field) => field, ...own }];
  return abTest.variants.map((variant, i) => ({
    name: VARIANT_NAMES[i] as VariantName,
    pathOf: (field) => (field in variant ? `abTest.variants[${i}].${field}` : field),
    subjectLine: variant.subjectLine ?? subjectLine,
    previewText: variant.previewText ?? previewText,
    // A variant that brings content of its own replaces all of the campaign's.
    ...(variant.templateId !== undefined
      ? { templateId: variant.templateId, html: null, text: null }
      : variant.html !== undefined || variant.text !== undefined || variant.blocks !== undefined
        ? { templateId: null, html: variant.html ?? null, text: variant.text ?? null }
        : { templateId, html, text }),
  }));
}

/**
 * Checks the content of a draft, which may still be missing: templates exist and are no blocks, own sources compile. Throws
 * ApiError not_found, template_error or validation_error.
 */
export async function checkDraft(q: Tx | Reader, parse: Parse, draft: Draft): Promise<void> {
  if (draft.templateId !== null && (draft.html !== null || draft.text !== null || draft.blocks !== null))
    throw invalid("templateId", "not_allowed", "Give either templateId or own content (blocks, html, text). Set the other to null.");
  for (const variant of listVariants(draft)) {
    if (variant.templateId !== null) assertSendable(await getTemplateRow(q, draft.workspaceId, variant.templateId));
    // Without a template this compiles the subject, too.
    await pinSources(q, parse, draft.workspaceId, { ...variant, templateId: null });
    await checkPreviewText(q, parse, draft.workspaceId, variant);
  }
}

/** A variant as it will be sent. */
interface PinnedVariant {
  readonly variant: DraftVariant;
  readonly source: PinnedTemplate;
  readonly template: string | null;
  /** That of the campaign, or else of the template. */
  readonly replyTo: string | string[] | null;
}

/** True for a campaign with a variant that has neither a template nor content of its own yet. */
export function lacksContent(draft: Draft): boolean {
  return listVariants(draft).some(isEmpty);
}

/** True for a variant that would be an empty mail: without a template, and with texts, if any, of white space alone. */
function isEmpty({ templateId, html, text }: DraftVariant): boolean {
  return templateId === null && !html?.trim() && !text?.trim();
}

/**
 * Checks the content of a campaign that is scheduled: what it has could be sent now. Content may come until it starts. Throws like
 * `pinContent`.
 */
export async function checkScheduled(q: Tx | Reader, parse: Parse, draft: Draft): Promise<void> {
  if (!lacksContent(draft)) await pinFinished(q, parse, draft);
}

/** The content of a campaign that starts now, like `pinContent`. Throws ApiError validation_error for blocks that lack something, too. */
export async function pinFinished(q: Tx | Reader, parse: Parse, draft: Draft): Promise<PinnedVariant[]> {
  const pinned = await pinContent(q, parse, draft);
  assertBlocksFinished(draft.blocks ?? []);
  for (const [i, { blocks = [] }] of (draft.abTest?.variants ?? []).entries()) assertBlocksFinished(blocks, `abTest.variants[${i}].blocks`);
  return pinned;
}

/**
 * The content of a campaign as it will be sent, one source for each variant. Throws ApiError not_found, template_not_found,
 * template_error or validation_error.
 */
export async function pinContent(q: Tx | Reader, parse: Parse, draft: Draft): Promise<PinnedVariant[]> {
  const pinned: PinnedVariant[] = [];
  for (const variant of listVariants(draft)) {
    if (isEmpty(variant)) {
      const field = variant.html !== null ? "html" : variant.text !== null ? "text" : "templateId";
      const owner = variant.name === null ? "The campaign" : `Variant ${variant.name}`;
      throw invalid(variant.pathOf(field), "required", `${owner} has no content. Give it a templateId, or html and text.`);
    }
    await checkPreviewText(q, parse, draft.workspaceId, variant);
    if (variant.templateId === null) {
      pinned.push({ variant, source: await pinSources(q, parse, draft.workspaceId, variant), template: null, replyTo: draft.replyTo });
      continue;
    }
    const row = await getTemplateRow(q, draft.workspaceId, variant.templateId);
    const { source, replyTo } = await pinPublished(q, parse, row, variant.subjectLine);
    pinned.push({ variant, source, template: `${row.slug}@${row.version}`, replyTo: draft.replyTo ?? replyTo });
  }
  return pinned;
}

/** The contents of a campaign. */
export interface Contents {
  /** Their ids by variant; under the empty name without an A/B test. */
  readonly ids: ReadonlyMap<string, number>;
  /** The size of the largest. */
  readonly bytes: number;
}

/** The contents that a campaign started with. */
export async function loadContents(tx: Tx, { id: campaignId }: CampaignRow): Promise<Contents> {
  const rows = await tx
    .prepared("contents_of_campaign", (q, { campaignContents: c, contents: t }, arg) =>
      q
        .select({
          variant: c.variant,
          id: t.id,
          bytes: sql<number>`coalesce(length(${t.html}), 0) + coalesce(length(${t.text}), 0)`.mapWith(Number),
        })
        .from(c)
        .innerJoin(t, eq(t.id, c.contentsId))
        .where(eq(c.campaignId, arg("campaignId")))
        .orderBy(asc(c.variant)),
    )
    .execute({ campaignId });
  return { ids: new Map(rows.map((row) => [row.variant, row.id])), bytes: sizeOfLarge(Math.max(0, ...rows.map((row) => row.bytes))) };
}

/** Throws ApiError validation_error for a preview text that does not compile: it is a template of its own, like a subject. */
async function checkPreviewText(q: Tx | Reader, parse: Parse, workspaceId: string, variant: DraftVariant): Promise<void> {
  const { previewText, pathOf } = variant;
  if (previewText === null) return;
  await pinSources(q, parse, workspaceId, {
    ...variant,
    subjectLine: previewText,
    html: null,
    text: null,
    pathOf: () => pathOf("previewText"),
  });
}

async function pinSources(
  q: Tx | Reader,
  parse: Parse,
  workspaceId: string,
  { pathOf, subjectLine, html, text }: DraftVariant,
): Promise<PinnedTemplate> {
  try {
    return await pinOwn(q, parse, workspaceId, { subject: subjectLine, html, text });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const details = error.details.map((d) => ({ ...d, path: pathOf(d.path === "subject" ? "subjectLine" : d.path) }));
    throw new ApiError(error.code, `${details[0]?.path ?? "content"}: ${details[0]?.message ?? error.message}`, { details });
  }
}
