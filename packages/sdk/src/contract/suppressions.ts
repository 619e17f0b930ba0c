import { z } from "zod";
import { EmailAddress } from "./address.ts";
import { endpoint } from "./endpoint.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";

export const SUPPRESSION_REASONS = ["bounce", "complaint", "unsubscribe", "manual"] as const;
export const SUPPRESSION_SCOPES = ["all", "marketing"] as const;
/** Where an entry came from: a call, an import, a delivery that bounced, a complaint, or the recipient's own click. */
export const SUPPRESSION_SOURCES = ["api", "import", "bounce", "complaint", "unsubscribe"] as const;

export const SUPPRESSION_EVENT_TYPES = ["suppression.added", "suppression.removed"] as const;
export type SuppressionEventType = (typeof SUPPRESSION_EVENT_TYPES)[number];

/** Entries of one import or removal. */
export const SUPPRESSION_BATCH = 1000;

export const Suppression = z
  .object({
    id: z.string(),
    email: z.string(),
    reason: z.enum(SUPPRESSION_REASONS),
    /** `all` stops every mail; `marketing` lets transactional mail through. */
    scope: z.enum(SUPPRESSION_SCOPES),
    source: z.enum(SUPPRESSION_SOURCES),
    /** The email whose bounce or complaint caused it. */
    emailId: z.string().nullable(),
    note: z.string().nullable(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .meta({ id: "Suppression" });
export type Suppression = z.infer<typeof Suppression>;

const Note = z
  .string()
  .max(500)
  .refine((s) => !s.includes("\0") && s.isWellFormed(), {
    message: "A note holds no U+0000 and no halves of characters.",
    params: { code: "invalid_characters" },
  })
  .meta({ description: "For your own use, up to 500 characters" });

const scope = z.enum(SUPPRESSION_SCOPES).default("all").meta({ description: "all, or marketing only" });
const reason = z.enum(SUPPRESSION_REASONS).default("manual").meta({ description: "Why: manual unless said otherwise" });

export const SuppressionRow = z
  .strictObject({
    // Addresses are checked one by one, so that one that is none spoils no others.
    email: z
      .string()
      .max(1000)
      .meta({ description: "Email address", examples: ["ada@example.com"] }),
    scope,
    reason,
    note: Note.optional(),
  })
  .meta({ id: "SuppressionRow" });

/** What became of the rows of an import; the numbers add up to the rows given. */
export const SuppressionImport = z
  .object({
    /** Addresses that were not suppressed before. */
    created: z.int(),
    /** Entries that were widened from marketing to all. */
    widened: z.int(),
    /** Rows that say nothing new. */
    unchanged: z.int(),
    /** Rows that were left out, by their index from 0. */
    failed: z.array(z.object({ index: z.int(), email: z.string(), code: z.string(), message: z.string() })),
    dryRun: z.boolean(),
  })
  .meta({ id: "SuppressionImport" });
export type SuppressionImport = z.infer<typeof SuppressionImport>;

const id = { id: "ada@example.com" };

export const suppressions = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/suppressions",
    access: { permission: "suppressions:read" },
    summary: "List suppressed addresses, newest first",
    query: z.object({
      ...pageQuery,
      email: EmailAddress.optional().meta({ description: "Only this address" }),
      search: z.string().min(1).max(254).optional().meta({ description: "Only addresses that hold this text" }),
      reason: z.enum(SUPPRESSION_REASONS).optional().meta({ description: "Only this reason" }),
      scope: z.enum(SUPPRESSION_SCOPES).optional().meta({ description: "Only this scope" }),
      source: z.enum(SUPPRESSION_SOURCES).optional().meta({ description: "Only entries that came from here" }),
      since: Instant.optional().meta({ description: "Only entries made at this instant or later" }),
    }),
    output: pageSchema(Suppression),
    examples: [
      { summary: "Who bounced", query: { reason: "bounce" } },
      { summary: "All of a domain", query: { search: "@example.com" } },
    ],
  }),
  create: endpoint({
    method: "POST",
    path: "/api/v1/suppressions",
    access: { permission: "suppressions:write" },
    summary: "Suppress an address; an existing entry is kept, and widened to scope all if asked",
    description: "A contact with this address becomes BOUNCED, COMPLAINED or UNSUBSCRIBED, as the reason says.",
    body: z.strictObject({ email: EmailAddress, scope, reason, note: Note.optional() }),
    status: 201,
    output: Suppression,
    examples: [
      { summary: "Never write to them again", body: { email: "ada@example.com" } },
      { summary: "No marketing", body: { email: "ada@example.com", scope: "marketing", reason: "unsubscribe", note: "asked by phone" } },
    ],
  }),
  import: endpoint({
    method: "POST",
    path: "/api/v1/suppressions/import",
    access: { permission: "suppressions:write" },
    summary: "Suppress up to 1,000 addresses at once",
    description:
      "Rows with an address that is none are reported in failed, with their index; all others are taken. With dryRun nothing is stored, and the answer says what would be.",
    body: z.strictObject({
      entries: z
        .array(SuppressionRow)
        .min(1)
        .max(SUPPRESSION_BATCH)
        .meta({ description: "Up to 1,000 rows: [{ email, scope, reason, note }]" }),
      dryRun: z.boolean().default(false).meta({ description: "Only say what would happen" }),
    }),
    output: SuppressionImport,
    examples: [{ summary: "From another service", body: { entries: [{ email: "ada@example.com", reason: "bounce" }] } }],
  }),
  remove: endpoint({
    method: "POST",
    path: "/api/v1/suppressions/remove",
    access: { permission: "suppressions:write" },
    summary: "Lift up to 1,000 suppressions at once, by their ids or addresses",
    body: z.strictObject({
      entries: z.array(z.string().min(1).max(1000)).min(1).max(SUPPRESSION_BATCH).meta({ description: "Ids or addresses" }),
    }),
    output: z.object({
      removed: z.int(),
      /** Entries that do not exist, by their index from 0. */
      failed: z.array(z.object({ index: z.int(), entry: z.string(), code: z.literal("not_found"), message: z.string() })),
    }),
    examples: [{ summary: "Two", body: { entries: ["ada@example.com", "grace@example.com"] } }],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/suppressions/:id",
    access: { permission: "suppressions:read" },
    summary: "Get one suppression, by its id or by the address",
    output: Suppression,
    errors: ["not_found"],
    examples: [{ summary: "By address", params: id }],
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/api/v1/suppressions/:id",
    access: { permission: "suppressions:write" },
    summary: "Lift a suppression, by its id or by the address",
    description: "A contact of the address keeps its status: to be mailed again it has to be subscribed again.",
    output: Suppression,
    errors: ["not_found"],
    examples: [{ summary: "By address", params: id }],
  }),
};
