import type {
  Activation,
  Brand,
  BrandSettings,
  CatalogAgent,
  Listing,
  ListingActivation,
  MailsvcContract,
  Output,
  Payment,
  Plan,
  PlanChange,
} from "@mailsvc/sdk/contract";
import { paramsIn } from "../places.ts";
import { safeText } from "../safe-text.ts";
import type { Session } from "../session.ts";
import type { Style } from "../tty.ts";
import type { View } from "./index.ts";
import { type Column, details } from "./table.ts";
import { instant, stamp } from "./time.ts";

const GOOD = new Set(["LISTED", "PAID", "active"]);
const WAITING = new Set(["DRAFT", "PENDING", "paused"]);

const paintState = (style: Style, text: string): string => {
  const word = text.split(":")[0] ?? text;
  return GOOD.has(word) ? style.green(text) : WAITING.has(word) ? style.yellow(text) : style.dim(text);
};

const price = ({ amount, currency }: { amount: number; currency: string }): string =>
  `${(amount / 100).toFixed(2)} ${currency.toUpperCase()}`;

const listingColumns: Column<Listing>[] = [
  { title: "slug", value: (l) => l.slug },
  { title: "name", value: (l) => l.name, flexible: true },
  { title: "state", value: (l) => l.state, paint: paintState },
  { title: "paid until (utc)", value: (l) => stamp(l.expiresAt), spare: 1 },
  { title: "webhook", value: (l) => l.webhookUrl, flexible: true, spare: 2 },
];

/** What leads on from a listing's state. */
const afterListing = ({ state: at, slug }: Listing): string =>
  at === "LISTED"
    ? `mailsvc listings activations ${slug} (who turned it on)`
    : `mailsvc listings checkout ${slug} (${at === "DRAFT" ? "then it stands in the catalog" : "to list it again"})`;

const listing = (l: Listing, { term: { out, columns } }: Session): string =>
  details(
    [
      ["slug", l.slug],
      ["name", l.name],
      ["state", l.state],
      ["description", l.description],
      ["webhook", l.webhookUrl],
      ["asks for", l.permissions.join(", ")],
      ["price", `${price(l.price)} a ${l.price.interval}`],
      ["listed", instant(l.listedAt)],
      ["paid until", instant(l.expiresAt)],
      ["ended", instant(l.endedAt)],
      ["new secret from", instant(l.secretRotatesAt)],
      ["next", afterListing(l)],
    ],
    out,
    columns,
  );

const secretBelow = (above: string, secret: string, { term: { out } }: Session): string =>
  `${above}\n\n${safeText(secret)}\n${out.dim("AGENT_WEBHOOK_SECRET: keep it now, it is not shown again.")}`;

const createdListing = (l: Listing & { webhookSecret: string }, session: Session): string =>
  secretBelow(listing(l, session), l.webhookSecret, session);

const rotated = (r: Output<MailsvcContract["listings"]["rotateSecret"]>, session: Session): string =>
  secretBelow(details([["signs from", instant(r.effectiveAt)]], session.term.out), r.webhookSecret, session);

const paymentColumns: Column<Payment>[] = [
  { title: "id", value: (p) => p.id },
  { title: "listing", value: (p) => p.listingSlug, flexible: true },
  { title: "amount", value: price },
  { title: "state", value: (p) => p.state, paint: paintState },
  { title: "by", value: (p) => p.provider, spare: 2 },
  { title: "created (utc)", value: (p) => stamp(p.createdAt), spare: 1 },
];

const confirmPending = (rows: readonly Payment[]): string | undefined => {
  const pending = rows.find((p) => p.state === "PENDING");
  return pending && afterPayment(pending);
};

/** What leads on from a payment's state. */
const afterPayment = ({ id, state: at, provider, checkoutUrl, listingSlug }: Payment): string => {
  if (at === "PENDING") return provider === "local" ? `mailsvc payments confirm ${id}` : `open ${checkoutUrl}`;
  return at === "PAID" ? `mailsvc deliveries test ${listingSlug} (does its webhook answer?)` : `mailsvc listings checkout ${listingSlug}`;
};

