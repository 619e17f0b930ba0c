import { z } from "zod";
import { addressKey, EmailAddress, MailboxText, parseAddress } from "./address.ts";
import { endpoint } from "./endpoint.ts";
import { ERROR_CODES } from "./errors.ts";
import { Instant, pageOf, pageQuery } from "./page.ts";

/** Limits of a send (SPEC 8, and what peers allow where SPEC is silent). Sizes in bytes. */
export const SEND_LIMITS = {
  recipients: 50,
  subject: 998,
  content: 5 * 1024 * 1024,
  headers: 50,
  headerValue: 2000,
  tags: 50,
  tagValue: 256,
  attachments: 20,
  attachmentBytes: 20 * 1024 * 1024,
  /** How far ahead a send may be scheduled. */
  scheduleDays: 365,
} as const;

/** Headers the service writes itself, or that would change what the message is (SPEC 2: custom headers). */
const RESERVED =
  /^(?:from|to|cc|bcc|subject|date|sender|reply-to|message-id|return-path|received|mime-version|content-.*|resent-.*|dkim-.*|arc-.*|authentication-results|domainkey-.*|delivered-to|x-mailsvc-.*)$/i;

const issue = (ctx: z.RefinementCtx, path: (string | number)[], code: string, message: string): void => {
  ctx.addIssue({ code: "custom", path, message, params: { code } });
};

/** True when a text holds what must never reach a mail header: line breaks, NUL, other controls, lone surrogates. */
const unsafe = (text: string): boolean => /[\p{Cc}\u2028\u2029]/u.test(text) || !text.isWellFormed();

const Subject = z
  .string()
  .min(1)
  .max(SEND_LIMITS.subject)
  .refine((s) => !unsafe(s), { message: "A subject holds no line breaks or control characters.", params: { code: "invalid_characters" } })
  .meta({ description: "Subject line, up to 998 characters" });

const Headers = z
  .record(z.string(), z.string())
  .superRefine((headers, ctx) => {
    const names = Object.keys(headers);
    if (names.length > SEND_LIMITS.headers) issue(ctx, [], "too_big", `At most ${SEND_LIMITS.headers} headers.`);
    const seen = new Set<string>();
    for (const name of names) {
      const value = headers[name] as string;
      if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,76}$/.test(name))
        issue(ctx, [name], "invalid_header", "A header name is 1 to 76 letters, digits and dashes.");
      else if (RESERVED.test(name)) issue(ctx, [name], "reserved_header", `${name} is written by the service. Leave it out.`);
      else if (seen.has(name.toLowerCase())) issue(ctx, [name], "duplicate", `${name} is given twice.`);
      else if (unsafe(value)) issue(ctx, [name], "invalid_characters", "A header value holds no line breaks or control characters.");
      else if (value.length > SEND_LIMITS.headerValue)
        issue(ctx, [name], "too_big", `A header value is at most ${SEND_LIMITS.headerValue} characters.`);
      seen.add(name.toLowerCase());
    }
  })
  .meta({ description: "Custom headers, name to value" });

const Tags = z
  .record(z.string(), z.string())
  .superRefine((tags, ctx) => {
    if (Object.keys(tags).length > SEND_LIMITS.tags) issue(ctx, [], "too_big", `At most ${SEND_LIMITS.tags} tags.`);
    for (const [name, value] of Object.entries(tags)) {
      if (!/^[A-Za-z0-9_.:-]{1,64}$/.test(name))
        issue(ctx, [name], "invalid_tag", "A tag name is 1 to 64 letters, digits, and _ . : - only.");
      if (value.length > SEND_LIMITS.tagValue) issue(ctx, [name], "too_big", `A tag value is at most ${SEND_LIMITS.tagValue} characters.`);
      if (unsafe(value)) issue(ctx, [name], "invalid_characters", "A tag value holds no line breaks or control characters.");
    }
  })
  .meta({ description: "Your own tracking tags, name to value; not sent to the recipient" });

export const Attachment = z
  .strictObject({
    filename: z
      .string()
      .min(1)
      .max(255)
      .refine((s) => !unsafe(s) && !/[/\\]/.test(s), {
        message: "A file name holds no slashes, line breaks or control characters.",
        params: { code: "invalid_characters" },
      })
      .meta({ description: "Name the recipient sees" }),
    content: z.base64().meta({ description: "The file, base64" }),
    contentType: z
      .string()
      .max(127)
      .regex(
        /^[A-Za-z0-9!#$&^_.+-]+\/[A-Za-z0-9!#$&^_.+-]+(?:; ?charset=[A-Za-z0-9_-]+)?$/,
        "A media type such as application/pdf is needed.",
      )
      .refine((t) => !/^(?:multipart|message)\//i.test(t), {
        message: "multipart/* and message/* cannot be attached.",
        params: { code: "invalid_format" },
      })
      .optional()
      .meta({ description: "Media type; guessed from the name when absent" }),
    contentId: z
      .string()
      .regex(/^[A-Za-z0-9_.@+-]{1,128}$/, "1 to 128 letters, digits, and _ . @ + - are needed.")
      .optional()
      .meta({ description: "Shows it inline: <img src='cid:…'>" }),
  })
  .meta({ id: "Attachment" });

