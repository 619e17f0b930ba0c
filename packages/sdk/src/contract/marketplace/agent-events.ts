import { z } from "zod";
import { Instant } from "../page.ts";
import { AGENT_SCOPES } from "../scopes.ts";
import { DEACTIVATION_REASONS, PAUSE_REASONS } from "./states.ts";

/**
 * What every event carries (SPEC 6). The bytes of an event are the same on every attempt and replay. Fields may be added;
 * receivers pass over what they do not know.
 */
const envelope = {
  /** Names this occurrence: the same on every attempt. */
  id: z.string(),
  activationId: z.string(),
  runId: z.string().nullable(),
  /** Counts the events of one activation from 1: what is older than the newest one seen must not undo it. */
  sequence: z.int().min(0),
  /** When the state changed, not when it was sent; strictly rising per activation. */
  timestamp: Instant,
};

export const AgentActivated = event("agent.activated", {
  /** The key of this activation: in this event and nowhere else. */
  apiKey: z.string(),
  agentSlug: z.string(),
  organizationName: z.string(),
  scopes: z.array(z.enum(AGENT_SCOPES)),
});

export const ApprovalResponse = event("approval_response", {
  messageId: z.string(),
  /** `approved`, `rejected`, `expired`, or the id of the option that was chosen. */
  decision: z.string(),
  comment: z.string().nullable(),
  answeredAt: Instant,
});

export const AgentPaused = event("agent.paused", { reason: z.enum(PAUSE_REASONS) });

export const AgentResumed = event("agent.resumed", {});

export const AgentDeactivated = event("agent.deactivated", { reason: z.enum(DEACTIVATION_REASONS) });

// Spelled out: of two types for `runId` a generic spread would make one that fits nothing.
export const RunForceFailed = z.object({ ...envelope, type: z.literal("run_force_failed"), runId: z.string(), lastHeartbeatAt: Instant });

/** The activation of every test.ping. */
export const TEST_ACTIVATION = "act_test";

export const TestPing = event("test.ping", { test: z.literal(true) });

/** Sent only to an agent that asked to be woken. */
export const AgentWakeup = event("agent.wakeup", {
  wakeupId: z.string(),
  reason: z.string(),
  payload: z.unknown(),
  scheduledFor: Instant,
});

/** An event as it is POSTed to a builder's webhook. */
export const AgentEvent = z.discriminatedUnion("type", [
  AgentActivated,
  ApprovalResponse,
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
  "agent.paused",
  "agent.resumed",
  "agent.deactivated",
  "run_force_failed",
  "test.ping",
  "agent.wakeup",
] as const satisfies readonly AgentEventType[];

/**
 * Types that happen once for their activation, or their run: a receiver may know them again by type, activation and run
 * alone (SPEC 6). All others recur, so their `id` counts as well.
 */
export const ONCE_ONLY_EVENTS: readonly AgentEventType[] = ["agent.activated", "agent.deactivated", "run_force_failed"];

/** Types that pause their activation when they cannot be delivered. */
export const PAUSING_EVENTS: readonly AgentEventType[] = [
  "agent.activated",
  "agent.resumed",
  "approval_response",
  "run_force_failed",
  "agent.wakeup",
];

function event<const T extends string, S extends z.ZodRawShape>(type: T, fields: S) {
  return z.object({ ...envelope, type: z.literal(type), ...fields });
}
