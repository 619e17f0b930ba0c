import { MailboxText, ReplyTo, ShownReplyTo, SoughtAddress } from "./address.ts";
import { BatchEmail, BatchResponse, batchRequest } from "./batch.ts";
import { IcalEvent } from "./calendar.ts";
import { EMAIL_STATUSES } from "./email-states.ts";
import { endpoint } from "./endpoint.ts";
import { EMAIL_EVENT_TYPES } from "./event-types.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";
import { AcceptedRecipient, checkRecipients, EventRecipient, RECIPIENT_KINDS, recipientFields } from "./recipients.ts";
import {
  Attachments,
  atLeastOne,
  BypassUnsubscribe,
  Content,
  FailedRecipient,
  Headers,
  ScheduledAt,
  SEND_LIMITS,
  Subject,
  TagFilter,
  Tags,
  Tracking,
} from "./send-fields.ts";
import { SlugSendRequest, TemplateSendResponse } from "./template-send.ts";
import * as z from "./zod.ts";

/** The direct send request (docs/emails.md#sending). */
export const SendRequest = atLeastOne(
  z.strictObject({
    ...recipientFields,
    from: MailboxText,
    subject: Subject,
    html: Content.optional().meta({ description: "HTML body" }),
    text: Content.optional().meta({ description: "Plain-text body" }),
    replyTo: ReplyTo.optional(),
    headers: Headers.optional(),
    tags: Tags.optional(),
    attachments: Attachments.optional(),
    icalEvent: IcalEvent.optional(),
    scheduledAt: ScheduledAt.optional(),
    bypassUnsubscribe: BypassUnsubscribe.optional(),
    tracking: Tracking.optional(),
  }),
  ["html", "text"],
  "Give html, text or both.",
)
  .superRefine(checkRecipients)
  .meta({ id: "SendRequest" });
/** With html, text or both, as in the methods of the SDK. */
export type SendRequest = z.input<typeof SendRequest> & ({ html: string } | { text: string });

/** The states by which a list of emails can be filtered; `scheduled` are those `queued` for a `scheduledAt` in the future. */
export const EMAIL_FILTER_STATUSES = [...EMAIL_STATUSES, "scheduled"] as const;
export type EmailFilterStatus = (typeof EMAIL_FILTER_STATUSES)[number];

/** Reactions of readers by which a list of emails can be filtered. */
export const EMAIL_REACTIONS = ["opened", "clicked"] as const;
export type EmailReaction = (typeof EMAIL_REACTIONS)[number];

/** The response of a send: for one recipient, for an array of them, or for one mail to several recipients. */
export const SendResponse = z
  .union([
    z.object({
      id: z.string(),
      status: z.literal("queued"),
      recipients: z.array(AcceptedRecipient),
      failed: z.array(FailedRecipient).optional(),
    }),
    z.object({ id: z.string(), status: z.literal("queued") }),
    z.object({
      ids: z.array(z.string()),
      status: z.literal("queued"),
      count: z.int(),
      failed: z.array(FailedRecipient).optional(),
    }),
  ])
  .meta({ id: "SendResponse" });
export type SendResponse = z.infer<typeof SendResponse>;

/** Error of a delivery attempt, in the words of the receiving server. */
export const DeliveryError = z
  .object({
    message: z.string(),
    smtpCode: z.int().nullable(),
    enhancedCode: z.string().nullable(),
  })
  .meta({ id: "DeliveryError" });

/** A recipient of a mail, and how far it has come there. */
export const EmailRecipient = z
  .object({
    /** Its own id; that of the mail for the first one. */
    id: z.string(),
    email: z.string(),
    /** The name in the header; null without one. */
    name: z.string().nullable(),
    kind: z.enum(RECIPIENT_KINDS),
    status: z.enum(EMAIL_STATUSES),
    attempts: z.int(),
    /** True when a crash left it open whether the mail arrived there. */
    inDoubt: z.boolean(),
    /** The relay that had the last attempt there; null before the first attempt, and if it was captured. */
    relay: z.string().nullable(),
    lastError: DeliveryError.nullable(),
    /** Due time of the next attempt, while queued or deferred. */
    nextAttemptAt: Instant.nullable(),
    sentAt: Instant.nullable(),
    updatedAt: Instant,
  })
  .meta({ id: "EmailRecipient" });
