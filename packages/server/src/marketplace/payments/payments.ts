import { LISTING_PRICE, type Payment } from "@mailsvc/sdk/contract";
import { and, desc, eq, gt, ne } from "drizzle-orm";
import type { Reader, Tx } from "../../db/db.ts";
import { UniqueViolation } from "../../db/errors.ts";
import { findRows } from "../../db/find.ts";
import { ApiError } from "../../lib/api-error.ts";
import type { Log } from "../../lib/log.ts";
import { addMonth, findMonthAround } from "../../lib/month.ts";
import { DAY } from "../../lib/units.ts";
import type { JobHandler } from "../../queue/queue.ts";
import { extendListing, getListingRow, isListed, type ListingDeps, type ListingRow, listingById } from "../listings/listings.ts";
import { type Checkout, type PaymentProvider, ProviderFailed } from "./provider.ts";
import { getPaymentRow, type PaymentRow, showPayment } from "./store.ts";

/*
 * The states of a payment. A conditional update makes each change, so of two concurrent ones the first wins.
 *
 *   from      trigger                                              to
 *   (new)     startPayment                                         PENDING
 *   PENDING   markPaid: the provider's event, or a confirmation    PAID, lists the listing
 *   PENDING   event `completed`: the money is on its way           PENDING, for three weeks
 *   PENDING   event `failed`                                       FAILED
 *   PENDING   event `expired`, the end of its time, or the end     EXPIRED
 *             of its listing or another payment (expireCheckouts)
 *   FAILED    markPaid: a later attempt succeeded                  PAID
 *   EXPIRED   markPaid                                             EXPIRED, stops the subscription and logs a refund
 */

/**
 * Delay with which a provider that renews by itself may report a renewal: Stripe settles an invoice about an hour late and
 * retries failed cards for days.
 */
export const GRACE_MS = 3 * DAY;

const EXPIRE_CHECKOUT_JOB = "agent.payment.close";
const CANCEL_SUBSCRIPTION_JOB = "agent.payment.stop";

/** Calls to the provider that must happen eventually. The queue retries a failed one. */
export function paymentJobs({ payments }: PaymentDeps): Readonly<Record<string, JobHandler>> {
  return {
    [EXPIRE_CHECKOUT_JOB]: async ({ payload }) => {
      await payments.expireCheckout(String(payload.session));
      return {};
    },
    [CANCEL_SUBSCRIPTION_JOB]: async ({ payload }) => {
      await payments.cancelSubscription(String(payload.subscription));
      return {};
    },
  };
}

/** A checkout opened at the provider, before the transaction of `startPayment`. */
export interface OpenedCheckout {
  readonly paymentId: string;
  readonly checkout: Checkout;
}

/** Opens a checkout at the provider; null when one is open. Throws ApiError not_found, invalid_state or payment_provider_error. */
export async function openCheckout(read: Reader, deps: PaymentDeps, workspaceId: string, slug: string): Promise<OpenedCheckout | null> {
  const row = await getListingRow(read, workspaceId, slug);
  assertPayable(row, deps);
  if (await findOpenPayment(read, row, deps)) return null;
  const paymentId = deps.ids("pay");
  const { amount, currency } = LISTING_PRICE;
  try {
    return { paymentId, checkout: await deps.payments.openCheckout({ paymentId, listingId: row.id, name: row.name, amount, currency }) };
  } catch (error) {
    if (error instanceof ProviderFailed) throw new ApiError("payment_provider_error", error.message, { cause: error.cause });
    throw error;
  }
}

/** Stores an opened checkout. While one is open, further requests get that one. Throws ApiError not_found or invalid_state. */
export async function startPayment(
  tx: Tx,
  deps: PaymentDeps,
  workspaceId: string,
  slug: string,
  opened: OpenedCheckout | null,
): Promise<Payment> {
  const listing = await getListingRow(tx, workspaceId, slug);
  assertPayable(listing, deps);
  // Locks the row, so that of two concurrent checkouts the second sees the first.
  await tx.update(tx.t.listings).set({ id: listing.id }).where(eq(tx.t.listings.id, listing.id));
  const now = deps.clock.now();
  const before = await findOpenPayment(tx, listing, deps);
  if (before) return showPayment(before, slug, now);
  if (!opened) throw new ApiError("invalid_state", "The open checkout has just ended. Start a new one.");
  const row: PaymentRow = {
    id: opened.paymentId,
    workspaceId,
    listingId: listing.id,
    provider: deps.payments.name,
    session: opened.checkout.session,
    state: "PENDING",
    amount: LISTING_PRICE.amount,
    currency: LISTING_PRICE.currency,
    checkoutUrl: opened.checkout.url,
    subscription: null,
    createdAt: now,
    expiresAt: opened.checkout.expiresAt,
    paidAt: null,
  };
  try {
    await tx.insert(tx.t.payments).values(row);
  } catch (error) {
    if (error instanceof UniqueViolation) throw new ApiError("payment_provider_error", "The provider returned the id of another checkout.");
    throw error;
  }
  return showPayment(row, slug, now);
}

