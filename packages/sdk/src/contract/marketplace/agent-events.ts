import { Instant } from "../page.ts";
import { AGENT_SCOPES } from "../scopes.ts";
import * as z from "../zod.ts";
import { MESSAGE_FORMATS } from "./messages.ts";
import { DEACTIVATION_REASONS, PAUSE_REASONS } from "./states.ts";

/**
 * The fields of every event (SPEC 6). The bytes of an event are the same on every attempt and redelivery. Fields may be added
 * later; receivers must ignore unknown ones.
 */
const envelope = {
  /** Identifies the event; the same on every attempt. */
  id: z.string(),
  activationId: z.string(),
  runId: z.string().nullable(),
  /** Counts the events of an activation from 1. An event must not undo one with a higher sequence. */
  sequence: z.int().min(0),
  /** When the state changed, not when the event was sent; strictly increasing per activation. */
  timestamp: Instant,
};

export const AgentActivated = event("agent.activated", {
  /** The key of this activation. No other event or endpoint contains it. */
  apiKey: z.string(),
  agentSlug: z.string(),
  organizationName: z.string(),
  scopes: z.array(z.enum(AGENT_SCOPES)),
});

export const ApprovalResponse = event("approval_response", {
  messageId: z.string(),
  /** `approved`, `rejected`, `expired`, or the id of the chosen option. */
  decision: z.string(),
  comment: z.string().nullable(),
  answeredAt: Instant,
});

/** The brand wrote to the agent. Sent to activations with the scope agent:read_messages. */
export const MessagePosted = event("message.posted", {
  messageId: z.string(),
  /** The message's position in the conversation; see `afterSequence` of the list of messages. */
  messageSequence: z.int(),
  text: z.string(),
  format: z.enum(MESSAGE_FORMATS),
  /** Id of the message it replies to. */
  inReplyTo: z.string().nullable(),
});

export const AgentPaused = event("agent.paused", { reason: z.enum(PAUSE_REASONS) });

export const AgentResumed = event("agent.resumed", {});

export const AgentDeactivated = event("agent.deactivated", { reason: z.enum(DEACTIVATION_REASONS) });

// Written out: the generic `event` would intersect the two types of `runId`.
export const RunForceFailed = z.object({ ...envelope, type: z.literal("run_force_failed"), runId: z.string(), lastHeartbeatAt: Instant });

/** The `activationId` of every test.ping. */
export const TEST_ACTIVATION = "act_test";

export const TestPing = event("test.ping", { test: z.literal(true) });

/** Sent to an agent at the time of a wakeup it scheduled. */
export const AgentWakeup = event("agent.wakeup", {
  wakeupId: z.string(),
  reason: z.string(),
  payload: z.unknown(),
  scheduledFor: Instant,
});

/** An event as POSTed to a builder's webhook. */
export const AgentEvent = z.discriminatedUnion("type", [
  AgentActivated,
  ApprovalResponse,
  MessagePosted,
  AgentPaused,
  AgentResumed,
  AgentDeactivated,
  RunForceFailed,
  TestPing,
  AgentWakeup,
]);
export type AgentEvent = z.infer<typeof AgentEvent>;
export type AgentEventType = AgentEvent["type"];

export const AGENT_EVENT_TYPES = [
  "agent.activated",
  "approval_response",
  "message.posted",
  "agent.paused",
  "agent.resumed",
  "agent.deactivated",
  "run_force_failed",
  "test.ping",
  "agent.wakeup",
] as const satisfies readonly AgentEventType[];

/**
 * The fields that identify an occurrence of an event, so that a receiver recognizes a repeat (SPEC 6). Types that occur once per
 * activation, or once per run, are identified by type, activation and run; all others recur and are identified by `id`.
 */
export const EVENT_KEYS = {
  "agent.activated": ["type", "activationId"],
  approval_response: ["id"],
  "message.posted": ["id"],
  "agent.paused": ["id"],
  "agent.resumed": ["id"],
  "agent.deactivated": ["type", "activationId"],
  run_force_failed: ["type", "activationId", "runId"],
  "test.ping": ["id"],
  "agent.wakeup": ["id"],
} as const satisfies Record<AgentEventType, readonly string[]>;

/** Types that pause their activation when every attempt to deliver them failed. */
export const PAUSING_EVENTS: readonly AgentEventType[] = [
  "agent.activated",
  "agent.resumed",
  "approval_response",
  "message.posted",
  "run_force_failed",
  "agent.wakeup",
];

function event<const T extends string, S extends z.ZodRawShape>(type: T, fields: S) {
  return z.object({ ...envelope, type: z.literal(type), ...fields });
}