export type EmailRecipient = z.infer<typeof EmailRecipient>;

export const Email = z
  .object({
    id: z.string(),
    /** Progress; for a mail to several recipients see docs/emails.md#one-mail-to-several-recipients. */
    status: z.enum(EMAIL_STATUSES),
    /** The first recipient. */
    to: z.string(),
    recipients: z.array(EmailRecipient),
    from: z.string(),
    /**
     * As its recipient reads it: that of a campaign is rendered, with the present fields of the contact. Answers to writes, such as
     * cancelling, give it as it was written.
     */
    subject: z.string(),
    /** Sent with a test key: captured instead of sent. */
    test: z.boolean(),
    tags: z.record(z.string(), z.string()),
    /** The template and version it was rendered from; null for a direct send. */
    template: z.object({ slug: z.string(), version: z.int() }).nullable(),
    /** The campaign and the contact it was sent for; null for other sends. */
    campaignId: z.string().nullable(),
    contactId: z.string().nullable(),
    /** The Message-ID header; the same on every attempt. */
    messageId: z.string(),
    attempts: z.int(),
    /** True when a crash happened between handing the message to the mail server and recording its reply. It was then sent again with the same Message-ID, so it may arrive twice. */
    inDoubt: z.boolean(),
    /** The relay that had the last attempt; null before the first attempt, and if it was captured. */
    relay: z.string().nullable(),
    lastError: DeliveryError.nullable(),
    createdAt: Instant,
    scheduledAt: Instant.nullable(),
    /** Due time of the next attempt, while queued or deferred. */
    nextAttemptAt: Instant.nullable(),
    sentAt: Instant.nullable(),
    updatedAt: Instant,
  })
  .meta({ id: "Email" });
export type Email = z.infer<typeof Email>;

export const EmailDetail = Email.extend({
  /** A mailbox, or auto: then each email has its own address, and replies to it are received. */
  replyTo: ShownReplyTo,
  /** The conversation: the id of its first mail, sent or received. */
  threadId: z.string(),
  /** Before links are tracked. As the subject, it is rendered for the recipient. */
  html: z.string().nullable(),
  text: z.string().nullable(),
  truncated: z.boolean().meta({
    description: "It was submitted over SMTP and is too large, or its parts are nested too deep, for html and text to be read whole",
  }),
  headers: z.record(z.string(), z.string()),
  attachments: z.array(z.object({ filename: z.string(), contentType: z.string(), contentId: z.string().nullable(), size: z.int() })),
  events: z.array(
    z.object({
      id: z.string(),
      type: z.enum(EMAIL_EVENT_TYPES),
      at: Instant,
      recipient: EventRecipient,
      data: z.record(z.string(), z.unknown()),
    }),
  ),
}).meta({ id: "EmailDetail" });
export type EmailDetail = z.infer<typeof EmailDetail>;

/** Filters of a list of emails, also of their states alone. */
export const emailFilters = {
  status: z
    .enum(EMAIL_FILTER_STATUSES)
    .optional()
    .meta({ description: "Only emails with a recipient in this state; scheduled: those queued for a later time" }),
  to: SoughtAddress.optional().meta({ description: "Only emails to this address, also by cc or bcc" }),
  template: z.string().max(100).optional().meta({ description: "Only emails of this template (its slug), without those of campaigns" }),
  campaign: z.string().max(100).optional().meta({ description: "Only emails of this campaign (its id)" }),
  since: Instant.optional().meta({ description: "Only emails accepted at this instant or later" }),
  until: Instant.optional().meta({ description: "Only emails accepted before this instant" }),
};

const hello = { from: "Acme <hello@acme.example>", subject: "Hello", text: "It works." };
const id = { id: "em_01jc3v2m9k8q4w6x0y5z7a1b2c" };

