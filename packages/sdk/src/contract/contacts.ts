import { z } from "zod";
import { EmailAddress } from "./address.ts";
import { endpoint } from "./endpoint.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";

/** Limits of a contact (SPEC 2, 8, and what we add where SPEC is silent). */
export const CONTACT_LIMITS = {
  name: 100,
  phone: 30,
  tags: 50,
  tag: 100,
  /** Bytes of `customFields` as JSON. */
  customBytes: 16 * 1024,
  customKeys: 200,
  customKey: 100,
  /** Levels of objects and arrays inside `customFields`. */
  customDepth: 5,
  /** Rows of one import request. */
  importRows: 1000,
  search: 200,
} as const;

/** SPEC 3. BOUNCED and COMPLAINED are set by what happens to mail, never by a caller. */
export const CONTACT_STATUSES = ["SUBSCRIBED", "UNSUBSCRIBED", "BOUNCED", "COMPLAINED"] as const;
export type ContactStatus = (typeof CONTACT_STATUSES)[number];

export const CONTACT_EVENT_TYPES = [
  "contact.created",
  "contact.updated",
  "contact.deleted",
  "contact.subscribed",
  "contact.unsubscribed",
  "contact.bounced",
  "contact.complained",
] as const;
export type ContactEventType = (typeof CONTACT_EVENT_TYPES)[number];

/** The name of a tag: `VIP` and `vip` are one tag, shown as it was written. */
export const TagName = line(CONTACT_LIMITS.tag)
  .min(1)
  .meta({ description: `Tag, up to ${CONTACT_LIMITS.tag} characters; VIP and vip are the same tag` });

/** A value of a custom field. A date is a text in ISO 8601. */
export type CustomValue = string | number | boolean | null | CustomValue[] | { [key: string]: CustomValue };

// Names that mean something else to JavaScript, here or in whoever reads the answer.
const FORBIDDEN_KEY = /^(?:__proto__|constructor|prototype)$/;
const encoder = new TextEncoder();

/** Free key-value data (SPEC 2): texts, numbers, true, false, null, and objects and arrays of them, within bounds. */
export const CustomFields = z
  // Not z.record: it would lose a key called __proto__ instead of refusing it.
  .custom<Record<string, CustomValue>>((v) => typeof v === "object" && v !== null && !Array.isArray(v), {
    message: "customFields must be an object: { … }.",
    params: { code: "invalid_type" },
  })
  .superRefine((fields, ctx) => {
    if (Object.keys(fields).length > CONTACT_LIMITS.customKeys)
      return issue(ctx, [], "too_big", `At most ${CONTACT_LIMITS.customKeys} custom fields.`);
    const text = JSON.stringify(fields);
    if (text.length > CONTACT_LIMITS.customBytes || encoder.encode(text).length > CONTACT_LIMITS.customBytes)
      return issue(ctx, [], "too_big", `Custom fields take at most ${CONTACT_LIMITS.customBytes / 1024} KiB as JSON.`);
    checkCustom(fields, [], 1, ctx);
  })
  .pipe(
    z.record(
      z.string(),
      z.custom<CustomValue>(() => true),
    ),
  )
  .meta({
    type: "object",
    additionalProperties: true,
    description: "Free data, name to value: texts, numbers, true, false, null, nested up to 5 levels",
  });

const tags = z
  .array(TagName)
  .max(CONTACT_LIMITS.tags)
  .meta({ description: `Tags, up to ${CONTACT_LIMITS.tags}` });

const person = {
  firstName: optionalLine(CONTACT_LIMITS.name, "First name, up to 100 characters"),
  lastName: optionalLine(CONTACT_LIMITS.name, "Last name, up to 100 characters"),
  phone: optionalLine(CONTACT_LIMITS.phone, "Phone number, up to 30 characters"),
  tags: tags.optional(),
  customFields: CustomFields.optional(),
};

const settableStatus = z.enum(["SUBSCRIBED", "UNSUBSCRIBED"]);

/** A new contact (SPEC 2). */
export const NewContact = z.strictObject({ email: EmailAddress, ...person }).meta({ id: "NewContact" });
export type NewContact = z.output<typeof NewContact>;

