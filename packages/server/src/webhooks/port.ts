import type { Deps } from "../deps.ts";
import type { ListingRow } from "../marketplace/listings/store.ts";
import type { Attempt } from "./attempt.ts";
import type { Lookup } from "./connect.ts";

/** What others ask of the way to the webhooks. */
export interface Deliveries {
  /** Events of these listings wait: called after the commit that wrote them. */
  wake(listingIds: Iterable<string>): void;
  /** Sends bytes to a listing's webhook once, beside all lanes and limits. Never throws. */
  send(listing: ListingRow, message: Message): Promise<Attempt>;
}

/** What is sent in an attempt. */
export interface Message {
  /** The event's. */
  readonly id: string;
  readonly type: string;
  /** The event's timestamp, ms. */
  readonly at: number;
  /** From 1. */
  readonly attempt: number;
  readonly body: string;
}

/** What the way to the webhooks is to whoever runs it. */
export interface DeliveryWorker extends Deliveries {
  start(): Promise<void>;
  /** Takes nothing further; what is under way has a second, and is sent again after the next start if that was not enough. */
  stop(): Promise<void>;
  /** Waits until nothing is under way and nothing is due. Answers whether it had to. */
  idle(): Promise<boolean>;
}

export interface DeliveryParts {
  /** Known once everything is put together. */
  readonly deps: () => Deps;
  readonly lookup: Lookup;
}
