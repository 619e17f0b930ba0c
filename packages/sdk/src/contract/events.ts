import { SoughtAddress } from "./address.ts";
import { ContactRef } from "./contact-ref.ts";
import { freeData } from "./contacts.ts";
import { Currency } from "./currency.ts";
import { endpoint } from "./endpoint.ts";
import type { EventData } from "./event-data.ts";
import { EVENT_TYPES, type EventType, EventTypeList, TrackedName } from "./event-types.ts";
import { limits } from "./limits.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";
import { EventRecipient } from "./recipients.ts";
import { TagFilter } from "./send-fields.ts";
import * as z from "./zod.ts";

export const EVENT_LIMITS = limits("events", "The list of events", {
  numbered: [1000, "events of more than two types that have page numbers; cursors go further"],
});

export const FOLLOWER_LIMITS = limits("events", "Connections that follow events", {
  perKey: [10, "of one key, on each server"],
  perWorkspace: [25, "of a workspace, on each server"],
});

export const EventObject = z
  .object({
    id: z.string(),
    /** Its number in the stream of the workspace: counts up by one, in the order in which events were committed. */
    sequence: z.int(),
    type: z.enum(EVENT_TYPES),
    /** Time of the event. */
    at: Instant,
    /** The email it is about, or that caused it. */
    emailId: z.string().nullable(),
    /** The recipient of that email whom it is about. */
    to: z.string().nullable(),
    recipient: EventRecipient.nullable(),
    contactId: z.string().nullable(),
    /** The id of that contact in your own system, as it is now; null without one, and once the contact is deleted. */
    externalId: z.string().nullable(),
    campaignId: z.string().nullable(),
    automationId: z.string().nullable(),
    /** True if it is about an email of a test key. */
    test: z.boolean(),
    /** True for an open or a click by a machine, such as a link scanner. */
    machine: z.boolean().nullable(),
    /** The tags of that email. */
    tags: z.record(z.string(), z.string()),
    /** Further data; its fields depend on the type. */
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "Event" });

/** An event of one type, as lists, the stream and developer webhooks show it. */
export type EventOf<Type extends EventType> = Omit<z.infer<typeof EventObject>, "type" | "data"> & { type: Type; data: EventData[Type] };

/** An event: `event.type` tells what `event.data` holds. */
export type Event = { [Type in EventType]: EventOf<Type> }[EventType];

/** Its `data` is not validated here, because a later version may add fields; EventData describes it. */
export const Event: z.ZodType<Event> = EventObject as z.ZodObject as unknown as z.ZodType<Event>;

const filters = {
  type: EventTypeList.optional().meta({
    description: "Only these types, with commas between them; email.* for all of a kind",
    examples: ["email.bounced,email.complained"],
  }),
  email: z
    .string()
    .max(100)
    .optional()
    .meta({ description: "Only events of this email (its id), or of one of its recipients (the id of that)" }),
  to: SoughtAddress.optional().meta({ description: "Only events of emails to this address" }),
  tag: TagFilter.optional().meta({ description: "Only events of emails with this tag: name=value", examples: ["kind=report"] }),
  campaign: z.string().max(100).optional().meta({ description: "Only events of this campaign (its id)" }),
  automation: z.string().max(100).optional().meta({ description: "Only events of this automation (its id)" }),
  contact: ContactRef.optional().meta({
    description: "Only events of this contact (its id, address or externalId) and of emails to its address",
    examples: undefined,
  }),
  machine: z.stringbool().optional().meta({ description: "Only opens and clicks by machines (true), or by people (false)" }),
  test: z.stringbool().optional().meta({ description: "Only events of mail of test keys (true), or of everything else (false)" }),
};

const read = { permission: "events:read" } as const;

// A billion of the smallest currencies is an ordinary order. In hundredths, sums of hundreds of such values are still exact.
const MAX_VALUE = 100_000_000_000;