const payment = (p: Payment, { term: { out, columns } }: Session): string =>
  details(
    [
      ["id", p.id],
      ["listing", p.listingSlug],
      ["amount", price(p)],
      ["state", p.state],
      ["expires", p.state === "PENDING" ? instant(p.expiresAt) : ""],
      ["paid", instant(p.paidAt)],
      ["next", afterPayment(p)],
    ],
    out,
    columns,
  );

const offerColumns: Column<CatalogAgent>[] = [
  { title: "slug", value: (a) => a.slug },
  { title: "name", value: (a) => a.name, flexible: true },
  { title: "asks for", value: (a) => a.permissions.map((p) => p.scope).join(", "), flexible: true, spare: 1 },
  { title: "turned on as", value: (a) => a.activationId },
];

const agent = (a: CatalogAgent, { term: { out, columns } }: Session): string =>
  [
    details(
      [
        ["slug", a.slug],
        ["name", a.name],
        ["description", a.description],
        ["turned on as", a.activationId],
      ],
      out,
      columns,
    ),
    "",
    out.dim("It asks for:"),
    details(
      a.permissions.map((p) => [p.scope, p.grants]),
      out,
      columns,
    ),
    ...(a.activationId === null ? ["", `${out.dim("next")}  mailsvc activations create ${safeText(a.slug)}`] : []),
  ].join("\n");

type Shown = Pick<Activation, "status" | "pauseReasons">;

const state = ({ status, pauseReasons }: Shown): string => (pauseReasons.length === 0 ? status : `${status}: ${pauseReasons.join(", ")}`);

const activationColumns: Column<Activation>[] = [
  { title: "id", value: (a) => a.id },
  { title: "agent", value: (a) => a.agentSlug, flexible: true },
  { title: "state", value: state, paint: paintState },
  { title: "key", value: (a) => a.keyPreview, spare: 2 },
  { title: "since (utc)", value: (a) => stamp(a.createdAt), spare: 1 },
];

const tabColumns: Column<ListingActivation>[] = [
  { title: "id", value: (a) => a.id },
  { title: "brand", value: (a) => a.organizationName, flexible: true },
  { title: "state", value: state, paint: paintState },
  { title: "has its key", value: (a) => (a.keyDeliveredAt ? "yes" : "no"), spare: 1 },
  {
    title: "webhook failed",
    value: (a) => (a.webhookLastError?.clearedAt === null ? a.webhookLastError.message : ""),
    flexible: true,
  },
];

/** How a builder goes on with an agent whose webhook was given up on. */
const liftPause = (rows: readonly ListingActivation[], { place, lastCall }: Session): string | undefined => {
  const failing = rows.find((a) => a.pauseReasons.includes("webhook_failure"));
  const { slug = "<slug>" } = place ? paramsIn(place.endpoint, lastCall) : {};
  return failing && `mailsvc deliveries test ${slug}, and when it works: mailsvc listings resume ${slug} ${failing.id}`;
};

const facts = (a: Activation | ListingActivation): readonly (readonly [string, unknown])[] => [
  ["state", state(a)],
  ["may", a.scopes.join(", ")],
  ["key", a.keyPreview],
  ["key arrived", a.keyDeliveredAt === null && a.status !== "deactivated" ? "not yet" : instant(a.keyDeliveredAt)],
  ["webhook failed", a.webhookLastError && `${instant(a.webhookLastError.at)}: ${a.webhookLastError.message}`],
  ["since", instant(a.createdAt)],
  ["off since", instant(a.deactivatedAt)],
];

/** What leads on from an activation's state, for its brand. */
const afterState = ({ id, agentSlug, status, pauseReasons }: Activation): string => {
  if (status === "deactivated") return `mailsvc activations create ${agentSlug} (with a new key)`;
  if (status === "active") return `mailsvc runs list ${id} (what it does)`;
  return pauseReasons.includes("plan_downgrade")
    ? "mailsvc plans list (a plan that covers it resumes it)"
    : `mailsvc activations resume ${id}`;
};

