import { ShownReplyTo } from "./address.ts";
import { MailBlocks } from "./blocks.ts";
import {
  AbTest,
  CAMPAIGN_STATUSES,
  LocalTime,
  RECIPIENT_TYPES,
  ResendOf,
  SKIP_REASONS,
  Throttle,
  VARIANT_NAMES,
} from "./campaign-fields.ts";
import { EMAIL_STATUSES } from "./email-states.ts";
import { DeliveryError } from "./emails.ts";
import { ERROR_CODES } from "./errors.ts";
import { Instant } from "./page.ts";
import { ProposedBy } from "./proposed-by.ts";
import { Utm } from "./send-fields.ts";
import * as z from "./zod.ts";

/** A campaign in a list: everything but its content. */
export const Campaign = z
  .object({
    id: z.string(),
    name: z.string(),
    subjectLine: z.string(),
    fromEmail: z.string(),
    fromName: z.string().nullable(),
    replyTo: ShownReplyTo,
    previewText: z.string().nullable(),
    templateId: z.string().nullable(),
    recipientType: z.enum(RECIPIENT_TYPES),
    segmentId: z.string().nullable(),
    listId: z.string().nullable(),
    /** Lists and segments that get it; empty unless recipientType is groups. */
    include: z.array(z.string()),
    /** Lists and segments that do not get it. */
    exclude: z.array(z.string()),
    resendOf: ResendOf.nullable(),
    status: z.enum(CAMPAIGN_STATUSES),
    /** Reason the service held or paused it; null if you did. */
    statusReason: z.object({ code: z.enum([...ERROR_CODES, "late", "bounce_rate", "complaint_rate"]), message: z.string() }).nullable(),
    scheduledAt: Instant.nullable(),
    throttle: Throttle.nullable(),
    /** The relay of its mail; null for that of its sender or workspace. */
    relay: z.string().nullable(),
    localTime: LocalTime.nullable(),
    abTest: AbTest.nullable(),
    /** The variant that everyone outside the sample gets; null until it is known. */
    winner: z.enum(VARIANT_NAMES).nullable(),
    trackOpens: z.boolean(),
    trackClicks: z.boolean(),
    /** UTM parameters of its links. */
    utm: Utm.nullable(),
    /** The agent that proposed it; null for others. */
    proposedBy: ProposedBy.nullable(),
    /** Increases with every change. Send it with a change, and the change is refused if the campaign was changed in the meantime. */
    revision: z.int(),
    createdAt: Instant,
    updatedAt: Instant,
    /** Start of sending, which fixes the recipients. */
    startedAt: Instant.nullable(),
    /** Time of the attempt of the last email, or of the cancellation. */
    completedAt: Instant.nullable(),
  })
  .meta({ id: "Campaign" });
export type Campaign = z.infer<typeof Campaign>;

/** A list or segment that a campaign goes to, or leaves out. */
const Group = z.object({ id: z.string(), type: z.enum(["list", "segment"]), name: z.string(), memberCount: z.int() });

/** A campaign with its content and the template, segment or list it uses; each null once it is deleted. */
export const CampaignDetail = Campaign.extend({
  html: z.string().nullable(),
  text: z.string().nullable(),
  /** Content as blocks, from which the HTML was rendered; null for HTML that was written, and for a template. */
  blocks: MailBlocks.nullable(),
  template: z.object({ id: z.string(), slug: z.string(), name: z.string(), version: z.int().nullable() }).nullable(),
  segment: Group.nullable(),
  list: Group.nullable(),
  /** The lists and segments of `include` and of `exclude`, without deleted ones. */
  included: z.array(Group),
  excluded: z.array(Group),
}).meta({ id: "CampaignDetail" });
export type CampaignDetail = z.infer<typeof CampaignDetail>;

/** Recipients of a campaign if it were sent now. */
export const CampaignAudience = z
  .object({
    /** Its audience: each becomes a recipient. */
    contacts: z.int(),
    /** Number of subscribed ones; the others are skipped. */
    subscribed: z.int(),
    /** Number of further people that `exclude` removes. */
    excluded: z.int(),
    computedAt: Instant,
  })
  .meta({ id: "CampaignAudience" });
export type CampaignAudience = z.infer<typeof CampaignAudience>;

/** A recipient of a campaign: the email for one contact, sent or not. */
export const Recipient = z
  .object({
    /** Id of the email: see emails.get. */
    emailId: z.string(),
    contactId: z.string().nullable(),
    /** Empty for a contact that was deleted before it was read, and for a duplicate. */
    to: z.string(),
    status: z.enum(EMAIL_STATUSES),
    /** Reason it got nothing; null unless it was skipped. */
    skipReason: z.enum(SKIP_REASONS).nullable(),
    variant: z.enum(VARIANT_NAMES).nullable(),
    attempts: z.int(),
    /** True if a crash left open whether it arrived; it was then sent again under the same Message-ID. */
    inDoubt: z.boolean(),
    lastError: DeliveryError.nullable(),
    sentAt: Instant.nullable(),
    /** The first open, click and unsubscription, without those by machines. */
    openedAt: Instant.nullable(),
    clickedAt: Instant.nullable(),
    unsubscribedAt: Instant.nullable(),
    updatedAt: Instant,
  })
  .meta({ id: "Recipient" });
export type Recipient = z.infer<typeof Recipient>;

/** A mail of a campaign, rendered. */
export const CampaignPreview = z
  .object({
    variant: z.enum(VARIANT_NAMES).nullable(),
    contactId: z.string().nullable(),
    from: z.string(),
    /** The address of the contact. */
    to: z.string().nullable(),
    subject: z.string(),
    html: z.string().nullable(),
    /** Made from the HTML if the campaign has no text. */
    text: z.string().nullable(),
  })
  .meta({ id: "CampaignPreview" });
export type CampaignPreview = z.infer<typeof CampaignPreview>;
