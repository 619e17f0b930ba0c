import { endpoint } from "../endpoint.ts";
import { Instant, LocalDate, MAX_INTEGER, pageQuery, pageSchema } from "../page.ts";
import * as z from "../zod.ts";
import { AGENT_BASE } from "./agent-base.ts";
import { PageBlock, PageBlocks, PageForm, PageHtml, PageSeo } from "./page-content.ts";
import { RunId } from "./runs.ts";
import { LANDING_PAGE_STATUSES } from "./states.ts";
import { line } from "./text.ts";

export const PageSlug = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,78}[a-z0-9])?$/, "A slug is 1 to 80 small letters, digits and hyphens, with no hyphen at its ends.")
  .meta({ description: "Part of the address; unique in the workspace. Derived from the title by default", examples: ["spring-guide"] });

/** A landing page without its content. */
export const LandingPageSummary = z
  .object({
    id: z.string(),
    slug: z.string(),
    /** Its address once it is published. */
    url: z.string(),
    title: z.string(),
    status: z.enum(LANDING_PAGE_STATUSES),
    /** Increases with each change. */
    version: z.int(),
    /** True when visitors can sign up on it. */
    hasForm: z.boolean(),
    leadMagnetId: z.string().nullable(),
    listId: z.string().nullable(),
    runId: z.string().nullable(),
    /** The agent that created it. Only the brand and that agent see its activation. */
    createdBy: z.object({ agent: z.boolean(), activationId: z.string().nullable() }),
    createdAt: Instant,
    updatedAt: Instant,
    publishedAt: Instant.nullable(),
  })
  .meta({ id: "LandingPageSummary" });
export type LandingPageSummary = z.infer<typeof LandingPageSummary>;

export const LandingPage = LandingPageSummary.extend({
  /** The sanitized HTML, as served. */
  html: z.string().nullable(),
  blocks: z.array(PageBlock).nullable(),
  seo: PageSeo,
  form: PageForm.nullable(),
  /** A link that shows the page before it is published; works for one hour. */
  previewUrl: z.string(),
}).meta({ id: "LandingPage" });
export type LandingPage = z.infer<typeof LandingPage>;

/** Part that sanitizing removed from the HTML, and the number of removals. */
export const Removal = z
  .object({ kind: z.enum(["element", "attribute", "address", "style", "depth"]), name: z.string(), count: z.int() })
  .meta({ id: "Removal" });
export type Removal = z.infer<typeof Removal>;

/** A saved page, with what sanitizing removed from its HTML. */
export const WrittenLandingPage = LandingPage.extend({ removed: z.array(Removal) }).meta({ id: "WrittenLandingPage" });
export type WrittenLandingPage = z.infer<typeof WrittenLandingPage>;

const count = z.int();

/** Statistics without personal data: a visitor counts once a day and cannot be recognized the next day. */
export const LandingPageStats = z
  .object({
    from: z.string(),
    to: z.string(),
    views: count,
    uniqueVisitors: count,
    submissions: count,
    /** Submissions per visitor, 0 to 1. */
    conversionRate: z.number(),
    byDay: z.array(z.object({ date: z.string(), views: count, uniqueVisitors: count, submissions: count })),
    /** The 20 hosts that referred the most visitors. */
    topReferrers: z.array(z.object({ host: z.string(), views: count })),
  })
  .meta({ id: "LandingPageStats" });
export type LandingPageStats = z.infer<typeof LandingPageStats>;

/** A sign-up: the contact, the time, and the consent text. */
export const LandingPageSubmission = z
  .object({
    id: z.string(),
    /** Null once the contact is deleted. */
    contactId: z.string().nullable(),
    consentText: z.string(),
    listId: z.string().nullable(),
    createdAt: Instant,
  })
  .meta({ id: "LandingPageSubmission" });
export type LandingPageSubmission = z.infer<typeof LandingPageSubmission>;

const status = z.enum(LANDING_PAGE_STATUSES);
const listQuery = { ...pageQuery, status: status.optional().meta({ description: "Only pages in this state" }) };
const statsQuery = z.object({
  from: LocalDate.optional().meta({ description: "First day, UTC; by default 29 days before `to`" }),
  to: LocalDate.optional().meta({ description: "Last day, UTC; today by default" }),
  granularity: z.enum(["day"]).default("day").meta({ description: "Length of each period" }),
});

const fields = {
  slug: PageSlug.optional(),
  html: PageHtml.nullable().optional(),
  blocks: PageBlocks.nullable().optional(),
  seo: PageSeo.nullable().optional().meta({ description: "What search engines and link previews show" }),
  form: PageForm.nullable().optional().meta({ description: "The sign-up form; also added when leadMagnetId or listId is set" }),
  leadMagnetId: z.string().max(40).nullable().optional().meta({ description: "The lead magnet offered for signing up" }),
  listId: z.string().max(40).nullable().optional().meta({ description: "The brand's list that visitors join by signing up" }),
  status: status.optional().meta({ description: "State of the page" }),
};

