import { EmailAddress } from "./address.ts";
import { Campaign, CampaignAudience, CampaignDetail, CampaignPreview, Recipient } from "./campaign.ts";
import {
  CAMPAIGN_LIMITS,
  CAMPAIGN_STATUSES,
  CampaignName,
  CampaignPatch,
  CampaignStart,
  CampaignSubject,
  NewCampaign,
  RESEND_TARGETS,
  VARIANT_NAMES,
} from "./campaign-fields.ts";
import { CampaignStats, CampaignVerification } from "./campaign-stats.ts";
import { CONTACT_TEXT_FIELDS } from "./contact-fields.ts";
import { EMAIL_STATUSES } from "./email-states.ts";
import { endpoint } from "./endpoint.ts";
import { pageQuery, pageSchema } from "./page.ts";
import { revisionOf } from "./revision.ts";
import * as z from "./zod.ts";

/** A contact, by id or address. */
const ContactRef = z.string().min(1).max(254);

const id = { id: "cmp_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const revision = revisionOf("campaign");
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
    mailsTo: "nobody",
    summary: "Create a campaign: a draft, or scheduled if it has a scheduledAt",
    description: `The content is a template or html and text; a draft may have none yet. Contact fields are variables: ${["email", ...CONTACT_TEXT_FIELDS, "tags"].map((field) => `{{${field}}}`).join(", ")} and every custom field.`,
    body: NewCampaign,
    status: 201,
    output: CampaignDetail,
    errors: ["sender_not_verified", "not_found", "template_not_found", "template_error", "invalid_state"],
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
    mailsTo: "nobody",
    summary: "Update a campaign that has not started; fields that are not sent stay",
    description: "null removes a field. A scheduledAt schedules the campaign, and null makes it a draft again.",
    body: CampaignPatch,
    output: CampaignDetail,
    errors: ["sender_not_verified", "not_found", "template_not_found", "template_error", "invalid_state", "conflict"],
    examples: [{ summary: "Another subject", params: id, body: { subjectLine: "We are live today" } }],
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/api/v1/campaigns/:id",
    access: { permission: "campaigns:write" },
    mailsTo: "nobody",
    summary: "Delete a campaign that has not started",
    output: CampaignDetail,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "Delete", params: id }],
  }),
  schedule: endpoint({
    method: "POST",
    path: "/api/v1/campaigns/:id/schedule",
    access: { permission: "campaigns:write" },
    mailsTo: "audience",
    summary: "Schedule a campaign that has not started, or move its date",
    body: z.strictObject({ scheduledAt: CampaignStart, revision }),
    output: CampaignDetail,
    errors: ["sender_not_verified", "not_found", "template_not_found", "template_error", "invalid_state", "conflict"],
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
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "Before sending", params: id }],
  }),
  send: endpoint({
    method: "POST",
    path: "/api/v1/campaigns/:id/send",
    access: { permission: "campaigns:write" },
    mailsTo: "audience",
    irreversible: true,
    bucket: "send",
    tool: "campaign_send",
    summary: "Send a draft or scheduled campaign now",
    description:
      "The audience and the content are fixed at this instant; later changes of the list, the segment, their members or the template do not reach the campaign. Each contact of the audience becomes a recipient. The response comes at once, and the campaign is SENDING until each recipient had an attempt.",
    body: z.strictObject({ revision }),
    output: CampaignDetail,
    errors: ["sender_not_verified", "not_found", "template_not_found", "template_error", "invalid_state", "conflict"],
    examples: [{ summary: "Send", params: id, body: {} }],
  }),
  pause: endpoint({
    method: "POST",
    path: "/api/v1/campaigns/:id/pause",
    access: { permission: "campaigns:write" },
    mailsTo: "nobody",
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
    mailsTo: "audience",
    bucket: "send",
    summary: "Continue a paused campaign where it stopped",
    description: "A scheduled campaign that was held, because it was late or could not start, is started.",
    body: z.strictObject({ revision }),
    output: CampaignDetail,
    errors: ["sender_not_verified", "not_found", "template_not_found", "template_error", "invalid_state", "conflict"],
    examples: [{ summary: "Resume", params: id, body: {} }],
  }),
  cancel: endpoint({
    method: "POST",
    path: "/api/v1/campaigns/:id/cancel",
    access: { permission: "campaigns:write" },
    mailsTo: "nobody",
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
    mailsTo: "nobody",
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
    mailsTo: "nobody",
    summary: "Make a draft that goes to those who did not open or click a campaign, or whom it did not reach",
    description:
      "A copy of the campaign, to change and send. Its recipients are fixed when it is sent; contacts that have unsubscribed since the earlier campaign are skipped.",
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
    mailsTo: "named",
    bucket: "send",
    summary: "Send a test of a campaign to up to five addresses",
    description:
      "An address of a contact gets its fields; for other addresses they are empty. The subject begins with [Test]; the unsubscribe link works, for the address that gets the test. Nothing is counted.",
    body: z.strictObject({
      to: z.array(EmailAddress).min(1).max(CAMPAIGN_LIMITS.testRecipients).meta({ description: "Addresses, up to five" }),
      contact: ContactRef.optional().meta({
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
      contact: ContactRef.optional().meta({ description: "Id or address of the contact" }),
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
    mailsTo: "audience",
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
    tool: "campaign_stats",
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
      "Reads everything: some seconds for a million recipients. While the campaign is being sent, differences may be changes between two reads. A campaign whose mail or events the server may have deleted since (`--keep`) is refused.",
    output: CampaignVerification,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "Verify", params: id }],
  }),
};
