import { CONTACT_STATUSES } from "./contact-fields.ts";
import { Instant } from "./page.ts";
import { AUTO_REPLY_REASONS, ReceivedAttachment } from "./received.ts";
import { SUPPRESSION_REASONS, SUPPRESSION_SCOPES, SUPPRESSION_SOURCES } from "./suppressions.ts";
import * as z from "./zod.ts";

const text = (description: string) => z.string().meta({ description });
const flag = (description: string) => z.boolean().meta({ description });

/** The data of a type of event: the occasion, the fields, and a plausible value of them. */
function data<Shape extends z.ZodRawShape>(occasion: string, fields: Shape, sample: z.input<z.ZodObject<Shape>>): z.ZodObject<Shape> {
  return z.object(fields).meta({ description: occasion, examples: [sample] });
}

const source = text("The report that said so, such as dsn, arf, ses, postmark, mailgun or sendgrid");
const relay = text("Relay that had the attempt; absent for captured mail, and in reports that came back later").optional();
const smtpCode = z.int().nullable();
const enhancedCode = z.string().nullable();
const diagnostic = text("The answer of the receiving server");
const refusal = { type: z.enum(["PERMANENT", "TRANSIENT", "UNDETERMINED"]), smtpCode, enhancedCode, diagnostic, relay };
const simulated = flag("True for the reaction of a simulated recipient").optional();
const engagement = {
  machine: flag("True if a machine did it").optional(),
  machineReason: z
    .enum(["head-request", "prefetch", "apple-mail-privacy", "scanner", "too-soon", "burst"])
    .optional()
    .meta({ description: "Reason for which it counts as a machine's" }),
  client: text("The mail program").optional(),
  unique: flag("True for the first one of the email, of people and machines each").optional(),
  simulated,
};
const statusChange = { source: text("api, import, preferences, or the report that caused it"), before: z.enum(CONTACT_STATUSES) };
const membership = { segmentId: z.string(), cause: z.enum(["contact", "rules", "time"]) };
const suppressed = {
  suppressionId: z.string(),
  reason: z.enum(SUPPRESSION_REASONS),
  scope: z.enum(SUPPRESSION_SCOPES),
  source: z.enum(SUPPRESSION_SOURCES),
};
const tags = z.array(z.string()).optional();
const failingSince = Instant.meta({ description: "Instant since which it fails, or did" });
const checkedDomain = {
  senderId: text("Id of the sender; absent for inbound domains").optional(),
  inboundDomainId: text("Id of the inbound domain; absent for senders").optional(),
  domain: z.string(),
  failingSince,
};
const entry = { entryId: z.string() };
const reason = text("Reason, such as replied, contact_deleted or that of an exit step").optional();

