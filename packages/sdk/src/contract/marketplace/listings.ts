import { endpoint } from "../endpoint.ts";
import { Instant, pageQuery, pageSchema } from "../page.ts";
import { AGENT_SCOPES } from "../scopes.ts";
import * as z from "../zod.ts";
import { WebhookError } from "./failures.ts";
import { Payment, Price } from "./payments.ts";
import { SettingsSchema } from "./settings.ts";
import { ACTIVATION_STATUSES, LISTING_STATES, PAUSE_REASONS } from "./states.ts";
import { isPlainUrl, line, prose, Slug } from "./text.ts";

/** A list of known scopes without duplicates. */
export const scopeList = z
  .array(z.enum(AGENT_SCOPES))
  .max(AGENT_SCOPES.length)
  .refine((scopes) => new Set(scopes).size === scopes.length, { message: "Name each scope once.", params: { code: "duplicate" } });

/** Checks that need no server: an absolute http(s) URL without credentials or fragment. */
export const WebhookUrl = z
  .string()
  .max(2048)
  .superRefine((text, ctx) => {
    const refuse = (message: string) => ctx.addIssue({ code: "custom", message, params: { code: "invalid_url" } });
    if (!isPlainUrl(text)) return refuse("This is not a URL. Write it in full, starting with https:// and without spaces.");
    const url = new URL(text);
    if (url.protocol !== "https:" && url.protocol !== "http:") return refuse("A webhook URL must start with https://.");
    if (url.username !== "" || url.password !== "") return refuse("A webhook URL cannot contain a user name or password.");
    if (url.hash !== "") return refuse("A webhook URL cannot contain a fragment (#…).");
  })
  .meta({ description: "The URL that receives events", examples: ["https://agent.example.com/webhook"] });

/** An address on an https:// site of the builder, which is compared as it is written. */
const InstallRedirect = z
  .string()
  .max(2048)
  .refine((text) => isPlainUrl(text) && new URL(text).protocol === "https:" && new URL(text).href === text, {
    message: "Write the whole address as a browser shows it, starting with https://.",
    params: { code: "invalid_url" },
  })
  .refine((text) => !isPlainUrl(text) || (new URL(text).username === "" && new URL(text).password === "" && !text.includes("#")), {
    message: "The address cannot contain a user name, a password or a fragment (#…).",
    params: { code: "invalid_url" },
  });