const activation = (a: Activation, { term: { out, columns } }: Session): string =>
  details(
    [
      ["id", a.id],
      ["agent", `${a.agentName} (${a.agentSlug})`],
      ...facts(a),
      ["because", a.deactivationReason],
      ["credits a month", a.creditLimit],
      ["next", afterState(a)],
    ],
    out,
    columns,
  );

const tabEntry = (a: ListingActivation, { term: { out, columns } }: Session): string =>
  details([["id", a.id], ["brand", a.organizationName], ...facts(a)], out, columns);

const changes = ({ paused, resumed, deactivated }: PlanChange): readonly (readonly [string, string])[] => [
  ["lose cover", paused.join(", ")],
  ["get cover back", resumed.join(", ")],
  ["are turned off", deactivated.join(", ")],
];

const preview = (change: PlanChange, { term: { out, columns } }: Session): string =>
  changes(change).some(([, ids]) => ids !== "") ? details(changes(change), out, columns) : out.dim("Nothing would change.");

const plan = (p: Plan & { change?: PlanChange }, { term: { out, columns } }: Session): string =>
  details(
    [
      ["plan", p.plan],
      ["agents", `${p.used} of ${p.covers ?? "any number"}`],
      ["since", instant(p.changedAt)],
      ...(p.change ? changes(p.change) : []),
    ],
    out,
    columns,
  );

const plans = ({ data }: Output<MailsvcContract["plans"]["list"]>, { term: { out, columns } }: Session): string =>
  details(
    data.map((p) => [p.plan, p.summary]),
    out,
    columns,
  );

const given = (values: Readonly<Record<string, string | null>>): string =>
  Object.entries(values)
    .flatMap(([name, value]) => (value === null ? [] : [`${name} ${value}`]))
    .join(", ");

const brandFacts = (b: Brand): readonly (readonly [string, unknown])[] => [
  ["name", b.name],
  ["website", b.website],
  ["logo", b.logo?.url],
  ["colors", given(b.colors)],
  ["fonts", given(b.fonts)],
  ["tone", b.voice.tone.join(", ")],
  ["voice", b.voice.description],
  ["do", b.voice.dos.join("; ")],
  ["do not", b.voice.donts.join("; ")],
  ["locale", `${b.locale}, ${b.timezone}`],
];

const brandSeen = (b: Brand, { term: { out, columns } }: Session): string => details(brandFacts(b), out, columns);

const brand = (b: BrandSettings, { term: { out, columns } }: Session): string =>
  details([...brandFacts(b), ["pages go out", b.publishNeedsApproval ? "after your yes" : "at once"]], out, columns);

export const marketplaceViews: Readonly<Record<string, View>> = {
  "listings.list": { columns: listingColumns, empty: "No listings yet. Make one: mailsvc listings create --help" },
  "listings.create": { object: createdListing },
  "listings.get": { object: listing },
  "listings.update": { object: listing },
  "listings.cancel": { object: listing },
  "listings.checkout": { object: payment },
  "listings.rotateSecret": { object: rotated },
  "listings.activations": { columns: tabColumns, empty: "Nobody has turned it on yet.", next: liftPause },
  "listings.resume": { object: tabEntry },
  "payments.list": {
    columns: paymentColumns,
    empty: "No payments yet. Pay for a listing: mailsvc listings checkout <slug>",
    next: confirmPending,
  },
  "payments.get": { object: payment },
  "payments.confirm": { object: payment },
  "catalog.list": { columns: offerColumns, empty: "No agents on offer. List one of your own: mailsvc listings create --help" },
  "catalog.get": { object: agent },
  "activations.list": { columns: activationColumns, empty: "No agents at work. Choose one: mailsvc catalog list" },
  "activations.create": { object: activation },
  "activations.get": { object: activation },
  "activations.update": { object: activation },
  "activations.pause": { object: activation },
  "activations.resume": { object: activation },
  "activations.deactivate": { object: activation },
  "plans.list": { object: plans },
  "plans.get": { object: plan },
  "plans.preview": { object: preview },
  "plans.change": { object: plan },
  "brand.get": { object: brand },
  "brand.update": { object: brand },
  "agent.brand.get": { object: brandSeen },
};
