import { MailboxText } from "./address.ts";
import { contactRefs } from "./contact-ref.ts";
import { Contact, startAutomations } from "./contacts.ts";
import { endpoint } from "./endpoint.ts";
import { LanguageTag, PageLanguage } from "./language.ts";
import { limits } from "./limits.ts";
import { line } from "./name.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";
import * as z from "./zod.ts";

export const LIST_LIMITS = limits("lists", "A list", {
  name: [200, "name", "characters"],
  description: [1000, "description", "characters"],
  subject: [998, "subject of the mail that asks for confirmation", "characters"],
  batch: [1000, "contacts added or removed in one request"],
  confirmDays: [7, "how long a confirmation link works", "days"],
  askAgainMinutes: [15, "how soon a person who asks again gets another confirmation email", "minutes"],
});

/** PENDING members have not confirmed yet (double opt-in). */
export const LIST_MEMBER_STATUSES = ["MEMBER", "PENDING"] as const;
export type ListMemberStatus = (typeof LIST_MEMBER_STATUSES)[number];

export const ListName = line(LIST_LIMITS.name).meta({ description: `Name, up to ${LIST_LIMITS.name} characters` });
export const ListDescription = z
  .string()
  .max(LIST_LIMITS.description)
  .refine((s) => !s.includes("\0") && s.isWellFormed(), {
    message: "A description cannot contain U+0000 or lone surrogates.",
    params: { code: "invalid_characters" },
  })
  .nullable()
  .meta({ description: `For your own use, up to ${LIST_LIMITS.description} characters` });

