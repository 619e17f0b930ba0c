import type { AgentEventState, AgentEventType, AttemptClass } from "@mailsvc/sdk/contract";
import { isNotNull, isNull } from "drizzle-orm";
import type { Kit } from "../db/postgres/columns.ts";

export function deliveryTables(k: Kit) {
  return {
    /** Events for builders' webhooks, written in the transaction of what they tell: the outbox, and afterwards the log. */
    agentEvents: k.table(
      "agent_events",
      {
        id: k.text("id").primaryKey(),
        activationId: k.text("activation_id").notNull(),
        listingId: k.text("listing_id").notNull(),
        /** The brand's. */
        workspaceId: k.text("workspace_id").notNull(),
        type: k.text("type").$type<AgentEventType>().notNull(),
        runId: k.text("run_id"),
        /** Per activation, without gaps. */
        sequence: k.int("sequence").notNull(),
        /** The event's timestamp. */
        at: k.instant("at").notNull(),
        /** The bytes that are signed and sent, each time the same. With an agent's key they are in `sealed`, and here its place is masked. */
        body: k.text("body").notNull(),
        /** The escrow: the bytes with the key in them, encrypted, until the webhook has acknowledged them. */
        sealed: k.bytes("sealed"),
        state: k.text("state").$type<AgentEventState>().notNull(),
        /** Attempts so far. */
        attempts: k.int("attempts").notNull(),
        /** Those of them that count for the plan of retries: it begins anew when the event is revived. */
        tries: k.int("tries").notNull(),
        /** When the next attempt is due; null once the event is settled. */
        dueAt: k.instant("due_at"),
        /** The last attempt, its duration in ms; those before it are in deliveryAttempts. */
        lastAt: k.instant("last_at"),
        lastMs: k.int("last_ms"),
        lastClass: k.text("last_class").$type<AttemptClass>(),
        lastStatus: k.int("last_status"),
        lastError: k.text("last_error"),
        /** What the receiver answered: at most 2 KiB, without secrets. */
        lastAnswer: k.text("last_answer"),
        /** When it was delivered or given up. */
        settledAt: k.instant("settled_at"),
      },
      (t) => [
        k.uniqueIndex("agent_events_sequence").on(t.activationId, t.sequence),
        k.index("agent_events_listing").on(t.listingId, t.id),
        k.index("agent_events_open").on(t.activationId, t.sequence).where(isNull(t.settledAt)),
      ],
    ),
    /**
     * The lane of an activation: its events go out one after the other. It is made by the first event and stays; only one
     * worker at a time has it.
     */
    deliveryLanes: k.table(
      "delivery_lanes",
      {
        activationId: k.text("activation_id").primaryKey(),
        listingId: k.text("listing_id").notNull(),
        /** The listing's period in which the activation began. */
        period: k.int("period").notNull(),
        /** When to look at it next; null while nothing waits in it. Of a claimed lane: the end of the lease. */
        dueAt: k.instant("due_at"),
        /** Whose it is. */
        claim: k.text("claim"),
        /** The webhook was given up: until the pause is lifted only agent.paused and agent.deactivated go out. */
        held: k.flag("held").notNull(),
      },
      (t) => [k.index("delivery_lanes_due").on(t.listingId, t.dueAt).where(isNotNull(t.dueAt))],
    ),
    /** The attempts of an event before its last one. */
    deliveryAttempts: k.table(
      "delivery_attempts",
      {
        id: k.counter("id"),
        eventId: k.text("event_id").notNull(),
        attempt: k.int("attempt").notNull(),
        at: k.instant("at").notNull(),
        /** Duration. */
        ms: k.int("ms").notNull(),
        class: k.text("class").$type<AttemptClass>().notNull(),
        httpStatus: k.int("http_status"),
        message: k.text("message"),
        answer: k.text("answer"),
      },
      (t) => [k.index("delivery_attempts_event").on(t.eventId, t.attempt)],
    ),
  };
}
