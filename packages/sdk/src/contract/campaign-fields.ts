import { EmailAddress, ReplyTo } from "./address.ts";
import { MailBlocks } from "./blocks.ts";
import { describeDate, explainMissingDate } from "./dates.ts";
import { limits } from "./limits.ts";
import { line } from "./name.ts";
import { Instant } from "./page.ts";
import { RelayName } from "./relay-name.ts";
import { revisionOf } from "./revision.ts";
import { Content, issue, Subject, Utm } from "./send-fields.ts";
import { TimeOfDay, TimeZone } from "./time-of-day.ts";
import * as z from "./zod.ts";

export const CAMPAIGN_LIMITS = limits("campaigns", "A campaign", {
  name: [200, "name", "characters"],
  subject: [998, "subject", "characters"],
  previewText: [200, "preview text", "characters"],
  fromName: [200, "sender's name", "characters"],
  minVariants: [2, "variants of an A/B test, at least"],
  maxVariants: [5, "variants of an A/B test"],
  maxPerSecond: [10_000, "emails a second of a throttle"],
  maxDecideAfter: [10_080, "time until an A/B test is decided", "minutes"],
  testRecipients: [5, "recipients of a test send"],
  scheduleDays: [365, "how far ahead a campaign can be scheduled", "days"],
  groups: [20, "lists and segments that a campaign goes to, and that it leaves out"],
});

/** The states of a campaign (docs/campaigns.md#states). */
export const CAMPAIGN_STATUSES = ["DRAFT", "SCHEDULED", "SENDING", "SENT", "PAUSED", "CANCELLED"] as const;
export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number];

/** Audiences of a campaign: all contacts, a segment, a list, several lists and segments, or recipients of an earlier campaign. */
export const RECIPIENT_TYPES = ["all", "segment", "list", "groups", "resend"] as const;
export type RecipientType = (typeof RECIPIENT_TYPES)[number];

/** Recipients of an earlier campaign that a resend goes to. */
export const RESEND_TARGETS = ["not_opened", "not_clicked", "failed"] as const;
export type ResendTarget = (typeof RESEND_TARGETS)[number];

/** The recipients of an earlier campaign (docs/campaigns.md#sending-again). */
export const ResendOf = z
  .strictObject({
    campaignId: z.string().min(1).max(100).meta({ description: "The earlier campaign, which has started" }),
    to: z.enum(RESEND_TARGETS).meta({
      description:
        "Recipients who did not open it (not_opened) or did not click in it (not_clicked), or recipients it did not reach (failed)",
    }),
  })
  .meta({ id: "ResendOf" });
export type ResendOf = z.infer<typeof ResendOf>;

/**
 * Reasons for skipping a recipient: the contact's status (`unsubscribed`, `bounced`, `complained`), an entry of the suppression list
 * (`suppressed`), an address that cannot get mail (`invalid`), a deleted contact (`deleted`), the address of another recipient of the
 * campaign (`duplicate`), a person who left the campaign's lists (`left_list`), a variable that the template requires and the contact
 * lacks (`missing_variables`), or, in automations only, a contact who answered while the mail waited (`replied`).
 */
export const SKIP_REASONS = [
  "unsubscribed",
  "bounced",
  "complained",
  "suppressed",
  "invalid",
  "deleted",
  "duplicate",
  "left_list",
  "missing_variables",
  "replied",
] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** The names of variants, in the order they are given. */
export const VARIANT_NAMES = ["A", "B", "C", "D", "E"] as const;
export type VariantName = (typeof VARIANT_NAMES)[number];

/** Sending speed of a campaign. */
export const Throttle = z
  .strictObject({
    perSecond: z.number().min(0.01).max(CAMPAIGN_LIMITS.maxPerSecond).optional().meta({ description: "Emails per second, at most" }),
    window: z
      .strictObject({ start: TimeOfDay, end: TimeOfDay, timeZone: TimeZone })
      .superRefine((window, ctx) => {
        if (window.start === window.end)
          issue(ctx, ["end"], "empty_window", "start and end are equal. Leave the window out to send at all hours.");
      })
      .optional()
      .meta({ description: "Hours of the day in which emails go out, e.g. 09:00 to 17:00 Europe/Berlin" }),
  })
  .meta({ id: "Throttle" });
export type Throttle = z.infer<typeof Throttle>;

/** A time on the clock of each reader (docs/campaigns.md#local-time). */
export const LocalTime = z
  .strictObject({
    at: z
      .string()
      .refine(isDateTime, {
        error: describeDate("Write a date and a time such as 2030-03-01T09:00, without a zone."),
        params: { code: "invalid_format" },
      })
      .meta({ description: "Date and time on the reader's clock, such as 2030-03-01T09:00", examples: ["2030-03-01T09:00"] }),
    field: z
      .string()
      .min(1)
      .max(100)
      .default("timeZone")
      .meta({ description: "The custom field of contacts with their time zone, such as Europe/Berlin" }),
    fallback: TimeZone.default("UTC").meta({ description: "The time zone of contacts without a valid one" }),
  })
  .meta({ id: "LocalTime" });
