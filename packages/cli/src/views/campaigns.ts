import type { Campaign, CampaignDetail, CampaignStats, CampaignVerification, Rate, Recipient, ResendOf } from "@mailsvc/sdk/contract";
import { safeText } from "../text/safe-text.ts";
import { type Column, renderDetails, renderTable } from "../text/table.ts";
import { formatInstant, formatNumber, formatTimestamp } from "../text/units.ts";
import type { Session, Style } from "../types.ts";
import { paintStatus } from "./status.ts";
import type { View } from "./view.ts";

const columns: Column<Campaign>[] = [
  { title: "id", value: (c) => c.id },
  { title: "name", value: (c) => c.name, flexible: true },
  { title: "status", value: (c) => c.status, paint: paintStatus },
  { title: "to", value: (c) => c.recipientType, priority: 2 },
  { title: "subject", value: (c) => c.subjectLine, flexible: true, priority: 3 },
  {
    title: "when (utc)",
    value: (c) => formatTimestamp(c.startedAt ?? c.scheduledAt ?? c.createdAt),
    paint: (s, t) => s.dim(t),
    priority: 1,
  },
];

const recipientColumns: Column<Recipient>[] = [
  { title: "email", value: (r) => r.to, flexible: true },
  { title: "status", value: (r) => r.status, paint: paintStatus },
  { title: "why", value: (r) => r.skipReason ?? r.lastError?.message ?? "", flexible: true },
  { title: "variant", value: (r) => r.variant, priority: 3 },
  { title: "opened", value: (r) => formatTimestamp(r.openedAt), priority: 2 },
  { title: "clicked", value: (r) => formatTimestamp(r.clickedAt), priority: 2 },
  { title: "id", value: (r) => r.emailId, paint: (s, t) => s.dim(t), priority: 1 },
];

const detail: View = { object: one };

export const campaignViews: Readonly<Record<string, View>> = {
  "campaigns.list": { columns, empty: "No campaigns yet. Create one: mailsvc campaigns create --help" },
  "campaigns.create": detail,
  "campaigns.get": detail,
  "campaigns.update": detail,
  "campaigns.delete": detail,
  "campaigns.schedule": detail,
  "campaigns.send": detail,
  "campaigns.pause": detail,
  "campaigns.resume": detail,
  "campaigns.cancel": detail,
  "campaigns.duplicate": detail,
  "campaigns.resend": detail,
  "campaigns.winner": detail,
  "campaigns.recipients": { columns: recipientColumns, empty: "No recipients yet: they are fixed when sending starts." },
  "campaigns.stats": { object: renderStats },
  "campaigns.verify": { object: verification },
};

/** The states of recipients that occur, the most frequent first. */
export function listStates({ recipients: { total: _total, ...states } }: Pick<CampaignStats, "recipients">): [name: string, n: number][] {
  return Object.entries(states)
    .filter(([, n]) => n > 0)
    .sort(([, a], [, b]) => b - a);
}

function one(c: CampaignDetail, { term: { out } }: Session): string {
  return renderDetails(
    [
      ["id", c.id],
      ["name", c.name],
      ["status", c.status],
      ["reason", c.statusReason?.message],
      ["subject", c.subjectLine],
      ["preview text", c.previewText],
      ["from", c.fromName === null ? c.fromEmail : `${c.fromName} <${c.fromEmail}>`],
      ["reply to", c.replyTo && [c.replyTo].flat().join(", ")],
      ["content", formatContent(c)],
      ["recipients", formatRecipients(c)],
      ["excluded", formatGroups(c.excluded, c.exclude)],
      ["throttle", formatThrottle(c)],
      [
        "local time",
        c.localTime && `${c.localTime.at} by each reader's clock; ${c.localTime.fallback} without a zone in ${c.localTime.field}`,
      ],
      ["a/b test", formatTest(c)],
      [
        "utm",
        c.utm &&
          Object.entries(c.utm)
            .map(([name, value]) => `${name}=${value}`)
            .join(" "),
      ],
      ["scheduled", formatInstant(c.scheduledAt)],
      ["started", formatInstant(c.startedAt)],
      ["completed", formatInstant(c.completedAt)],
      ["created", formatInstant(c.createdAt)],
    ],
    out,
  );
}

function formatContent({ status, template, templateId, html, text }: CampaignDetail): string | null {
  if (template) return `template ${template.slug}${template.version === null ? ", not published" : `@${template.version}`}`;
  if (templateId !== null) return "a template that was deleted";
  return (
    [html === null ? "" : "html", text === null ? "" : "text"].filter(Boolean).join(" and ") ||
    (status === "SCHEDULED" ? "none yet: without it, it does not start" : "none yet")
  );
}

function formatRecipients({ recipientType, list, segment, included, include, resendOf }: CampaignDetail): string {
  if (resendOf !== null) return `${RESEND_TARGETS[resendOf.to]} ${resendOf.campaignId}`;
  if (recipientType === "all") return "all contacts";
  if (recipientType === "groups") return formatGroups(included, include);
  const group = list ?? segment;
  return group === null ? `a ${recipientType} that was deleted` : formatGroups([group], [group.id]);
}

