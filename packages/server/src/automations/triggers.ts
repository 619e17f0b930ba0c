import {
  type AutomationOccurrence,
  type AutomationTrigger,
  type EventCondition,
  type EventFilter,
  type EventType,
  propertyName,
} from "@mailsvc/sdk/contract";
import { tagKey } from "../contacts/contacts.ts";
import type { NewEvent } from "../events/events.ts";
import { matchesFreeValue, matchesTree } from "../segments/segments.ts";
import type { EntryEvent } from "./tables.ts";

/** Key of a trigger, goal or wait: the events that it listens to, as one text. Equal keys differ in their filters at most. */
export function toKey(trigger: AutomationTrigger): string {
  switch (trigger.type) {
    case "contact.created":
    case "replied":
      return trigger.type;
    case "tag.added":
    case "tag.removed":
      return `${trigger.type}:${tagKey(trigger.tag)}`;
    case "list.joined":
    case "list.left":
      return `${trigger.type}:${trigger.listId}`;
    case "segment.entered":
    case "segment.left":
      return `${trigger.type}:${trigger.segmentId}`;
    case "event":
      return `event:${trigger.name}`;
    case "date":
      return trigger.type;
  }
}

/** The part of an event that automations look at. */
export interface Occurrence extends Pick<NewEvent, "type" | "at" | "data" | "machine" | "campaignId"> {
  readonly emailId?: string | null;
  readonly contactId?: string | null;
}

/** Keys of the listeners to an event, by its type. Opens and clicks of machines and replies of programs count nowhere. */
const KEYS: Readonly<Partial<Record<EventType, (event: Occurrence) => string[]>>> = {
  "contact.created": (event) => [event.type, ...listTagKeys(event, "tagsAdded", "tag.added")],
  "contact.updated": (event) => [...listTagKeys(event, "tagsAdded", "tag.added"), ...listTagKeys(event, "tagsRemoved", "tag.removed")],
  "list.joined": ({ type, data }) => [`${type}:${data?.listId}`],
  "list.left": ({ type, data }) => [`${type}:${data?.listId}`],
  "segment.entered": ({ type, data }) => [`${type}:${data?.segmentId}`],
  "segment.left": ({ type, data }) => [`${type}:${data?.segmentId}`],
  "email.opened": ({ type, machine }) => (machine === true ? [] : [`event:${type}`]),
  "email.clicked": ({ type, machine }) => (machine === true ? [] : [`event:${type}`]),
  "email.received": ({ emailId, data }) => (emailId && data?.autoReply === null ? ["replied"] : []),
  "contact.tracked": ({ data }) => [`event:${data?.name}`],
};

/** The types of events that something may listen to. */
export const LISTENED = Object.keys(KEYS) as EventType[];

/** The keys of what listens to an event. */
export function listKeys(event: Occurrence): string[] {
  return KEYS[event.type]?.(event) ?? [];
}

function listTagKeys({ data }: Occurrence, field: "tagsAdded" | "tagsRemoved", key: "tag.added" | "tag.removed"): string[] {
  const tags = data?.[field];
  return Array.isArray(tags) ? tags.map((tag) => `${key}:${tagKey(String(tag))}`) : [];
}

/** True if an event that has the key of a trigger, goal or wait passes its filter. */
export function passesFilter(listener: AutomationTrigger | AutomationOccurrence, event: Occurrence): boolean {
  if (listener.type !== "event" || listener.filter === undefined) return true;
  return matchesTree<EventCondition>(listener.filter as EventFilter, ({ field, operator, value }) =>
    matchesFreeValue(readField(event, field), operator, value, event.at),
  );
}

/** The part of an event that the entry it started keeps; undefined unless it was tracked. */
export function toEntryEvent({ type, data }: Pick<Occurrence, "type" | "data">): EntryEvent | undefined {
  if (type !== "contact.tracked" || typeof data?.name !== "string") return undefined;
  return data as Record<string, unknown> & EntryEvent;
}

function readField({ data, campaignId }: Occurrence, field: EventCondition["field"]): unknown {
  if (field === "campaignId") return campaignId ?? undefined;
  const property = propertyName(field);
  if (property === null) return data?.[field];
  const { properties } = (data ?? {}) as { properties?: Record<string, unknown> };
  return properties !== undefined && Object.hasOwn(properties, property) ? properties[property] : undefined;
}