const REFUSED = { smtpCode: 550, enhancedCode: "5.1.1", diagnostic: "550 5.1.1 User unknown" } as const;
const LATER = { smtpCode: 451, enhancedCode: "4.7.1", diagnostic: "451 4.7.1 Try again later" } as const;
const SINCE = "2030-01-30T08:00:00.000Z";
const STATUS_SAMPLE = { source: "api", before: "SUBSCRIBED" } as const;
const SUPPRESSED = { suppressionId: "sup_01jc3v2m9k8q4w6x0y5z7a1b2c", reason: "bounce", scope: "all", source: "bounce" } as const;
const SEGMENT = { segmentId: "seg_01jc3v2m9k8q4w6x0y5z7a1b2c", cause: "contact" } as const;
const LIST = { listId: "list_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const ENTRY = { entryId: "ent_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const SENDER = { senderId: "snd_01jc3v2m9k8q4w6x0y5z7a1b2c", domain: "acme.example", failingSince: SINCE };
const WEBHOOK = { webhookId: "whk_01jc3v2m9k8q4w6x0y5z7a1b2c" };

/**
 * The types of event, the occasion of each and its data: the table from which the list of types, those of TypeScript, the OpenAPI document,
 * samples and the words of `why` follow. Adding a field is not a breaking change, so receivers must ignore unknown ones.
 */
export const EventData = z.object({
  "email.queued": data("An email was accepted.", {}, {}),
  "email.sent": data(
    "The mail server took an email.",
    { response: text("Its answer"), attempt: z.int(), relay },
    { response: "250 2.0.0 OK", attempt: 1, relay: "main" },
  ),
  "email.delivered": data("An email was delivered.", { source: source.optional() }, {}),
  "email.deferred": data(
    "A mail server did not take an email yet; it is tried again.",
    {
      ...refusal,
      attempt: z.int().optional().meta({ description: "Absent in reports that came back later" }),
      inDoubt: flag("True if it may have arrived").optional(),
      source: source.optional(),
    },
    { type: "TRANSIENT", ...LATER, attempt: 1, inDoubt: false },
  ),
  "email.opened": data("An email was opened.", engagement, { machine: false, client: "Apple Mail", unique: true }),
  "email.clicked": data(
    "A link of an email was clicked.",
    {
      ...engagement,
      url: z.string().optional(),
      linkId: z.string().optional(),
      uniqueLink: flag("True for the first click on this link").optional(),
    },
    { machine: false, client: "Chrome", unique: true, url: "https://acme.example/", linkId: "1", uniqueLink: true },
  ),
  "email.bounced": data(
    "A mail server refused an email for good.",
    { ...refusal, source: source.optional() },
    { type: "PERMANENT", ...REFUSED },
  ),
  "email.complained": data(
    "The recipient reported an email as spam.",
    { feedbackType: text("abuse, fraud, virus or other").optional(), source: source.optional(), simulated },
    { feedbackType: "abuse", source: "arf" },
  ),
  "email.unsubscribed": data(
    "The recipient unsubscribed by an email.",
    {
      method: z.enum(["page", "one-click", "mailto", "provider"]),
      scope: z.enum(["all", "lists"]).meta({ description: "Marketing mail of all kinds, or that of some lists" }),
      lists: z.array(z.string()).optional().meta({ description: "Ids of the lists that the person left" }),
    },
    { method: "one-click", scope: "all" },
  ),
  "email.failed": data("An email was given up.", { ...refusal, attempts: z.int() }, { type: "TRANSIENT", ...LATER, attempts: 12 }),
  "email.suppressed": data("An email was not sent, because its address is suppressed.", {}, {}),
  "email.cancelled": data("An email was cancelled.", {}, {}),
  "email.rescheduled": data("An email was moved to another time.", { scheduledAt: Instant }, { scheduledAt: "2030-02-01T09:30:00.000Z" }),
  "email.received": data(
    "A mail came in: the answer to an email, or one to a domain of yours.",
    {
      receivedId: z.string(),
      threadId: z.string(),
      autoReply: z.enum(AUTO_REPLY_REASONS).nullable(),
      from: z.string().nullable().meta({ description: "Address of the sender; null once the mail was deleted, and if it names none" }),
      fromName: z.string().nullable(),
      subject: z.string().nullable(),
      mailbox: z.string().nullable().meta({ description: "Address that it came to" }),
      attachmentCount: z.int(),
      attachments: z.array(ReceivedAttachment),
    },
    {
      ...{ receivedId: "rcv_01jc3v2m9k8q4w6x0y5z7a1b2c", threadId: "thr_01jc3v2m9k8q4w6x0y5z7a1b2c", autoReply: null },
      ...{ from: "ada@example.com", fromName: "Ada", subject: "Re: Hello", mailbox: "hello@acme.example" },
      ...{ attachmentCount: 0, attachments: [] },
    },
  ),
  "contact.created": data("A contact was created.", { source: z.string(), tagsAdded: tags }, { source: "api", tagsAdded: ["vip"] }),
  "contact.updated": data(
    "Fields of a contact changed.",
    { source: z.string(), changed: z.array(z.string()).meta({ description: "Names of the fields" }), tagsAdded: tags, tagsRemoved: tags },
    { source: "api", changed: ["firstName"] },
  ),
  "contact.deleted": data("A contact was deleted.", {}, {}),
  "contact.subscribed": data("A contact subscribed.", statusChange, { source: "preferences", before: "UNSUBSCRIBED" }),
  "contact.unsubscribed": data("A contact unsubscribed.", statusChange, STATUS_SAMPLE),
  "contact.bounced": data("A contact's address bounced.", statusChange, STATUS_SAMPLE),
  "contact.complained": data("A contact reported mail as spam.", statusChange, STATUS_SAMPLE),
  "contact.tracked": data(
    "An event of yours was reported by events.track.",
    {
      name: z.string(),
      value: z.number().optional(),
      currency: z.string().optional(),
      properties: z.record(z.string(), z.unknown()).optional(),
    },
    { name: "purchase", value: 49.9, currency: "USD", properties: { order: "1042" } },
  ),
  "list.joined": data("A contact joined a list.", { listId: z.string() }, LIST),
  "list.left": data(
    "A contact left a list.",
    { listId: z.string(), source: z.literal("preferences").optional().meta({ description: "Present if the person left by themselves" }) },
    { ...LIST, source: "preferences" },
  ),
  "segment.entered": data("A contact entered a segment.", membership, SEGMENT),
  "segment.left": data("A contact left a segment.", membership, SEGMENT),
  "suppression.added": data("An address was suppressed.", suppressed, SUPPRESSED),
  "suppression.removed": data("An address is no longer suppressed.", suppressed, SUPPRESSED),
  "campaign.scheduled": data("A campaign was scheduled.", {}, {}),
  "campaign.started": data("A campaign began to send.", {}, {}),
  "campaign.paused": data(
    "A campaign was paused, by you or by the service, which says why.",
    { code: z.string().optional(), message: z.string().optional() },
    { code: "late", message: "It was due more than an hour ago." },
  ),
  "campaign.resumed": data("A campaign goes on.", {}, {}),
  "campaign.completed": data("A campaign was sent.", {}, {}),
  "campaign.cancelled": data("A campaign was cancelled.", {}, {}),
  "campaign.failed": data(
    "A scheduled campaign could not start.",
    { code: z.string().meta({ description: "Code of the error" }), message: z.string() },
    { code: "sender_not_verified", message: "The sender is not verified." },
  ),
  "automation.entered": data("A contact entered an automation.", { ...entry, version: z.int() }, { ...ENTRY, version: 1 }),
  "automation.completed": data("A contact took the last step of an automation.", { ...entry, reason }, ENTRY),
  "automation.exited": data("A contact left an automation before its end.", { ...entry, reason }, { ...ENTRY, reason: "replied" }),
  "automation.failed": data("An automation failed for a contact.", { ...entry, reason }, { ...ENTRY, reason: "error" }),
  "automation.goal_reached": data("A contact reached the goal of an automation.", entry, ENTRY),
  "automation.webhook": data(
    "A webhook step of an automation ran. It goes to the webhook that the step names, and to no other one.",
    { webhookId: z.string(), ...entry, stepId: z.string(), data: z.record(z.string(), z.unknown()).optional() },
    { ...WEBHOOK, ...ENTRY, stepId: "notify", data: { plan: "pro" } },
  ),
  "domain.record_missing": data(
    "A DNS record of a verified domain has been missing for a day.",
    { ...checkedDomain, reason: z.string().nullable().meta({ description: "Names the record" }) },
    { ...SENDER, reason: "The TXT record is missing." },
  ),
  "domain.record_restored": data("A missing DNS record is back.", checkedDomain, SENDER),
  "mail.rate_high": data(
    "Too much mail bounces or is reported as spam; campaigns pause at the second limit.",
    {
      kind: z.enum(["bounce", "complaint"]),
      state: z.enum(["WARNED", "PAUSED"]),
      rate: z.number().meta({ description: "Share of the mails" }),
      mails: z.int(),
      message: text("The same in words"),
    },
    { kind: "bounce", state: "WARNED", rate: 0.06, mails: 500, message: "6 % of 500 emails bounced in the last 24 hours." },
  ),
  "webhook.test": data("A test of a webhook was asked for.", { webhookId: z.string() }, WEBHOOK),
  "webhook.disabled": data(
    "A webhook was disabled, because it failed for days.",
    { webhookId: z.string(), failingSince },
    { ...WEBHOOK, failingSince: SINCE },
  ),
});
export type EventData = z.infer<typeof EventData>;
