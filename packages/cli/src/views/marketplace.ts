import type {
  Activation,
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
import { safeText } from "../safe-text.ts";
import type { Session } from "../session.ts";
import type { Style } from "../tty.ts";
import type { View } from "./index.ts";
import { type Column, details } from "./table.ts";
import { stamp } from "./time.ts";

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
  { title: "paid until (utc)", value: (l) => stamp(l.expiresAt) },
  { title: "webhook", value: (l) => l.webhookUrl, flexible: true },
];

/** What leads on from a listing's state. */
const afterState = ({ state: at, slug }: Listing): string =>
  at === "LISTED" ? "" : `mailsvc listings checkout ${slug} (${at === "DRAFT" ? "then it stands in the catalog" : "to list it again"})`;

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
      ["listed", stamp(l.listedAt)],
      ["paid until", stamp(l.expiresAt)],
      ["ended", stamp(l.endedAt)],
      ["new secret from", stamp(l.secretRotatesAt)],
      ["next", afterState(l)],
    ],
    out,
    columns,
  );

const secretBelow = (above: string, secret: string, { term: { out } }: Session): string =>
  `${above}\n\n${safeText(secret)}\n${out.dim("AGENT_WEBHOOK_SECRET: keep it now, it is not shown again.")}`;

const createdListing = (l: Listing & { webhookSecret: string }, session: Session): string =>
  secretBelow(listing(l, session), l.webhookSecret, session);

const rotated = (r: Output<MailsvcContract["listings"]["rotateSecret"]>, session: Session): string =>
  secretBelow(details([["signs from", stamp(r.effectiveAt)]], session.term.out), r.webhookSecret, session);

const paymentColumns: Column<Payment>[] = [
  { title: "id", value: (p) => p.id },
  { title: "listing", value: (p) => p.listingSlug, flexible: true },
  { title: "amount", value: price },
  { title: "state", value: (p) => p.state, paint: paintState },
  { title: "by", value: (p) => p.provider },
  { title: "created (utc)", value: (p) => stamp(p.createdAt) },
];

const payment = (p: Payment, { term: { out } }: Session): string =>
  details(
    [
      ["id", p.id],
      ["listing", p.listingSlug],
      ["amount", price(p)],
      ["state", p.state],
      ["expires", p.state === "PENDING" ? stamp(p.expiresAt) : ""],
      ["paid", stamp(p.paidAt)],
      ...(p.state === "PENDING"
        ? [["next", p.provider === "local" ? `mailsvc payments confirm ${p.id}` : `open ${p.checkoutUrl}`] as const]
        : []),
    ],
    out,
  );

const agentColumns: Column<CatalogAgent>[] = [
  { title: "slug", value: (a) => a.slug },
  { title: "name", value: (a) => a.name, flexible: true },
  { title: "asks for", value: (a) => a.permissions.map((p) => p.scope).join(", "), flexible: true },
  { title: "turned on as", value: (a) => a.activationId },
];

const agent = (a: CatalogAgent, { term: { out } }: Session): string =>
  [
    details(
      [
        ["slug", a.slug],
        ["name", a.name],
        ["description", a.description],
        ["turned on as", a.activationId],
      ],
      out,
    ),
    "",
    out.dim("It asks for:"),
    details(
      a.permissions.map((p) => [p.scope, p.grants]),
      out,
    ),
    ...(a.activationId === null ? ["", `${out.dim("next")}  mailsvc activations create ${safeText(a.slug)}`] : []),
  ].join("\n");

type Shown = Pick<Activation, "status" | "pauseReasons">;

const state = ({ status, pauseReasons }: Shown): string => (pauseReasons.length === 0 ? status : `${status}: ${pauseReasons.join(", ")}`);

const activationColumns: Column<Activation>[] = [
  { title: "id", value: (a) => a.id },
  { title: "agent", value: (a) => a.agentSlug, flexible: true },
  { title: "state", value: state, paint: paintState },
  { title: "key", value: (a) => a.keyPreview },
  { title: "since (utc)", value: (a) => stamp(a.createdAt) },
];

const tabColumns: Column<ListingActivation>[] = [
  { title: "id", value: (a) => a.id },
  { title: "organization", value: (a) => a.organizationName, flexible: true },
  { title: "state", value: state, paint: paintState },
  { title: "key arrived", value: (a) => (a.keyDeliveredAt ? "yes" : "no") },
  {
    title: "webhook's last error",
    value: (a) => (a.webhookLastError?.clearedAt === null ? a.webhookLastError.message : ""),
    flexible: true,
  },
];

const facts = (a: Activation | ListingActivation): readonly (readonly [string, unknown])[] => [
  ["state", state(a)],
  ["may", a.scopes.join(", ")],
  ["key", a.keyPreview],
  ["key arrived", stamp(a.keyDeliveredAt)],
  ["webhook failed", a.webhookLastError && `${stamp(a.webhookLastError.at)}: ${a.webhookLastError.message}`],
  ["since", stamp(a.createdAt)],
  ["off since", stamp(a.deactivatedAt)],
];

/** What leads on from an activation's state, for its brand. */
const afterPause = ({ id, status, pauseReasons }: Activation): string => {
  if (status !== "paused") return "";
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
      ["next", afterPause(a)],
    ],
    out,
    columns,
  );

const tabEntry = (a: ListingActivation, { term: { out } }: Session): string =>
  details([["id", a.id], ["organization", a.organizationName], ...facts(a)], out);

const changes = ({ paused, resumed, deactivated }: PlanChange): readonly (readonly [string, string])[] => [
  ["lose cover", paused.join(", ")],
  ["get cover back", resumed.join(", ")],
  ["are turned off", deactivated.join(", ")],
];

const preview = (change: PlanChange, { term: { out } }: Session): string =>
  changes(change).some(([, ids]) => ids !== "") ? details(changes(change), out) : out.dim("Nothing would change.");

const plan = (p: Plan & { change?: PlanChange }, { term: { out } }: Session): string =>
  details(
    [
      ["plan", p.plan],
      ["agents", `${p.used} of ${p.covers ?? "any number"}`],
      ["since", stamp(p.changedAt)],
      ...(p.change ? changes(p.change) : []),
    ],
    out,
  );

const plans = ({ data }: Output<MailsvcContract["plans"]["list"]>, { term: { out } }: Session): string =>
  details(
    data.map((p) => [p.plan, p.summary]),
    out,
  );

const given = (values: Readonly<Record<string, string | null>>): string =>
  Object.entries(values)
    .flatMap(([name, value]) => (value === null ? [] : [`${name} ${value}`]))
    .join(", ");

const brand = (b: BrandSettings, { term: { out } }: Session): string =>
  details(
    [
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
      ["pages go out", b.publishNeedsApproval ? "after your yes" : "at once"],
    ],
    out,
  );

export const marketplaceViews: Readonly<Record<string, View>> = {
  "listings.list": { columns: listingColumns },
  "listings.create": { object: createdListing },
  "listings.get": { object: listing },
  "listings.update": { object: listing },
  "listings.cancel": { object: listing },
  "listings.checkout": { object: payment },
  "listings.rotateSecret": { object: rotated },
  "listings.activations": { columns: tabColumns },
  "listings.resume": { object: tabEntry },
  "payments.list": { columns: paymentColumns },
  "payments.get": { object: payment },
  "payments.confirm": { object: payment },
  "catalog.list": { columns: agentColumns },
  "catalog.get": { object: agent },
  "activations.list": { columns: activationColumns },
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
};
