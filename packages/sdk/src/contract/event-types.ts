import { findClosest } from "./closest.ts";
import type { ContactStatus } from "./contact-fields.ts";
import { CONTACT_EVENT_TYPES } from "./contacts.ts";
import { EMAIL_EVENT_TYPES } from "./emails.ts";
import { LIST_EVENT_TYPES } from "./lists.ts";
import { line } from "./name.ts";
import type { AutoReplyReason, ReceivedAttachment } from "./received.ts";
import { SEGMENT_EVENT_TYPES } from "./segments.ts";
import { SUPPRESSION_EVENT_TYPES, type Suppression } from "./suppressions.ts";
import * as z from "./zod.ts";

export const CAMPAIGN_EVENT_TYPES = [
  "campaign.scheduled",
  "campaign.started",
  "campaign.paused",
  "campaign.resumed",
  "campaign.completed",
  "campaign.cancelled",
  "campaign.failed",
] as const;

export const AUTOMATION_EVENT_TYPES = [
  "automation.entered",
  "automation.completed",
  "automation.exited",
  "automation.failed",
  "automation.goal_reached",
  /** Sent by a webhook step, to the webhook that it names and to no other one. */
  "automation.webhook",
] as const;

/** Events about the DNS records of verified domains, senders and inbound ones: one has been missing for a day; it is back. */
export const DOMAIN_EVENT_TYPES = ["domain.record_missing", "domain.record_restored"] as const;

/** Events about developer webhooks themselves: a test that was asked for, and one that was disabled since it failed for days. */
export const WEBHOOK_EVENT_TYPES = ["webhook.test", "webhook.disabled"] as const;