export const emails = {
  send: endpoint({
    method: "POST",
    path: "/api/v1/send",
    aliases: ["/api/v1/v1/emails/send"],
    access: { permission: "transactional:send" },
    mailsTo: "named",
    testKeys: true,
    bucket: "send",
    tool: "send",
    summary: "Send an email to one recipient, or to up to 50",
    description:
      "The response is sent once the message is stored durably. With an array in `to` each address gets a separate message, and the response has their `ids`. With `together`, `cc` or `bcc` it is one mail to all of them, and the response has its `id` and `recipients`. Either way `failed` lists recipients that could not be queued; it is an error only if none could.",
    body: SendRequest,
    output: SendResponse,
    errors: ["sender_not_verified", "recipient_suppressed", "queue_failed"],
    examples: [
      { summary: "One recipient", body: { ...hello, to: "ada@example.com" } },
      {
        summary: "One mail to several recipients",
        body: { ...hello, to: "Ada <ada@example.com>", cc: "grace@example.com", bcc: "archive@acme.example" },
      },
      {
        summary: "A message for each of two recipients",
        body: { ...hello, to: ["ada@example.com", "grace@example.com"], tags: { kind: "welcome" } },
      },
      {
        summary: "Tomorrow, with a file",
        body: {
          ...hello,
          to: "ada@example.com",
          scheduledAt: "2030-01-31T09:30:00Z",
          attachments: [{ filename: "hi.txt", content: "aGk=" }],
        },
      },
      {
        summary: "With open and click tracking",
        body: {
          from: hello.from,
          to: "ada@example.com",
          subject: "News",
          html: '<p><a href="https://acme.example/news">Read on</a></p>',
          tracking: { opens: true, clicks: true, utm: { source: "newsletter" } },
        },
      },
    ],
  }),
  sendTemplate: endpoint({
    method: "POST",
    path: "/api/v1/v1/emails/send-template",
    access: { permission: "transactional:send" },
    mailsTo: "named",
    testKeys: true,
    summary: "Send a published template by slug and variables",
    description: "Like templates.send, with the slug in the body.",
    body: SlugSendRequest,
    output: TemplateSendResponse,
    bucket: "send",
    errors: ["template_not_found", "template_error", "missing_variables", "sender_not_verified", "recipient_suppressed", "queue_failed"],
    examples: [{ summary: "One recipient", body: { slug: "order-shipped", to: "ada@example.com", variables: { name: "Ada" } } }],
  }),
  sendBatch: endpoint({
    method: "POST",
    path: "/api/v1/send/batch",
    access: { permission: "transactional:send" },
    mailsTo: "batch",
    testKeys: true,
    bucket: "send",
    summary: "Send up to 100 different emails in one request",
    description:
      "Each email has the fields of a single send, or `template` with the slug of a published template; its result is what a single send responds. All are queued by one commit. With mode strict, none is queued if one cannot be: the error lists the faults by index, such as `emails[3].to`. With permissive, each succeeds or fails for itself. Besides the Idempotency-Key of the request, each email may have its own `idempotencyKey`; one that was queued before is `replayed`. A batch counts as one request of the rate limit.",
    body: batchRequest(BatchEmail),
    looseBody: batchRequest(z.unknown()),
    output: BatchResponse,
    errors: [
      "batch_refused",
      "sender_not_verified",
      "recipient_suppressed",
      "template_not_found",
      "template_error",
      "missing_variables",
      "queue_failed",
    ],
    examples: [
      {
        summary: "Two different emails",
        body: {
          emails: [
            { ...hello, to: "ada@example.com", idempotencyKey: "receipt-1042" },
            { template: "order-shipped", to: "grace@example.com", variables: { name: "Grace" } },
          ],
        },
      },
      { summary: "All that can be sent", body: { mode: "permissive", emails: [{ ...hello, to: "ada@example.com" }] } },
    ],
  }),
  list: endpoint({
    method: "GET",
    path: "/api/v1/emails",
    access: { permission: "transactional:read" },
    tool: "emails_list",
    summary: "List emails, newest first",
    description:
      "A mail to several recipients is listed once, if one of them matches all filters. The filters `reaction` and from `from` to `until` look through the newest 1,000 emails that the index of one filter yields: a page may be short or empty although more emails follow after `nextCursor`.",
    query: z.object({
      ...pageQuery,
      ...emailFilters,
      reaction: z
        .enum(EMAIL_REACTIONS)
        .optional()
        .meta({ description: "Only emails that a person has opened, or clicked in; machines do not count" }),
      inDoubt: z.stringbool().optional().meta({ description: "Only emails that a crash left in doubt: they may arrive twice" }),
      from: SoughtAddress.optional().meta({ description: "Only emails from this address" }),
      subject: z.string().min(1).max(SEND_LIMITS.subject).optional().meta({
        description:
          "Only emails whose subject begins with this, in upper or lower case; of a campaign, the subject as it was written, with its variables",
      }),
      tag: TagFilter.optional().meta({ description: "Only emails with this tag: name=value", examples: ["kind=report"] }),
      automation: z.string().max(100).optional().meta({ description: "Only emails that this automation has sent (its id)" }),
      thread: z.string().max(100).optional().meta({ description: "Only answers that continue this conversation (its threadId)" }),
      test: z.stringbool().default(false).meta({ description: "Emails of test keys, instead of all others; always so with a test key" }),
    }),
    output: pageSchema(Email),
    examples: [
      { summary: "Bounced emails", query: { status: "bounced" } },
      { summary: "With a tag, of one day", query: { tag: "kind=report", since: "2026-01-31T00:00:00Z", until: "2026-02-01T00:00:00Z" } },
      { summary: "Mail of test keys", query: { test: "true" } },
    ],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/emails/:id",
    access: { permission: "transactional:read" },
    summary: "Get one email with its content and history",
    description: "The id of a recipient gives the mail, too.",
    uncompressed: true,
    output: EmailDetail,
    errors: ["not_found"],
    examples: [{ summary: "Get", params: id }],
  }),
  cancel: endpoint({
    method: "POST",
    path: "/api/v1/emails/:id/cancel",
    access: { permission: "transactional:send" },
    mailsTo: "nobody",
    testKeys: true,
    summary: "Cancel an email that has not been sent yet",
    description:
      "Possible while the email is queued or deferred; of a mail to several recipients, for those it has not been sent to. Cancelling it again changes nothing.",
    output: Email,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "Cancel", params: id }],
  }),
  reschedule: endpoint({
    method: "PATCH",
    path: "/api/v1/emails/:id",
    access: { permission: "transactional:send" },
    mailsTo: "nobody",
    testKeys: true,
    summary: "Move a scheduled email to another time",
    body: z.strictObject({
      scheduledAt: ScheduledAt.meta({ description: `The new instant (ISO 8601), at most ${SEND_LIMITS.scheduleDays} days ahead` }),
    }),
    output: Email,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "Later", params: id, body: { scheduledAt: "2030-02-01T09:30:00Z" } }],
  }),
  requeue: endpoint({
    method: "POST",
    path: "/api/v1/emails/:id/requeue",
    access: { permission: "transactional:send" },
    mailsTo: "one",
    testKeys: true,
    summary: "Try a deferred email again now",
    description:
      "Instead of at its nextAttemptAt. The attempt counts as one of the ten. Of a mail to several recipients, all deferred ones, or the one that `to` names; the others get nothing again. A recipient whose attempt is due already stays as it is. An email that was bounced or given up is over: send it again.",
    body: z.strictObject({
      to: SoughtAddress.optional().meta({ description: "Only this recipient" }),
    }),
    output: Email,
    errors: ["not_found", "invalid_state"],
    examples: [
      { summary: "All deferred recipients", params: id, body: {} },
      { summary: "One recipient", params: id, body: { to: "ada@example.com" } },
    ],
  }),
};
