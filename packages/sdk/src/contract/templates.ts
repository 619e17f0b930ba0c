import { EmailAddress, MailboxText, ShownReplyTo } from "./address.ts";
import { AUTOMATION_STATUSES } from "./automation-fields.ts";
import { CAMPAIGN_STATUSES } from "./campaign-fields.ts";
import { endpoint } from "./endpoint.ts";
import { Instant, MAX_INTEGER, pageQuery, pageSchema } from "./page.ts";
import { ProposedBy } from "./proposed-by.ts";
import { revisionOf } from "./revision.ts";
import {
  templateFields as fields,
  Slug,
  TEMPLATE_KINDS,
  TEMPLATE_LIMITS,
  TEMPLATE_STATUSES,
  TEMPLATE_TYPES,
  TemplateOrigin,
  VARIABLE_TYPES,
  VariableDeclaration,
} from "./template-fields.ts";
import { TemplateSendRequest, TemplateSendResponse, Variables } from "./template-send.ts";
import * as z from "./zod.ts";

/** A variable of a template (docs/templates.md#variables). `items[].name` is a field of each item of the list `items`. */
export const TemplateVariable = z
  .object({
    name: z.string(),
    type: z.enum(VARIABLE_TYPES),
    /** A send without it fails with missing_variables. */
    required: z.boolean(),
    /** Used when the send has no value; null when there is none. */
    default: z.unknown(),
    description: z.string().nullable(),
  })
  .meta({ id: "TemplateVariable" });

/** A template in a list: everything but its content. */
export const Template = z
  .object({
    id: z.string(),
    slug: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    category: z.string().nullable(),
    type: z.enum(TEMPLATE_TYPES),
    kind: z.enum(TEMPLATE_KINDS),
    /** An inactive template is kept but cannot be sent. */
    status: z.enum(TEMPLATE_STATUSES),
    /** The published version, which sends use; null if never published. */
    version: z.int().nullable(),
    /** True if the draft differs from the published version. */
    hasUnpublishedChanges: z.boolean(),
    /** The slugs of the layout and the partials that its draft or its published version uses. */
    uses: z.array(z.string()),
    /** The agent that proposed it; null for others. */
    proposedBy: ProposedBy.nullable(),
    /** Increases with every change. Send it with a change, and the change is refused if the template was changed in the meantime. */
    revision: z.int(),
    createdAt: Instant,
    updatedAt: Instant,
    publishedAt: Instant.nullable(),
  })
  .meta({ id: "Template" });
export type Template = z.infer<typeof Template>;

/** A template with its content, rendered and as source. */
export const TemplateDetail = Template.extend({
  /** The version shown; null for the draft. */
  shownVersion: z.int().nullable(),
  from: z.string().nullable(),
  replyTo: ShownReplyTo,
  layout: z.string().nullable(),
  /** The files that the HTML was rendered from before it was stored; null when it was written by hand. */
  renderedFrom: TemplateOrigin.nullable(),
  /** Rendered with the defaults; a variable without a default keeps its placeholder. */
  subject: z.string().nullable(),
  html: z.string().nullable(),
  text: z.string().nullable(),
  /** Error that prevents rendering; null without one. */
  renderError: z.string().nullable(),
  variables: z.array(TemplateVariable),
  /** Objects that use it, newest first, at most 100 of each kind; campaigns and automations only if the key may read them. */
  usedBy: z.object({
    /** Templates whose draft or published version uses this layout or partial. */
    templates: z.array(z.object({ id: z.string(), slug: z.string(), name: z.string() })),
    /** Campaigns that are not over: drafts, scheduled, sending and paused ones. */
    campaigns: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        status: z.enum(CAMPAIGN_STATUSES),
        /** Start of sending, which fixes its version of the template; null before. */
        startedAt: Instant.nullable(),
      }),
    ),
    /** Automations whose newest version sends it, except archived ones. */
    automations: z.array(z.object({ id: z.string(), name: z.string(), status: z.enum(AUTOMATION_STATUSES) })),
  }),
  source: z.object({
    subject: z.string().nullable(),
    html: z.string().nullable(),
    text: z.string().nullable(),
    blocks: z.array(z.record(z.string(), z.unknown())).nullable(),
    variables: z.array(VariableDeclaration),
  }),
}).meta({ id: "TemplateDetail" });
export type TemplateDetail = z.infer<typeof TemplateDetail>;