export const List = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    /** True if contacts become members by confirming an email. */
    doubleOptIn: z.boolean(),
    confirmationFrom: z.string().nullable(),
    confirmationSubject: z.string().nullable(),
    /** True if members see its name on their preference page. */
    public: z.boolean(),
    /** Language of its confirmation emails and pages, for contacts that have none. */
    language: z.string().nullable(),
    /** Confirmed members. */
    memberCount: z.int(),
    pendingCount: z.int(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .meta({ id: "List" });
export type List = z.infer<typeof List>;

export const ListMember = z
  .object({
    contact: Contact,
    status: z.enum(LIST_MEMBER_STATUSES),
    addedAt: Instant,
    /** Time it became a member; null while pending. */
    joinedAt: Instant.nullable(),
    /** Expiry of a pending member's link; null for members, and when the address has changed since it was sent. */
    expiresAt: Instant.nullable(),
  })
  .meta({ id: "ListMember" });
export type ListMember = z.infer<typeof ListMember>;

/** The result of adding contacts; the numbers add up to the contacts sent. */
export const ListAddition = z
  .object({
    /** Became members. */
    added: z.int(),
    /** Sent a confirmation email; they become members once they confirm. */
    pending: z.int(),
    /** Already members, or pending with a link that has not expired. */
    unchanged: z.int(),
    /** Not added, by their index from 0. */
    failed: z.array(z.object({ index: z.int(), contact: z.string(), code: z.string(), message: z.string() })),
  })
  .meta({ id: "ListAddition" });
export type ListAddition = z.infer<typeof ListAddition>;

export const ListRemoval = z
  .object({ removed: z.int(), failed: z.array(z.object({ index: z.int(), contact: z.string(), code: z.string(), message: z.string() })) })
  .meta({ id: "ListRemoval" });
export type ListRemoval = z.infer<typeof ListRemoval>;

const settings = {
  description: ListDescription.optional(),
  doubleOptIn: z.boolean().optional().meta({ description: "Contacts become members by confirming an email" }),
  confirmationFrom: MailboxText.nullable()
    .optional()
    .meta({ description: "Verified sender of the confirmation email; required for double opt-in" }),
  confirmationSubject: line(LIST_LIMITS.subject).nullable().optional().meta({ description: "Subject of the confirmation email" }),
  public: z
    .boolean()
    .optional()
    .meta({ description: "Members see its name on their preference page and can leave it there (default true)" }),
  language: LanguageTag.nullable()
    .optional()
    .meta({ description: "Language of its confirmation emails and pages for contacts that have none, such as de or pt-BR" }),
};

const contacts = contactRefs(LIST_LIMITS.batch);

const id = { id: "list_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const one = { ...id, contact: "ada@example.com" };

const token = { token: "b7d1e94a635c8f20b7d1e94a635c8f20" };

export const lists = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/lists",
    access: { permission: "lists:read" },
    summary: "List lists with their member counts, newest first",
    query: z.object({
      ...pageQuery,
      search: z.string().min(1).max(200).optional().meta({ description: "Only lists whose name contains this" }),
    }),
    output: pageSchema(List),
    examples: [{ summary: "All" }],
  }),
  create: endpoint({
    method: "POST",
    path: "/api/v1/lists",
    access: { permission: "lists:write" },
    mailsTo: "nobody",
    summary: "Create a list",
    description:
      "With doubleOptIn, contacts that are added get an email from confirmationFrom, and become members once they confirm on the page it links to.",
    body: z.strictObject({ name: ListName, ...settings }),
    status: 201,
    output: List,
    errors: ["sender_not_verified"],
    examples: [
      { summary: "A list", body: { name: "Newsletter" } },
      { summary: "With double opt-in", body: { name: "Newsletter", doubleOptIn: true, confirmationFrom: "Acme <hello@acme.example>" } },
    ],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/lists/:id",
    access: { permission: "lists:read" },
    summary: "Get one list with its member counts",
    output: List,
    errors: ["not_found"],
    examples: [{ summary: "Get", params: id }],
  }),
  update: endpoint({
    method: "PATCH",
    path: "/api/v1/lists/:id",
    access: { permission: "lists:write" },
    mailsTo: "nobody",
    summary: "Update a list; fields that are not sent stay",
    description: "Changing doubleOptIn affects contacts added from now on; members stay members.",
    body: z.strictObject({ name: ListName.optional(), ...settings }),
    output: List,
    errors: ["not_found", "sender_not_verified"],
    examples: [{ summary: "Another name", params: id, body: { name: "Weekly newsletter" } }],
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/api/v1/lists/:id",
    access: { permission: "lists:write" },
    mailsTo: "nobody",
    summary: "Delete a list; its contacts stay",
    output: List,
    errors: ["not_found"],
    examples: [{ summary: "Delete", params: id }],
  }),
  contacts: endpoint({
    method: "GET",
    path: "/api/v1/lists/:id/contacts",
    access: { permission: "contacts:read" },
    summary: "List the members of a list, newest contacts first",
    query: z.object({
      ...pageQuery,
      status: z
        .enum(LIST_MEMBER_STATUSES)
        .optional()
        .meta({ description: "Only members, or only those who have not confirmed; both by default" }),
      search: z.string().min(1).max(200).optional().meta({ description: "Only contacts whose address or name contains this" }),
    }),
    output: pageSchema(ListMember),
    errors: ["not_found"],
    examples: [{ summary: "Contacts that have not confirmed", params: id, query: { status: "PENDING" } }],
  }),
  add: endpoint({
    method: "POST",
    path: "/api/v1/lists/:id/contacts",
    access: { permission: "lists:write" },
    mailsTo: "contacts",
    summary: "Add up to 1,000 contacts to a list, by their ids, addresses or externalIds",
    description:
      "Contacts that do not exist are reported in failed, with their index; all others are added. Suppressed contacts cannot join a list with double opt-in, since no email may ask them.",
    body: z.strictObject({ contacts, startAutomations }),
    output: ListAddition,
    errors: ["not_found"],
    examples: [{ summary: "Two", params: id, body: { contacts: ["ada@example.com", "con_01jc3v2m9k8q4w6x0y5z7a1b2c"] } }],
  }),
  remove: endpoint({
    method: "POST",
    path: "/api/v1/lists/:id/contacts/remove",
    access: { permission: "lists:write" },
    mailsTo: "nobody",
    summary: "Remove up to 1,000 contacts from a list, by their ids, addresses or externalIds",
    body: z.strictObject({ contacts, startAutomations }),
    output: ListRemoval,
    errors: ["not_found"],
    examples: [{ summary: "One", params: id, body: { contacts: ["ada@example.com"] } }],
  }),
  removeOne: endpoint({
    method: "DELETE",
    path: "/api/v1/lists/:id/contacts/:contact",
    access: { permission: "lists:write" },
    mailsTo: "nobody",
    summary: "Remove one contact from a list, by its id, address or externalId",
    output: ListMember,
    errors: ["not_found"],
    examples: [{ summary: "By address", params: one }],
  }),
  resend: endpoint({
    method: "POST",
    path: "/api/v1/lists/:id/contacts/:contact/resend",
    access: { permission: "lists:write" },
    mailsTo: "one",
    summary: "Send a pending contact another confirmation email",
    description: "The link in the previous email stops working.",
    output: ListMember,
    errors: ["not_found", "invalid_state", "recipient_suppressed", "sender_not_verified"],
    examples: [{ summary: "By address", params: one }],
  }),
  confirmPage: endpoint({
    method: "GET",
    path: "/lists/confirm/:token",
    access: "public",
    summary: "Show the page a confirmation email links to",
    description: "Opening the link changes nothing, because mail scanners open links; the button on the page confirms.",
    query: PageLanguage,
    output: z.string(),
    produces: "text/html",
    errors: ["not_found"],
    examples: [{ summary: "Open", params: token }],
  }),
  confirm: endpoint({
    method: "POST",
    path: "/lists/confirm/:token",
    access: "public",
    summary: "Confirm the membership of a list",
    query: PageLanguage,
    output: z.string(),
    produces: "text/html",
    errors: ["not_found"],
    examples: [{ summary: "Confirm", params: token }],
  }),
};