export const Listing = z
  .object({
    id: z.string(),
    slug: z.string(),
    name: z.string(),
    description: z.string(),
    webhookUrl: z.string(),
    /** The scopes a brand must accept to turn the agent on. */
    permissions: z.array(z.enum(AGENT_SCOPES)),
    /** Settings of a brand, in a small part of JSON Schema; null for nothing. */
    settingsSchema: SettingsSchema.nullable(),
    /** Addresses to which an install link may lead back. */
    installRedirects: z.array(z.string()),
    /** Counts the changes of what a brand accepts, from 1. */
    version: z.int(),
    state: z.enum(LISTING_STATES),
    /** Price the builder pays for the listing. */
    price: Price,
    listedAt: Instant.nullable(),
    /** End of the paid time. */
    expiresAt: Instant.nullable(),
    endedAt: Instant.nullable(),
    /** During a rotation: when the new secret alone signs. */
    secretRotatesAt: Instant.nullable(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .meta({ id: "Listing" });
export type Listing = z.infer<typeof Listing>;

const Secret = z.string().meta({ description: "AGENT_WEBHOOK_SECRET, which signs every event; shown only once" });

/** Activation as the builder sees it. It shows only the brand's name. */
export const ListingActivation = z
  .object({
    id: z.string(),
    organizationName: z.string(),
    status: z.enum(ACTIVATION_STATUSES),
    pauseReasons: z.array(z.enum(PAUSE_REASONS)),
    scopes: z.array(z.enum(AGENT_SCOPES)),
    keyPreview: z.string(),
    keyDeliveredAt: Instant.nullable(),
    webhookLastError: WebhookError.nullable(),
    createdAt: Instant,
    deactivatedAt: Instant.nullable(),
  })
  .meta({ id: "ListingActivation" });
export type ListingActivation = z.infer<typeof ListingActivation>;

const params = { slug: "launch-writer" };
const read = { permission: "listings:read" } as const;
const write = { permission: "listings:write" } as const;

const fields = {
  name: line(100).meta({ description: "Name in the catalog" }),
  description: prose(5000).meta({ description: "What the agent does" }),
  webhookUrl: WebhookUrl,
  permissions: scopeList.meta({ description: "Scopes the agent needs" }),
  installRedirects: z
    .array(InstallRedirect)
    .max(10)
    .meta({ description: "Addresses to which an install link may lead back, each in full" }),
  settingsSchema: SettingsSchema.nullable().meta({ description: "Settings of a brand, in a small part of JSON Schema; null for nothing" }),
};

export const listings = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/listings",
    access: read,
    summary: "List your own agent listings, newest first",
    query: z.object({ ...pageQuery, state: z.enum(LISTING_STATES).optional().meta({ description: "Only listings in this state" }) }),
    output: pageSchema(Listing),
    examples: [{ summary: "Listings in the catalog", query: { state: "LISTED" } }],
  }),
  create: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/listings",
    access: write,
    mailsTo: "nobody",
    summary: "Create an agent listing as a draft",
    description:
      "The response contains AGENT_WEBHOOK_SECRET, which signs every event. Store it; it is not shown again. The agent appears in the catalog once the listing is paid for.",
    body: z.strictObject({
      slug: Slug.meta({ description: "Identifies the agent in the catalog and in commands; it cannot be changed" }),
      ...fields,
      description: fields.description.default(""),
      settingsSchema: fields.settingsSchema.default(null),
      installRedirects: fields.installRedirects.default([]),
    }),
    status: 201,
    output: Listing.extend({ webhookSecret: Secret }),
    errors: ["slug_taken"],
    confidential: true,
    examples: [
      {
        summary: "A writer of launch mails",
        body: {
          slug: "launch-writer",
          name: "Launch Writer",
          description: "Plans and writes the mails of a product launch.",
          webhookUrl: "https://agent.example.com/webhook",
          permissions: ["brand:read", "agent:post_messages", "agent:write_runs"],
        },
      },
    ],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/listings/:slug",
    access: read,
    summary: "Show one of your listings",
    output: Listing,
    errors: ["not_found"],
    examples: [{ summary: "By slug", params }],
  }),
  update: endpoint({
    method: "PATCH",
    path: "/api/v1/marketplace/listings/:slug",
    access: write,
    mailsTo: "nobody",
    summary: "Update a listing",
    description:
      "Pending events go to a new webhook URL from their next attempt on. A scope that is removed ends at once in every activation. One that is added is asked for: each brand accepts it or keeps what it accepted before.",
    body: z.strictObject(fields).partial(),
    output: Listing,
    errors: ["not_found"],
    examples: [{ summary: "Move the webhook", params, body: { webhookUrl: "https://agent.example.com/v2/webhook" } }],
  }),
  checkout: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/listings/:slug/checkout",
    access: write,
    mailsTo: "nobody",
    summary: "Start paying for a listing",
    description:
      "Open checkoutUrl to pay. The listing is LISTED once the payment is confirmed, which can be later than the end of the checkout.",
    status: 201,
    output: Payment,
    errors: ["not_found", "invalid_state", "payment_provider_error"],
    examples: [{ summary: "Pay for a month", params }],
  }),
  cancel: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/listings/:slug/cancel",
    access: write,
    mailsTo: "nobody",
    summary: "Take a listing out of the catalog at once",
    description:
      "When this returns, every key of the agent is refused. Every activation gets agent.deactivated (admin_revoke). There is no grace period. Cancelling a cancelled listing changes nothing.",
    output: Listing,
    errors: ["not_found", "invalid_state"],
    irreversible: true,
    examples: [{ summary: "Cancel", params }],
  }),
  rotateSecret: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/listings/:slug/webhook-secret/rotate",
    access: write,
    mailsTo: "nobody",
    summary: "Rotate the webhook secret",
    description:
      "Add the new secret to your receiver next to the old one. Until the overlap ends, X-Service-Signature is made with the old secret, X-Service-Signature-Next with the new one, and webhook-signature holds a signature with each; afterwards only the new secret signs. Rotating again during the overlap replaces the new secret.",
    body: z.strictObject({
      overlapSeconds: z
        .int()
        .min(0)
        .max(604_800)
        .default(86_400)
        .meta({ description: "How long the old secret still signs; 0 to switch at once" }),
    }),
    output: z.object({ webhookSecret: Secret, effectiveAt: Instant }),
    errors: ["not_found"],
    confidential: true,
    examples: [{ summary: "With an hour to roll it out", params, body: { overlapSeconds: 3600 } }],
  }),
  activations: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/listings/:slug/activations",
    access: read,
    summary: "List the activations of a listing, newest first",
    query: z.object({
      ...pageQuery,
      status: z.enum(ACTIVATION_STATUSES).optional().meta({ description: "Only activations in this state" }),
    }),
    output: pageSchema(ListingActivation),
    errors: ["not_found"],
    examples: [{ summary: "Paused activations", params, query: { status: "paused" } }],
  }),
  resume: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/listings/:slug/activations/:id/resume",
    access: write,
    mailsTo: "nobody",
    summary: "Clear the pause for a failing webhook",
    description:
      "Clears webhook_failure, and tries the events again that could not be delivered. Other reasons stay in pauseReasons: the brand and its plan clear them.",
    output: ListingActivation,
    errors: ["not_found", "invalid_state", "pause_not_clearable"],
    examples: [{ summary: "Resume", params: { ...params, id: "act_01jc3v2m9k8q4w6x0y5z7a1b2c" } }],
  }),
};
