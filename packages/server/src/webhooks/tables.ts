import type { AgentEventState, AgentEventType, AttemptClass } from "@mailsvc/sdk/contract";
import { isNotNull, isNull } from "drizzle-orm";
import type { ColumnTypes } from "../db/columns.ts";

export function deliveryTables(c: ColumnTypes) {
  return {
    /** Events for builders' webhooks, written in the transaction of what they tell: the outbox, and afterwards the log. */
    agentEvents: c.table(
      "agent_events",
      {
        id: c.text("id").primaryKey(),
        activationId: c.text("activation_id").notNull(),
        listingId: c.text("listing_id").notNull(),
        /** The brand's. */
        workspaceId: c.text("workspace_id").notNull(),
        type: c.text("type").$type<AgentEventType>().notNull(),
        runId: c.text("run_id"),
        /** Per activation, without gaps. */
        sequence: c.int("sequence").notNull(),
        /** The event's timestamp. */
        at: c.instant("at").notNull(),
        /** The bytes that are signed and sent, each time the same. With an agent's key they are in `sealed`, and here its place is masked. */
        body: c.text("body").notNull(),
        /** The escrow: the bytes with the key in them, encrypted, until the webhook has acknowledged them. */
        sealed: c.bytes("sealed"),
        state: c.text("state").$type<AgentEventState>().notNull(),
        /** Attempts so far. */
        attempts: c.int("attempts").notNull(),
        /** Those of them that count for the plan of retries: it begins anew when the event is revived. */
        tries: c.int("tries").notNull(),
        /** When the next attempt is due; null once the event is settled. */
        dueAt: c.instant("due_at"),
        /** The last attempt, its duration in ms; those before it are in deliveryAttempts. */
        lastAt: c.instant("last_at"),
        lastMs: c.int("last_ms"),
        lastClass: c.text("last_class").$type<AttemptClass>(),
        lastStatus: c.int("last_status"),
        lastError: c.text("last_error"),
        /** What the receiver answered: at most 2 KiB, without secrets. */
        lastAnswer: c.text("last_answer"),
        /** When it was delivered or given up. */
        settledAt: c.instant("settled_at"),
      },
      (t) => [
        c.uniqueIndex("agent_events_sequence").on(t.activationId, t.sequence),
        c.index("agent_events_listing").on(t.listingId, t.id),
        c.index("agent_events_open").on(t.activationId, t.sequence).where(isNull(t.settledAt)),
      ],
    ),
    /**
     * The lane of an activation: its events go out one after the other. It is made by the first event and stays; only one
     * worker at a time has it.
     */
    deliveryLanes: c.table(
      "delivery_lanes",
      {
        activationId: c.text("activation_id").primaryKey(),
        listingId: c.text("listing_id").notNull(),
        /** The listing's period in which the activation began. */
        period: c.int("period").notNull(),
        /** When to look at it next; null while nothing waits in it. Of a claimed lane: the end of the lease. */
        dueAt: c.instant("due_at"),
        /** Whose it is. */
        claim: c.text("claim"),
        /** The webhook was given up: until the pause is lifted only agent.paused and agent.deactivated go out. */
        held: c.flag("held").notNull(),
      },
      (t) => [c.index("delivery_lanes_due").on(t.listingId, t.dueAt).where(isNotNull(t.dueAt))],
    ),
    /** The attempts of an event before its last one. */
    deliveryAttempts: c.table(
      "delivery_attempts",
      {
        id: c.counter("id"),
        eventId: c.text("event_id").notNull(),
        attempt: c.int("attempt").notNull(),
        at: c.instant("at").notNull(),
        /** Duration. */
        ms: c.int("ms").notNull(),
        class: c.text("class").$type<AttemptClass>().notNull(),
        httpStatus: c.int("http_status"),
        message: c.text("message"),
        answer: c.text("answer"),
      },
      (t) => [c.index("delivery_attempts_event").on(t.eventId, t.attempt)],
    ),
  };
}
