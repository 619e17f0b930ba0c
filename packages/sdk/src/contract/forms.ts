import { endpoint } from "./endpoint.ts";
import { LandingPageStats, LandingPageSubmission, landingPages, PageSlug } from "./marketplace/landing-pages.ts";
import { PageForm } from "./marketplace/page-content.ts";
import { LANDING_PAGE_STATUSES } from "./marketplace/states.ts";
import { line } from "./marketplace/text.ts";
import { Instant, MAX_INTEGER, pageQuery, pageSchema } from "./page.ts";
import * as z from "./zod.ts";

const status = z.enum(LANDING_PAGE_STATUSES);

/** Texts and fields of a form. Its heading is its name. */
const content = PageForm.omit({ title: true }).shape;

/** A web page of one's own, to which visitors return. */
const RedirectUrl = z
  .string()
  .max(2048)
  .refine((text) => /^https?:\/\//i.test(text) && URL.canParse(text) && !/[\p{Cc}\s;,'"]/u.test(text), {
    message: "A redirect must be the address of a page, such as https://acme.example/thanks.",
    params: { code: "invalid_url" },
    abort: true,
  })
  .refine((text) => new URL(text).username === "" && new URL(text).password === "", {
    message: "A redirect cannot contain a user name (the part before @).",
    params: { code: "invalid_url" },
  });

/** A sign-up form of a brand: its hosted page, and HTML for other pages. */
export const SignUpForm = z
  .object({
    id: z.string(),
    name: z.string(),
    slug: z.string(),
    status,
    /** The hosted page. With `?email=ada@example.com` and the names of other fields it is filled in. */
    url: z.string(),
    /** HTML that shows the form on any page, without scripts. */
    snippet: z.string(),
    listId: z.string().nullable(),
    doubleOptIn: z.boolean(),
    redirectUrl: z.string().nullable(),
    /** Fields besides the address. */
    fields: content.fields.unwrap(),
    /** Texts of the form; null for the usual ones. */
    labels: content.labels.unwrap().nullable(),
    button: z.string().nullable(),
    consentText: z.string().nullable(),
    consentCheckbox: z.boolean(),
    thanksTitle: z.string().nullable(),
    thanksText: z.string().nullable(),
    /** Increases with each change. */
    version: z.int(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .meta({ id: "SignUpForm" });
export type SignUpForm = z.infer<typeof SignUpForm>;

const fields = {
  slug: PageSlug.optional(),
  doubleOptIn: z
    .boolean()
    .optional()
    .meta({ description: "Each person confirms by email before joining, even if the list does not ask for that (default true)" }),
  redirectUrl: RedirectUrl.nullable().optional().meta({ description: "Page of yours that visitors see next, instead of ours" }),
  ...content,
  status: status.optional().meta({ description: "DRAFT takes the hosted page and the form offline" }),
};
/** Texts that are the usual ones again after null. */
const resettable = {
  button: content.button.nullable().meta({ description: "Text of the button; null for the usual one" }),
  consentText: content.consentText.nullable().meta({ description: "Text that visitors agree to; null for the usual sentence" }),
  thanksTitle: content.thanksTitle.nullable().meta({ description: "Heading of the page that follows; null for the usual one" }),
  thanksText: content.thanksText.nullable().meta({ description: "Text of the page that follows; null for the usual one" }),
  labels: content.labels.nullable().meta({ description: "Names of the fields; null for the usual ones" }),
};
const name = line(200).meta({ description: "Name, which is also the heading of the hosted page" });
const listId = z.string().min(1).max(100).meta({ description: "List that visitors join" });

const id = { id: "lp_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const read = { permission: "lists:read" } as const;
const write = { permission: "lists:write" } as const;

/** Sign-up forms, for brands. */
export const forms = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/forms",
    access: read,
    summary: "List sign-up forms, newest first",
    query: z.object({ ...pageQuery, status: status.optional().meta({ description: "Only forms in this state" }) }),
    output: pageSchema(SignUpForm),
    examples: [{ summary: "All" }],
  }),
  create: endpoint({
    method: "POST",
    path: "/api/v1/forms",
    access: write,
    mailsTo: "nobody",
    summary: "Create a sign-up form",
    description:
      "It is on its hosted page at once, and `snippet` shows it on your own pages. A sign-up creates a contact, or adds missing fields to one, and never resubscribes anybody who has unsubscribed. The consent text is stored with each sign-up.",
    body: z.strictObject({ name, listId, ...fields }),
    status: 201,
    output: SignUpForm,
    errors: ["not_found", "slug_taken", "limit_reached"],
    examples: [
      {
        summary: "A newsletter",
        body: { name: "Newsletter", listId: "list_01jc3v2m9k8q4w6x0y5z7a1b2c", fields: ["firstName"], button: "Subscribe" },
      },
      {
        summary: "Back to your own page",
        body: { name: "Waiting list", listId: "list_01jc3v2m9k8q4w6x0y5z7a1b2c", redirectUrl: "https://acme.example/thanks" },
      },
    ],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/forms/:id",
    access: read,
    summary: "Show one form",
    output: SignUpForm,
    errors: ["not_found"],
    examples: [{ summary: "By id", params: id }],
  }),
  update: endpoint({
    method: "PATCH",
    path: "/api/v1/forms/:id",
    access: write,
    mailsTo: "nobody",
    summary: "Update a form; fields that are not sent stay",
    description:
      "With `version`, or an If-Match header, it fails with 412 if the form has changed since that version. Old addresses of the form go on working.",
    body: z.strictObject({
      name: name.optional(),
      listId: listId.optional(),
      ...fields,
      ...resettable,
      version: z.int().min(1).max(MAX_INTEGER).optional().meta({ description: "The version you read; a newer one answers 412" }),
    }),
    output: SignUpForm,
    errors: ["not_found", "slug_taken", "version_mismatch"],
    examples: [{ summary: "Another button", params: id, body: { button: "Join" } }],
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/api/v1/forms/:id",
    access: write,
    mailsTo: "nobody",
    summary: "Delete a form with its statistics and sign-ups; contacts stay",
    output: SignUpForm,
    errors: ["not_found"],
    examples: [{ summary: "By id", params: id }],
  }),
  stats: endpoint({
    method: "GET",
    path: "/api/v1/forms/:id/stats",
    access: read,
    summary: "Show views and sign-ups of a form",
    query: landingPages.stats.query,
    output: LandingPageStats,
    errors: ["not_found"],
    examples: [{ summary: "The last 30 days", params: id }],
  }),
  submissions: endpoint({
    method: "GET",
    path: "/api/v1/forms/:id/submissions",
    access: { permission: "contacts:read" },
    summary: "List the sign-ups of a form with their consent, newest first",
    query: z.object(pageQuery),
    output: pageSchema(LandingPageSubmission),
    errors: ["not_found"],
    examples: [{ summary: "All", params: id }],
  }),
};
