import { EmailAddress } from "./address.ts";
import { refuseCharacters } from "./characters.ts";
import { CONTACT_LIMITS, CONTACT_STATUSES, CONTACT_TEXTS, labelContactText, mapContactTexts } from "./contact-fields.ts";
import { contactImports } from "./contact-imports.ts";
import { contactRefs, ExternalId } from "./contact-ref.ts";
import { endpoint } from "./endpoint.ts";
import { OptionalLanguageTag } from "./language.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";
import * as z from "./zod.ts";

/** The name of a tag: `VIP` and `vip` are one tag, in the spelling that came first. */
export const TagName = line(CONTACT_LIMITS.tag)
  .min(1)
  .meta({ description: `Tag, up to ${CONTACT_LIMITS.tag} characters; VIP and vip are the same tag` });

/** A value of a custom field. Dates are ISO 8601 texts. */
export type CustomValue = string | number | boolean | null | CustomValue[] | { [key: string]: CustomValue };

// Names with a meaning in JavaScript, for us and for clients.
const FORBIDDEN_KEY = /^(?:__proto__|constructor|prototype)$/;
const encoder = new TextEncoder();

/** Free key-value data: texts, numbers, booleans, null, and objects and arrays of these, within limits. `name` is its field. */
export function freeData(name: string, description: string) {
  return (
    z
      // Not z.record: it would lose a key called __proto__ instead of refusing it.
      .custom<Record<string, CustomValue>>((v) => typeof v === "object" && v !== null && !Array.isArray(v), {
        message: `${name} must be an object: { … }.`,
        params: { code: "invalid_type" },
      })
      .superRefine((fields, ctx) => {
        if (Object.keys(fields).length > CONTACT_LIMITS.customKeys)
          return issue(ctx, [], "too_big", `${name} can have at most ${CONTACT_LIMITS.customKeys} fields.`);
        const text = JSON.stringify(fields);
        if (text.length > CONTACT_LIMITS.customBytes || encoder.encode(text).length > CONTACT_LIMITS.customBytes)
          return issue(ctx, [], "too_big", `${name} can have at most ${CONTACT_LIMITS.customBytes / 1024} KiB as JSON.`);
        checkCustom(fields, [], 1, ctx);
      })
      .pipe(
        z.record(
          z.string(),
          z.custom<CustomValue>(() => true),
        ),
      )
      .meta({ type: "object", additionalProperties: true, description })
  );
}

/** Free key-value data of a contact. */
export const CustomFields = freeData(
  "customFields",
  "Free data, name to value: texts, numbers, booleans, objects and arrays, nested up to 5 levels; a field set to null is removed",
);

const tags = z
  .array(TagName)
  .max(CONTACT_LIMITS.tags)
  .meta({ description: `Tags, up to ${CONTACT_LIMITS.tags}` });

const LANGUAGE = "Language of the pages and mail that this server writes to the contact, such as de or pt-BR; docs/languages.md";

const person = {
  externalId: ExternalId.nullable().optional(),
  ...mapContactTexts((field) => {
    if (field === "language") return OptionalLanguageTag.nullable().optional().meta({ description: LANGUAGE });
    const { maxLength } = CONTACT_TEXTS[field];
    return optionalLine(maxLength, `${labelContactText(field)}, up to ${maxLength} characters`);
  }),
  tags: tags.optional(),
  customFields: CustomFields.optional(),
};

const settableStatus = z.enum(["SUBSCRIBED", "UNSUBSCRIBED"]);

/** A new contact. */
export const NewContact = z.strictObject({ email: EmailAddress, ...person }).meta({ id: "NewContact" });
export type NewContact = z.output<typeof NewContact>;

const upsertFields = {
  email: EmailAddress,
  ...person,
  status: settableStatus.optional().meta({
    description:
      "UNSUBSCRIBED unsubscribes the contact; SUBSCRIBED never resubscribes one that unsubscribed, bounced, complained or is suppressed",
  }),
};

/** A contact to create, or to update if it exists. */
export const ContactUpsert = z.strictObject(upsertFields).meta({ id: "ContactUpsert" });
export type ContactUpsert = z.output<typeof ContactUpsert>;

/** A row of an import. */
export const ContactImportRow = z
  .strictObject({
    ...upsertFields,
    initialStatus: settableStatus.optional().meta({
      description: "Status of a contact that this row creates, if it has no status; a contact that exists keeps its own",
    }),
  })
  .meta({ id: "ContactImportRow" });
export type ContactImportRow = z.output<typeof ContactImportRow>;