const activationId = "act_01jc3v2m9k8q4w6x0y5z7a1b2c";
const id = { id: "lp_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const read = { scope: "landing_pages:read" } as const;
const write = { scope: "landing_pages:write" } as const;
const params = { activationId, ...id };

/** Landing pages, for the agent that creates them. */
export const agentLandingPages = {
  list: endpoint({
    method: "GET",
    path: `${AGENT_BASE}/landing-pages`,
    access: read,
    summary: "List this agent's pages and all published pages of the brand, newest first",
    query: z.object(listQuery),
    output: pageSchema(LandingPageSummary),
    errors: ["not_found"],
    examples: [{ summary: "Published pages", params: { activationId }, query: { status: "PUBLISHED" } }],
  }),
  create: endpoint({
    method: "POST",
    path: `${AGENT_BASE}/landing-pages`,
    access: write,
    summary: "Create a landing page",
    description:
      "Set html or blocks, not both. HTML is sanitized; `removed` lists what was removed. If the brand requires it, a page can be published only after the brand approved an APPROVAL_REQUEST whose preview names the page.",
    body: z.strictObject({
      title: line(200).meta({ description: "Title, up to 200 characters" }),
      ...fields,
      runId: RunId.optional().meta({ description: "The run that created it" }),
    }),
    status: 201,
    output: WrittenLandingPage,
    errors: ["not_found", "slug_taken", "approval_required", "limit_reached"],
    examples: [
      {
        summary: "HTML",
        params: { activationId },
        body: { title: "Spring guide", html: "<h1>Spring is near</h1><p>Get the guide.</p><form></form>", status: "PUBLISHED" },
      },
      {
        summary: "Blocks",
        params: { activationId },
        body: {
          title: "Spring guide",
          blocks: [{ type: "heading", text: "Spring is near", level: 1 }, { type: "text", text: "Get the guide." }, { type: "form" }],
          form: { fields: ["firstName"], button: "Send it to me" },
        },
      },
    ],
  }),
  get: endpoint({
    method: "GET",
    path: `${AGENT_BASE}/landing-pages/:id`,
    access: read,
    summary: "Show one landing page",
    uncompressed: true,
    output: LandingPage,
    errors: ["not_found"],
    examples: [{ summary: "By id", params }],
  }),
  update: endpoint({
    method: "PATCH",
    path: `${AGENT_BASE}/landing-pages/:id`,
    access: write,
    summary: "Update the given fields of a landing page of this agent",
    description:
      'With `version`, or an If-Match header such as "3", the update fails with 412 if the page has changed since that version. A new html replaces blocks, and vice versa.',
    body: z.strictObject({
      title: line(200).optional().meta({ description: "Title, up to 200 characters" }),
      ...fields,
      runId: RunId.optional().meta({ description: "The run that changed it" }),
      version: z.int().min(1).max(MAX_INTEGER).optional().meta({ description: "The version you read; a newer one answers 412" }),
    }),
    output: WrittenLandingPage,
    errors: ["not_found", "slug_taken", "version_mismatch", "approval_required"],
    examples: [{ summary: "Another title", params, body: { title: "Summer guide", version: 1 } }],
  }),
  publish: endpoint({
    method: "POST",
    path: `${AGENT_BASE}/landing-pages/:id/publish`,
    access: write,
    summary: "Publish a landing page of this agent",
    description: "Publishing a published page changes nothing.",
    output: LandingPage,
    errors: ["not_found", "approval_required"],
    examples: [{ summary: "Publish", params }],
  }),
  unpublish: endpoint({
    method: "POST",
    path: `${AGENT_BASE}/landing-pages/:id/unpublish`,
    access: write,
    summary: "Unpublish a landing page of this agent",
    output: LandingPage,
    errors: ["not_found"],
    examples: [{ summary: "Unpublish", params }],
  }),
  stats: endpoint({
    method: "GET",
    path: `${AGENT_BASE}/landing-pages/:id/stats`,
    access: read,
    summary: "Show the statistics of a landing page",
    query: statsQuery,
    output: LandingPageStats,
    errors: ["not_found"],
    examples: [{ summary: "January", params, query: { from: "2026-01-01", to: "2026-01-31" } }],
  }),
};

const brandRead = { permission: "marketplace:read" } as const;
const brandWrite = { permission: "marketplace:write" } as const;

/** Landing pages of all agents, for their brand. */
export const landingPages = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/landing-pages",
    access: brandRead,
    summary: "List the landing pages of agents, newest first",
    query: z.object({
      ...listQuery,
      activationId: z.string().max(40).optional().meta({ description: "Only pages of this activation" }),
    }),
    output: pageSchema(LandingPageSummary),
    examples: [{ summary: "Published pages", query: { status: "PUBLISHED" } }],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/landing-pages/:id",
    access: brandRead,
    summary: "Show one landing page",
    uncompressed: true,
    output: LandingPage,
    errors: ["not_found"],
    examples: [{ summary: "By id", params: id }],
  }),
  publish: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/landing-pages/:id/publish",
    access: brandWrite,
    mailsTo: "unknown",
    summary: "Publish a landing page",
    description: "Needs no approval, since the brand itself publishes it.",
    output: LandingPage,
    errors: ["not_found"],
    examples: [{ summary: "Publish", params: id }],
  }),
  unpublish: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/landing-pages/:id/unpublish",
    access: brandWrite,
    mailsTo: "nobody",
    summary: "Unpublish a landing page",
    output: LandingPage,
    errors: ["not_found"],
    examples: [{ summary: "Unpublish", params: id }],
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/api/v1/marketplace/landing-pages/:id",
    access: brandWrite,
    mailsTo: "nobody",
    summary: "Delete a landing page and its statistics; its contacts stay",
    output: LandingPage,
    errors: ["not_found"],
    examples: [{ summary: "By id", params: id }],
  }),
  stats: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/landing-pages/:id/stats",
    access: brandRead,
    summary: "Show the statistics of a landing page",
    query: statsQuery,
    output: LandingPageStats,
    errors: ["not_found"],
    examples: [{ summary: "The last 30 days", params: id }],
  }),
  submissions: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/landing-pages/:id/submissions",
    access: { permission: "contacts:read" },
    summary: "List the sign-ups of a landing page with their consent, newest first",
    query: z.object(pageQuery),
    output: pageSchema(LandingPageSubmission),
    errors: ["not_found"],
    examples: [{ summary: "All", params: id }],
  }),
};
