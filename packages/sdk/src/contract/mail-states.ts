import { EMAIL_STATUSES } from "./email-states.ts";
import { DeliveryError, emailFilters } from "./emails.ts";
import { endpoint } from "./endpoint.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";
import { RECIPIENT_KINDS } from "./recipients.ts";
import * as z from "./zod.ts";

/** Events of an email's way. Opens, clicks and unsubscribes are left out: they are about its reader. */
export const DELIVERY_EVENTS = [
  "email.queued",
  "email.sent",
  "email.delivered",
  "email.deferred",
  "email.bounced",
  "email.failed",
  "email.suppressed",
  "email.cancelled",
  "email.rescheduled",
] as const;

/** The state of an email for one recipient. */
const RecipientState = z
  .object({
    id: z.string(),
    email: z.string(),
    kind: z.enum(RECIPIENT_KINDS),
    status: z.enum(EMAIL_STATUSES),
    lastError: DeliveryError.nullable(),
    updatedAt: Instant,
  })
  .meta({ id: "RecipientState" });

/** Progress of an email, without its subject, content, tags and contact. */
export const MailState = z
  .object({
    id: z.string(),
    status: z.enum(EMAIL_STATUSES),
    /** The first recipient. */
    to: z.string(),
    recipients: z.array(RecipientState),
    from: z.string(),
    /** The slug of the template; null for a direct send. */
    template: z.string().nullable(),
    campaignId: z.string().nullable(),
    attempts: z.int(),
    /** True when a crash left it open whether it arrived: it may arrive twice. */
    inDoubt: z.boolean(),
    lastError: DeliveryError.nullable(),
    createdAt: Instant,
    scheduledAt: Instant.nullable(),
    nextAttemptAt: Instant.nullable(),
  })
  .meta({ id: "MailState" });
export type MailState = z.infer<typeof MailState>;

export const MailStateDetail = MailState.extend({
  /** Its way to each recipient, oldest first. */
  events: z.array(z.object({ id: z.string(), type: z.enum(DELIVERY_EVENTS), at: Instant, email: z.string() })),
}).meta({ id: "MailStateDetail" });
export type MailStateDetail = z.infer<typeof MailStateDetail>;

export const mailStates = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/mail-states",
    access: { permission: "mail_states:read" },
    summary: "List the states of emails, newest first",
    description:
      "For people and programs that answer “did it arrive?”: addresses, states, times and the words of the receiving server. No subject, content, tags, opens or clicks.",
    query: z.object({ ...pageQuery, ...emailFilters }),
    output: pageSchema(MailState),
    examples: [{ summary: "Mail to one person", query: { to: "ada@example.com" } }],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/mail-states/:id",
    access: { permission: "mail_states:read" },
    summary: "Get the state of one email and its way so far",
    output: MailStateDetail,
    errors: ["not_found"],
    examples: [{ summary: "Get", params: { id: "em_01jc3v2m9k8q4w6x0y5z7a1b2c" } }],
  }),
};