/** A contact to create, or to update where it exists. */
export const ContactUpsert = z
  .strictObject({
    email: EmailAddress,
    ...person,
    status: settableStatus.optional().meta({
      description:
        "UNSUBSCRIBED takes a contact off; SUBSCRIBED never brings back one that unsubscribed, bounced, complained or is suppressed",
    }),
  })
  .meta({ id: "ContactUpsert" });
export type ContactUpsert = z.output<typeof ContactUpsert>;

/** What may change of a contact; only what is sent changes (SPEC 4). */
export const ContactPatch = z
  .strictObject({
    ...person,
    tags: tags.optional().meta({ description: "Replaces all tags" }),
    customFields: CustomFields.optional().meta({ description: "Fields to set, one by one; null empties a field, others stay" }),
    status: settableStatus.optional().meta({ description: "SUBSCRIBED or UNSUBSCRIBED" }),
  })
  .meta({ id: "ContactPatch" });
export type ContactPatch = z.output<typeof ContactPatch>;

export const Contact = z
  .object({
    id: z.string(),
    email: z.string(),
    firstName: z.string().nullable(),
    lastName: z.string().nullable(),
    phone: z.string().nullable(),
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

/** What became of a row of an import. */
export const IMPORT_RESULTS = ["created", "updated", "unchanged", "skipped", "failed"] as const;
export type ImportResult = (typeof IMPORT_RESULTS)[number];

/** The outcome of an import; the five numbers add up to the rows given. */
export const ContactImport = z
  .object({
    created: z.int(),
    updated: z.int(),
    /** Rows that say nothing new. */
    unchanged: z.int(),
    /** Rows of contacts that exist, with mode skip. */
    skipped: z.int(),
    failed: z.int(),
    /** Of those created, how many are suppressed and so not SUBSCRIBED. */
    suppressed: z.int(),
    dryRun: z.boolean(),
    /** What became of each row, in order. */
    results: z.array(z.enum(IMPORT_RESULTS)),
    /** What is wrong with the rows that failed, by their index from 0. */
    errors: z.array(z.object({ index: z.int(), path: z.string(), code: z.string(), message: z.string() })),
  })
  .meta({ id: "ContactImport" });
export type ContactImport = z.infer<typeof ContactImport>;

const filters = {
  search: line(CONTACT_LIMITS.search)
    .optional()
    .meta({ description: "Only contacts whose address, first or last name holds this text, in any case" }),
  status: z.enum(CONTACT_STATUSES).optional().meta({ description: "Only contacts in this status" }),
  tag: z.string().max(CONTACT_LIMITS.tag).optional().meta({ description: "Only contacts with this tag, in any case" }),
};

const read = { permission: "contacts:read" } as const;
const write = { permission: "contacts:write" } as const;
const id = { id: "con_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const ada = { email: "ada@example.com", firstName: "Ada", lastName: "Lovelace", tags: ["vip"], customFields: { plan: "pro", seats: 5 } };

export const contacts = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/contacts",
    aliases: ["/api/v1/v1/contacts"],
    access: read,
    summary: "List contacts, newest first",
    description: "Filters narrow each other. Among more than 20,000 contacts a search counts 200 hits at most; `totalIsMinimum` says so.",
    query: z.object({ ...pageQuery, ...filters }),
    output: pageSchema(Contact),
    examples: [
      { summary: "The first page", query: {} },
      { summary: "Subscribed VIPs called Ada", query: { search: "ada", status: "SUBSCRIBED", tag: "vip" } },
    ],
  }),
  create: endpoint({
    method: "POST",
    path: "/api/v1/contacts",
    access: write,
    summary: "Create a contact",
    description: "An address that is a contact already, in whatever case, is refused, and so is one on the suppression list.",
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
    summary: "Create a contact, or update the one with this address",
    description:
      "Answers 201 when the contact is new, 200 when it was there. Nobody is subscribed by it who unsubscribed, bounced, complained or is suppressed: a new contact with a suppressed address gets the status that fits. Of an existing one only what is sent changes.",
    body: ContactUpsert,
    status: [201, 200],
    output: Contact,
    examples: [{ summary: "As often as you like", body: ada }],
  }),
  import: endpoint({
    method: "POST",
    path: "/api/v1/contacts/import",
    access: write,
    summary: "Create or update up to 1,000 contacts at once",
    description:
      "Each row is a contact as `contacts.upsert` takes it. A row that is not valid is reported in `errors` and spoils no other one. Sending the same rows again changes nothing, so an import that was cut off is simply sent again. With dryRun nothing is stored, and the answer says what would be.",
    body: z.strictObject({
      rows: z
        .array(z.unknown())
        .min(1)
        .max(CONTACT_LIMITS.importRows)
        .meta({ description: "Up to 1,000 contacts: [{ email, firstName, … }]" }),
      mode: z.enum(["upsert", "skip"]).default("upsert").meta({ description: "What to do with contacts that exist: update or skip them" }),
      dryRun: z.boolean().default(false).meta({ description: "Only say what would happen" }),
    }),
    output: ContactImport,
    examples: [{ summary: "Two contacts", body: { rows: [ada, { email: "grace@example.com" }], mode: "skip" } }],
  }),
  export: endpoint({
    method: "GET",
    path: "/api/v1/contacts/export",
    access: read,
    summary: "Read all contacts in large pages, newest first",
    description:
      "Like the list, with up to 1,000 contacts a page. Follow `nextCursor`: contacts added meanwhile neither repeat nor hide any.",
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
    output: ContactDetail,
    errors: ["not_found"],
    examples: [{ summary: "Get", params: id }],
  }),
  update: endpoint({
    method: "PATCH",
    path: "/api/v1/contacts/:id",
    access: write,
    summary: "Change a contact; only what is sent changes",
    description:
      "`tags` replaces all tags; `customFields` sets fields one by one, and null empties one. A suppressed address cannot be SUBSCRIBED: lift its suppression first.",
    body: ContactPatch,
    output: Contact,
    errors: ["not_found", "email_suppressed", "invalid_state"],
    examples: [
      { summary: "Other tags", params: id, body: { tags: ["vip", "beta"] } },
      { summary: "Take off", params: id, body: { status: "UNSUBSCRIBED" } },
    ],
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/api/v1/contacts/:id",
    aliases: ["/api/v1/v1/contacts/:id"],
    access: write,
    summary: "Delete a contact for good",
    description:
      "With its tags and memberships. A suppression of its address stays. To remove every trace of a person, use `people.erase`.",
    output: Contact,
    errors: ["not_found"],
    examples: [{ summary: "Delete", params: id }],
  }),
};

