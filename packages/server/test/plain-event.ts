import type { NewEvent } from "../src/events/events.ts";

/** An event as a test writes it: about an email or a contact that need not be held, or not even exist. */
export type PlainEvent = Omit<NewEvent, "emailId" | "contactId"> & { readonly emailId?: string | null; readonly contactId?: string | null };

/** Takes the emails and contacts of events for held. */
export function asHeld(events: readonly PlainEvent[]): NewEvent[] {
  return events as NewEvent[];
}
