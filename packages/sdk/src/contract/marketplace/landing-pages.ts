import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Instant, pageQuery, pageSchema } from "../page.ts";
import { AGENT_BASE } from "./agent-base.ts";
import { PageBlock, PageBlocks, PageForm, PageHtml, PageSeo } from "./page-content.ts";
import { RunId } from "./runs.ts";
import { LANDING_PAGE_STATUSES } from "./states.ts";
import { line } from "./text.ts";

export const PageSlug = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,78}[a-z0-9])?$/, "A slug is 1 to 80 small letters, digits and hyphens, with no hyphen at its ends.")
  .meta({ description: "Stands in the address; unique in the workspace. Made from the title when absent", examples: ["spring-guide"] });

/** A landing page without what stands on it. */
export const LandingPageSummary = z
  .object({
    id: z.string(),
    slug: z.string(),
    /** Where it is served once it is published. */
    url: z.string(),
    title: z.string(),
    status: z.enum(LANDING_PAGE_STATUSES),
    /** Counts the changes. */
    version: z.int(),
    /** Whether people can sign up on it. */
    hasForm: z.boolean(),
    leadMagnetId: z.string().nullable(),
    listId: z.string().nullable(),
    runId: z.string().nullable(),
    /** Which agent made it; its activation is named to the brand and to the agent itself. */
    createdBy: z.object({ agent: z.boolean(), activationId: z.string().nullable() }),
    createdAt: Instant,
    updatedAt: Instant,
    publishedAt: Instant.nullable(),
  })
  .meta({ id: "LandingPageSummary" });
export type LandingPageSummary = z.infer<typeof LandingPageSummary>;

export const LandingPage = LandingPageSummary.extend({
  /** As it is served: sanitised. */
  html: z.string().nullable(),
  blocks: z.array(PageBlock).nullable(),
  seo: PageSeo,
  form: PageForm.nullable(),
  /** Shows the page before it is published, for an hour. */
  previewUrl: z.string(),
}).meta({ id: "LandingPage" });
export type LandingPage = z.infer<typeof LandingPage>;

/** What was taken out of HTML, and how often. */
export const Removal = z
  .object({ kind: z.enum(["element", "attribute", "address", "style", "depth"]), name: z.string(), count: z.int() })
  .meta({ id: "Removal" });
export type Removal = z.infer<typeof Removal>;

/** A page that was written, with what was taken out of its HTML. */
export const WrittenLandingPage = LandingPage.extend({ removed: z.array(Removal) }).meta({ id: "WrittenLandingPage" });
export type WrittenLandingPage = z.infer<typeof WrittenLandingPage>;

const count = z.int();

/** Numbers of a page, no people: a visitor counts once a day, and cannot be told on the next. */
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
    /** Hosts people came from; the 20 that led most of them here. */
    topReferrers: z.array(z.object({ host: z.string(), views: count })),
  })
  .meta({ id: "LandingPageStats" });
export type LandingPageStats = z.infer<typeof LandingPageStats>;

/** One sign-up: who, when, and what they agreed to. */
export const LandingPageSubmission = z
  .object({
    id: z.string(),
    /** Null once the contact was deleted. */
    contactId: z.string().nullable(),
    consentText: z.string(),
    listId: z.string().nullable(),
    createdAt: Instant,
  })
  .meta({ id: "LandingPageSubmission" });
export type LandingPageSubmission = z.infer<typeof LandingPageSubmission>;

const status = z.enum(LANDING_PAGE_STATUSES);
const listQuery = z.object({ ...pageQuery, status: status.optional().meta({ description: "Only pages in this state" }) });
const day = z.iso.date();
const statsQuery = z.object({
  from: day.optional().meta({ description: "First day, UTC; 29 days before `to` when absent" }),
  to: day.optional().meta({ description: "Last day, UTC; today when absent" }),
  granularity: z.literal("day").default("day"),
});

const fields = {
  slug: PageSlug.optional(),
  html: PageHtml.nullable().optional(),
  blocks: PageBlocks.nullable().optional(),
  seo: PageSeo.nullable().optional(),
  form: PageForm.nullable().optional().meta({ description: "The sign-up form; there is one too when leadMagnetId or listId is set" }),
  leadMagnetId: z.string().max(40).nullable().optional().meta({ description: "The file people get for signing up" }),
  listId: z.string().max(40).nullable().optional().meta({ description: "The list people join by signing up; of the same brand" }),
  status: status.optional(),
};

