import type { Payment, PaymentState } from "@mailsvc/sdk/contract";
import { and, desc, eq, gt, lt, lte, or } from "drizzle-orm";
import type { Reader, Tx } from "../../db/db.ts";
import { countRows, type PageInput, paginateById } from "../../db/pagination.ts";
import { notFound } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import type { PaymentTables } from "./tables.ts";

export type PaymentRow = PaymentTables["payments"]["$inferSelect"];

/** A payment as its builder sees it. A PENDING one shows as EXPIRED from its end on, before any job has stored that. */
export function showPayment(row: PaymentRow, listingSlug: string, now: number): Payment {
  return {
    id: row.id,
    listingSlug,
    provider: row.provider as Payment["provider"],
    sessionId: row.session,
    state: row.state === "PENDING" && now >= row.expiresAt ? "EXPIRED" : row.state,
    amount: row.amount,
    currency: row.currency,
    checkoutUrl: row.checkoutUrl,
    createdAt: iso(row.createdAt),
    expiresAt: iso(row.expiresAt),
    paidAt: row.paidAt === null ? null : iso(row.paidAt),
  };
}

/** A payment of this workspace, with the slug of its listing. Throws ApiError not_found. */
export async function getPaymentRow(q: Reader | Tx, workspaceId: string, id: string): Promise<{ payment: PaymentRow; slug: string }> {
  const { payments: p, listings: l } = q.t;
  const [row] = await q
    .select({ payment: p, slug: l.slug })
    .from(p)
    .innerJoin(l, eq(l.id, p.listingId))
    .where(and(eq(p.workspaceId, workspaceId), eq(p.id, id)));
  if (!row) throw notFound("payment", id);
  return row;
}

/** The payments of a workspace, newest first. */
export function listPayments(read: Reader, workspaceId: string, now: number, input: PageInput & { state?: PaymentState | undefined }) {
  const { payments: p, listings: l } = read.t;
  const inState =
    input.state === "PENDING"
      ? and(eq(p.state, "PENDING"), gt(p.expiresAt, now))
      : input.state === "EXPIRED"
        ? or(eq(p.state, "EXPIRED"), and(eq(p.state, "PENDING"), lte(p.expiresAt, now)))
        : input.state && eq(p.state, input.state);
  const where = and(eq(p.workspaceId, workspaceId), inState);
  return paginateById(
    input,
    async ({ before, limit, offset }) => {
      const rows = await read
        .select({ payment: p, slug: l.slug })
        .from(p)
        .innerJoin(l, eq(l.id, p.listingId))
        .where(and(where, before === null ? undefined : lt(p.id, before)))
        .orderBy(desc(p.id))
        .limit(limit)
        .offset(offset);
      return rows.map(({ payment, slug }) => ({ id: payment.id, payment, slug }));
    },
    () => countRows(read, p, where),
    ({ payment, slug }) => showPayment(payment, slug, now),
  );
}