/** Bytes behind a base64 text. */
const decodedSize = (base64: string): number =>
  Math.floor((base64.length * 3) / 4) - (base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0);

const Content = z
  .string()
  .min(1)
  .refine((s) => s.isWellFormed(), {
    message: "The text is not valid Unicode (a lone surrogate).",
    params: { code: "invalid_characters" },
  })
  // No mail may carry it (RFC 5322), and no Postgres text can hold it.
  .refine((s) => !s.includes("\0"), { message: "The text holds a U+0000 character.", params: { code: "invalid_characters" } })
  // A character is up to three bytes; only long texts are worth counting exactly.
  .refine((s) => s.length * 3 <= SEND_LIMITS.content || new TextEncoder().encode(s).length <= SEND_LIMITS.content, {
    message: "At most 5 MiB.",
    params: { code: "too_big" },
  });

const recipients = z.union([
  EmailAddress,
  z
    .array(EmailAddress)
    .min(1)
    .max(SEND_LIMITS.recipients)
    .superRefine((list, ctx) => {
      const seen = new Map<string, number>();
      list.forEach((text, i) => {
        let key = "";
        try {
          key = addressKey(parseAddress(text).address);
        } catch {
          return; // Named already by the element's own check.
        }
        const first = seen.get(key);
        if (first === undefined) seen.set(key, i);
        else issue(ctx, [i], "duplicate", `Repeats to[${first}]; each recipient may stand once.`);
      });
    }),
]);

/** The direct send request (SPEC 2), with attachments and scheduling as users of peers expect. */
export const SendRequest = z
  .strictObject({
    to: recipients.meta({ description: "One address, or up to 50 in an array; each gets a message of its own" }),
    from: MailboxText,
    subject: Subject,
    html: Content.optional().meta({ description: "HTML body" }),
    text: Content.optional().meta({ description: "Plain-text body" }),
    replyTo: MailboxText.optional().meta({ description: "Where answers go" }),
    headers: Headers.optional(),
    tags: Tags.optional(),
    attachments: z
      .array(Attachment)
      .max(SEND_LIMITS.attachments)
      .refine((list) => list.reduce((sum, a) => sum + decodedSize(a.content), 0) <= SEND_LIMITS.attachmentBytes, {
        message: "At most 20 MiB of attachments.",
        params: { code: "too_big" },
      })
      .optional()
      .meta({ description: "Files, up to 20 and 20 MiB in all" }),
    scheduledAt: Instant.optional().meta({ description: "Send later, at this instant (ISO 8601)" }),
  })
  .superRefine((body, ctx) => {
    if (body.html === undefined && body.text === undefined) issue(ctx, ["html"], "required", "Give html, text or both.");
  })
  .meta({ id: "SendRequest" });
export type SendRequest = z.input<typeof SendRequest>;

/** One recipient of a batch that was not queued, and why. */
export const FailedRecipient = z.object({ to: z.string(), code: z.enum(ERROR_CODES), message: z.string() });

/** Send answers (SPEC 2): one recipient, or a batch. */
export const SendResponse = z.union([
  z.object({ id: z.string(), status: z.literal("queued") }),
  z.object({
    ids: z.array(z.string()),
    status: z.literal("queued"),
    count: z.int(),
    failed: z.array(FailedRecipient).optional(),
  }),
]);
export type SendResponse = z.infer<typeof SendResponse>;

export const EMAIL_STATUSES = [
  "queued",
  "sending",
  "sent",
  "delivered",
  "deferred",
  "bounced",
  "complained",
  "failed",
  "suppressed",
  "cancelled",
] as const;
export type EmailStatus = (typeof EMAIL_STATUSES)[number];

export const EMAIL_EVENT_TYPES = [
  "email.queued",
  "email.sent",
  "email.delivered",
  "email.deferred",
  "email.opened",
  "email.clicked",
  "email.bounced",
  "email.complained",
  "email.failed",
  "email.suppressed",
  "email.cancelled",
  "email.rescheduled",
] as const;