/** Fields of `events.track`. */
export const trackedEventFields = {
  name: TrackedName,
  contact: ContactRef,
  value: z
    .number()
    .min(0)
    .max(MAX_VALUE)
    .optional()
    .meta({ description: "Its value in whole units of the currency, such as the total of an order" }),
  currency: Currency.optional(),
  properties: freeData(
    "properties",
    "Further facts: filters and templates of automations can use it, as properties.<name> and {{ event.properties.<name> }}",
  ).optional(),
};

export const TRACK_LIMITS = limits("events", "Tracked events", {
  batch: [1000, "events of a batch"],
  id: [128, "id of an event", "characters"],
  /** Minutes by which `at` may differ from the server's clock and still mean now. */
  toleranceMinutes: [5, "how long ago an event may have happened and still trigger something", "minutes"],
  years: [10, "how long ago an event may have happened", "years"],
});

const reported = {
  ...trackedEventFields,
  id: z
    .string()
    .min(1)
    .max(TRACK_LIMITS.id)
    .regex(/^[\x21-\x7e]+$/, "Visible ASCII characters are needed.")
    .optional()
    .meta({ description: "Your id of the event, unique in the workspace: an event with an id that was tracked is not tracked again" }),
  at: Instant.optional().meta({
    description: `Instant of the event, now by default. One of more than ${TRACK_LIMITS.toleranceMinutes} minutes ago triggers nothing`,
  }),
};

/** An event of your own about a contact. */
export const TrackedEvent = z
  .strictObject(reported)
  .superRefine(({ value, currency }, ctx) => {
    if ((value === undefined) === (currency === undefined)) return;
    const missing = value === undefined ? "value" : "currency";
    ctx.addIssue({
      code: "custom",
      path: [missing],
      message: `value and currency go together: send ${missing}, too.`,
      params: { code: "required" },
    });
  })
  .meta({ id: "TrackedEvent" });
export type TrackedEvent = z.output<typeof TrackedEvent>;

/** The result of one event of a batch. */
export const TRACK_RESULTS = ["tracked", "repeated", "failed"] as const;

/** The result of tracking several events; the three numbers add up to the events sent. */
export const TrackBatch = z
  .object({
    tracked: z.int(),
    /** Events whose `id` was tracked before, by this call or an earlier one. */
    repeated: z.int(),
    failed: z.int(),
    /** Contacts that were created. */
    created: z.int(),
    /** The result of each event, in order. */
    results: z.array(z.enum(TRACK_RESULTS)),
    /** The errors of the events that failed, by their index from 0. */
    errors: z.array(z.object({ index: z.int(), path: z.string(), code: z.string(), message: z.string() })),
  })
  .meta({ id: "TrackBatch" });
export type TrackBatch = z.infer<typeof TrackBatch>;