/** Every type of event, in the stream of a workspace and in developer webhooks. */
export const EVENT_TYPES = [
  ...EMAIL_EVENT_TYPES,
  ...CONTACT_EVENT_TYPES,
  ...LIST_EVENT_TYPES,
  ...SEGMENT_EVENT_TYPES,
  ...SUPPRESSION_EVENT_TYPES,
  ...CAMPAIGN_EVENT_TYPES,
  ...AUTOMATION_EVENT_TYPES,
  ...DOMAIN_EVENT_TYPES,
  ...WEBHOOK_EVENT_TYPES,
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** The name of your own event, for events.track and automations. */
export const TrackedName = line(100)
  .refine((name) => !(EVENT_TYPES as readonly string[]).includes(name), {
    message: "This is a type of event of the service. Choose another name.",
    params: { code: "reserved" },
  })
  .meta({ description: "Name of an event of yours, such as purchase" });

/** Rejection of a message, in the words of the receiving server. */
interface Refusal {
  type: "PERMANENT" | "TRANSIENT";
  smtpCode: number | null;
  enhancedCode: string | null;
  diagnostic: string;
  /** The relay that had the attempt; absent if the mail was captured, and in reports that came back later. */
  relay?: string;
}

/** Data of an open or a click: `machineReason` tells why it counts as a machine's. */
interface Engagement {
  machineReason?: string;
  /** The mail program. */
  client?: string;
  /** The first one of the email, of people and machines each. */
  unique?: boolean;
  /** True for the reaction of a simulated recipient. */
  simulated?: boolean;
}

/** A mail that came in. All that names its sender is null, and the files are none, once it was deleted. */
interface ReceivedFacts {
  receivedId: string;
  threadId: string;
  autoReply: AutoReplyReason | null;
  /** The sender's address; null also if the mail names none. */
  from: string | null;
  fromName: string | null;
  subject: string | null;
  /** The address that it came to: a reply address, or one of an inbound domain. */
  mailbox: string | null;
  attachmentCount: number;
  attachments: ReceivedAttachment[];
}

interface StatusChange {
  source: string;
  before: ContactStatus;
}

interface Suppressed {
  suppressionId: string;
  reason: Suppression["reason"];
  scope: Suppression["scope"];
  source: Suppression["source"];
}

/** A verified domain: the id of its sender, or of its inbound domain. */
interface CheckedDomain {
  senderId?: string;
  inboundDomainId?: string;
  domain: string;
  /** Since when a record of it is missing, or was. */
  failingSince: string;
}

interface Membership {
  segmentId: string;
  cause: "contact" | "rules" | "time";
}

type NoData = Record<string, never>;
type AnyData = Record<string, unknown>;

/** Fields of `data`, by type. Adding a field is not a breaking change. */
export interface EventData extends Record<EventType, object> {
  "email.queued": NoData;
  "email.sent": { response: string; attempt: number; relay?: string };
  "email.delivered": NoData;
  "email.deferred": Refusal & { attempt: number; inDoubt: boolean };
  "email.opened": Engagement;
  "email.clicked": Engagement & { url?: string; linkId?: string; uniqueLink?: boolean };
  "email.bounced": Refusal;
  "email.complained": Engagement;
  "email.unsubscribed": AnyData;
  "email.failed": Refusal & { attempts: number };
  "email.suppressed": NoData;
  "email.cancelled": NoData;
  "email.rescheduled": { scheduledAt: string };
  /** A mail came in: the answer to an email, or one to a domain of yours. */
  "email.received": ReceivedFacts;
  "contact.created": { source: string; tagsAdded?: string[] };
  /** Names the fields that changed, never their values. */
  "contact.updated": { source: string; changed: string[]; tagsAdded?: string[]; tagsRemoved?: string[] };
  "contact.deleted": NoData;
  "contact.subscribed": StatusChange;
  "contact.unsubscribed": StatusChange;
  "contact.bounced": StatusChange;
  "contact.complained": StatusChange;
  /** Event reported with events.track. */
  "contact.tracked": { name: string; value?: number; currency?: string; properties?: Record<string, unknown> };
  "list.joined": { listId: string };
  /** `source`: `preferences` if the person left by themselves. */
  "list.left": { listId: string; source?: "preferences" };
  "segment.entered": Membership;
  "segment.left": Membership;
  "suppression.added": Suppressed;
  "suppression.removed": Suppressed;
  "campaign.scheduled": AnyData;
  "campaign.started": AnyData;
  "campaign.paused": AnyData;
  "campaign.resumed": AnyData;
  "campaign.completed": AnyData;
  "campaign.cancelled": AnyData;
  "campaign.failed": AnyData;
  "automation.entered": AnyData;
  "automation.completed": AnyData;
  "automation.exited": AnyData;
  "automation.failed": AnyData;
  "automation.goal_reached": AnyData;
  "automation.webhook": { webhookId: string; entryId: string; stepId: string; data?: Record<string, unknown> };
  /** `reason` names the record. */
  "domain.record_missing": CheckedDomain & { reason: string };
  "domain.record_restored": CheckedDomain;
  "webhook.test": { webhookId: string };
  "webhook.disabled": { webhookId: string; failingSince: string };
}

/** All types, or those of one noun, or one type. */
export type EventPattern = "*" | `${string}.*` | EventType;

/** The types that a pattern such as `email.*` stands for; none for an unknown one. */
export function listMatchingTypes(pattern: string): EventType[] {
  if (pattern === "*") return [...EVENT_TYPES];
  const noun = pattern.endsWith(".*") ? pattern.slice(0, -1) : null;
  return EVENT_TYPES.filter((type) => (noun === null ? type === pattern : type.startsWith(noun)));
}

/** Builds a check that refuses a text with a pattern that stands for no type, and names what it may be a misspelling of. */
function refuseUnknown(listPatterns: (text: string) => string[]) {
  return (text: string, ctx: z.RefinementCtx): void => {
    const unknown = listPatterns(text).find((pattern) => listMatchingTypes(pattern).length === 0);
    if (unknown === undefined) return;
    const closest = findClosest(unknown, [...EVENT_TYPES, ...EVENT_TYPES.map((type) => type.replace(/\..*/, ".*"))]);
    const advice = closest === null ? "Use a type such as email.bounced, all of a kind such as email.*, or *." : `Did you mean ${closest}?`;
    const message = `There is no event type ${JSON.stringify(unknown.slice(0, 50))}. ${advice}`;
    ctx.addIssue({ code: "custom", message, params: { code: "unknown_event_type" } });
  };
}

/** A type of event, `email.*` for all of a kind, or `*`. */
export const EventTypePattern = z
  .string()
  .max(50)
  .superRefine(refuseUnknown((text) => [text]))
  .meta({ description: "A type such as email.bounced, email.* for all of a kind, or *", examples: ["email.*"] });

/** Several of them, separated by commas, for a query. */
export const EventTypeList = z
  .string()
  .min(1)
  .max(1000)
  .superRefine(refuseUnknown((text) => text.split(",").map((one) => one.trim())));

/** The types that a list of patterns with commas between them stands for, each once; all for undefined. */
export function parseEventTypes(list: string | undefined): EventType[] {
  if (list === undefined) return [...EVENT_TYPES];
  const wanted = new Set(list.split(",").flatMap((one) => listMatchingTypes(one.trim())));
  return EVENT_TYPES.filter((type) => wanted.has(type));
}
