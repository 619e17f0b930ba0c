import type { AgentEvent, AgentEvents } from "../contract.generated.ts";

type Fields<T extends keyof AgentEvents> = Omit<AgentEvents[T], "id" | "type" | "activationId" | "runId" | "sequence" | "timestamp">;

const AT = "2026-01-01T12:00:00.000Z";

const FIELDS: { readonly [T in keyof AgentEvents]: Fields<T> & { runId?: string } } = {
  "agent.activated": {
    apiKey: "ms_agent_sample_key",
    agentSlug: "sample-agent",
    organizationName: "Sample Brand",
    scopes: ["agent:write_runs", "agent:post_messages", "agent:read_messages"],
  },
  approval_response: { messageId: "msg_sample", decision: "approved", comment: null, answeredAt: AT, runId: "run_sample" },
  "message.posted": { messageId: "msg_sample", messageSequence: 1, text: "Für dich ✉", format: "plain", inReplyTo: null },
  "agent.paused": { reason: "user_paused" },
  "agent.resumed": {},
  "agent.deactivated": { reason: "user_deactivated" },
  run_force_failed: { runId: "run_sample", lastHeartbeatAt: AT },
  "test.ping": { test: true },
  "agent.wakeup": { wakeupId: "wku_sample", reason: "Look at the numbers", payload: null, scheduledFor: AT },
};

/** Every type of event. */
export const EVENT_TYPES = Object.keys(FIELDS) as (keyof AgentEvents)[];

let count = 0;

/** An event of a type with plausible fields, and an id of its own; `fields` replace some of them. */
export function sampleEvent<T extends keyof AgentEvents>(type: T, fields: Partial<AgentEvents[T]> = {}): AgentEvents[T] {
  count += 1;
  const activationId = type === "test.ping" ? "act_test" : "act_sample";
  const envelope = { id: `evt_sample_${count}`, type, activationId, runId: null, sequence: count, timestamp: AT };
  return { ...envelope, ...FIELDS[type], ...fields } as AgentEvents[T];
}

const PAUSES: Record<AgentEvents["agent.paused"]["reason"], true> = { user_paused: true, plan_downgrade: true, webhook_failure: true };
const ENDS: Record<AgentEvents["agent.deactivated"]["reason"], true> = { user_deactivated: true, plan_downgrade: true, admin_revoke: true };
const DECISIONS = ["approved", "rejected", "expired", "an-option"];

/** One event of every type, and of every reason and decision a type has. */
export function sampleEvents(): AgentEvent[] {
  return EVENT_TYPES.flatMap((type): AgentEvent[] => {
    if (type === "agent.paused") return keysOf(PAUSES).map((reason) => sampleEvent(type, { reason }));
    if (type === "agent.deactivated") return keysOf(ENDS).map((reason) => sampleEvent(type, { reason }));
    if (type === "approval_response") return DECISIONS.map((decision) => sampleEvent(type, { decision }));
    return [sampleEvent(type)];
  });
}

function keysOf<K extends string>(record: Record<K, true>): K[] {
  return Object.keys(record) as K[];
}