function issue(ctx: z.RefinementCtx, path: (string | number)[], code: string, message: string): void {
  ctx.addIssue({ code: "custom", path, message, params: { code } });
}

/** True when a text holds what no name may: line breaks, other controls, lone surrogates. */
function unsafe(text: string): boolean {
  return /[\p{Cc}\u2028\u2029]/u.test(text) || !text.isWellFormed();
}

function line(max: number) {
  return z
    .string()
    .trim()
    .max(max)
    .refine((s) => !unsafe(s), { message: "No line breaks or control characters may stand here.", params: { code: "invalid_characters" } });
}

/** A name or number that may be absent; an empty one is none. */
function optionalLine(max: number, description: string) {
  return line(max).nullable().optional().meta({ description });
}

function checkCustom(value: unknown, path: (string | number)[], depth: number, ctx: z.RefinementCtx): void {
  if (typeof value === "string") {
    if (!value.isWellFormed() || value.includes("\0")) issue(ctx, path, "invalid_characters", "The text is not valid Unicode.");
    return;
  }
  if (typeof value !== "object" || value === null) return;
  if (depth > CONTACT_LIMITS.customDepth) {
    issue(ctx, path, "too_deep", `Custom fields nest at most ${CONTACT_LIMITS.customDepth} levels.`);
    return;
  }
  if (Array.isArray(value)) {
    for (const [i, v] of value.entries()) checkCustom(v, [...path, i], depth + 1, ctx);
    return;
  }
  for (const [key, v] of Object.entries(value)) {
    const shown = key.slice(0, 60);
    if (key === "" || key.length > CONTACT_LIMITS.customKey || unsafe(key))
      issue(ctx, [...path, shown], "invalid_key", `A field's name is 1 to ${CONTACT_LIMITS.customKey} characters without line breaks.`);
    else if (FORBIDDEN_KEY.test(key)) issue(ctx, [...path, shown], "invalid_key", `A field cannot be called ${key}.`);
    else checkCustom(v, [...path, shown], depth + 1, ctx);
  }
}
