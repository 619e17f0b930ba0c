import { z } from "zod";
import { AbTest, CAMPAIGN_STATUSES, NewCampaign, RECIPIENT_TYPES, Throttle, VARIANT_NAMES } from "./campaign-fields.ts";
import { endpoint } from "./endpoint.ts";
import { ERROR_CODES } from "./errors.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";

/** A campaign in a list: everything but its content (SPEC 2). */
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
    status: z.enum(CAMPAIGN_STATUSES),
    /** Why the service held or paused it; null if you did. */
    statusReason: z.object({ code: z.enum([...ERROR_CODES, "late"]), message: z.string() }).nullable(),
    scheduledAt: Instant.nullable(),
    throttle: Throttle.nullable(),
    abTest: AbTest.nullable(),
    /** The variant that everyone outside the sample gets; null until it is known. */
    winner: z.enum(VARIANT_NAMES).nullable(),
    trackOpens: z.boolean(),
    trackClicks: z.boolean(),
    createdAt: Instant,
    updatedAt: Instant,
    /** When sending started, which fixes the recipients. */
    startedAt: Instant.nullable(),
    /** When the last email had been attempted, or the campaign was cancelled. */
    completedAt: Instant.nullable(),
  })
  .meta({ id: "Campaign" });
export type Campaign = z.infer<typeof Campaign>;

/** A campaign with its content and the template, segment or list it uses (SPEC 2); each null once it is deleted. */
export const CampaignDetail = Campaign.extend({
  html: z.string().nullable(),
  text: z.string().nullable(),
  template: z.object({ id: z.string(), slug: z.string(), name: z.string(), version: z.int().nullable() }).nullable(),
  segment: z.object({ id: z.string(), name: z.string(), memberCount: z.int() }).nullable(),
  list: z.object({ id: z.string(), name: z.string(), memberCount: z.int() }).nullable(),
}).meta({ id: "CampaignDetail" });
export type CampaignDetail = z.infer<typeof CampaignDetail>;

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
    description:
      "The content is a template or html and text; a draft may have none yet. Contact fields are variables: {{firstName}}, {{lastName}}, {{email}}, {{phone}}, {{tags}} and every custom field.",
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
      { summary: "Two subjects", body: { ...launch, abTest: { variants: [{}, { subjectLine: "It is here" }], samplePercent: 10 } } },
    ],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/campaigns/:id",
    access: { permission: "campaigns:read" },
    summary: "Get one campaign with its template, segment and list",
    output: CampaignDetail,
    errors: ["not_found"],
    examples: [{ summary: "Get", params: id }],
  }),
};