export const TemplateVersion = z
  .object({
    id: z.string(),
    version: z.int(),
    /** Sends use this one. */
    current: z.boolean(),
    subject: z.string().nullable(),
    /** The version that a rollback restored. */
    restoredFrom: z.int().nullable(),
    createdAt: Instant,
  })
  .meta({ id: "TemplateVersion" });
export type TemplateVersion = z.infer<typeof TemplateVersion>;

/** A template by slug: the published version and the variables it needs. */
export const TemplateBySlug = z
  .object({
    id: z.string(),
    slug: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    category: z.string().nullable(),
    type: z.enum(TEMPLATE_TYPES),
    kind: z.enum(TEMPLATE_KINDS),
    version: z.int(),
    /** The source, with its placeholders. */
    subject: z.string().nullable(),
    from: z.string().nullable(),
    variables: z.array(TemplateVariable),
    publishedAt: Instant,
  })
  .meta({ id: "TemplateBySlug" });
export type TemplateBySlug = z.infer<typeof TemplateBySlug>;

const revision = revisionOf("template");

const id = { id: "tpl_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const shipped = {
  name: "Order shipped",
  slug: "order-shipped",
  subject: "Your order {{ order.number }} is on its way",
  from: "Acme <hello@acme.example>",
  html: '<p>Hi {{ name }},</p><p><a href="{{ trackingUrl }}">Track your parcel</a></p>',
};

