import type { AttemptClass } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import type { Attempt, RetrySchedule } from "./attempt.ts";
import type { EndpointSecrets } from "./secrets.ts";
import type { OpenEvent } from "./streams.ts";
import type { OutboxName } from "./tables.ts";

/** A webhook: where the events of some streams go, what signs them, and by which rules they are delivered. */
export interface Endpoint extends EndpointSecrets {
  readonly url: string;
  /** Its receiver reads the headers of Svix: those of Standard Webhooks under other names. */
  readonly svix?: boolean;
  readonly policy: WebhookPolicy;
}

/** The id and the bytes of an event, made from the log. */
export interface ComposedEvent {
  readonly id: string;
  readonly body: string;
}

/** Finds an endpoint as it is now; undefined for one that gets no events any more. */
export type LoadEndpoint = (tx: Tx, endpointId: string) => Promise<Endpoint | undefined>;

/** Differences between the kinds of endpoints. The hooks run in the transaction that records an attempt. */
export interface WebhookPolicy {
  /** The table of its events. */
  readonly outbox: OutboxName;
  /**
   * Number of events of a stream claimed at a time, in order. More than one only where nothing withdraws or holds events: claimed
   * events that have waited are checked only for still being in the log.
   */
  readonly claims: number;
  readonly retries: RetrySchedule;
  /** Makes the bytes of events by their keys, where those are not stored. An event that is missing in the answer is cancelled. */
  compose?(q: Tx | Reader, keys: readonly number[]): Promise<ReadonlyMap<number, ComposedEvent>>;
  /** An event has arrived. Runs for every delivery: query only for the types that need it. */
  delivered?(tx: Tx, event: OpenEvent): Promise<void>;
  /**
   * An attempt has failed. Return "hold" to stop the stream until `releaseStreams`, "aside" to give the event its own stream, so
   * that others do not wait for its next attempt.
   */
  failed?(tx: Tx, failure: Failure): Promise<"hold" | "aside" | undefined>;
}

export interface Failure {
  readonly endpointId: string;
  readonly event: OpenEvent;
  readonly attempt: Attempt;
  /** Attempts so far that count for the retry schedule. */
  readonly tries: number;
  /** The last attempt of the schedule has failed: the event is dead. */
  readonly exhausted: boolean;
}

/** Message of one attempt. */
export interface Message {
  /** The event's: the same at every endpoint that gets it. */
  readonly id: string;
  readonly type: string;
  /** The event's timestamp, ms. */
  readonly at: number;
  /** From 1. */
  readonly attempt: number;
  readonly body: string;
  /** The trace it belongs to, as a traceparent. */
  readonly traceparent?: string | null;
}

/** Functions of the delivery engine for other modules. */
export interface Webhooks {
  /** Attempts since the process started, by how they ended. */
  readonly attempts: ReadonlyMap<AttemptClass, number>;
  /** These endpoints have new events. Call it after the commit that wrote them. */
  wake(endpointIds: Iterable<string>): void;
  /** Loads what sending needs, so that the first event does not wait for it. Call it when there is a webhook. */
  prepare(): void;
  /** Sends a message once and at once, outside of all streams and limits. Never throws. */
  send(endpoint: Endpoint, message: Message): Promise<Attempt>;
}

/** The engine, for the code that starts and stops it. */
export interface WebhookWorker extends Webhooks {
  start(): Promise<void>;
  /** Claims nothing more. Requests in flight get a second; those that need longer are sent again after the next start. */
  stop(): Promise<void>;
  /** Waits until nothing is in flight and nothing is due. Returns whether it had to wait. */
  idle(): Promise<boolean>;
}
