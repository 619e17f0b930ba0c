import { and, eq } from "drizzle-orm";
import type { Tx } from "../../db/db.ts";
import { findRows } from "../../db/find.ts";
import { ApiError, invalid } from "../../lib/api-error.ts";
import { DAY } from "../../lib/units.ts";
import { endListing, extendListing, type ListingRow } from "../listings/listings.ts";
import { GRACE_MS, markPaid, type PaymentDeps, stopSubscription } from "./payments.ts";
import { InvalidEvent, InvalidEventSignature, type ProviderEvent } from "./provider.ts";
import type { PaymentRow } from "./store.ts";

// Longest time a completed checkout waits for its money: a direct debit settles or fails within three weeks.
const SETTLING_MS = 21 * DAY;

/**
 * Verifies and parses a webhook request of the provider. Throws ApiError invalid_signature, validation_error, or not_found without such a
 * provider.
 */
export function parseProviderEvent({ payments }: PaymentDeps, bytes: Uint8Array, signature: string | null): ProviderEvent {
  try {
    const event = payments.parseEvent(bytes, signature);
    if (event === null) throw new ApiError("not_found", "Stripe is not set up on this server.", { hint: "Start it with --stripe-key." });
    return event;
  } catch (error) {
    if (error instanceof InvalidEventSignature) throw new ApiError("invalid_signature", error.message);
    if (error instanceof InvalidEvent) throw invalid(error.path, "invalid_event", error.message);
    throw error;
  }
}

/** Applies an event of the provider once: providers repeat events, and a repeat changes nothing. */
export async function applyProviderEvent(tx: Tx, deps: PaymentDeps, event: ProviderEvent): Promise<void> {
  const { paymentNotices } = tx.t;
  const [first] = await tx
    .insert(paymentNotices)
    .values({
      id: event.id,
      type: event.type,
      ended: event.kind === "ended" ? event.subscription : null,
      at: event.at,
      receivedAt: deps.clock.now(),
    })
    .onConflictDoNothing()
    .returning({ id: paymentNotices.id });
  if (first) await apply(tx, deps, event);
}

async function apply(tx: Tx, deps: PaymentDeps, event: ProviderEvent): Promise<void> {
  const { payments } = tx.t;
  switch (event.kind) {
    case "other":
      return;
    case "paid":
      return applyPaid(tx, deps, event);
    case "completed":
      await tx
        .update(payments)
        .set({ expiresAt: deps.clock.now() + SETTLING_MS })
        .where(and(eq(payments.session, event.session), eq(payments.state, "PENDING")));
      return;
    case "failed":
    case "expired":
      await tx
        .update(payments)
        .set({ state: event.kind === "failed" ? "FAILED" : "EXPIRED" })
        .where(and(eq(payments.session, event.session), eq(payments.state, "PENDING")));
      return;
    case "renewed": {
      const listing = await findListedBySubscription(tx, event.subscription);
      if (!listing) return stopOrphanedSubscription(tx, deps, event.subscription);
      await extendListing(tx, deps, listing, { expiresAt: event.until + GRACE_MS, subscription: event.subscription });
      return;
    }
    case "ended": {
      const listing = await findListedBySubscription(tx, event.subscription);
      if (listing) await endListing(tx, deps, event.stopped ? { ...listing, subscription: null } : listing, "EXPIRED");
    }
  }
}

async function applyPaid(tx: Tx, deps: PaymentDeps, event: ProviderEvent & { kind: "paid" }): Promise<void> {
  const row = await findBySession(tx, event.session);
  // The checkout of another product of the same account.
  if (!row) return;
  if (event.amount !== row.amount || event.currency.toLowerCase() !== row.currency) {
    deps.log.error("payment ignored: its amount is not the price of a listing", {
      payment: row.id,
      amount: event.amount,
      currency: event.currency,
    });
    if (event.subscription !== null) await stopSubscription(tx, deps, row.workspaceId, event.subscription);
    return;
  }
  // Events arrive in any order: a subscription that has ended already does not list anything.
  if (event.subscription !== null && (await hasEnded(tx, event.subscription))) return;
  await markPaid(tx, deps, row, event);
}

/** Cancels a subscription that renewed after its listing ended: the first cancellation did not reach the provider. */
async function stopOrphanedSubscription(tx: Tx, deps: PaymentDeps, subscription: string): Promise<void> {
  const { payments: p } = tx.t;
  const [payment] = await findRows(tx, p, { subscription });
  if (!payment || (await hasEnded(tx, subscription))) return;
  deps.log.warn("a listing was charged for after it ended: refund this payment", { payment: payment.id });
  await stopSubscription(tx, deps, payment.workspaceId, subscription);
}

async function findBySession(tx: Tx, session: string): Promise<PaymentRow | null> {
  const { payments } = tx.t;
  const [row] = await findRows(tx, payments, { session });
  return row ?? null;
}

async function findListedBySubscription(tx: Tx, subscription: string): Promise<ListingRow | null> {
  const { listings } = tx.t;
  const [row] = await findRows(tx, listings, { subscription, state: "LISTED" });
  return row ?? null;
}

async function hasEnded(tx: Tx, subscription: string): Promise<boolean> {
  return (await tx.$count(tx.t.paymentNotices, eq(tx.t.paymentNotices.ended, subscription))) > 0;
}
