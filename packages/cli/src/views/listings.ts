import type { Listing, MailsvcContract, Output, Payment } from "@mailsvc/sdk/contract";
import { safeText } from "../text/safe-text.ts";
import { type Column, renderDetails } from "../text/table.ts";
import { formatInstant, formatTimestamp } from "../text/units.ts";
import type { Session } from "../types.ts";
import { formatPrice } from "./price.ts";
import { paintStatus } from "./status.ts";
import type { View } from "./view.ts";

const listingColumns: Column<Listing>[] = [
  { title: "slug", value: (l) => l.slug },
  { title: "name", value: (l) => l.name, flexible: true },
  { title: "state", value: (l) => l.state, paint: paintStatus },
  { title: "paid until (utc)", value: (l) => formatTimestamp(l.expiresAt), priority: 1 },
  { title: "webhook", value: (l) => l.webhookUrl, flexible: true, priority: 2 },
];

const paymentColumns: Column<Payment>[] = [
  { title: "id", value: (p) => p.id },
  { title: "listing", value: (p) => p.listingSlug, flexible: true },
  { title: "amount", value: formatPrice },
  { title: "state", value: (p) => p.state, paint: paintStatus },
  { title: "by", value: (p) => p.provider, priority: 2 },
  { title: "created (utc)", value: (p) => formatTimestamp(p.createdAt), priority: 1 },
];

export const listingViews: Readonly<Record<string, View>> = {
  "listings.list": { columns: listingColumns, empty: "No listings yet. Create one: mailsvc listings create --help" },
  "listings.create": { object: createdListing },
  "listings.get": { object: listing },
  "listings.update": { object: listing },
  "listings.cancel": { object: listing },
  "listings.checkout": { object: payment },
  "listings.rotateSecret": { object: rotated },
  "payments.list": {
    columns: paymentColumns,
    empty: "No payments yet. Pay for a listing: mailsvc listings checkout <slug>",
    next: confirmPending,
  },
  "payments.get": { object: payment },
  "payments.confirm": { object: payment },
};

/** The next command, by the state of a listing. */
function afterListing({ state: at, slug }: Listing): string {
  return at === "LISTED"
    ? `mailsvc listings activations ${slug} (who turned it on)`
    : `mailsvc listings checkout ${slug} (${at === "DRAFT" ? "then it appears in the catalog" : "to list it again"})`;
}

function listing(l: Listing, { term: { out, columns } }: Session): string {
  return renderDetails(
    [
      ["slug", l.slug],
      ["name", l.name],
      ["state", l.state],
      ["description", l.description],
      ["webhook", l.webhookUrl],
      ["asks for", l.permissions.join(", ")],
      ["price", `${formatPrice(l.price)} a ${l.price.interval}`],
      ["listed", formatInstant(l.listedAt)],
      ["paid until", formatInstant(l.expiresAt)],
      ["ended", formatInstant(l.endedAt)],
      ["old secret until", formatInstant(l.secretRotatesAt)],
      ["next", afterListing(l)],
    ],
    out,
    columns,
  );
}

function secretBelow(above: string, secret: string, { term: { out } }: Session): string {
  return `${above}\n\n${safeText(secret)}\n${out.dim("AGENT_WEBHOOK_SECRET: store it now. It is not shown again.")}`;
}

function createdListing(l: Listing & { webhookSecret: string }, session: Session): string {
  return secretBelow(listing(l, session), l.webhookSecret, session);
}

function rotated(r: Output<MailsvcContract["listings"]["rotateSecret"]>, session: Session): string {
  return secretBelow(renderDetails([["signs from", formatInstant(r.effectiveAt)]], session.term.out), r.webhookSecret, session);
}

/** The next command, by the state of a payment. */
function afterPayment({ id, state: at, provider, checkoutUrl, listingSlug }: Payment): string {
  if (at === "PENDING") return provider === "local" ? `mailsvc payments confirm ${id}` : `open ${checkoutUrl}`;
  return at === "PAID" ? `mailsvc deliveries test ${listingSlug} (does its webhook answer?)` : `mailsvc listings checkout ${listingSlug}`;
}

function confirmPending(rows: readonly Payment[]): string | undefined {
  const pending = rows.find((p) => p.state === "PENDING");
  return pending && afterPayment(pending);
}

function payment(p: Payment, { term: { out, columns } }: Session): string {
  return renderDetails(
    [
      ["id", p.id],
      ["listing", p.listingSlug],
      ["amount", formatPrice(p)],
      ["state", p.state],
      ["expires", p.state === "PENDING" ? formatInstant(p.expiresAt) : ""],
      ["paid", formatInstant(p.paidAt)],
      ["next", afterPayment(p)],
    ],
    out,
    columns,
  );
}
