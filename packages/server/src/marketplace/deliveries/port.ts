import type { ListingRow } from "../listings/store.ts";
import type { Attempt } from "./attempt.ts";

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
