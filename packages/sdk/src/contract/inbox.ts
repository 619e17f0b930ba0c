import { EmailAddress } from "./address.ts";
import { CapturedCalendar } from "./calendar.ts";
import { endpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";
import { ReceivedMail } from "./received.ts";
import { Attachments, Content, SEND_LIMITS, TagFilter } from "./send-fields.ts";
import * as z from "./zod.ts";

export const INBOX_LIMITS = limits("testInbox", "Captured mail", {
  releasedTo: [5, "addresses that one call sends a captured mail on to"],
  waits: [50, "requests of a workspace that wait for test mail at a time, on each server"],
});

export const CapturedMail = z
  .object({
    id: z.string(),
    /** The email that was delivered; null for a mail of the service itself, such as a confirmation. */
    emailId: z.string().nullable(),
    workspaceId: z.string().nullable(),
    to: z.string(),
    from: z.string(),
    subject: z.string(),
    size: z.int().meta({ description: "Bytes of the raw message" }),
    receivedAt: Instant,
  })
  .meta({ id: "CapturedMail" });
export type CapturedMail = z.infer<typeof CapturedMail>;

export const CapturedMailDetail = CapturedMail.extend({
  headers: z.array(z.object({ name: z.string(), value: z.string() })),
  html: z.string().nullable(),
  text: z.string().nullable(),
  links: z.array(z.string()).meta({ description: "Targets of its links, from the HTML and then from the text, each once" }),
  codes: z.array(z.string()).meta({ description: "Numbers of 4 to 8 digits outside of links, as sign-in mails have them" }),
  attachments: z.array(z.object({ filename: z.string(), contentType: z.string(), contentId: z.string().nullable(), size: z.int() })),
  icalEvent: CapturedCalendar.nullable().meta({ description: "The invitation among its alternatives; null without one" }),
  truncated: z
    .boolean()
    .meta({ description: "It is too large, or its parts are nested too deep, to be read whole; the raw source has all of it" }),
}).meta({ id: "CapturedMailDetail" });
export type CapturedMailDetail = z.infer<typeof CapturedMailDetail>;

const release = {
  waitSeconds: 45,
  body: z.strictObject({
    to: z
      .union([EmailAddress, z.array(EmailAddress).min(1).max(INBOX_LIMITS.releasedTo)])
      .meta({ description: "One address, or up to 5, which --release-to must allow" }),
  }),
  output: z
    .object({
      released: z.array(z.object({ to: z.string(), response: z.string().meta({ description: "What the mail server said" }) })),
      failed: z.array(z.object({ to: z.string(), message: z.string() })),
    })
    .meta({ id: "ReleasedMail" }),
};

const match = {
  to: z.string().max(320).optional().meta({ description: "Recipient address, exactly" }),
  from: z.string().max(320).optional().meta({ description: "Part of the From header" }),
  subject: z.string().max(998).optional().meta({ description: "Part of the subject" }),
  workspace: z.string().max(64).optional().meta({ description: "Only mail of this workspace, by its id or its name" }),
  tag: TagFilter.optional().meta({ description: "Only mail of emails with this tag: name=value", examples: ["kind=report"] }),
};

const search = {
  text: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: "Part of the subject, an address or the body, in upper or lower case; looks through the newest 1,000 mails" }),
};