/** The workspace that has to make a payment; null if there is no such payment. */
export async function findWorkspaceOfPayment(read: Reader, id: string): Promise<string | null> {
  const [row] = await findRows(read, read.t.payments, { id });
  return row?.workspaceId ?? null;
}

/** Confirms a local payment by hand. Throws ApiError not_found, or invalid_state when the provider confirms its payments itself. */
export async function confirmPayment(tx: Tx, deps: PaymentDeps, workspaceId: string, id: string): Promise<Payment> {
  const { payment, slug } = await getPaymentRow(tx, workspaceId, id);
  const now = deps.clock.now();
  if (payment.provider !== "local" || deps.payments.name !== "local")
    throw new ApiError("invalid_state", "Only the payment provider can confirm this payment.");
  const { state } = showPayment(payment, slug, now);
  if (state === "PAID") return showPayment(payment, slug, now);
  if (state !== "PENDING")
    throw new ApiError("invalid_state", `This payment is ${state}.`, { hint: "Start another checkout: mailsvc listings checkout <slug>" });
  return showPayment(await markPaid(tx, deps, payment, { at: now, subscription: null }), slug, now);
}

/**
 * Marks a payment as paid and lists its listing for a month. A payment for a checkout that had ended lists nothing; its
 * subscription is cancelled so that it is not charged again.
 */
export async function markPaid(
  tx: Tx,
  deps: PaymentDeps,
  row: PaymentRow,
  { at, subscription }: { at: number; subscription: string | null },
): Promise<PaymentRow> {
  if (row.state === "PAID") return row;
  const listing = await listingById(tx, row.listingId);
  if (row.state === "EXPIRED" || !listing) {
    deps.log.warn("a checkout was paid after it ended: refund this payment", { payment: row.id });
    if (subscription !== null) await stopSubscription(tx, deps, row.workspaceId, subscription);
    return row;
  }
  const now = deps.clock.now();
  const paid: PaymentRow = { ...row, state: "PAID", paidAt: now, subscription };
  await tx.update(tx.t.payments).set({ state: "PAID", paidAt: now, subscription }).where(eq(tx.t.payments.id, row.id));
  const expiresAt = deps.payments.renewsItself ? addMonth(Math.max(at, now)) + GRACE_MS : endOfPaidMonth(listing, now);
  await expireCheckouts(tx, deps, listing, row.id);
  await extendListing(tx, deps, listing, { expiresAt, subscription });
  return paid;
}

/**
 * The end of a further month of a listing, ms. Months are counted from the day it was listed, so that a listing of 31 January
 * renews on 28 February and then on 31 March.
 */
function endOfPaidMonth(listing: ListingRow, now: number): number {
  if (!isListed(listing, now) || listing.listedAt === null || listing.expiresAt === null) return addMonth(now);
  return findMonthAround(listing.listedAt, listing.expiresAt).until;
}

/** Expires the open checkouts of an ended listing and cancels its subscription. */
export async function endPayments(tx: Tx, deps: PaymentDeps, listing: ListingRow): Promise<void> {
  await expireCheckouts(tx, deps, listing);
  if (listing.subscription !== null) await stopSubscription(tx, deps, listing.workspaceId, listing.subscription);
}

/** Has a job cancel a subscription at the provider. */
export async function stopSubscription(tx: Tx, { queue }: PaymentDeps, workspaceId: string, subscription: string): Promise<void> {
  await queue.enqueue(tx, { kind: CANCEL_SUBSCRIPTION_JOB, payload: { workspaceId, subscription } });
}

/** Expires the open checkouts of a listing except one. A payment that arrives for them later lists nothing. */
async function expireCheckouts(tx: Tx, { queue }: PaymentDeps, { id, workspaceId }: ListingRow, except?: string): Promise<void> {
  const { payments: p } = tx.t;
  const open = await tx
    .update(p)
    .set({ state: "EXPIRED" })
    .where(and(eq(p.listingId, id), eq(p.state, "PENDING"), except === undefined ? undefined : ne(p.id, except)))
    .returning({ session: p.session });
  for (const { session } of open) await queue.enqueue(tx, { kind: EXPIRE_CHECKOUT_JOB, payload: { workspaceId, session } });
}

/** Throws ApiError invalid_state for a listing whose provider renews it every month. */
function assertPayable(row: ListingRow, { payments, clock }: PaymentDeps): void {
  if (payments.renewsItself && row.subscription !== null && isListed(row, clock.now()))
    throw new ApiError("invalid_state", "This listing is already paid for. It renews every month until you cancel it.");
}

/** The payment of a listing that this provider can still take. */
async function findOpenPayment(q: Reader | Tx, row: ListingRow, { clock, payments }: PaymentDeps): Promise<PaymentRow | null> {
  const { payments: p } = q.t;
  const [found] = await q
    .select()
    .from(p)
    .where(and(eq(p.listingId, row.id), eq(p.provider, payments.name), eq(p.state, "PENDING"), gt(p.expiresAt, clock.now())))
    .orderBy(desc(p.id))
    .limit(1);
  return found ?? null;
}

export interface PaymentDeps extends ListingDeps {
  readonly log: Log;
  readonly payments: PaymentProvider;
}