export type LocalTime = z.infer<typeof LocalTime>;

/** True if a text is an existing date and a time, to the minute. */
function isDateTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) && explainMissingDate(text) === null;
}

const CampaignContent = Content.meta({ description: "HTML body, may contain {{ variables }}" });
const CampaignText = Content.meta({ description: "Plain-text body, may contain {{ variables }}" });
export const CampaignSubject = Subject.meta({ description: "Subject, up to 998 characters; may contain {{ variables }}" });
const PreviewText = line(CAMPAIGN_LIMITS.previewText).meta({
  description: "Text that mail programs show next to the subject, up to 200 characters",
});
/** Start of a campaign. */
export const CampaignStart = Instant.meta({
  description: `When to send (ISO 8601), in the future, at most ${CAMPAIGN_LIMITS.scheduleDays} days ahead`,
});
const TemplateId = z.string().min(1).max(100);

/** Changes in a variant of an A/B test; the rest is the campaign's. */
export const Variant = z
  .strictObject({
    subjectLine: CampaignSubject.optional(),
    previewText: PreviewText.optional(),
    templateId: TemplateId.optional(),
    html: CampaignContent.optional(),
    text: CampaignText.optional(),
    blocks: MailBlocks.optional(),
  })
  .superRefine(checkContent)
  .meta({ id: "Variant" });
export type Variant = z.infer<typeof Variant>;

/** An A/B test: a sample of the recipients gets the variants, the rest the winner. */
export const AbTest = z
  .strictObject({
    variants: z
      .array(Variant)
      .min(CAMPAIGN_LIMITS.minVariants)
      .max(CAMPAIGN_LIMITS.maxVariants)
      .meta({ description: "Two to five variants, named A to E in this order" }),
    samplePercent: z.int().min(1).max(100).default(20).meta({ description: "Recipients in the sample, in percent" }),
    winner: z
      .enum(["opens", "clicks", "manual"])
      .default("opens")
      .meta({ description: "What decides: unique opens, unique clicks, or you" }),
    decideAfterMinutes: z
      .int()
      .min(1)
      .max(CAMPAIGN_LIMITS.maxDecideAfter)
      .default(240)
      .meta({ description: "Minutes after the sample was sent until the winner is decided" }),
  })
  .meta({ id: "AbTest" });
export type AbTest = z.infer<typeof AbTest>;

export const CampaignName = line(CAMPAIGN_LIMITS.name).meta({ description: "Name, up to 200 characters" });

/** Ids of lists and segments. */
const GroupIds = z.array(z.string().min(1).max(100)).max(CAMPAIGN_LIMITS.groups);

const fields = {
  name: CampaignName,
  subjectLine: CampaignSubject,
  fromEmail: EmailAddress.meta({ description: "Address of a verified sender" }),
  templateId: TemplateId.meta({ description: "Published template to send" }),
  html: CampaignContent,
  text: CampaignText,
  blocks: MailBlocks,
  fromName: line(CAMPAIGN_LIMITS.fromName).meta({ description: "Name of the sender" }),
  replyTo: ReplyTo.meta({
    description: "Reply-To address, or up to ten; auto to receive the replies here; that of the template when absent",
    examples: ["auto"],
  }),
  previewText: PreviewText,
  recipientType: z.enum(RECIPIENT_TYPES).meta({
    description: "Who gets it: all contacts, a segment, a list, several of both (groups), or recipients of an earlier campaign (resend)",
  }),
  segmentId: z.string().min(1).max(100).meta({ description: "The segment, if recipientType is segment" }),
  listId: z.string().min(1).max(100).meta({ description: "The list, if recipientType is list" }),
  include: GroupIds.meta({
    description: "Ids of lists and segments, if recipientType is groups: each contact in any of them gets it once",
  }),
  exclude: GroupIds.meta({ description: "Ids of lists and segments that do not get it, whatever recipientType is" }),
  resendOf: ResendOf.meta({ description: "The earlier campaign, if recipientType is resend: {campaignId, to}" }),
  scheduledAt: CampaignStart,
  throttle: Throttle.meta({ description: "How fast, and at which hours: {perSecond, window}" }),
  localTime: LocalTime.meta({ description: "When each reader gets it, by their own clock: {at, field, fallback}" }),
  abTest: AbTest.meta({
    description: "Variants to try on a sample, and how the winner is decided: {variants, samplePercent, winner, decideAfterMinutes}",
  }),
  relay: RelayName.meta({ description: "Relay that takes its mail; your operator knows the names" }),
  trackOpens: z.boolean().meta({ description: "Count opens" }),
  trackClicks: z.boolean().meta({ description: "Count clicks" }),
  utm: Utm,
};