/** Why a delivery attempt did not succeed, as the other side put it. */
export const DeliveryError = z.object({
  message: z.string(),
  smtpCode: z.int().nullable(),
  enhancedCode: z.string().nullable(),
});

export const Email = z
  .object({
    id: z.string(),
    status: z.enum(EMAIL_STATUSES),
    to: z.string(),
    from: z.string(),
    subject: z.string(),
    tags: z.record(z.string(), z.string()),
    /** The Message-ID header; the same on every attempt. */
    messageId: z.string(),
    attempts: z.int(),
    /** The server was killed between handing the message over and noting the answer, so it was sent again with the same Message-ID. */
    inDoubt: z.boolean(),
    lastError: DeliveryError.nullable(),
    createdAt: Instant,
    scheduledAt: Instant.nullable(),
    /** When the next attempt is due, while queued or deferred. */
    nextAttemptAt: Instant.nullable(),
    sentAt: Instant.nullable(),
    updatedAt: Instant,
  })
  .meta({ id: "Email" });
export type Email = z.infer<typeof Email>;

export const EmailDetail = Email.extend({
  replyTo: z.string().nullable(),
  html: z.string().nullable(),
  text: z.string().nullable(),
  headers: z.record(z.string(), z.string()),
  attachments: z.array(z.object({ filename: z.string(), contentType: z.string(), contentId: z.string().nullable(), size: z.int() })),
  events: z.array(
    z.object({ id: z.string(), sequence: z.int(), type: z.enum(EMAIL_EVENT_TYPES), at: Instant, data: z.record(z.string(), z.unknown()) }),
  ),
}).meta({ id: "EmailDetail" });
export type EmailDetail = z.infer<typeof EmailDetail>;

const hello = { from: "Acme <hello@acme.example>", subject: "Hello", text: "It works." };
const id = { id: "em_01jc3v2m9k8q4w6x0y5z7a1b2c" };

export const emails = {
  send: endpoint({
    method: "POST",
    path: "/api/v1/send",
    aliases: ["/api/v1/v1/emails/send"],
    access: { permission: "transactional:send" },
    bucket: "send",
    summary: "Send an email to one recipient, or to up to 50",
    description:
      "Answered only once the message is durable. An array in `to` is a batch: each address gets a message of its own, and those that could not be queued stand in `failed`. Only a batch in which nobody could be queued is an error.",
    body: SendRequest,
    output: SendResponse,
    errors: ["sender_not_verified", "recipient_suppressed", "queue_failed"],
    examples: [
      { summary: "One recipient", body: { ...hello, to: "ada@example.com" } },
      { summary: "A batch", body: { ...hello, to: ["ada@example.com", "grace@example.com"], tags: { kind: "welcome" } } },
      {
        summary: "Tomorrow, with a file",
        body: {
          ...hello,
          to: "ada@example.com",
          scheduledAt: "2030-01-31T09:30:00Z",
          attachments: [{ filename: "hi.txt", content: "aGk=" }],
        },
      },
    ],
  }),
  list: endpoint({
    method: "GET",
    path: "/api/v1/emails",
    access: { permission: "transactional:read" },
    summary: "List emails, newest first",
    query: z.object({
      ...pageQuery,
      status: z.enum(EMAIL_STATUSES).optional().meta({ description: "Only emails in this state" }),
      to: EmailAddress.optional().meta({ description: "Only emails to this address" }),
      inDoubt: z.stringbool().optional().meta({ description: "Only emails whose delivery a crash left in doubt" }),
    }),
    output: pageOf(Email),
    examples: [{ summary: "What bounced", query: { status: "bounced" } }],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/emails/:id",
    access: { permission: "transactional:read" },
    summary: "Get one email with its content and history",
    output: EmailDetail,
    errors: ["not_found"],
    examples: [{ summary: "Get", params: id }],
  }),
  cancel: endpoint({
    method: "POST",
    path: "/api/v1/emails/:id/cancel",
    access: { permission: "transactional:send" },
    summary: "Cancel an email that has not been handed over yet",
    description: "Works while the email is queued or deferred. Cancelling twice is harmless.",
    output: Email,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "Cancel", params: id }],
  }),
  reschedule: endpoint({
    method: "PATCH",
    path: "/api/v1/emails/:id",
    access: { permission: "transactional:send" },
    summary: "Move a scheduled email to another time",
    body: z.strictObject({ scheduledAt: Instant.meta({ description: "The new instant (ISO 8601)" }) }),
    output: Email,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "Later", params: id, body: { scheduledAt: "2030-02-01T09:30:00Z" } }],
  }),
};