/** The fields of ContactPatch. */
export const contactPatchFields = {
  email: EmailAddress.optional().meta({
    description: "Another address of the same person: history, memberships and consent stay with the contact",
  }),
  ...person,
  tags: tags.optional().meta({ description: "Replaces all tags" }),
  customFields: CustomFields.optional().meta({ description: "Fields to set, one by one; null removes a field, others stay" }),
  status: settableStatus
    .optional()
    .meta({ description: "UNSUBSCRIBED suppresses the address for marketing; SUBSCRIBED lifts that suppression" }),
};

/** The fields of a contact that can change; fields that are not sent stay. */
export const ContactPatch = z.strictObject(contactPatchFields).meta({ id: "ContactPatch" });
export type ContactPatch = z.output<typeof ContactPatch>;

export const Contact = z
  .object({
    id: z.string(),
    email: z.string(),
    /** Its id in your own system; null without one. */
    externalId: z.string().nullable(),
    ...mapContactTexts(() => z.string().nullable()),
    tags: z.array(z.string()),
    customFields: z.record(z.string(), z.unknown()),
    status: z.enum(CONTACT_STATUSES),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .meta({ id: "Contact" });
export type Contact = z.infer<typeof Contact>;

/** A list or segment a contact belongs to. */
export const ContactMembership = z.object({ id: z.string(), name: z.string() }).meta({ id: "ContactMembership" });
export type ContactMembership = z.infer<typeof ContactMembership>;

export const ContactDetail = Contact.extend({
  lists: z.array(ContactMembership),
  segments: z.array(ContactMembership),
}).meta({ id: "ContactDetail" });
export type ContactDetail = z.infer<typeof ContactDetail>;

/** The result of one row of an import. */
export const IMPORT_RESULTS = ["created", "updated", "unchanged", "skipped", "failed"] as const;
export type ImportResult = (typeof IMPORT_RESULTS)[number];

/** An automation, and how many contacts enter it. */
export const AutomationStart = z.object({ id: z.string(), name: z.string(), contacts: z.int() }).meta({ id: "AutomationStart" });
export type AutomationStart = z.infer<typeof AutomationStart>;

/** The result of an import; the five numbers add up to the rows sent. */
export const ContactImport = z
  .object({
    created: z.int(),
    updated: z.int(),
    /** Rows that changed nothing. */
    unchanged: z.int(),
    /** Rows of existing contacts, with mode skip. */
    skipped: z.int(),
    failed: z.int(),
    /** Number of created contacts that are suppressed and therefore not SUBSCRIBED. */
    suppressed: z.int(),
    dryRun: z.boolean(),
    /** Contacts that joined the list, and those that were asked to confirm. */
    joined: z.int(),
    asked: z.int(),
    /** The active automations that the contacts enter with startAutomations, and do not enter without it. */
    automations: z.array(AutomationStart),
    /** The result of each row, in order. */
    results: z.array(z.enum(IMPORT_RESULTS)),
    /** The errors of the rows that failed, by their index from 0. */
    errors: z.array(z.object({ index: z.int(), path: z.string(), code: z.string(), message: z.string() })),
  })
  .meta({ id: "ContactImport" });
export type ContactImport = z.infer<typeof ContactImport>;

/** The result of changing the tags of contacts; the numbers add up to the contacts sent. */
export const ContactTagging = z
  .object({
    updated: z.int(),
    /** Contacts that had the tags to add, and none of those to remove. */
    unchanged: z.int(),
    /** Not changed, by their index from 0. */
    failed: z.array(z.object({ index: z.int(), contact: z.string(), code: z.string(), message: z.string() })),
  })
  .meta({ id: "ContactTagging" });
export type ContactTagging = z.infer<typeof ContactTagging>;

/** Field of changes of many contacts that a caller names. */
export const startAutomations = z
  .boolean()
  .default(true)
  .meta({ description: "Whether contacts enter automations by this change; false for bulk changes" });

const filters = {
  search: line(CONTACT_LIMITS.search)
    .optional()
    .meta({ description: "Only contacts whose address, first or last name contains this text, case-insensitively" }),
  status: z.enum(CONTACT_STATUSES).optional().meta({ description: "Only contacts with this status" }),
  tag: z.string().max(CONTACT_LIMITS.tag).optional().meta({ description: "Only contacts with this tag, case-insensitively" }),
  list: z.string().max(40).optional().meta({ description: "Only confirmed members of the list with this id" }),
  segment: z.string().max(40).optional().meta({ description: "Only contacts in the segment with this id" }),
};

const read = { permission: "contacts:read" } as const;
const write = { permission: "contacts:write" } as const;
const id = { id: "con_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const ada = { email: "ada@example.com", firstName: "Ada", lastName: "Lovelace", tags: ["vip"], customFields: { plan: "pro", seats: 5 } };

export const contacts = {
  ...contactImports,
  list: endpoint({
    method: "GET",
    path: "/api/v1/contacts",
    aliases: ["/api/v1/v1/contacts"],
    access: read,
    summary: "List contacts, newest first",
    description:
      "Filters are combined with AND. Among more than 20,000 contacts a search counts at most 200 hits; `totalIsMinimum` then is true.",
    query: z.object({ ...pageQuery, ...filters }),
    output: pageSchema(Contact),
    examples: [
      { summary: "The first page", query: {} },
      { summary: "Subscribed VIPs called Ada", query: { search: "ada", status: "SUBSCRIBED", tag: "vip" } },
      { summary: "Those of a list who bounced", query: { list: "list_01jc3v2m9k8q4w6x0y5z7a1b2c", status: "BOUNCED" } },
    ],
  }),
  create: endpoint({
    method: "POST",
    path: "/api/v1/contacts",
    access: write,
    mailsTo: "one",
    summary: "Create a contact",
    description:
      "Fails if a contact with this address exists, in any spelling, or one with this externalId, or the address is on the suppression list, in any scope.",
    body: NewContact,
    status: 201,
    output: Contact,
    errors: ["duplicate_contact", "email_suppressed"],
    examples: [
      { summary: "An address is enough", body: { email: "ada@example.com" } },
      { summary: "With all fields", body: { ...ada, phone: "+44 20 7946 0000" } },
    ],
  }),
  upsert: endpoint({
    method: "POST",
    path: "/api/v1/v1/contacts",
    access: write,
    mailsTo: "one",
    summary: "Create a contact, or update the one with this externalId or address",
    description:
      "With an externalId that a contact has, that contact is meant, and its address changes to the given one; otherwise the one with this address. Responds with 201 for a new contact, 200 for an existing one, whose fields change only if they are sent. Never resubscribes a contact that unsubscribed, bounced, complained or is suppressed: a new contact with a suppressed address gets the status that fits the reason.",
    body: ContactUpsert,
    status: [201, 200],
    output: Contact,
    errors: ["duplicate_contact"],
    examples: [
      { summary: "As often as you like", body: ada },
      { summary: "By your own id: a new address stays the same contact", body: { externalId: "user_1042", email: "ada@new.example" } },
    ],
  }),
  import: endpoint({
    method: "POST",
    path: "/api/v1/contacts/import",
    access: write,
    mailsTo: "contacts",
    summary: "Create or update up to 1,000 contacts at once",
    description:
      "Each row is a contact as in `contacts.upsert`. Invalid rows are reported in `errors`; all others are imported. Sending the same rows again changes nothing, so an interrupted import can simply be repeated. Nobody enters an automation unless startAutomations is true; `automations` says who would. With dryRun nothing is stored, and the response tells what would happen.",
    body: z.strictObject({
      rows: z
        .array(z.unknown())
        .min(1)
        .max(CONTACT_LIMITS.importRows)
        .meta({ description: "Up to 1,000 contacts: [{ email, firstName, … }]" }),
      mode: z.enum(["upsert", "skip"]).default("upsert").meta({ description: "What to do with existing contacts: update or skip them" }),
      dryRun: z.boolean().default(false).meta({ description: "Only report what would happen" }),
      import: z.string().max(40).optional().meta({ description: "Id of the import that the rows belong to, from contacts.startImport" }),
      list: z.string().max(40).optional().meta({ description: "Id of a list that the contacts join" }),
      startAutomations: z
        .boolean()
        .default(false)
        .meta({ description: "Let the contacts enter automations; without it nobody enters one" }),
    }),
    output: ContactImport,
    errors: ["not_found", "invalid_state", "sender_not_verified"],
    examples: [{ summary: "Two contacts", body: { rows: [ada, { email: "grace@example.com" }], mode: "skip" } }],
  }),
  export: endpoint({
    method: "GET",
    path: "/api/v1/contacts/export",
    access: read,
    summary: "Read all contacts in large pages, newest first",
    description:
      "Like the list, with up to 1,000 contacts per page. Follow `nextCursor`: contacts added meanwhile neither repeat nor hide any.",
    query: z.object({
      limit: z.coerce.number().int().min(1).max(1000).default(1000).meta({ description: "Contacts per page, 1 to 1,000" }),
      cursor: pageQuery.cursor,
      ...filters,
    }),
    output: pageSchema(Contact),
    examples: [{ summary: "All unsubscribed ones", query: { status: "UNSUBSCRIBED" } }],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/contacts/:id",
    access: read,
    summary: "Get one contact with its lists and segments",
    description: "`id` is its id, its address or its externalId.",
    output: ContactDetail,
    errors: ["not_found"],
    examples: [{ summary: "Get", params: id }],
  }),
  update: endpoint({
    method: "PATCH",
    path: "/api/v1/contacts/:id",
    access: write,
    mailsTo: "one",
    summary: "Update a contact; fields that are not sent stay",
    description:
      "`id` is its id, its address or its externalId. With another `email` the contact keeps its history, its memberships and what it consented to; links of confirmation emails sent to the former address stop working. `tags` replaces all tags; `customFields` sets fields one by one, and null removes one. `status` UNSUBSCRIBED suppresses the address in scope marketing, and SUBSCRIBED lifts that suppression. An address suppressed in scope all cannot be SUBSCRIBED: remove its suppression first.",
    body: ContactPatch,
    output: Contact,
    errors: ["not_found", "duplicate_contact", "email_suppressed", "invalid_state"],
    examples: [
      { summary: "Another address", params: id, body: { email: "ada@new.example" } },
      { summary: "Other tags", params: id, body: { tags: ["vip", "beta"] } },
      { summary: "Unsubscribe", params: id, body: { status: "UNSUBSCRIBED" } },
    ],
  }),
  tag: endpoint({
    method: "POST",
    path: "/api/v1/contacts/tags",
    access: write,
    mailsTo: "contacts",
    summary: "Add tags to up to 1,000 contacts, or remove some, by the ids, addresses or externalIds of the contacts",
    description:
      "Each contact keeps its other tags, also those that others change at the same time. Contacts that do not exist, or would have more than 50 tags, are reported in failed, with their index; all others are changed.",
    body: z
      .strictObject({
        contacts: contactRefs(CONTACT_LIMITS.batch),
        add: tags.default([]).meta({ description: "Tags to add" }),
        remove: tags.default([]).meta({ description: "Tags to remove" }),
        startAutomations,
      })
      .superRefine(({ add, remove }, ctx) => {
        if (add.length + remove.length === 0) issue(ctx, ["add"], "required", "Name a tag to add or to remove.");
      }),
    output: ContactTagging,
    examples: [
      { summary: "One more tag", body: { contacts: ["ada@example.com", "con_01jc3v2m9k8q4w6x0y5z7a1b2c"], add: ["vip"] } },
      { summary: "Another tag in place of one", body: { contacts: ["ada@example.com"], add: ["customer"], remove: ["trial"] } },
    ],
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/api/v1/contacts/:id",
    aliases: ["/api/v1/v1/contacts/:id"],
    access: write,
    mailsTo: "nobody",
    summary: "Delete a contact permanently",
    description:
      "`id` is its id, its address or its externalId. Deletes its tags and memberships too. A suppression of its address stays. To erase all data of a person, use `people.erase`.",
    output: Contact,
    errors: ["not_found"],
    examples: [{ summary: "Delete", params: id }],
  }),
};

function issue(ctx: z.RefinementCtx, path: (string | number)[], code: string, message: string): void {
  ctx.addIssue({ code: "custom", path, message, params: { code } });
}

/** True for text with line breaks, other control characters or lone surrogates. */
function unsafe(text: string): boolean {
  return /[\p{Cc}\u2028\u2029]/u.test(text) || !text.isWellFormed();
}

function line(max: number) {
  return z
    .string()
    .trim()
    .max(max)
    .refine((s) => !unsafe(s), refuseCharacters("Line breaks and control characters are not allowed here."));
}

/** An optional name or phone number; an empty one is stored as none. */
function optionalLine(max: number, description: string) {
  return line(max).nullable().optional().meta({ description });
}

function checkCustom(value: unknown, path: (string | number)[], depth: number, ctx: z.RefinementCtx): void {
  if (typeof value === "string") {
    if (!value.isWellFormed() || value.includes("\0"))
      issue(ctx, path, "invalid_characters", "Text cannot contain U+0000 or lone surrogates.");
    return;
  }
  if (typeof value !== "object" || value === null) return;
  if (depth > CONTACT_LIMITS.customDepth) {
    issue(ctx, path, "too_deep", `Custom fields can be nested at most ${CONTACT_LIMITS.customDepth} levels deep.`);
    return;
  }
  if (Array.isArray(value)) {
    for (const [i, v] of value.entries()) checkCustom(v, [...path, i], depth + 1, ctx);
    return;
  }
  for (const [key, v] of Object.entries(value)) {
    const shown = key.slice(0, 60);
    if (key === "" || key.length > CONTACT_LIMITS.customKey || unsafe(key))
      issue(
        ctx,
        [...path, shown],
        "invalid_key",
        `The name of a field must have 1 to ${CONTACT_LIMITS.customKey} characters, without line breaks.`,
      );
    else if (FORBIDDEN_KEY.test(key)) issue(ctx, [...path, shown], "invalid_key", `A field cannot be named ${key}.`);
    else checkCustom(v, [...path, shown], depth + 1, ctx);
  }
}
