import { findClosest } from "./closest.ts";
import { EventData } from "./event-data.ts";
import { line } from "./name.ts";
import * as z from "./zod.ts";

/** A type of event, in the stream of a workspace and in developer webhooks. */
export type EventType = keyof EventData;

/** Every type of event, in the order of `EventData`. */
export const EVENT_TYPES = Object.keys(EventData.shape) as readonly EventType[];

type EmailEventType = Extract<EventType, `email.${string}`>;

/** The types of events about emails. */
export const EMAIL_EVENT_TYPES = EVENT_TYPES.filter((type): type is EmailEventType => type.startsWith("email."));

/** The name of your own event, for events.track and automations. */
export const TrackedName = line(100)
  .refine((name) => !(EVENT_TYPES as readonly string[]).includes(name), {
    message: "This is a type of event of the service. Choose another name.",
    params: { code: "reserved" },
  })
  .meta({ description: "Name of an event of yours, such as purchase" });

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
