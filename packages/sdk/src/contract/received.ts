import { EmailAddress, MailboxText } from "./address.ts";
import { endpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { Message } from "./marketplace/messages.ts";
import { Slug } from "./marketplace/text.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";
import { AcceptedRecipient } from "./recipients.ts";
import { Attachments, atLeastOne, Content, Subject } from "./send-fields.ts";
import * as z from "./zod.ts";

export const RECEIVED_LIMITS = limits("received", "Received mail", {
  message: [25 * 1024 * 1024, "a mail with its files", "bytes"],
  text: [1024 * 1024, "text, and HTML, each, as the API shows it", "characters"],
  mailsPerDay: [10_000, "mails that a workspace receives in a day (UTC)"],
  bytesPerDay: [2 * 1024 * 1024 * 1024, "mails that a workspace receives in a day (UTC), all together", "bytes"],
  personalPerHour: [20, "mails of one sender within an hour that count as written by a person"],
});

/** A response that is a file: bytes as they are stored, in whatever charset. */
export const Bytes = z
  .custom<Uint8Array>((value) => value instanceof Uint8Array)
  .meta({ type: "string", format: "binary", description: "The bytes of a file" });

/**
 * Reasons a received mail counts as automatic (RFC 3834): its sender is empty or the address of a program; a header says so; it came
 * through a mailing list; or its sender writes faster than people do.
 */
export const AUTO_REPLY_REASONS = [
  "null_sender",
  "program_address",
  "auto_submitted",
  "precedence",
  "mailing_list",
  "loop",
  "too_many",
] as const;
export type AutoReplyReason = (typeof AUTO_REPLY_REASONS)[number];

const AUTHENTICATION_RESULTS = ["pass", "fail", "softfail", "neutral", "none", "policy", "temperror", "permerror"] as const;

/** Results of SPF, DKIM and DMARC for the sender of a received mail. */
export const MailAuthentication = z
  .object({
    /** `pass` if the envelope sender's domain lets the server send for it; null for mail through a server of --inbound-trust. */
    spf: z.enum(AUTHENTICATION_RESULTS).nullable(),
    /** `pass` if a signature is valid. */
    dkim: z.enum(AUTHENTICATION_RESULTS),
    /** `pass` if SPF or DKIM pass for the domain in From; null when that depends on SPF, which was not checked. */
    dmarc: z.enum(AUTHENTICATION_RESULTS).nullable(),
    /** The domains whose signature is valid. */
    signers: z.array(z.string()),
    /** Policy of the domain in From for mail that fails DMARC; null without one. */
    policy: z.enum(["none", "quarantine", "reject"]).nullable(),
    /** Reason a result is unknown, as a sentence. */
    reason: z.string().nullable(),
  })
  .meta({ id: "MailAuthentication" });
export type MailAuthentication = z.infer<typeof MailAuthentication>;

export const ReceivedMail = z
  .object({
    id: z.string(),
    /** The conversation: the id of its first mail, sent or received. */
    threadId: z.string(),
    /** The email it answers; null when it answers none of yours, or only names one that did not go to its sender. */
    emailId: z.string().nullable(),
    /** The contact that was written to, or that has the sender's address; null without one. */
    contactId: z.string().nullable(),
    /** The campaign of the email it answers. */
    campaignId: z.string().nullable(),
    /** The address it came to. */
    to: z.string(),
    /** The address in its From header, null when that is not an address. A sender can write any address there: see `authentication`. */
    from: z.string().nullable(),
    fromName: z.string().nullable(),
    subject: z.string(),
    messageId: z.string().nullable(),
    /** Reason it counts as automatic; null for a person's mail. */
    autoReply: z.enum(AUTO_REPLY_REASONS).nullable(),
    /** The number of its files. */
    attachmentCount: z.int(),
    /** Results of SPF, DKIM and DMARC; null for mail that did not come over SMTP. Only `pass` says something for the sender. */
    authentication: MailAuthentication.nullable(),
    size: z.int().meta({ description: "Bytes of the raw message" }),
    /** True if it answers an email of a test key. */
    test: z.boolean(),
    receivedAt: Instant,
  })
  .meta({ id: "ReceivedMail" });
export type ReceivedMail = z.infer<typeof ReceivedMail>;

/** A file of a received mail. */
export const ReceivedAttachment = z
  .object({
    /** Its place in the mail, from 1. */
    number: z.int(),
    filename: z.string(),
    contentType: z.string(),
    contentId: z.string().nullable(),
    size: z.int(),
  })
  .meta({ id: "ReceivedAttachment" });
export type ReceivedAttachment = z.infer<typeof ReceivedAttachment>;

export const ReceivedMailDetail = ReceivedMail.extend({
  /** Its text: of the text part, else of the HTML part. */
  text: z.string(),
  html: z.string().nullable(),
  /** The text without the mail that it quotes, and without what mail programs write above a quotation. */
  reply: z.string(),
  /** Addresses for an answer: those in its Reply-To header, at most 50, else the one in From; empty when there is none. */
  replyTo: z.array(z.string()),
  /** In-Reply-To and References: the Message-IDs of the mails before it, oldest first. */
  references: z.array(z.string()),
  headers: z.array(z.object({ name: z.string(), value: z.string() })),
  attachments: z.array(ReceivedAttachment),
  /** True when a text is longer than a megabyte, or the mail has more parts than are read: only the raw message is complete. */
  truncated: z.boolean(),
}).meta({ id: "ReceivedMailDetail" });
export type ReceivedMailDetail = z.infer<typeof ReceivedMailDetail>;

/** An answer to a received mail. */
export const ReceivedReplyRequest = atLeastOne(
  z.strictObject({
    text: Content.optional().meta({ description: "Plain-text body" }),
    html: Content.optional().meta({ description: "HTML body" }),
    from: MailboxText.optional().meta({
      description: "Sender; without it the one of the email that was answered, else the address the mail came to",
    }),
    subject: Subject.optional().meta({ description: "Without it, the mail's subject after Re:" }),
    attachments: Attachments.optional(),
  }),
  ["text", "html"],
  "Give text, html or both.",
).meta({ id: "ReceivedReplyRequest" });

const read = { permission: "received:read" } as const;
const params = { id: "rcv_01jc3v2m9k8q4w6x0y5z7a1b2c" };

export const received = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/received",
    access: read,
    summary: "List received mail, newest first",
    query: z.object({
      ...pageQuery,
      from: EmailAddress.optional().meta({ description: "Only mail from this address" }),
      to: EmailAddress.optional().meta({ description: "Only mail to this address" }),
      thread: z.string().max(100).optional().meta({ description: "Only mail of this conversation (its threadId)" }),
      email: z.string().max(100).optional().meta({ description: "Only answers to this email (its id)" }),
      autoReply: z.stringbool().optional().meta({ description: "Only automatic mail (true), or only mail by people (false)" }),
      since: Instant.optional().meta({ description: "Only mail received at this instant or later" }),
      until: Instant.optional().meta({ description: "Only mail received before this instant" }),
      test: z
        .stringbool()
        .default(false)
        .meta({ description: "Answers to emails of test keys, instead of all others; always so with a test key" }),
    }),
    output: pageSchema(ReceivedMail),
    examples: [{ summary: "Mail by people", query: { autoReply: "false" } }],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/received/:id",
    access: read,
    summary: "Get one received mail with its texts and headers",
    uncompressed: true,
    output: ReceivedMailDetail,
    errors: ["not_found"],
    examples: [{ summary: "Get", params }],
  }),
  attachments: endpoint({
    method: "GET",
    path: "/api/v1/received/:id/attachments",
    access: read,
    summary: "List the files of a received mail",
    output: z.object({ data: z.array(ReceivedAttachment) }),
    errors: ["not_found"],
    examples: [{ summary: "List", params }],
  }),
  attachment: endpoint({
    method: "GET",
    path: "/api/v1/received/:id/attachments/:number",
    access: read,
    summary: "Download a file of a received mail",
    description: "The bytes as they were sent. Nothing has been checked: treat the file as a stranger's.",
    output: Bytes,
    produces: "application/octet-stream",
    errors: ["not_found"],
    examples: [{ summary: "The first file", params: { ...params, number: "1" } }],
  }),
  raw: endpoint({
    method: "GET",
    path: "/api/v1/received/:id/raw",
    access: read,
    summary: "Download a received mail as it came",
    output: Bytes,
    produces: "message/rfc822",
    errors: ["not_found"],
    examples: [{ summary: "Download", params }],
  }),
  reply: endpoint({
    method: "POST",
    path: "/api/v1/received/:id/reply",
    access: { permission: "transactional:send" },
    mailsTo: "answer",
    bucket: "send",
    summary: "Answer a received mail",
    description:
      "Sends an email to its sender that mail programs show in the same conversation, and that has the same threadId here. When its Reply-To names several addresses, it is one mail to all of them, and `recipients` says which of them are suppressed. Who unsubscribed gets it only as the sender, or as the recipient of the email that was answered. Automatic mail cannot be answered, so that two programs never write to each other.",
    body: ReceivedReplyRequest,
    output: z.object({
      id: z.string(),
      status: z.literal("queued"),
      threadId: z.string(),
      /** Only when it goes to several addresses. */
      recipients: z.array(AcceptedRecipient).optional(),
    }),
    errors: ["not_found", "invalid_state", "sender_not_verified", "recipient_suppressed", "queue_failed"],
    examples: [{ summary: "Answer", params, body: { text: "Thank you, we have changed it." } }],
  }),
  passOn: endpoint({
    method: "POST",
    path: "/api/v1/received/:id/pass-on",
    access: { permission: "marketplace:write" },
    mailsTo: "unknown",
    summary: "Pass a received mail on to an agent",
    description:
      "Posts what its sender wrote, without what it quotes, as your message to an agent that you have turned on. Its headers and files stay here; addresses and names of the sender and the recipients are replaced by [address] and [name]. Needs received:read as well. Passing it on again returns the same message. Deleting the mail, or erasing the person, removes the text from the message.",
    body: z.strictObject({ agent: Slug.meta({ description: "Slug of the agent" }) }),
    status: [201, 200],
    output: Message,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "To one agent", params, body: { agent: "launch-writer" } }],
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/api/v1/received/:id",
    access: { permission: "received:write" },
    mailsTo: "nobody",
    summary: "Delete a received mail with its files",
    output: ReceivedMail,
    errors: ["not_found"],
    examples: [{ summary: "Delete", params }],
  }),
};
