import { LISTING_PRICE, type Payment } from "@mailsvc/sdk/contract";
import { and, desc, eq, gt } from "drizzle-orm";
import type { Reader, Tx } from "../../db/db.ts";
import { UniqueViolation } from "../../db/errors.ts";
import type { Deps } from "../../deps.ts";
import { ApiError } from "../../lib/api-error.ts";
import { addMonth } from "../../lib/month.ts";
import { listUntil } from "../listings/period.ts";
import { findListing, isListed, type ListingRow, listingById } from "../listings/store.ts";
import { closeCheckouts } from "./close.ts";
import { STOP_JOB } from "./jobs.ts";
import { type Checkout, ProviderFailed } from "./provider.ts";
import { findPayment, type PaymentRow, showPayment } from "./store.ts";

/** How long a provider that renews by itself may take to tell of it: Stripe settles an invoice about an hour late, and tries failed cards for days. */
export const GRACE_MS = 3 * 24 * 3_600_000;

/** What `startPayment` needs of the provider, asked before its transaction. */
export interface Opened {
  readonly paymentId: string;
  readonly checkout: Checkout;
}

/** Opens a checkout with the provider; null when one is open. Throws ApiError not_found, invalid_state or payment_provider_error. */
export async function openCheckout(read: Reader, deps: Deps, workspaceId: string, slug: string): Promise<Opened | null> {
  const row = await findListing(read, workspaceId, slug);
  assertPayable(row, deps);
  if (await openPayment(read, row, deps)) return null;
  const paymentId = deps.ids("pay");
  const { amount, currency } = LISTING_PRICE;
  try {
    return { paymentId, checkout: await deps.payments.open({ paymentId, listingId: row.id, name: row.name, amount, currency }) };
  } catch (error) {
    if (error instanceof ProviderFailed) throw new ApiError("payment_provider_error", error.message, { cause: error.cause });
    throw error;
  }
}

/** Notes the checkout that was opened. While one is open, it is the answer to every further request. Throws ApiError not_found or invalid_state. */
export async function startPayment(tx: Tx, deps: Deps, workspaceId: string, slug: string, opened: Opened | null): Promise<Payment> {
  const listing = await findListing(tx, workspaceId, slug);
  assertPayable(listing, deps);
  // Written: of two that open a checkout at once, one sees the other's.
  await tx.update(tx.t.listings).set({ id: listing.id }).where(eq(tx.t.listings.id, listing.id));
  const now = deps.clock.now();
  const before = await openPayment(tx, listing, deps);
  if (before) return showPayment(before, slug, now);
  if (!opened) throw new ApiError("invalid_state", "The checkout that was open has just ended. Start another one.");
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
    if (error instanceof UniqueViolation) throw new ApiError("payment_provider_error", "The provider named a checkout that is another's.");
    throw error;
  }
  return showPayment(row, slug, now);
}

/** Has the provider charge no more. */
export async function stopSubscription(tx: Tx, { queue }: Deps, workspaceId: string, subscription: string): Promise<void> {
  return queue.enqueue(tx, { kind: STOP_JOB, payload: { workspaceId, subscription } });
}

/**
 * Takes a payment as paid: its listing is in the catalog for a month. What was paid for a checkout that had ended lists
 * nothing, and is stopped so that nobody is charged on.
 */
export async function settlePayment(
  tx: Tx,
  deps: Deps,
  row: PaymentRow,
  { at, subscription }: { at: number; subscription: string | null },
): Promise<PaymentRow> {
  if (row.state === "PAID") return row;
  const listing = await listingById(tx, row.listingId);
  if (row.state === "EXPIRED" || !listing) {
    deps.log.warn("a checkout was paid for after it had ended: it lists nothing, and the money has to be given back", { payment: row.id });
    if (subscription !== null) await stopSubscription(tx, deps, row.workspaceId, subscription);
    return row;
  }
  const now = deps.clock.now();
  const paid: PaymentRow = { ...row, state: "PAID", paidAt: now, subscription };
  await tx.update(tx.t.payments).set({ state: "PAID", paidAt: now, subscription }).where(eq(tx.t.payments.id, row.id));
  const renewal = isListed(listing, now) && !deps.payments.renewsItself;
  const from = renewal ? Math.max(listing.expiresAt ?? now, now) : now;
  const expiresAt = deps.payments.renewsItself ? addMonth(Math.max(at, now)) + GRACE_MS : addMonth(from);
  await closeCheckouts(tx, deps, listing, row.id);
  await listUntil(tx, deps, listing, { expiresAt, subscription });
  return paid;
}

/** A person's word that a local payment was made. Throws ApiError not_found, or invalid_state where a provider has to say it. */
export async function confirmPayment(tx: Tx, deps: Deps, workspaceId: string, id: string): Promise<Payment> {
  const { payment, slug } = await findPayment(tx, workspaceId, id);
  const now = deps.clock.now();
  if (payment.provider !== "local" || deps.payments.name !== "local")
    throw new ApiError("invalid_state", "This payment is confirmed by its provider, and by nobody else.");
  const state = showPayment(payment, slug, now).state;
  if (state === "PAID") return showPayment(payment, slug, now);
  if (state !== "PENDING")
    throw new ApiError("invalid_state", `This payment is ${state}.`, { hint: "Start another checkout: mailsvc listings checkout <slug>" });
  return showPayment(await settlePayment(tx, deps, payment, { at: now, subscription: null }), slug, now);
}

/** Whether it is paid for month by month, without anybody's doing. */
function renewsItself(row: ListingRow, { payments, clock }: Deps): boolean {
  return payments.renewsItself && row.subscription !== null && isListed(row, clock.now());
}

function assertPayable(row: ListingRow, deps: Deps): void {
  if (renewsItself(row, deps))
    throw new ApiError("invalid_state", "This listing is paid for already; it renews every month until it is cancelled.");
}

/** A checkout that was opened with this provider and may still be completed. */
async function openPayment(q: Reader | Tx, row: ListingRow, { clock, payments }: Deps): Promise<PaymentRow | undefined> {
  const { payments: p } = q.t;
  const [found] = await q
    .select()
    .from(p)
    .where(and(eq(p.listingId, row.id), eq(p.provider, payments.name), eq(p.state, "PENDING"), gt(p.expiresAt, clock.now())))
    .orderBy(desc(p.id))
    .limit(1);
  return found;
}
