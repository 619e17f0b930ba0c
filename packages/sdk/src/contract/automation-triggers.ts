import { TagName } from "./contacts.ts";
import { EventFilterSchema } from "./event-filter.ts";
import { TrackedName } from "./event-types.ts";
import { TimeOfDay, TimeZone } from "./time-of-day.ts";
import * as z from "./zod.ts";

/** Events of emails that automations listen to. Events caused by machines do not count. */
export const ENGAGEMENT_EVENTS = ["email.opened", "email.clicked"] as const;

const Id = z.string().min(1).max(100);

/** Something that happens to a contact. */
const OCCURRENCES = [
  z.strictObject({ type: z.literal("contact.created") }),
  z.strictObject({ type: z.literal("tag.added"), tag: TagName }),
  z.strictObject({ type: z.literal("tag.removed"), tag: TagName }),
  z.strictObject({ type: z.literal("list.joined"), listId: Id }),
  z.strictObject({ type: z.literal("list.left"), listId: Id }),
  z.strictObject({ type: z.literal("segment.entered"), segmentId: Id }),
  z.strictObject({ type: z.literal("segment.left"), segmentId: Id }),
  /** The contact answers an email; automatic answers do not count. */
  z.strictObject({ type: z.literal("replied") }),
  z.strictObject({
    type: z.literal("event"),
    name: z.union([z.enum(ENGAGEMENT_EVENTS), TrackedName]).meta({ description: "email.opened, email.clicked, or an event of yours" }),
    filter: EventFilterSchema.optional().meta({ description: "Only events that match; all when absent" }),
  }),
] as const;

/** A date of each contact, and how far from it. */
const DateField = z.strictObject({
  type: z.literal("date"),
  field: z
    .string()
    .regex(/^customFields\.[^"\\\p{Cc}]{1,100}$/u, "Name a custom field: customFields.<name>.")
    .meta({ description: "A custom field with a date such as 2026-01-31", examples: ["customFields.renewsOn"] }),
  days: z.int().min(-365).max(365).optional().meta({ description: "Days after the date, or before it if negative; 0 when absent" }),
  yearly: z.boolean().optional().meta({ description: "Every year, whatever the year of the date: for birthdays" }),
  time: TimeOfDay.optional().meta({ description: "When on that day; 00:00 when absent" }),
  timeZone: TimeZone.optional().meta({ description: "Of the time; that of the workspace's brand when absent" }),
});

/** The types of goals, and of what a step can wait for. Written out: reading them from the schemas would build those on each start. */
export const OCCURRENCE_TYPES = [
  "contact.created",
  "tag.added",
  "tag.removed",
  "list.joined",
  "list.left",
  "segment.entered",
  "segment.left",
  "replied",
  "event",
] as const satisfies readonly z.infer<(typeof OCCURRENCES)[number]>["type"][];

/** The types of triggers. */
export const TRIGGER_TYPES = [...OCCURRENCE_TYPES, "date"] as const;
export type TriggerType = (typeof TRIGGER_TYPES)[number];

/** Occurrence that reaches the goal or ends a wait. */
export const AutomationOccurrence = z
  .discriminatedUnion("type", OCCURRENCES, { error: `type is one of ${OCCURRENCE_TYPES.join(", ")}.` })
  .meta({ id: "AutomationOccurrence" });
export type AutomationOccurrence = z.infer<typeof AutomationOccurrence>;

/** Trigger that makes a contact enter. */
export const AutomationTrigger = z
  .discriminatedUnion("type", [...OCCURRENCES, DateField], { error: `type is one of ${TRIGGER_TYPES.join(", ")}.` })
  .meta({ id: "AutomationTrigger" });
export type AutomationTrigger = z.infer<typeof AutomationTrigger>;
