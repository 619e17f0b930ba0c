import type { Activation, CatalogAgent, ListingActivation } from "@mailsvc/sdk/contract";
import { parsePathParams } from "../runtime/request.ts";
import { safeText } from "../text/safe-text.ts";
import { type Column, renderDetails } from "../text/table.ts";
import { formatInstant, formatTimestamp } from "../text/units.ts";
import type { Session } from "../types.ts";
import { formatPrice } from "./price.ts";
import { paintStatus } from "./status.ts";
import type { View } from "./view.ts";

const catalogColumns: Column<CatalogAgent>[] = [
  { title: "slug", value: (a) => a.slug },
  { title: "name", value: (a) => a.name, flexible: true },
  { title: "builder", value: (a) => a.builder.name, flexible: true, priority: 2 },
  { title: "permissions", value: (a) => a.permissions.map((p) => p.scope).join(", "), flexible: true, priority: 1 },
  { title: "activation", value: (a) => a.activationId },
];

type Shown = Pick<Activation, "status" | "pauseReasons">;

const activationColumns: Column<Activation>[] = [
  { title: "id", value: (a) => a.id },
  { title: "agent", value: (a) => a.agentSlug, flexible: true },
  { title: "state", value: state, paint: paintStatus },
  { title: "key", value: (a) => a.keyPreview, priority: 2 },
  { title: "since (utc)", value: (a) => formatTimestamp(a.createdAt), priority: 1 },
];

const listingActivationColumns: Column<ListingActivation>[] = [
  { title: "id", value: (a) => a.id },
  { title: "brand", value: (a) => a.organizationName, flexible: true },
  { title: "state", value: state, paint: paintStatus },
  { title: "key delivered", value: (a) => (a.keyDeliveredAt ? "yes" : "no"), priority: 1 },
  {
    title: "webhook failed",
    value: (a) => (a.webhookLastError?.clearedAt === null ? a.webhookLastError.message : ""),
    flexible: true,
  },
];

export const activationViews: Readonly<Record<string, View>> = {
  "listings.activations": { columns: listingActivationColumns, empty: "No activations yet.", next: suggestResume },
  "listings.resume": { object: formatListingActivation },
  "catalog.list": { columns: catalogColumns, empty: "No agents are available. List your own: mailsvc listings create --help" },
  "catalog.get": { object: agent },
  "activations.list": { columns: activationColumns, empty: "No active agents. Choose one: mailsvc catalog list" },
  "activations.create": { object: activation },
  "activations.get": { object: activation },
  "activations.update": { object: activation },
  "activations.accept": { object: activation },
  "activations.keep": { object: activation },
  "activations.pause": { object: activation },
  "activations.resume": { object: activation },
  "activations.deactivate": { object: activation },
};

function agent(a: CatalogAgent, { term: { out, columns } }: Session): string {
  return [
    renderDetails(
      [
        ["slug", a.slug],
        ["name", a.name],
        ["description", a.description],
        ["builder", a.builder.name],
        ["price", a.price.amount === 0 ? "free; it spends your credits" : `${formatPrice(a.price)} a ${a.price.interval}`],
        ["activation", a.activationId],
      ],
      out,
      columns,
    ),
    "",
    out.dim("Permissions:"),
    renderDetails(
      a.permissions.map((p) => [p.scope, p.grants]),
      out,
      columns,
    ),
    ...formatSettings(a, out, columns),
    ...(a.activationId === null ? ["", `${out.dim("next")}  mailsvc activations create ${safeText(a.slug)}`] : []),
  ].join("\n");
}

/** The settings of an agent, with what each takes. */
function formatSettings({ settingsSchema }: CatalogAgent, out: Session["term"]["out"], columns: number): string[] {
  if (settingsSchema === null) return [];
  const { properties, required = [] } = settingsSchema;
  const rows = Object.entries(properties).map(([name, one]) => {
    const type = one.type === "string" && one.enum ? one.enum.join(" | ") : one.type;
    const need = one.default !== undefined ? `, ${JSON.stringify(one.default)} unless said` : required.includes(name) ? ", required" : "";
    return [name, `${type}${need}${one.description ? `. ${one.description}` : ""}`] as const;
  });
  return ["", out.dim("Settings:"), renderDetails(rows, out, columns)];
}

function state({ status, pauseReasons }: Shown): string {
  return pauseReasons.length === 0 ? status : `${status}: ${pauseReasons.join(", ")}`;
}

/** The next command for a builder whose agent was paused because its webhook failed. */
function suggestResume(rows: readonly ListingActivation[], { spec, lastCall }: Session): string | undefined {
  const failing = rows.find((a) => a.pauseReasons.includes("webhook_failure"));
  const { slug = "<slug>" } = spec ? parsePathParams(spec.endpoint, lastCall) : {};
  return failing && `mailsvc deliveries test ${slug}, and when it works: mailsvc listings resume ${slug} ${failing.id}`;
}

function formatFields(a: Activation | ListingActivation): readonly (readonly [string, unknown])[] {
  return [
    ["state", state(a)],
    ["may", a.scopes.join(", ")],
    ["key", a.keyPreview],
    ["key arrived", a.keyDeliveredAt === null && a.status !== "deactivated" ? "not yet" : formatInstant(a.keyDeliveredAt)],
    ["webhook failed", a.webhookLastError && `${formatInstant(a.webhookLastError.at)}: ${a.webhookLastError.message}`],
    ["since", formatInstant(a.createdAt)],
    ["off since", formatInstant(a.deactivatedAt)],
  ];
}

/** The next command for a brand, by the state of an activation. */
function suggestNext({ id, agentSlug, status, pauseReasons, update }: Activation): string {
  if (status === "deactivated") return `mailsvc activations create ${agentSlug} (with a new key)`;
  if (update !== null && update.keptAt === null)
    return `mailsvc activations accept ${id} --version ${update.version} (or keep, to decide against it)`;
  if (status === "active") return `mailsvc runs list ${id} (what it does)`;
  return pauseReasons.includes("plan_downgrade")
    ? "mailsvc plans list (a plan that covers it resumes it)"
    : `mailsvc activations resume ${id}`;
}

function activation(a: Activation, { term: { out, columns } }: Session): string {
  return renderDetails(
    [
      ["id", a.id],
      ["agent", `${a.agentName} (${a.agentSlug})`],
      ...formatFields(a),
      ["asks for more", a.update?.scopes.map((one) => `${one.scope} (${one.grants})`).join(", ")],
      ["decided against", formatInstant(a.update?.keptAt)],
      ...Object.entries(a.settings).map(([name, value]) => [`settings.${name}`, String(value)] as const),
      ["because", a.deactivationReason],
      ["credits a month", a.creditLimit],
      ["next", suggestNext(a)],
    ],
    out,
    columns,
  );
}

function formatListingActivation(a: ListingActivation, { term: { out, columns } }: Session): string {
  return renderDetails([["id", a.id], ["brand", a.organizationName], ...formatFields(a)], out, columns);
}