const activationId = "act_01jc3v2m9k8q4w6x0y5z7a1b2c";
const id = { id: "lp_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const read = { scope: "landing_pages:read" } as const;
const write = { scope: "landing_pages:write" } as const;
const params = { activationId, ...id };

/** Landing pages as an agent makes them. */
export const agentLandingPages = {
  list: endpoint({
    method: "GET",
    path: `${AGENT_BASE}/landing-pages`,
    access: read,
    summary: "List the pages of this agent, and those of the brand that are published, newest first",
    query: listQuery,
    output: pageSchema(LandingPageSummary),
    errors: ["not_found"],
    examples: [{ summary: "Those that are out", params: { activationId }, query: { status: "PUBLISHED" } }],
  }),
  create: endpoint({
    method: "POST",
    path: `${AGENT_BASE}/landing-pages`,
    access: write,
    summary: "Create a landing page",
    description:
      "Give html or blocks, not both. HTML is sanitised: `removed` says what was taken out. Where the brand asks for it, a page is published only after its yes to an APPROVAL_REQUEST whose preview names the page.",
    body: z.strictObject({
      title: line(200),
      ...fields,
      runId: RunId.optional().meta({ description: "The run that made it" }),
    }),
    status: 201,
    output: WrittenLandingPage,
    errors: ["not_found", "slug_taken", "approval_required", "conflict"],
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
    output: LandingPage,
    errors: ["not_found"],
    examples: [{ summary: "By id", params }],
  }),
  update: endpoint({
    method: "PATCH",
    path: `${AGENT_BASE}/landing-pages/:id`,
    access: write,
    summary: "Change a landing page of this agent; only what is sent changes",
    description:
      'With `version`, or an If-Match header such as "3", it changes only what you have read: 412 when the page has moved on. A new html replaces blocks, and the other way round.',
    body: z.strictObject({
      title: line(200).optional(),
      ...fields,
      runId: RunId.optional().meta({ description: "The run that changed it" }),
      version: z.int().min(1).optional().meta({ description: "The version you have read" }),
    }),
    output: WrittenLandingPage,
    errors: ["not_found", "not_owner", "slug_taken", "version_mismatch", "approval_required"],
    examples: [{ summary: "Another title", params, body: { title: "Summer guide", version: 1 } }],
  }),
  publish: endpoint({
    method: "POST",
    path: `${AGENT_BASE}/landing-pages/:id/publish`,
    access: write,
    summary: "Publish a landing page of this agent",
    description: "Publishing one that is out is harmless.",
    output: LandingPage,
    errors: ["not_found", "not_owner", "approval_required"],
    examples: [{ summary: "Publish", params }],
  }),
  unpublish: endpoint({
    method: "POST",
    path: `${AGENT_BASE}/landing-pages/:id/unpublish`,
    access: write,
    summary: "Take a landing page of this agent off the net",
    output: LandingPage,
    errors: ["not_found", "not_owner"],
    examples: [{ summary: "Unpublish", params }],
  }),
  stats: endpoint({
    method: "GET",
    path: `${AGENT_BASE}/landing-pages/:id/stats`,
    access: read,
    summary: "Show how a landing page does: numbers, no people",
    query: statsQuery,
    output: LandingPageStats,
    errors: ["not_found"],
    examples: [{ summary: "January", params, query: { from: "2026-01-01", to: "2026-01-31" } }],
  }),
};

const brandRead = { permission: "marketplace:read" } as const;
const brandWrite = { permission: "marketplace:write" } as const;

/** Landing pages as their brand oversees them. */
export const landingPages = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/landing-pages",
    access: brandRead,
    summary: "List the landing pages agents made, newest first",
    query: z.object({
      ...listQuery.shape,
      activationId: z.string().max(40).optional().meta({ description: "Only pages of this activation" }),
    }),
    output: pageSchema(LandingPageSummary),
    examples: [{ summary: "Those that are out", query: { status: "PUBLISHED" } }],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/landing-pages/:id",
    access: brandRead,
    summary: "Show one landing page",
    output: LandingPage,
    errors: ["not_found"],
    examples: [{ summary: "By id", params: id }],
  }),
  publish: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/landing-pages/:id/publish",
    access: brandWrite,
    summary: "Publish a landing page",
    description: "The brand's own word: it needs no approval.",
    output: LandingPage,
    errors: ["not_found"],
    examples: [{ summary: "Publish", params: id }],
  }),
  unpublish: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/landing-pages/:id/unpublish",
    access: brandWrite,
    summary: "Take a landing page off the net",
    output: LandingPage,
    errors: ["not_found"],
    examples: [{ summary: "Unpublish", params: id }],
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/api/v1/marketplace/landing-pages/:id",
    access: brandWrite,
    summary: "Delete a landing page with its numbers; the contacts it brought stay",
    output: LandingPage,
    errors: ["not_found"],
    examples: [{ summary: "By id", params: id }],
  }),
  stats: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/landing-pages/:id/stats",
    access: brandRead,
    summary: "Show how a landing page does",
    query: statsQuery,
    output: LandingPageStats,
    errors: ["not_found"],
    examples: [{ summary: "The last 30 days", params: id }],
  }),
  submissions: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/landing-pages/:id/submissions",
    access: { permission: "contacts:read" },
    summary: "List who signed up on a landing page, and what they agreed to, newest first",
    query: z.object(pageQuery),
    output: pageSchema(LandingPageSubmission),
    errors: ["not_found"],
    examples: [{ summary: "All", params: id }],
  }),
};