export const events = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/v1/events",
    aliases: ["/api/v1/events"],
    access: read,
    tool: "events_list",
    summary: "List events, newest first or after a sequence",
    description:
      "Without `after`, for looking: newest first, all events by their sequence, those of a filter by the time at which they happened. With `after`, for following: in the order of their sequence, oldest first, because an event may be recorded later than it happened. Filters can be combined. Events of mail of test keys are left out without `after`, unless `test` asks for them; a test key sees no others. Events are kept for as long as the server's --keep says. With Accept: text/event-stream it is the stream of `tail`.",
    followedBy: "tail",
    query: z.object({
      ...pageQuery,
      page: pageQuery.page.meta({
        description: `Page number, from 1. A filtered list of more than two event types has page numbers for its first ${EVENT_LIMITS.numbered.toLocaleString("en-US")} events only; continue with cursor`,
      }),
      ...filters,
      since: Instant.optional().meta({ description: "Only events at this instant or later" }),
      until: Instant.optional().meta({ description: "Only events before this instant" }),
      after: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional().meta({
        description: "Only events with a higher sequence, oldest first; 0 for all. Continue with the last sequence you have seen",
      }),
    }),
    output: pageSchema(Event),
    examples: [
      { summary: "Bounces and complaints", query: { type: "email.bounced,email.complained" } },
      { summary: "All about one recipient", query: { to: "ada@example.com" } },
      { summary: "Of emails with a tag", query: { tag: "kind=report" } },
      { summary: "What has happened since the event with sequence 1042", query: { after: 1042 } },
    ],
  }),
  tail: endpoint({
    method: "GET",
    path: "/api/v1/v1/events/stream",
    aliases: ["/api/v1/events/stream"],
    access: read,
    summary: "Follow events as they happen",
    description: `Server-sent events: \`id\` is the event's sequence, \`data\` the event as JSON. A client that lost the connection continues after the id in Last-Event-ID. An API key may follow with ${FOLLOWER_LIMITS.perKey} connections at a time, a workspace with ${FOLLOWER_LIMITS.perWorkspace}. When the key is revoked, its connections end.`,
    query: z.object({
      from: z.coerce
        .number()
        .int()
        .min(1)
        .max(Number.MAX_SAFE_INTEGER)
        .optional()
        .meta({ description: "Begin with this sequence, as far as it is kept; without it, with what happens next" }),
      ...filters,
    }),
    stream: true,
    output: Event,
    examples: [{ summary: "Bounces", query: { type: "email.bounced" } }],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/v1/events/:id",
    aliases: ["/api/v1/events/:id"],
    access: read,
    summary: "Get one event",
    output: Event,
    errors: ["not_found"],
    examples: [{ summary: "Get", params: { id: "evt_0000000001a" } }],
  }),
  track: endpoint({
    method: "POST",
    path: "/api/v1/track",
    access: { permission: "events:write" },
    mailsTo: "one",
    summary: "Report your own event about a contact, with its value",
    description:
      "It is a trigger and a goal of automations (type event), and its value is revenue of the active automations the contact is inside. Send an `id` or an Idempotency-Key, so that a repeated request counts once.",
    body: TrackedEvent,
    status: 201,
    output: z.object({
      type: z.literal("contact.tracked"),
      contactId: z.string(),
      name: z.string(),
      at: Instant,
      /** True if an event with this `id` was tracked before; this one was not. */
      repeated: z.boolean(),
    }),
    errors: ["not_found"],
    examples: [
      {
        summary: "A purchase",
        body: { name: "purchase", contact: "ada@example.com", value: 49.9, currency: "USD", properties: { order: "1042" } },
      },
    ],
  }),
  trackBatch: endpoint({
    method: "POST",
    path: "/api/v1/track/batch",
    access: { permission: "events:write" },
    mailsTo: "contacts",
    summary: "Report up to 1,000 events of your own about contacts",
    description:
      "Each event is as in `events.track`, and is tracked or refused on its own: `results` has its result, `errors` what is wrong. With an `id` for each event the same request can be sent again. With createContacts an event about an unknown address creates its contact, as `contacts.upsert` does; that needs the permission contacts:write. All is stored when the answer comes. A batch counts as one request of the rate limit.",
    body: z.strictObject({
      events: z
        .array(z.unknown())
        .min(1)
        .max(TRACK_LIMITS.batch)
        .meta({ description: `Up to ${TRACK_LIMITS.batch.toLocaleString("en-US")} events: [{ name, contact, id, at, value, … }]` }),
      createContacts: z.boolean().default(false).meta({ description: "Create the contacts of addresses that are unknown" }),
    }),
    output: TrackBatch,
    errors: ["forbidden"],
    examples: [
      {
        summary: "Two purchases, one of them in the past",
        body: {
          events: [
            { id: "order-1042", name: "purchase", contact: "ada@example.com", value: 49.9, currency: "USD" },
            { id: "order-987", name: "purchase", contact: "ada@example.com", at: "2025-10-31T09:30:00.000Z" },
          ],
          createContacts: true,
        },
      },
    ],
  }),
};