export const templates = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/templates",
    access: { permission: "templates:read" },
    summary: "List templates, newest first, without their content",
    query: z.object({
      ...pageQuery,
      search: z.string().max(200).optional().meta({ description: "Part of the name or description" }),
      category: z.string().max(TEMPLATE_LIMITS.category).optional().meta({ description: "Only this category" }),
      type: z.enum(TEMPLATE_TYPES).optional().meta({ description: "Only this type" }),
      status: z.enum(TEMPLATE_STATUSES).optional().meta({ description: "Only active or inactive ones" }),
    }),
    output: pageSchema(Template),
    examples: [{ summary: "Those about orders", query: { search: "order", category: "orders" } }],
  }),
  create: endpoint({
    method: "POST",
    path: "/api/v1/templates",
    access: { permission: "templates:write" },
    mailsTo: "nobody",
    summary: "Create a template",
    description:
      "A new template is a draft, which is validated but not used by sends. Publish it later, or create it with `publish`. Without a slug, one is generated from the name.",
    body: z
      .strictObject({
        name: fields.name,
        slug: fields.slug.optional(),
        description: fields.description.optional(),
        category: fields.category.optional(),
        type: fields.type.default("transactional"),
        kind: z
          .enum(TEMPLATE_KINDS)
          .default("HTML")
          .meta({ description: "HTML; BLOCKS, of which the HTML is rendered; or JSON_BLOCKS, which are only kept" }),
        subject: fields.subject.optional(),
        from: fields.from.optional(),
        replyTo: fields.replyTo.optional(),
        html: fields.html.optional(),
        text: fields.text.optional(),
        blocks: fields.blocks.optional(),
        renderedFrom: fields.renderedFrom.optional(),
        layout: fields.layout.optional(),
        variables: fields.variables.optional(),
        publish: fields.publish.default(false),
      })
      .meta({ id: "TemplateInput" }),
    status: 201,
    output: TemplateDetail,
    errors: ["conflict"],
    examples: [
      { summary: "And publish it", body: { ...shipped, publish: true } },
      {
        summary: "Blocks",
        body: {
          name: "Spring",
          kind: "BLOCKS",
          type: "marketing",
          subject: "Spring is here",
          blocks: [
            { type: "heading", text: 'Hello {{default firstName "there"}}' },
            { type: "text", text: "The new **collection** is in." },
            { type: "button", label: "Have a look", href: "https://acme.example/spring" },
          ],
        },
      },
      { summary: "A partial", body: { name: "Footer", type: "partial", html: "<p>Acme Ltd, 1 Main Street</p>" } },
    ],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/templates/:id",
    access: { permission: "templates:read" },
    summary: "Get a template with its content, rendered and as source",
    query: z.object({
      version: z.coerce
        .number()
        .int()
        .min(1)
        .max(MAX_INTEGER)
        .optional()
        .meta({ description: "A published version; the draft when absent" }),
    }),
    output: TemplateDetail,
    errors: ["not_found"],
    examples: [{ summary: "Get", params: id }],
  }),
  update: endpoint({
    method: "PATCH",
    path: "/api/v1/templates/:id",
    access: { permission: "templates:write" },
    mailsTo: "nobody",
    summary: "Update the draft of a template; omitted fields stay unchanged",
    body: z.strictObject({
      name: fields.name.optional(),
      slug: fields.slug.optional(),
      description: fields.description.optional(),
      category: fields.category.optional(),
      type: fields.type.optional(),
      kind: z
        .enum(["HTML"])
        .optional()
        .meta({ description: "HTML gives up the blocks of a template of kind BLOCKS, and keeps their HTML" }),
      subject: fields.subject.optional(),
      from: fields.from.optional(),
      replyTo: fields.replyTo.optional(),
      html: fields.html.optional(),
      text: fields.text.optional(),
      blocks: fields.blocks.optional(),
      renderedFrom: fields.renderedFrom.optional(),
      layout: fields.layout.optional(),
      variables: fields.variables.optional(),
      publish: fields.publish.default(false),
      revision,
    }),
    output: TemplateDetail,
    errors: ["not_found", "conflict"],
    examples: [{ summary: "Another subject, published at once", params: id, body: { subject: "It is on its way", publish: true } }],
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/api/v1/templates/:id",
    access: { permission: "templates:write" },
    mailsTo: "nobody",
    summary: "Delete a template with all its versions",
    description:
      "A layout or partial that other templates use cannot be deleted: 409 conflict. Queued emails are sent as they were accepted, and so is the rest of a campaign that is being sent. Other campaigns and automations that name it cannot send it any more: `usedBy` of the template names them.",
    output: Template,
    errors: ["not_found", "conflict"],
    examples: [{ summary: "Delete", params: id }],
  }),
  publish: endpoint({
    method: "POST",
    path: "/api/v1/templates/:id/publish",
    access: { permission: "templates:write" },
    mailsTo: "nobody",
    summary: "Publish the draft, so that sends use it",
    description: "Publishing an unchanged draft changes nothing.",
    body: z.strictObject({ revision }),
    output: Template,
    errors: ["not_found", "conflict"],
    examples: [{ summary: "Publish", params: id, body: {} }],
  }),
  versions: endpoint({
    method: "GET",
    path: "/api/v1/templates/:id/versions",
    access: { permission: "templates:read" },
    summary: "List the published versions of a template, newest first",
    query: z.object(pageQuery),
    output: pageSchema(TemplateVersion),
    errors: ["not_found"],
    examples: [{ summary: "Its history", params: id }],
  }),
  rollback: endpoint({
    method: "POST",
    path: "/api/v1/templates/:id/rollback",
    access: { permission: "templates:write" },
    mailsTo: "nobody",
    summary: "Publish an earlier version again, as a new version",
    description: "The draft is reset to it as well, unless it has unpublished changes.",
    body: z.strictObject({ version: z.int().min(1).max(MAX_INTEGER).meta({ description: "The version to go back to" }), revision }),
    output: Template,
    errors: ["not_found", "conflict"],
    examples: [{ summary: "Back to the second version", params: id, body: { version: 2 } }],
  }),
  archive: endpoint({
    method: "POST",
    path: "/api/v1/templates/:id/archive",
    access: { permission: "templates:write" },
    mailsTo: "nobody",
    summary: "Deactivate a template: it is kept but cannot be sent",
    description: "A layout or partial that other templates use cannot be deactivated: 409 conflict.",
    output: Template,
    errors: ["not_found", "conflict"],
    examples: [{ summary: "Archive", params: id }],
  }),
  unarchive: endpoint({
    method: "POST",
    path: "/api/v1/templates/:id/unarchive",
    access: { permission: "templates:write" },
    mailsTo: "nobody",
    summary: "Activate a template again",
    output: Template,
    errors: ["not_found"],
    examples: [{ summary: "Unarchive", params: id }],
  }),
  preview: endpoint({
    method: "POST",
    path: "/api/v1/templates/:id/preview",
    access: { permission: "templates:read" },
    summary: "Render a template exactly as a send would, without sending",
    description: "Missing variables are listed, and keep their placeholders in the result.",
    body: z.strictObject({
      variables: Variables.optional(),
      version: z.int().min(1).max(MAX_INTEGER).optional().meta({ description: "A published version; the draft when absent" }),
    }),
    output: z
      .object({
        subject: z.string().nullable(),
        html: z.string().nullable(),
        text: z.string().nullable(),
        missingVariables: z.array(z.string()),
      })
      .meta({ id: "TemplatePreview" }),
    errors: ["not_found", "template_error"],
    examples: [{ summary: "With a name", params: id, body: { variables: { name: "Ada" } } }],
  }),
  render: endpoint({
    method: "POST",
    path: "/api/v1/templates/render",
    access: { permission: "templates:read" },
    tool: "template_render",
    summary: "Validate and render sources that are not stored, such as local files",
    description:
      "Layouts and partials come from the workspace unless they are given here by slug. An error is a template_error with its line and column.",
    body: z.strictObject({
      type: fields.type.default("transactional"),
      subject: fields.subject.optional(),
      html: fields.html.optional(),
      text: fields.text.optional(),
      blocks: fields.blocks.optional(),
      layout: fields.layout.optional(),
      declare: fields.variables.optional().meta({ description: "Declared variables" }),
      variables: Variables.optional(),
      parts: z
        .record(Slug, z.strictObject({ html: fields.html.optional(), text: fields.text.optional(), declare: fields.variables.optional() }))
        .refine((parts) => Object.keys(parts).length <= 100, { message: "At most 100 parts.", params: { code: "too_big" } })
        .optional()
        .meta({ description: "Layouts and partials by slug, overriding those of the workspace" }),
    }),
    output: z
      .object({
        subject: z.string().nullable(),
        html: z.string().nullable(),
        text: z.string().nullable(),
        missingVariables: z.array(z.string()),
        variables: z.array(TemplateVariable),
      })
      .meta({ id: "TemplateRendering" }),
    errors: ["template_error"],
    examples: [
      { summary: "A line of HTML", body: { html: "<p>Hi {{ name }}</p>", variables: { name: "Ada" } } },
      { summary: "Blocks", body: { blocks: [{ type: "heading", text: "Hi {{ name }}" }], variables: { name: "Ada" } } },
    ],
  }),
  test: endpoint({
    method: "POST",
    path: "/api/v1/templates/:id/test",
    access: { permission: "transactional:send" },
    mailsTo: "named",
    testKeys: true,
    summary: "Send a test of a template, or of its draft, to a few addresses",
    body: z.strictObject({
      to: z
        .union([EmailAddress, z.array(EmailAddress).min(1).max(TEMPLATE_LIMITS.testRecipients)])
        .meta({ description: "One address, or up to 5" }),
      variables: Variables.optional(),
      from: MailboxText.optional().meta({ description: "Overrides the template's sender" }),
      version: z.int().min(1).max(MAX_INTEGER).optional().meta({ description: "A published version; the draft when absent" }),
    }),
    output: TemplateSendResponse,
    bucket: "send",
    errors: ["not_found", "template_error", "missing_variables", "sender_not_verified", "recipient_suppressed", "queue_failed"],
    examples: [{ summary: "To yourself", params: id, body: { to: "you@example.com", variables: { name: "Ada" } } }],
  }),
  listTransactional: endpoint({
    method: "GET",
    path: "/api/v1/v1/templates",
    access: { permission: "templates:read" },
    summary: "List transactional templates, newest first",
    query: z.object({
      ...pageQuery,
      search: z.string().max(200).optional().meta({ description: "Part of the name or description" }),
      category: z.string().max(TEMPLATE_LIMITS.category).optional().meta({ description: "Only this category" }),
    }),
    output: pageSchema(Template),
    examples: [{ summary: "All" }],
  }),
  getBySlug: endpoint({
    method: "GET",
    path: "/api/v1/v1/templates/:slug",
    access: { permission: "templates:read" },
    summary: "Get a template by slug, with its variables",
    output: TemplateBySlug,
    errors: ["template_not_found"],
    examples: [{ summary: "Its variables", params: { slug: "order-shipped" } }],
  }),
  send: endpoint({
    method: "POST",
    path: "/api/v1/send/:slug",
    access: { permission: "transactional:send" },
    mailsTo: "named",
    testKeys: true,
    summary: "Send a published template to one or several recipients",
    description:
      "Sends the version that is published when the request is accepted. `recipientVariables` overrides `variables` for single recipients.",
    body: TemplateSendRequest,
    output: TemplateSendResponse,
    bucket: "send",
    errors: ["template_not_found", "template_error", "missing_variables", "sender_not_verified", "recipient_suppressed", "queue_failed"],
    examples: [
      { summary: "One recipient", params: { slug: "order-shipped" }, body: { to: "ada@example.com", variables: { name: "Ada" } } },
      {
        summary: "A batch, another subject",
        params: { slug: "order-shipped" },
        body: { to: ["ada@example.com", "grace@example.com"], subject: "Good news, {{ name }}", variables: { name: "friend" } },
      },
    ],
  }),
};
