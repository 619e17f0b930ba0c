import { refuseCharacters } from "./characters.ts";
import { endpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";
import * as z from "./zod.ts";

/** The mail providers whose webhooks report bounces, complaints and deliveries, each with what verifies its webhooks. */
export const PROVIDERS = {
  ses: { name: "Amazon SES", key: "the ARN of the SNS topic" },
  postmark: { name: "Postmark", key: "USER:PASSWORD, which you make up" },
  sendgrid: { name: "SendGrid", key: "the verification key" },
  mailgun: { name: "Mailgun", key: "the webhook signing key" },
} as const;
export type Provider = keyof typeof PROVIDERS;

const PROVIDER_TYPES = Object.keys(PROVIDERS) as Provider[];

export const PROVIDER_LIMITS = limits("providers", "Connections to mail providers", {
  perWorkspace: [20, "connections of a workspace"],
  key: [1000, "key", "characters"],
  description: [500, "description", "characters"],
});

/** A workspace's account at a mail provider. The secret that verifies its webhooks is never shown. */
export const ProviderConnection = z
  .object({
    id: z.string(),
    provider: z.enum(PROVIDER_TYPES),
    /** The URL to enter at the provider. It accepts reports about this workspace's mail only. */
    url: z.string(),
    description: z.string().nullable(),
    createdAt: Instant,
  })
  .meta({ id: "ProviderConnection" });
export type ProviderConnection = z.infer<typeof ProviderConnection>;

const hasNoControls = [
  (s: string): boolean => !/\p{Cc}/u.test(s) && s.isWellFormed(),
  refuseCharacters("Line breaks and control characters are not allowed here."),
] as const;

const read = { permission: "providers:read" } as const;
const write = { permission: "providers:write" } as const;

export const providers = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/providers",
    access: read,
    summary: "List your connections to mail providers, newest first",
    query: z.object({
      ...pageQuery,
      provider: z.enum(PROVIDER_TYPES).optional().meta({ description: "Only connections to this provider" }),
    }),
    output: pageSchema(ProviderConnection),
    examples: [{ summary: "All" }],
  }),
  add: endpoint({
    method: "POST",
    path: "/api/v1/providers",
    access: write,
    mailsTo: "nobody",
    summary: "Accept bounces and complaints from your account at a mail provider",
    description:
      "Enter the URL of the answer at the provider: see docs/bounces.md. The key is stored encrypted and never shown. To change a key, add a second connection and remove the first. A workspace may have 20.",
    body: z.strictObject({
      provider: z.enum(PROVIDER_TYPES).meta({ description: "The provider" }),
      key: z
        .string()
        .min(1)
        .max(PROVIDER_LIMITS.key)
        .refine(...hasNoControls)
        .meta({
          description: `Verifies its webhooks: ${Object.values(PROVIDERS)
            .map(({ name, key }) => `${name} ${key}`)
            .join("; ")}`,
        }),
      description: z
        .string()
        .max(PROVIDER_LIMITS.description)
        .refine(...hasNoControls)
        .optional()
        .meta({ description: "For your own use" }),
    }),
    status: 201,
    output: ProviderConnection,
    errors: ["limit_reached"],
    examples: [
      { summary: "Amazon SES", body: { provider: "ses", key: "arn:aws:sns:eu-west-1:123456789012:bounces" } },
      { summary: "Postmark", body: { provider: "postmark", key: "hook:correct-horse", description: "Receipts" } },
    ],
  }),
  remove: endpoint({
    method: "DELETE",
    path: "/api/v1/providers/:id",
    access: write,
    mailsTo: "nobody",
    summary: "Remove a connection to a mail provider; its URL then answers 404",
    output: ProviderConnection,
    errors: ["not_found"],
    examples: [{ summary: "Remove", params: { id: "prv_01jc3v2m9k8q4w6x0y5z7a1b2c" } }],
  }),
};
