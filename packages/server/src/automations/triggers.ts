import type { AutomationTrigger } from "@mailsvc/sdk/contract";
import { tagKey } from "../contacts/contacts.ts";
import type { NewEvent } from "../events/events.ts";

/** What a trigger or goal listens to, as one text: equal texts are equal triggers. */
export function toKey(trigger: AutomationTrigger): string {
  switch (trigger.type) {
    case "contact.created":
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
      return `date:${trigger.field}`;
  }
}

/** The keys of the triggers and goals that an event meets. What machines opened or clicked meets none. */
export function listKeys({ type, data, machine }: NewEvent): string[] {
  const tags = (name: "tagsAdded" | "tagsRemoved"): string[] =>
    Array.isArray(data?.[name]) ? data[name].map((tag) => tagKey(String(tag))) : [];
  switch (type) {
    case "contact.created":
      return [type, ...tags("tagsAdded").map((key) => `tag.added:${key}`)];
    case "contact.updated":
      return [...tags("tagsAdded").map((key) => `tag.added:${key}`), ...tags("tagsRemoved").map((key) => `tag.removed:${key}`)];
    case "list.joined":
    case "list.left":
      return [`${type}:${data?.listId}`];
    case "segment.entered":
    case "segment.left":
      return [`${type}:${data?.segmentId}`];
    case "email.opened":
    case "email.clicked":
      return machine === true ? [] : [`event:${type}`];
    case "contact.tracked":
      return [`event:${data?.name}`];
    default:
      return [];
  }
}
