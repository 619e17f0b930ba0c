import type { AgentEventState, AttemptClass } from "@mailsvc/sdk/contract";
import { isNotNull, isNull } from "drizzle-orm";
import type { ColumnTypes } from "../db/columns.ts";

/** The names of the tables that hold events for webhooks. */
export type OutboxName = "webhookEvents" | "webhookDeliveries";

export function webhookTables(c: ColumnTypes) {
  return {
    /**
     * Events for agents' webhooks, written in the transaction of what they report: the outbox, and afterwards the log. Retention
     * deletes settled ones.
     */
    webhookEvents: c.table(toName("webhook_events"), outboxColumns(c), (t) => [
      c.uniqueIndex("webhook_events_sequence").on(t.streamId, t.sequence),
      c.index("webhook_events_endpoint").on(t.endpointId, t.id),
      // For the filters of the list of deliveries.
      c.index("webhook_events_state").on(t.endpointId, t.state, t.id),
      c.index("webhook_events_type").on(t.endpointId, t.type, t.id),
      c.index("webhook_events_open").on(t.streamId, t.sequence).where(isNull(t.settledAt)),
    ]),
    /**
     * The same for developers' webhooks. A campaign writes millions of them, so they have as few indexes as their lists allow, and an
     * event that arrives leaves one and enters one.
     */
    webhookDeliveries: c.table(toName("webhook_deliveries"), outboxColumns(c), (t) => [
      c.index("webhook_deliveries_endpoint").on(t.endpointId, t.id),
      c.index("webhook_deliveries_type").on(t.endpointId, t.type, t.id),
      c.index("webhook_deliveries_settled").on(t.endpointId, t.state, t.id).where(isNotNull(t.settledAt)),
      c.index("webhook_deliveries_open").on(t.streamId, t.sequence).where(isNull(t.settledAt)),
    ]),
    /**
     * Streams: the events of one go out one after the other. A stream is created by its first event and stays; one worker at a
     * time claims it.
     */
    webhookStreams: c.table(
      "webhook_streams",
      {
        streamId: c.text("stream_id").primaryKey(),
        endpointId: c.text("endpoint_id").notNull(),
        /** Due time of its next event; null while nothing waits. For a claimed stream: the end of the lease. */
        dueAt: c.instant("due_at"),
        /** The claim of the worker that has it. */
        claim: c.text("claim"),
        /** It was claimed after a lease had ended: the attempt under way then was interrupted. */
        interrupted: c.flag("interrupted").notNull().default(false),
        /** An event was given up: until the hold is released, only events that pass it go out. */
        held: c.flag("held").notNull(),
      },
      (t) => [c.index("webhook_streams_due").on(t.endpointId, t.dueAt).where(isNotNull(t.dueAt))],
    ),
    /** The attempts of an event before its last one. */
    webhookAttempts: c.table(
      "webhook_attempts",
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
      (t) => [c.index("webhook_attempts_event").on(t.eventId, t.attempt)],
    ),
  };
}

export type WebhookTables = ReturnType<typeof webhookTables>;

/** The columns of an outbox: of all of them the same, so that one engine delivers them. */
function outboxColumns(c: ColumnTypes) {
  return {
    id: c.text("id").primaryKey(),
    /** Endpoint of the event, e.g. the id of a listing. */
    endpointId: c.text("endpoint_id").notNull(),
    /** The ordered partition it belongs to, e.g. the id of an activation. */
    streamId: c.text("stream_id").notNull(),
    /** The workspace in which it happened. */
    workspaceId: c.text("workspace_id").notNull(),
    type: c.text("type").notNull(),
    /** Subject of the event, e.g. the id of a run. */
    subjectId: c.text("subject_id"),
    /** Its place in the stream: rises without gaps. */
    sequence: c.int("sequence").notNull(),
    /** The event's timestamp. */
    at: c.instant("at").notNull(),
    /** The key of the event in the log whose bytes are made when they are sent, so that `body` is empty; several endpoints may get it. */
    eventKey: c.reference("event_key"),
    /** The bytes that are signed and sent, the same on every attempt. A secret in them is masked here and in full in `sealed`. */
    body: c.text("body").notNull(),
    /** The bytes with their secret, encrypted; erased when the webhook has acknowledged them. */
    sealed: c.bytes("sealed"),
    /** Goes out although its stream is held. */
    passesHold: c.flag("passes_hold").notNull().default(false),
    state: c.text("state").$type<AgentEventState>().notNull(),
    /** Attempts so far, with those that a crash interrupted. */
    attempts: c.int("attempts").notNull(),
    /** Attempts that count for the retry schedule, which starts again when the event is revived. */
    tries: c.int("tries").notNull(),
    /** Due time of the next attempt; null once the event is settled. */
    dueAt: c.instant("due_at"),
    /** The last attempt that was recorded: its number, start, and duration in ms. Earlier ones are in webhookAttempts. */
    lastAttempt: c.int("last_attempt"),
    lastAt: c.instant("last_at"),
    lastMs: c.int("last_ms"),
    lastClass: c.text("last_class").$type<AttemptClass>(),
    lastStatus: c.int("last_status"),
    lastError: c.text("last_error"),
    /** The beginning of the response: at most 2 KiB, secrets redacted. */
    lastAnswer: c.text("last_answer"),
    /** The trace it belongs to, as a traceparent; null without one. */
    traceparent: c.text("traceparent"),
    /** Time at which it was delivered, given up, superseded or cancelled. */
    settledAt: c.instant("settled_at"),
  };
}

/** A name whose type is not its text: tables with the same columns then have the same type. */
function toName(name: string): string {
  return name;
}
