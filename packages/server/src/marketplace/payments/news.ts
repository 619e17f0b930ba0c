import { and, eq, inArray } from "drizzle-orm";
import type { Tx } from "../../db/db.ts";
import type { Deps } from "../../deps.ts";
import { ApiError, invalid } from "../../lib/api-error.ts";
import { endListing, listUntil } from "../listings/period.ts";
import type { ListingRow } from "../listings/store.ts";
import { GRACE_MS, settlePayment, stopSubscription } from "./payments.ts";
import { BadNews, BadSignature, type News } from "./provider.ts";
import type { PaymentRow } from "./store.ts";

// How long money may be on its way: a direct debit is certain, or refused, within three weeks. Until then nothing else is to be paid.
const SETTLING_MS = 21 * 24 * 3_600_000;

/** Reads what came to the provider's webhook. Throws ApiError invalid_signature, validation_error, or not_found without such a provider. */
export function readNews({ payments }: Deps, bytes: Uint8Array, signature: string | null): News {
  try {
    const news = payments.read(bytes, signature);
    if (news === null) throw new ApiError("not_found", "Stripe is not set up on this server.", { hint: "Start it with --stripe-key." });
    return news;
  } catch (error) {
    if (error instanceof BadSignature) throw new ApiError("invalid_signature", error.message);
    if (error instanceof BadNews) throw invalid(error.path, "invalid_event", error.message);
    throw error;
  }
}

/** Acts on a provider's news, once: the same news again changes nothing. */
export async function takeNews(tx: Tx, deps: Deps, news: News): Promise<void> {
  const { paymentNotices } = tx.t;
  const [first] = await tx
    .insert(paymentNotices)
    .values({
      id: news.id,
      type: news.type,
      ended: news.kind === "ended" ? news.subscription : null,
      at: news.at,
      receivedAt: deps.clock.now(),
    })
    .onConflictDoNothing()
    .returning({ id: paymentNotices.id });
  if (first) await act(tx, deps, news);
}

async function bySession(tx: Tx, session: string): Promise<PaymentRow | undefined> {
  const { payments } = tx.t;
  const [row] = await tx.select().from(payments).where(eq(payments.session, session));
  return row;
}

async function bySubscription(tx: Tx, subscription: string): Promise<ListingRow | undefined> {
  const { listings } = tx.t;
  const [row] = await tx
    .select()
    .from(listings)
    .where(and(eq(listings.subscription, subscription), eq(listings.state, "LISTED")));
  return row;
}

async function hasEnded(tx: Tx, subscription: string): Promise<boolean> {
  return (await tx.$count(tx.t.paymentNotices, eq(tx.t.paymentNotices.ended, subscription))) > 0;
}

/** Stops a subscription of ours whose listing has ended: the first word did not get through, and it has charged once more. */
async function stopOrphan(tx: Tx, deps: Deps, subscription: string): Promise<void> {
  const { payments: p } = tx.t;
  const [payment] = await tx.select().from(p).where(eq(p.subscription, subscription));
  if (!payment || (await hasEnded(tx, subscription))) return;
  deps.log.warn("a listing that has ended was charged for: the money has to be given back", { payment: payment.id });
  await stopSubscription(tx, deps, payment.workspaceId, subscription);
}

async function paid(tx: Tx, deps: Deps, news: News & { kind: "paid" }): Promise<void> {
  const row = await bySession(tx, news.session);
  // Another product of the same account.
  if (!row) return;
  if (news.amount !== row.amount || news.currency.toLowerCase() !== row.currency) {
    deps.log.error("a payment of another amount than asked for lists nothing", {
      payment: row.id,
      amount: news.amount,
      currency: news.currency,
    });
    if (news.subscription !== null) await stopSubscription(tx, deps, row.workspaceId, news.subscription);
    return;
  }
  // News come in any order: what has ended already is not listed.
  if (news.subscription !== null && (await hasEnded(tx, news.subscription))) return;
  await settlePayment(tx, deps, row, news);
}

async function act(tx: Tx, deps: Deps, news: News): Promise<void> {
  const { payments } = tx.t;
  if (news.kind === "paid") return paid(tx, deps, news);
  if (news.kind === "other") return;
  if (news.kind === "completed") {
    await tx
      .update(payments)
      .set({ expiresAt: deps.clock.now() + SETTLING_MS })
      .where(and(eq(payments.session, news.session), eq(payments.state, "PENDING")));
    return;
  }
  if (news.kind === "failed" || news.kind === "expired") {
    await tx
      .update(payments)
      .set({ state: news.kind === "failed" ? "FAILED" : "EXPIRED" })
      .where(and(eq(payments.session, news.session), inArray(payments.state, ["PENDING"])));
    return;
  }
  const listing = await bySubscription(tx, news.subscription);
  if (!listing) return news.kind === "renewed" ? stopOrphan(tx, deps, news.subscription) : undefined;
  if (news.kind === "renewed") await listUntil(tx, deps, listing, { expiresAt: news.until + GRACE_MS, subscription: news.subscription });
  else await endListing(tx, deps, news.stopped ? { ...listing, subscription: null } : listing, "EXPIRED");
}
