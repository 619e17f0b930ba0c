import { EmailAddress } from "./address.ts";
import {
  AbTest,
  CAMPAIGN_LIMITS,
  CAMPAIGN_STATUSES,
  CampaignName,
  CampaignPatch,
  CampaignStart,
  CampaignSubject,
  LocalTime,
  NewCampaign,
  RECIPIENT_TYPES,
  RESEND_TARGETS,
  ResendOf,
  SKIP_REASONS,
  Throttle,
  VARIANT_NAMES,
} from "./campaign-fields.ts";
import { CampaignStats, CampaignVerification } from "./campaign-stats.ts";
import { CONTACT_TEXT_FIELDS } from "./contact-fields.ts";
import { DeliveryError, EMAIL_STATUSES } from "./emails.ts";
import { endpoint } from "./endpoint.ts";
import { ERROR_CODES } from "./errors.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";
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
    replyTo: z.string().nullable(),
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
    /** Why the service held or paused it; null if you did. */
    statusReason: z.object({ code: z.enum([...ERROR_CODES, "late"]), message: z.string() }).nullable(),
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
    createdAt: Instant,
    updatedAt: Instant,
    /** When sending started, which fixes the recipients. */
    startedAt: Instant.nullable(),
    /** When the last email had been attempted, or the campaign was cancelled. */
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
  template: z.object({ id: z.string(), slug: z.string(), name: z.string(), version: z.int().nullable() }).nullable(),
  segment: Group.nullable(),
  list: Group.nullable(),
  /** The lists and segments of `include` and of `exclude`, without deleted ones. */
  included: z.array(Group),
  excluded: z.array(Group),
}).meta({ id: "CampaignDetail" });
export type CampaignDetail = z.infer<typeof CampaignDetail>;

/** Who would get a campaign if it were sent now. */
export const CampaignAudience = z
  .object({
    /** Its audience: each becomes a recipient. */
    contacts: z.int(),
    /** Those of them who are subscribed; the others are skipped. */
    subscribed: z.int(),
    /** Those who would be among them, and are not because of `exclude`. */
    excluded: z.int(),
    computedAt: Instant,
  })
  .meta({ id: "CampaignAudience" });
export type CampaignAudience = z.infer<typeof CampaignAudience>;

