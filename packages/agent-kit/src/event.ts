import { type AgentEvent, type AgentEvents, EVENT_KEYS } from "./contract.generated.ts";

/** The events as handlers get them. The key of agent.activated is in the vault and not in the event. */
export type HandledEvents = { [T in keyof AgentEvents]: Omit<AgentEvents[T], "apiKey"> };

/** Any event of a known type, as handlers get it. */
export type HandledEvent = HandledEvents[keyof HandledEvents];

/** The event as handlers get it if its type is known; null otherwise. */
export function toKnown(event: HandledEvent | UnknownEvent | null): HandledEvent | null {
  return event !== null && isKnown(event) ? event : null;
}

/** An event of a type that is newer than this package. */
export interface UnknownEvent {
  readonly id: string;
  readonly type: string;
  readonly activationId: string;
  readonly runId: string | null;
  readonly sequence: number;
  readonly timestamp: string;
  readonly [field: string]: unknown;
}

/** Parses the body of a verified request; null if it is not an event. Fields that are unknown are kept. */
export function parseEvent(body: Uint8Array | string): AgentEvent | UnknownEvent | null {
  try {
    const text = typeof body === "string" ? body : new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
    const event: unknown = JSON.parse(text);
    return isEvent(event) ? event : null;
  } catch {
    return null;
  }
}

/** True if this package knows the type. */
export function isKnown(event: { readonly type: string }): event is AgentEvent {
  return Object.hasOwn(EVENT_KEYS, event.type);
}

/**
 * The text that identifies the occurrence an event reports: equal for a repeat, different for every other event. Made of the type
 * and the fields that the contract names for it; an unknown type is identified by its id.
 */
export function eventKey(event: AgentEvent | UnknownEvent): string {
  const fields = isKnown(event) ? EVENT_KEYS[event.type] : ["id"];
  const values = fields.filter((field) => field !== "type").map((field) => String((event as UnknownEvent)[field]));
  return [event.type, ...values].join(":");
}

function isEvent(value: unknown): value is UnknownEvent {
  if (typeof value !== "object" || value === null) return false;
  const { id, type, activationId, sequence, runId } = value as Record<string, unknown>;
  const named = [id, type, activationId].every((field) => typeof field === "string" && field !== "" && field.length <= 200);
  return named && typeof sequence === "number" && (runId === null || typeof runId === "string");
}