const id = { id: "mail_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const read = { permission: "transactional:read" } as const;
const { workspace: _, ...ownMatch } = match;
const wait = {
  after: z
    .string()
    .max(64)
    .optional()
    .meta({ description: "Only mail captured after the one with this id; with now, only mail that is captured while this waits" }),
  since: Instant.optional().meta({ description: "Only mail captured at this instant or later" }),
  timeout: z.coerce.number().min(0).max(120).default(10).meta({ description: "Seconds of real time to wait, at most 120" }),
};

export const inbox = {
  list: endpoint({
    method: "GET",
    path: "/__dev/inbox",
    access: "dev",
    summary: "List captured mail, newest first",
    query: z.object({ ...pageQuery, ...match, ...search }),
    output: pageSchema(CapturedMail),
    examples: [
      { summary: "Mail to Ada", query: { to: "ada@example.com" } },
      { summary: "Mail that has a text", query: { text: "your order" } },
    ],
  }),
  wait: endpoint({
    method: "GET",
    path: "/__dev/inbox/wait",
    access: "dev",
    summary: "Wait for a matching mail and return it",
    description:
      "Considers mail already captured, oldest first; with `after`, only mail captured after that one, with `after=now` only mail that comes from then on, with `since` only mail of that time. Responds with 404 when the time is over.",
    query: z.object({
      ...match,
      ...wait,
    }),
    uncompressed: true,
    output: CapturedMailDetail,
    errors: ["not_found"],
    examples: [{ summary: "Wait for the welcome mail", query: { to: "ada@example.com", subject: "Welcome" } }],
  }),
  get: endpoint({
    method: "GET",
    path: "/__dev/inbox/:id",
    access: "dev",
    summary: "Get one captured mail, parsed",
    uncompressed: true,
    output: CapturedMailDetail,
    errors: ["not_found"],
    examples: [{ summary: "Get", params: id }],
  }),
  html: endpoint({
    method: "GET",
    path: "/__dev/inbox/:id/html",
    access: "dev",
    summary: "Get the HTML part of a captured mail",
    output: z.string(),
    produces: "text/html",
    errors: ["not_found"],
    examples: [{ summary: "Get", params: id }],
  }),
  text: endpoint({
    method: "GET",
    path: "/__dev/inbox/:id/text",
    access: "dev",
    summary: "Get the text part of a captured mail",
    output: z.string(),
    produces: "text/plain",
    errors: ["not_found"],
    examples: [{ summary: "Get", params: id }],
  }),
  raw: endpoint({
    method: "GET",
    path: "/__dev/inbox/:id/raw",
    access: "dev",
    summary: "Get the raw source of a captured mail",
    output: z.string(),
    produces: "message/rfc822",
    errors: ["not_found"],
    examples: [{ summary: "Get", params: id }],
  }),
  reply: endpoint({
    method: "POST",
    path: "/__dev/inbox/:id/reply",
    access: "dev",
    summary: "Answer a captured mail as its recipient would",
    description:
      "Writes a mail as the recipient's mail program would, with the captured one quoted, and receives it as if it came over SMTP. The mail must have been sent with replyTo auto, or from a domain whose mail is received.",
    body: z.strictObject({
      text: Content.meta({ description: "What the recipient writes above the quotation" }),
      html: Content.optional().meta({ description: "HTML body" }),
      attachments: Attachments.optional(),
      automatic: z.boolean().optional().meta({ description: "Write it as a program, such as a notice of absence" }),
    }),
    output: ReceivedMail,
    errors: ["not_found", "invalid_state", "limit_reached"],
    examples: [{ summary: "A reply", params: id, body: { text: "Yes, please." } }],
  }),
  report: endpoint({
    method: "POST",
    path: "/__dev/inbox/:id/report",
    access: "dev",
    summary: "Report a captured mail as bounced or as spam, as its recipient's mail server would",
    description:
      "The email is then bounced or complained, the address is suppressed, and events and webhooks follow, as they would in production. Only what was delivered can bounce.",
    body: z.strictObject({
      outcome: z.enum(["bounced", "complained"]).meta({ description: "What the mail server reports: no such mailbox, or spam" }),
    }),
    output: CapturedMail,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "It bounces", params: id, body: { outcome: "bounced" } }],
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/__dev/inbox/:id",
    access: "dev",
    summary: "Delete one captured mail",
    output: CapturedMail,
    errors: ["not_found"],
    examples: [{ summary: "Delete", params: id }],
  }),
  release: endpoint({
    method: "POST",
    path: "/__dev/inbox/:id/release",
    access: "dev",
    summary: "Send a captured mail on to real addresses that the server allows",
    description:
      "Sends the message, unchanged but for Resent headers in front, through the mail server of --release-relay. Only the addresses in `to` get it, and --release-to must allow each of them. `released` lists those for whom the mail server has accepted it.",
    ...release,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "To yourself", params: id, body: { to: "me@example.com" } }],
  }),
  clear: endpoint({
    method: "DELETE",
    path: "/__dev/inbox",
    access: "dev",
    summary: "Delete all captured mail",
    output: z.object({ deleted: z.int() }),
    examples: [{ summary: "Clear" }],
  }),
};

export const testInbox = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/test-inbox",
    access: read,
    summary: "List captured mail of test keys, newest first",
    description: `It is kept for ${SEND_LIMITS.testMailDays} days.`,
    query: z.object({ ...pageQuery, ...ownMatch, ...search }),
    output: pageSchema(CapturedMail),
    examples: [{ summary: "Mail to Ada", query: { to: "ada@example.com" } }],
  }),
  wait: endpoint({
    method: "GET",
    path: "/api/v1/test-inbox/wait",
    access: read,
    waits: true,
    summary: "Wait for a matching mail of a test key and return it",
    description: `Considers mail already captured, oldest first; with \`after\`, only mail captured after that one. Responds with 404 when the time is over. When the key is revoked, the waiting ends. Up to ${INBOX_LIMITS.waits} requests of a workspace may wait at a time, on each server.`,
    query: z.object({ ...ownMatch, ...wait }),
    uncompressed: true,
    output: CapturedMailDetail,
    errors: ["not_found"],
    examples: [{ summary: "Wait for the welcome mail", query: { to: "ada@example.com", subject: "Welcome" } }],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/test-inbox/:id",
    access: read,
    summary: "Get one captured mail of a test key, parsed",
    uncompressed: true,
    output: CapturedMailDetail,
    errors: ["not_found"],
    examples: [{ summary: "Get", params: id }],
  }),
  raw: endpoint({
    method: "GET",
    path: "/api/v1/test-inbox/:id/raw",
    access: read,
    summary: "Get the raw source of a captured mail of a test key",
    output: z.string(),
    produces: "message/rfc822",
    errors: ["not_found"],
    examples: [{ summary: "Get", params: id }],
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/api/v1/test-inbox/:id",
    access: { permission: "transactional:send" },
    mailsTo: "nobody",
    testKeys: true,
    summary: "Delete one captured mail of a test key",
    output: CapturedMail,
    errors: ["not_found"],
    examples: [{ summary: "Delete", params: id }],
  }),
  release: endpoint({
    method: "POST",
    path: "/api/v1/test-inbox/:id/release",
    access: { permission: "transactional:send" },
    mailsTo: "named",
    summary: "Send a captured mail of a test key on to real addresses that the server allows",
    description:
      "Needs a live key, and a server whose operator has set --release-relay and --release-to. Sends the message, unchanged but for Resent headers in front. `released` lists those for whom the mail server has accepted it.",
    ...release,
    bucket: "send",
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "To yourself", params: id, body: { to: "me@example.com" } }],
  }),
  clear: endpoint({
    method: "DELETE",
    path: "/api/v1/test-inbox",
    access: { permission: "transactional:send" },
    mailsTo: "nobody",
    testKeys: true,
    summary: "Delete all captured mail of test keys",
    output: z.object({ deleted: z.int() }),
    examples: [{ summary: "Clear" }],
  }),
};