/** A recipient of a campaign: the email for one contact, sent or not. */
export const Recipient = z
  .object({
    /** Of the email: see emails.get. */
    emailId: z.string(),
    contactId: z.string().nullable(),
    /** Empty for a contact that was deleted before it was read, and for a duplicate. */
    to: z.string(),
    status: z.enum(EMAIL_STATUSES),
    /** Why it got nothing; null unless it was skipped. */
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

/** A contact, by id or address. */
const Reader = z.string().min(1).max(254);

const id = { id: "cmp_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const launch = {
  name: "Launch",
  subjectLine: "We are live, {{firstName}}",
  fromEmail: "news@acme.example",
  html: "<p>Hello {{firstName}}, have a look.</p>",
};

export const campaigns = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/campaigns",
    access: { permission: "campaigns:read" },
    summary: "List campaigns, newest first",
    query: z.object({ ...pageQuery, status: z.enum(CAMPAIGN_STATUSES).optional().meta({ description: "Only campaigns in this state" }) }),
    output: pageSchema(Campaign),
    examples: [{ summary: "Those being sent", query: { status: "SENDING" } }],
  }),
  create: endpoint({
    method: "POST",
    path: "/api/v1/campaigns",
    access: { permission: "campaigns:write" },
    summary: "Create a campaign: a draft, or scheduled if it has a scheduledAt",
    description: `The content is a template or html and text; a draft may have none yet. Contact fields are variables: ${["email", ...CONTACT_TEXT_FIELDS, "tags"].map((field) => `{{${field}}}`).join(", ")} and every custom field.`,
    body: NewCampaign,
    status: 201,
    output: CampaignDetail,
    errors: ["sender_not_verified", "not_found", "template_not_found", "template_error"],
    examples: [
      { summary: "A draft to all contacts", body: launch },
      {
        summary: "A scheduled template to a list",
        body: {
          name: "March news",
          subjectLine: "News of March",
          fromEmail: "news@acme.example",
          templateId: "tpl_01jc3v2m9k8q4w6x0y5z7a1b2c",
          recipientType: "list",
          listId: "list_01jc3v2m9k8q4w6x0y5z7a1b2c",
          scheduledAt: "2030-03-01T09:00:00Z",
        },
      },
      {
        summary: "Two lists, without those of a segment",
        body: {
          ...launch,
          recipientType: "groups",
          include: ["list_01jc3v2m9k8q4w6x0y5z7a1b2c", "list_01jc3v2m9k8q4w6x0y5z7a1b2d"],
          exclude: ["seg_01jc3v2m9k8q4w6x0y5z7a1b2c"],
        },
      },
      { summary: "Two subjects", body: { ...launch, abTest: { variants: [{}, { subjectLine: "It is here" }], samplePercent: 10 } } },
    ],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/campaigns/:id",
    access: { permission: "campaigns:read" },
    summary: "Get one campaign with its template, segments and lists",
    output: CampaignDetail,
    errors: ["not_found"],
    examples: [{ summary: "Get", params: id }],
  }),
  update: endpoint({
    method: "PATCH",
    path: "/api/v1/campaigns/:id",
    access: { permission: "campaigns:write" },
    summary: "Update a campaign that has not started; fields that are not sent stay",
    description: "null removes a field. A scheduledAt schedules the campaign, and null makes it a draft again.",
    body: CampaignPatch,
    output: CampaignDetail,
    errors: ["sender_not_verified", "not_found", "template_not_found", "template_error", "invalid_state"],
    examples: [{ summary: "Another subject", params: id, body: { subjectLine: "We are live today" } }],
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/api/v1/campaigns/:id",
    access: { permission: "campaigns:write" },
    summary: "Delete a campaign that has not started",
    output: CampaignDetail,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "Delete", params: id }],
  }),
  schedule: endpoint({
    method: "POST",
    path: "/api/v1/campaigns/:id/schedule",
    access: { permission: "campaigns:write" },
    summary: "Schedule a campaign that has not started, or move its date",
    body: z.strictObject({ scheduledAt: CampaignStart }),
    output: CampaignDetail,
    errors: ["sender_not_verified", "not_found", "template_not_found", "template_error", "invalid_state"],
    examples: [{ summary: "At an instant", params: id, body: { scheduledAt: "2030-03-01T09:00:00Z" } }],
  }),
  audience: endpoint({
    method: "GET",
    path: "/api/v1/campaigns/:id/audience",
    access: { permission: "campaigns:read" },
    summary: "Count who would get a campaign if it were sent now",
    description:
      "Compares all contacts that may match: a second or two for a million. Once sending has started, `audience` of campaigns.stats has the number at the start.",
    output: CampaignAudience,
    errors: ["not_found"],
    examples: [{ summary: "Before sending", params: id }],
  }),
  send: endpoint({
    method: "POST",
    path: "/api/v1/campaigns/:id/send",
    access: { permission: "campaigns:write" },
    irreversible: true,
    bucket: "send",
    summary: "Send a draft or scheduled campaign now",
    description:
      "The audience and the content are fixed at this instant; later changes of the list, segment, template or of who is in them do not reach the campaign. Everybody of the audience becomes a recipient. The response comes at once, and the campaign is SENDING until each recipient had an attempt.",
    output: CampaignDetail,
    errors: ["sender_not_verified", "not_found", "template_not_found", "template_error", "invalid_state", "conflict"],
    examples: [{ summary: "Send", params: id }],
  }),
  pause: endpoint({
    method: "POST",
    path: "/api/v1/campaigns/:id/pause",
    access: { permission: "campaigns:write" },
    summary: "Pause a campaign that is being sent",
    description:
      "Mail that is being handed over at this moment, and up to 64 emails that are next, may go out within a second after the response; everything else waits for resume.",
    output: CampaignDetail,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "Pause", params: id }],
  }),
  resume: endpoint({
    method: "POST",
    path: "/api/v1/campaigns/:id/resume",
    access: { permission: "campaigns:write" },
    bucket: "send",
    summary: "Continue a paused campaign where it stopped",
    description: "A scheduled campaign that was held, because it was late or could not start, is started.",
    output: CampaignDetail,
    errors: ["sender_not_verified", "not_found", "template_not_found", "template_error", "invalid_state", "conflict"],
    examples: [{ summary: "Resume", params: id }],
  }),
  cancel: endpoint({
    method: "POST",
    path: "/api/v1/campaigns/:id/cancel",
    access: { permission: "campaigns:write" },
    irreversible: true,
    summary: "Cancel a campaign for good; recipients that got nothing yet get nothing",
    output: CampaignDetail,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "Cancel", params: id }],
  }),
  duplicate: endpoint({
    method: "POST",
    path: "/api/v1/campaigns/:id/duplicate",
    access: { permission: "campaigns:write" },
    summary: "Make a draft with the fields of another campaign",
    body: z.strictObject({ name: CampaignName.optional() }),
    status: 201,
    output: CampaignDetail,
    errors: ["not_found"],
    examples: [{ summary: "Copy", params: id, body: { name: "Launch, once more" } }],
  }),
  resend: endpoint({
    method: "POST",
    path: "/api/v1/campaigns/:id/resend",
    access: { permission: "campaigns:write" },
    summary: "Make a draft that goes to those who did not open or click a campaign, or whom it did not reach",
    description:
      "A copy of the campaign, to change and send. Who gets it is fixed when it is sent. Everybody is looked at anew: who has unsubscribed since is skipped.",
    body: z.strictObject({
      to: z.enum(RESEND_TARGETS).meta({
        description:
          "Who did not open it, who did not click in it, or whom it did not reach: bounced, failed, suppressed, skipped or cancelled",
      }),
      name: CampaignName.optional(),
      subjectLine: CampaignSubject.optional(),
    }),
    status: 201,
    output: CampaignDetail,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "To those who did not open it", params: id, body: { to: "not_opened", subjectLine: "Did you see this?" } }],
  }),
  test: endpoint({
    method: "POST",
    path: "/api/v1/campaigns/:id/test",
    access: { permission: "campaigns:write" },
    bucket: "send",
    summary: "Send a test of a campaign to up to five addresses",
    description:
      "An address of a contact gets its fields; for other addresses they are empty. The subject begins with [Test]; the unsubscribe link works, for the address that gets the test. Nothing is counted.",
    body: z.strictObject({
      to: z.array(EmailAddress).min(1).max(CAMPAIGN_LIMITS.testRecipients).meta({ description: "Addresses, up to five" }),
      contact: Reader.optional().meta({
        description: "Id or address of the contact as whom the test is rendered; by default the contact of each address",
      }),
      variant: z.enum(VARIANT_NAMES).optional().meta({ description: "Only this variant of an A/B test; all of them when absent" }),
    }),
    output: z.object({ ids: z.array(z.string()), count: z.int() }),
    errors: ["sender_not_verified", "not_found", "template_not_found", "template_error", "missing_variables", "recipient_suppressed"],
    examples: [{ summary: "To yourself", params: id, body: { to: ["me@example.com"] } }],
  }),
  preview: endpoint({
    method: "GET",
    path: "/api/v1/campaigns/:id/preview",
    access: { permission: "campaigns:read" },
    summary: "Render a campaign as a contact sees it, without sending",
    description:
      "With the content as it is now, also of a campaign that has started. Without a contact, its fields are empty. Links are not tracked, and the unsubscribe link does nothing.",
    query: z.object({
      contact: Reader.optional().meta({ description: "Id or address of the contact" }),
      variant: z.enum(VARIANT_NAMES).optional().meta({ description: "The variant of an A/B test; the first one when absent" }),
    }),
    output: CampaignPreview,
    errors: ["not_found", "template_not_found", "template_error", "missing_variables"],
    examples: [{ summary: "As Ada sees it", params: id, query: { contact: "ada@example.com" } }],
  }),
  winner: endpoint({
    method: "POST",
    path: "/api/v1/campaigns/:id/winner",
    access: { permission: "campaigns:write" },
    irreversible: true,
    summary: "Decide an A/B test by hand; the rest of the recipients gets this variant",
    body: z.strictObject({ variant: z.enum(VARIANT_NAMES).meta({ description: "The variant that wins" }) }),
    output: CampaignDetail,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "B wins", params: id, body: { variant: "B" } }],
  }),
  recipients: endpoint({
    method: "GET",
    path: "/api/v1/campaigns/:id/recipients",
    access: { permission: "campaigns:read" },
    summary: "List the recipients of a campaign, with the reason where one was skipped, newest first",
    description: "To read all of them, follow `nextCursor` with a limit of 1,000.",
    query: z.object({
      ...pageQuery,
      limit: z.coerce.number().int().min(1).max(1000).default(20).meta({ description: "Items per page, 1 to 1,000" }),
      status: z.enum(EMAIL_STATUSES).optional().meta({ description: "Only recipients in this state" }),
    }),
    output: pageSchema(Recipient),
    errors: ["not_found"],
    examples: [{ summary: "Who was skipped, and why", params: id, query: { status: "skipped" } }],
  }),
  stats: endpoint({
    method: "GET",
    path: "/api/v1/campaigns/:id/stats",
    aliases: ["/api/v1/v1/campaigns/:id/stats"],
    access: { permission: "campaigns:read" },
    summary: "Show the statistics of a campaign",
    query: z.object({ interval: z.enum(["hour", "day"]).default("hour").meta({ description: "Length of a point of the series" }) }),
    output: CampaignStats,
    errors: ["not_found"],
    examples: [{ summary: "By day", params: id, query: { interval: "day" } }],
  }),
  verify: endpoint({
    method: "GET",
    path: "/api/v1/campaigns/:id/verify",
    access: { permission: "campaigns:read" },
    summary: "Count all recipients and events of a campaign anew and compare",
    description:
      "Reads everything: some seconds for a million recipients. While the campaign is being sent, differences may be changes between two reads.",
    output: CampaignVerification,
    errors: ["not_found"],
    examples: [{ summary: "Verify", params: id }],
  }),
};
