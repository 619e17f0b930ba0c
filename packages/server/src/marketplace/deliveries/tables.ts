import type { AgentEventState, AgentEventType, AttemptClass } from "@mailsvc/sdk/contract";
import type { Kit } from "../../db/kit.pg.ts";

export const deliveryTables = (k: Kit) => ({
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
      attempts: k.int("attempts").notNull(),
      /** When the next attempt is due. */
      dueAt: k.instant("due_at"),
      /** A lease: until then the event is somebody's. */
      lockedUntil: k.instant("locked_until"),
      lastClass: k.text("last_class").$type<AttemptClass>(),
      lastStatus: k.int("last_status"),
      lastError: k.text("last_error"),
      /** When it was delivered or given up. */
      settledAt: k.instant("settled_at"),
    },
    (t) => [
      k.uniqueIndex("agent_events_sequence").on(t.activationId, t.sequence),
      k.index("agent_events_listing").on(t.listingId, t.id),
      k.index("agent_events_due").on(t.state, t.dueAt),
    ],
  ),
  /** Every attempt to deliver one. */
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
      /** What the receiver answered: the first 2 KiB, without secrets. */
      answer: k.text("answer"),
    },
    (t) => [k.index("delivery_attempts_event").on(t.eventId, t.id)],
  ),
});