const RESEND_TARGETS: Readonly<Record<ResendOf["to"], string>> = {
  not_opened: "who did not open",
  not_clicked: "who did not click in",
  failed: "who was not reached by",
};

function formatGroups(groups: CampaignDetail["included"], ids: readonly string[]): string {
  const deleted = ids.length - groups.length;
  return [
    ...groups.map(({ type, name, memberCount }) => `${type} ${name} (${formatNumber(memberCount)})`),
    ...(deleted > 0 ? [`${deleted} that ${deleted === 1 ? "was" : "were"} deleted`] : []),
  ].join(", ");
}

function formatThrottle({ throttle }: CampaignDetail): string {
  const { perSecond, window } = throttle ?? {};
  return [perSecond === undefined ? "" : `${perSecond} a second`, window ? `${window.start} to ${window.end} ${window.timeZone}` : ""]
    .filter(Boolean)
    .join(", ");
}

function formatTest({ abTest, winner }: CampaignDetail): string | null {
  if (abTest === null) return null;
  const end = winner === null ? `winner by ${abTest.winner}` : `${winner} won`;
  return `${abTest.variants.length} variants, ${abTest.samplePercent} % sample, ${end}`;
}

/** The statistics of a campaign as tables. */
function renderStats(stats: CampaignStats, { term: { out, columns: width } }: Session): string {
  const { recipients, rates, opens, clicks } = stats;
  const parts = [
    `${paintStatus(out, stats.status)}  ${out.bold(formatNumber(recipients.total))} recipients${formatStates(stats, out)}`,
    renderTable(
      [
        ["delivered", rates.delivery],
        ["opened", rates.open, opens.machine],
        ["clicked", rates.click, clicks.machine],
        ["clicked after opening", rates.clickToOpen],
        ["unsubscribed", rates.unsubscribe],
        ["bounced", rates.bounce],
        ["complained", rates.complaint],
      ] as [string, Rate, number?][],
      [
        { title: "", value: ([name]) => name },
        { title: "people", value: ([, rate]) => rate.count },
        { title: "rate", value: ([, rate]) => formatRate(rate) },
        { title: "of", value: ([, rate]) => `${formatNumber(rate.total)} ${DENOMINATORS[rate.of]}`, paint: (s, t) => s.dim(t) },
        { title: "machines", value: ([, , machine]) => machine ?? "", priority: 1 },
      ],
      out,
      width,
    ),
  ];
  const skipped = Object.entries(stats.skipped).filter(([, n]) => n > 0);
  if (skipped.length > 0) parts.push(`${out.bold("Skipped")}\n${renderDetails(skipped, out)}`);
  if (stats.variants.length > 0)
    parts.push(
      `${out.bold("Variants")}\n${renderTable(
        stats.variants,
        [
          { title: "", value: (v) => (v.winner ? `${v.name} won` : v.name) },
          { title: "subject", value: (v) => v.subjectLine, flexible: true },
          { title: "recipients", value: (v) => v.recipients.total },
          { title: "opened", value: (v) => formatRate(v.rates.open) },
          { title: "clicked", value: (v) => formatRate(v.rates.click) },
        ],
        out,
        width,
      )}`,
    );
  if (stats.links.length > 0)
    parts.push(
      `${out.bold("Links")}\n${renderTable(
        stats.links,
        [
          { title: "clicks", value: (l) => l.clicks },
          { title: "people", value: (l) => l.uniqueClicks },
          { title: "machines", value: (l) => l.machineClicks, priority: 1 },
          { title: "address", value: (l) => l.url, flexible: true },
        ],
        out,
        width,
      )}`,
    );
  for (const { currency, amount, events } of stats.revenue)
    parts.push(`${out.bold("Revenue")}  ${amount.toFixed(2)} ${safeText(currency)} in ${formatNumber(events)} events`);
  return parts.join("\n\n");
}

const DENOMINATORS = { accepted: "accepted", attempted: "attempted", uniqueOpens: "who opened" } as const;

function formatRate({ rate }: Rate): string {
  return rate === null ? "–" : `${(rate * 100).toFixed(1)} %`;
}

function formatStates(stats: CampaignStats, style: Style): string {
  const states = listStates(stats).map(([name, n]) => `${style.dim(name)} ${formatNumber(n)}`);
  return states.length === 0 ? "" : `:  ${states.join("   ")}`;
}

function verification(v: CampaignVerification, { term: { out, columns: width } }: Session): string {
  if (v.correct) return `${out.green("correct")}  ${formatNumber(v.recipients)} recipients counted anew`;
  return renderTable(
    v.differences,
    [
      { title: "what", value: (d) => d.what, flexible: true },
      { title: "counted", value: (d) => d.counted },
      { title: "actual", value: (d) => d.actual },
    ],
    out,
    width,
  );
}
