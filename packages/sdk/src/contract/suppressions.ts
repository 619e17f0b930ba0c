import { EmailAddress, SoughtAddress } from "./address.ts";
import { endpoint } from "./endpoint.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";
import * as z from "./zod.ts";

export const SUPPRESSION_REASONS = ["bounce", "complaint", "unsubscribe", "manual"] as const;
export const SUPPRESSION_SCOPES = ["all", "marketing"] as const;
/** Origin of a suppression: an API call, an import, a bounce, a complaint, or the unsubscribe link. */
export const SUPPRESSION_SOURCES = ["api", "import", "bounce", "complaint", "unsubscribe"] as const;

/** Entries in one import or removal. */
export const SUPPRESSION_BATCH = 1000;

export const Suppression = z
  .object({
    id: z.string(),
    email: z.string(),
    reason: z.enum(SUPPRESSION_REASONS),
    /** `all`: no email at all. `marketing`: only transactional emails sent with bypassUnsubscribe. */
    scope: z.enum(SUPPRESSION_SCOPES),
    source: z.enum(SUPPRESSION_SOURCES),
    /** The email whose bounce or complaint caused it. */
    emailId: z.string().nullable(),
    note: z.string().nullable(),
    /** Time the person unsubscribed, even if the reason is another one; null if they did not. */
    unsubscribedAt: Instant.nullable(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .meta({ id: "Suppression" });
export type Suppression = z.infer<typeof Suppression>;

const Note = z
  .string()
  .max(500)
  .refine((s) => !s.includes("\0") && s.isWellFormed(), {
    message: "A note cannot contain U+0000 or lone surrogates.",
    params: { code: "invalid_characters" },
  })
  .meta({ description: "For your own use, up to 500 characters" });

const scope = z
  .enum(SUPPRESSION_SCOPES)
  .optional()
  .meta({ description: "all, or marketing only; marketing by default for reason unsubscribe, else all" });
const reason = z.enum(SUPPRESSION_REASONS).default("manual").meta({ description: "Why the address is suppressed" });

export const SuppressionRow = z
  .strictObject({
    // Addresses are validated one by one, so that an invalid one does not fail the others.
    email: z
      .string()
      .max(1000)
      .meta({ description: "Email address", examples: ["ada@example.com"] }),
    scope,
    reason,
    note: Note.optional(),
  })
  .meta({ id: "SuppressionRow" });

/** The result of an import; the numbers add up to the entries sent. */
export const SuppressionImport = z
  .object({
    /** Addresses that were not suppressed before. */
    created: z.int(),
    /** Suppressions widened from marketing to all. */
    widened: z.int(),
    /** Entries that changed no scope. */
    unchanged: z.int(),
    /** Entries that were rejected, by their index from 0. */
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
      email: SoughtAddress.optional().meta({ description: "Only this address" }),
      search: z.string().min(1).max(254).optional().meta({ description: "Only addresses that contain this text" }),
      reason: z.enum(SUPPRESSION_REASONS).optional().meta({ description: "Only this reason" }),
      scope: z.enum(SUPPRESSION_SCOPES).optional().meta({ description: "Only this scope" }),
      source: z.enum(SUPPRESSION_SOURCES).optional().meta({ description: "Only suppressions from this source" }),
      since: Instant.optional().meta({ description: "Only suppressions created at this instant or later" }),
    }),
    output: pageSchema(Suppression),
    examples: [
      { summary: "Bounced addresses", query: { reason: "bounce" } },
      { summary: "All addresses of a domain", query: { search: "@example.com" } },
    ],
  }),
  create: endpoint({
    method: "POST",
    path: "/api/v1/suppressions",
    access: { permission: "suppressions:write" },
    mailsTo: "nobody",
    summary: "Suppress an address",
    description:
      "An existing suppression is kept; scope marketing is widened to all if requested, and unsubscribedAt keeps that the person unsubscribed. A contact with this address becomes BOUNCED, COMPLAINED or UNSUBSCRIBED, by the reason.",
    body: z.strictObject({ email: EmailAddress, scope, reason, note: Note.optional() }),
    status: 201,
    output: Suppression,
    examples: [
      { summary: "Never email this address again", body: { email: "ada@example.com" } },
      { summary: "No marketing", body: { email: "ada@example.com", reason: "unsubscribe", note: "asked by phone" } },
    ],
  }),
  import: endpoint({
    method: "POST",
    path: "/api/v1/suppressions/import",
    access: { permission: "suppressions:write" },
    mailsTo: "nobody",
    summary: "Suppress up to 1,000 addresses at once",
    description:
      "Entries with an invalid address are reported in failed, with their index; all others are imported. With dryRun nothing is stored, and the response tells what would happen.",
    body: z.strictObject({
      entries: z
        .array(SuppressionRow)
        .min(1)
        .max(SUPPRESSION_BATCH)
        .meta({ description: "Up to 1,000 entries: [{ email, scope, reason, note }]" }),
      dryRun: z.boolean().default(false).meta({ description: "Only report what would happen" }),
    }),
    output: SuppressionImport,
    examples: [{ summary: "From another service", body: { entries: [{ email: "ada@example.com", reason: "bounce" }] } }],
  }),
  remove: endpoint({
    method: "POST",
    path: "/api/v1/suppressions/remove",
    access: { permission: "suppressions:write" },
    mailsTo: "nobody",
    summary: "Remove up to 1,000 suppressions at once, by id or address",
    description: "Where a person unsubscribed beside another reason, that stays: with reason unsubscribe and scope marketing.",
    body: z.strictObject({
      entries: z.array(z.string().min(1).max(1000)).min(1).max(SUPPRESSION_BATCH).meta({ description: "Ids or addresses" }),
    }),
    output: z.object({
      removed: z.int(),
      /** Number of these that now have a suppression in scope marketing, because the person had unsubscribed. */
      unsubscribed: z.int(),
      /** Entries that do not exist, by their index from 0. */
      failed: z.array(z.object({ index: z.int(), entry: z.string(), code: z.literal("not_found"), message: z.string() })),
    }),
    examples: [{ summary: "Two", body: { entries: ["ada@example.com", "grace@example.com"] } }],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/suppressions/:id",
    access: { permission: "suppressions:read" },
    summary: "Get one suppression, by id or address",
    output: Suppression,
    errors: ["not_found"],
    examples: [{ summary: "By address", params: id }],
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/api/v1/suppressions/:id",
    access: { permission: "suppressions:write" },
    mailsTo: "nobody",
    summary: "Remove a suppression, by id or address",
    description:
      "Answers the suppression as it was. If it had an unsubscribedAt beside another reason, that stays: with reason unsubscribe and scope marketing. The contact keeps its status; set it to SUBSCRIBED to send it marketing again.",
    output: Suppression,
    errors: ["not_found"],
    examples: [{ summary: "By address", params: id }],
  }),
};