/** The fields of a new campaign (docs/campaigns.md#content). */
export const NewCampaign = z
  .strictObject({
    name: fields.name,
    subjectLine: fields.subjectLine,
    fromEmail: fields.fromEmail,
    templateId: fields.templateId.optional(),
    html: fields.html.optional(),
    text: fields.text.optional(),
    blocks: fields.blocks.optional(),
    fromName: fields.fromName.optional(),
    replyTo: fields.replyTo.optional(),
    previewText: fields.previewText.optional(),
    recipientType: fields.recipientType.default("all"),
    segmentId: fields.segmentId.optional(),
    listId: fields.listId.optional(),
    include: fields.include.default([]),
    exclude: fields.exclude.default([]),
    resendOf: fields.resendOf.optional(),
    scheduledAt: fields.scheduledAt.optional(),
    throttle: fields.throttle.optional(),
    localTime: fields.localTime.optional(),
    abTest: fields.abTest.optional(),
    relay: fields.relay.optional(),
    trackOpens: fields.trackOpens.default(true),
    trackClicks: fields.trackClicks.default(true),
    utm: fields.utm.optional(),
  })
  .superRefine(checkContent)
  .superRefine(checkRecipients)
  .meta({ id: "NewCampaign" });
export type NewCampaign = z.input<typeof NewCampaign>;

/** A change of a campaign that has not been sent: fields that are not sent stay, null removes. */
export const CampaignPatch = z
  .strictObject({
    name: fields.name.optional(),
    subjectLine: fields.subjectLine.optional(),
    fromEmail: fields.fromEmail.optional(),
    templateId: fields.templateId.nullable().optional(),
    html: fields.html.nullable().optional(),
    text: fields.text.nullable().optional(),
    blocks: fields.blocks
      .nullable()
      .optional()
      .meta({ description: "Content as blocks, from which the HTML is rendered; null gives them up and keeps the HTML" }),
    fromName: fields.fromName.nullable().optional(),
    replyTo: fields.replyTo.nullable().optional(),
    previewText: fields.previewText.nullable().optional(),
    recipientType: fields.recipientType.optional(),
    segmentId: fields.segmentId.nullable().optional(),
    listId: fields.listId.nullable().optional(),
    include: fields.include.optional(),
    exclude: fields.exclude.optional(),
    resendOf: fields.resendOf.nullable().optional(),
    scheduledAt: fields.scheduledAt
      .nullable()
      .optional()
      .meta({ description: `When to send, at most ${CAMPAIGN_LIMITS.scheduleDays} days ahead; null makes it a draft again` }),
    throttle: fields.throttle.nullable().optional(),
    localTime: fields.localTime.nullable().optional(),
    abTest: fields.abTest.nullable().optional(),
    relay: fields.relay.nullable().optional(),
    trackOpens: fields.trackOpens.optional(),
    trackClicks: fields.trackClicks.optional(),
    utm: fields.utm.nullable().optional(),
    revision: revisionOf("campaign"),
  })
  .superRefine(checkContent)
  .meta({ id: "CampaignPatch" });
export type CampaignPatch = z.input<typeof CampaignPatch>;

/** The fields that say to whom a campaign goes. */
interface Audience {
  recipientType: RecipientType;
  segmentId?: string | null | undefined;
  listId?: string | null | undefined;
  include?: readonly string[] | undefined;
  resendOf?: ResendOf | null | undefined;
}

/** The faults of an audience: what its recipientType needs is missing, or is given for another recipientType. */
export function findAudienceFaults({
  recipientType,
  segmentId,
  listId,
  include,
  resendOf,
}: Audience): { path: "segmentId" | "listId" | "include" | "resendOf"; code: string; message: string }[] {
  return (
    [
      ["segment", "segmentId", segmentId],
      ["list", "listId", listId],
      ["groups", "include", include?.length === 0 ? null : include],
      ["resend", "resendOf", resendOf],
    ] as const
  ).flatMap(([type, path, value]) => {
    const given = value !== undefined && value !== null;
    if (recipientType === type && !given)
      return [{ path, code: "required", message: `${path} is required when recipientType is ${type}.` }];
    if (recipientType !== type && given)
      return [
        {
          path,
          code: "not_allowed",
          message: `${path} needs recipientType ${type}; it is ${recipientType}. Otherwise others would get this campaign.`,
        },
      ];
    return [];
  });
}

function checkRecipients(audience: Audience, ctx: z.RefinementCtx): void {
  for (const { path, code, message } of findAudienceFaults(audience)) issue(ctx, [path], code, message);
}

/** The fields that hold what a campaign says. */
interface GivenContent {
  templateId?: string | null | undefined;
  html?: string | null | undefined;
  text?: string | null | undefined;
  blocks?: MailBlocks | null | undefined;
}

/** Refuses two contents in one request: a template beside own content, and HTML beside blocks. */
function checkContent({ templateId, html, text, blocks }: GivenContent, ctx: z.RefinementCtx): void {
  const given = (value: unknown): boolean => value !== undefined && value !== null;
  if (given(templateId) && [html, text, blocks].some(given))
    issue(ctx, ["templateId"], "not_allowed", "Give either templateId or own content (blocks, html, text).");
  if (given(blocks) && given(html))
    issue(ctx, ["blocks"], "not_allowed", "Give either blocks or html: the HTML is rendered from the blocks.");
}
