import { AddressError, EmailAddress, toDomain } from "./address.ts";
import { endpoint } from "./endpoint.ts";
import { PageLanguage } from "./language.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";
import { RelayChoice } from "./relay-name.ts";
import * as z from "./zod.ts";

export const DomainName = z
  .string()
  .max(255)
  .superRefine((text, ctx) => {
    try {
      toDomain(text);
    } catch (error) {
      if (!(error instanceof AddressError)) throw error;
      ctx.addIssue({ code: "custom", message: error.message, params: { code: "invalid_domain" } });
    }
  })
  .meta({ description: "Domain name", examples: ["example.com"] });

export const SENDER_STATUSES = ["PENDING", "VERIFIED"] as const;

export const Sender = z
  .object({
    id: z.string(),
    kind: z.enum(["address", "domain"]),
    /** The address or the domain, in lower case; domains in ASCII. */
    value: z.string(),
    status: z.enum(SENDER_STATUSES),
    /** TXT record to publish, for a domain that is pending or whose record is missing. */
    dnsRecord: z.object({ type: z.literal("TXT"), name: z.string(), value: z.string() }).nullable(),
    /** Error of the last check; null when it succeeded. */
    lastError: z.string().nullable(),
    /** Since when the record of a verified domain is missing, which is looked for once a day; null while it is there. It may still send. */
    failingSince: Instant.nullable(),
    /** The relay of mail from it, where no campaign names another one; null for that of the workspace. */
    relay: z.string().nullable(),
    createdAt: Instant,
    verifiedAt: Instant.nullable(),
  })
  .meta({ id: "Sender" });
export type Sender = z.infer<typeof Sender>;

const id = { id: "snd_01jc3v2m9k8q4w6x0y5z7a1b2c" };

const token = { token: "b7d1e94a635c8f20b7d1e94a635c8f20" };

export const senders = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/senders",
    access: { permission: "senders:read" },
    summary: "List sender addresses and domains, newest first",
    query: z.object({ ...pageQuery, status: z.enum(SENDER_STATUSES).optional().meta({ description: "Only senders in this state" }) }),
    output: pageSchema(Sender),
    examples: [{ summary: "The verified ones", query: { status: "VERIFIED" } }],
  }),
  create: endpoint({
    method: "POST",
    path: "/api/v1/senders",
    access: { permission: "senders:write" },
    mailsTo: "one",
    summary: "Add a sender address or domain and start its verification",
    description:
      "An address is verified by a confirmation mail, a domain by a DNS TXT record. In dev mode both are verified at once. Adding an existing one is a 409 conflict.",
    body: z
      .strictObject({
        email: EmailAddress.optional().meta({ description: "Address to send from" }),
        domain: DomainName.optional().meta({ description: "Domain to send from, with all its addresses" }),
      })
      .refine((b) => (b.email === undefined) !== (b.domain === undefined), { message: "Give either email or domain.", path: ["email"] }),
    status: 201,
    output: Sender,
    errors: ["conflict"],
    examples: [
      { summary: "An address", body: { email: "hello@acme.example" } },
      { summary: "A domain", body: { domain: "acme.example" } },
    ],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/senders/:id",
    access: { permission: "senders:read" },
    summary: "Get one sender",
    output: Sender,
    errors: ["not_found"],
    examples: [{ summary: "Get", params: id }],
  }),
  update: endpoint({
    method: "PATCH",
    path: "/api/v1/senders/:id",
    access: { permission: "senders:write" },
    mailsTo: "nobody",
    summary: "Name the relay that takes mail from a sender",
    description: "That of an address counts before that of its domain. Your operator knows the names of the relays.",
    body: z.strictObject({ relay: RelayChoice }),
    output: Sender,
    errors: ["not_found"],
    examples: [{ summary: "Through its own relay", params: id, body: { relay: "ses" } }],
  }),
  verify: endpoint({
    method: "POST",
    path: "/api/v1/senders/:id/verify",
    access: { permission: "senders:write" },
    operatorRight: { when: "force" },
    mailsTo: "one",
    summary: "Check the DNS record of a domain now, or send the confirmation mail again",
    description:
      "The record of a verified domain is looked for again. `force` verifies it without proof, for your own server. Only the owner key may do that, and the operator key once the server has several workspaces. A domain is verified in one workspace only.",
    body: z.strictObject({
      force: z
        .boolean()
        .optional()
        .meta({ description: "Verify it without proof; owner key, or operator key on a server with several workspaces" }),
    }),
    output: Sender,
    errors: ["not_found", "forbidden", "conflict"],
    examples: [
      { summary: "Verify", params: id, body: {} },
      { summary: "Without DNS or a confirmation mail", params: id, body: { force: true } },
    ],
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/api/v1/senders/:id",
    access: { permission: "senders:write" },
    mailsTo: "nobody",
    summary: "Remove a sender; later sends from it are refused",
    output: Sender,
    errors: ["not_found"],
    examples: [{ summary: "Remove", params: id }],
  }),
  confirmPage: endpoint({
    method: "GET",
    path: "/senders/confirm/:token",
    access: "public",
    summary: "Show the page behind the link of a confirmation mail",
    description: "Opening the link changes nothing, because mail scanners open links; the button on the page confirms.",
    query: PageLanguage,
    output: z.string(),
    produces: "text/html",
    errors: ["not_found"],
    examples: [{ summary: "Open", params: token }],
  }),
  confirm: endpoint({
    method: "POST",
    path: "/senders/confirm/:token",
    access: "public",
    summary: "Confirm a sender address",
    query: PageLanguage,
    output: z.string(),
    produces: "text/html",
    errors: ["not_found"],
    examples: [{ summary: "Confirm", params: token }],
  }),
};
