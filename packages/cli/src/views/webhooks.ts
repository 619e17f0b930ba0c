import type { Webhook, WebhookDelivery, WebhookDeliveryDetail, WebhookRedelivery } from "@mailsvc/sdk/contract";
import { safeText } from "../text/safe-text.ts";
import { type Column, renderDetails, renderTable } from "../text/table.ts";
import { formatInstant, formatNumber, formatTimestamp } from "../text/units.ts";
import type { Session } from "../types.ts";
import { attemptColumns, formatAttemptFailure, formatBody, formatOutcome, formatTest, paintDelivery } from "./deliveries.ts";
import { formatReply } from "./reply.ts";
import { paintStatus } from "./status.ts";
import type { View } from "./view.ts";

const columns: Column<Webhook>[] = [
  { title: "id", value: (w) => w.id },
  { title: "status", value: describeStatus, paint: paintStatus },
  { title: "url", value: (w) => w.url, flexible: true },
  { title: "events", value: (w) => w.events.join(" "), flexible: true },
  { title: "description", value: (w) => w.description, flexible: true, priority: 1 },
];

const deliveryColumns: Column<WebhookDelivery>[] = [
  { title: "id", value: (d) => d.id },
  { title: "type", value: (d) => d.type },
  { title: "happened (utc)", value: (d) => formatTimestamp(d.at), paint: (s, t) => s.dim(t), priority: 2 },
  { title: "state", value: (d) => d.state, paint: paintDelivery },
  { title: "tried", value: (d) => d.attempts },
  { title: "last", value: (d) => d.lastAttempt && formatOutcome(d.lastAttempt), flexible: true },
  { title: "next (utc)", value: (d) => formatTimestamp(d.nextAttemptAt), priority: 1 },
];

export const webhookViews: Readonly<Record<string, View>> = {
  "webhooks.list": { columns, empty: "No webhooks yet. Register one: mailsvc webhooks create --url https://…" },
  "webhooks.create": { object: one },
  "webhooks.get": { object: one },
  "webhooks.update": { object: one },
  "webhooks.delete": { object: one },
  "webhooks.pause": { object: one },
  "webhooks.resume": { object: one },
  "webhooks.rotateSecret": { object: one },
  "webhooks.redeliverSince": { object: redelivery },
  "webhooks.test": { object: formatTest },
  "webhooks.deliveries": { columns: deliveryColumns, empty: "No deliveries yet. Test the webhook: mailsvc webhooks test <id>" },
  "webhooks.delivery": { object: delivery },
  "webhooks.redeliver": { object: delivery },
};

function describeStatus({ status, failingSince }: Webhook): string {
  return status === "enabled" && failingSince !== null ? "failing" : status;
}

function one(w: Webhook & { secret?: string }, { term: { out, columns: width } }: Session): string {
  const { lastError } = w;
  const fields = renderDetails(
    [
      ["id", w.id],
      ["url", w.url],
      ["status", paintStatus(out, describeStatus(w))],
      ["events", w.events.join(", ")],
      ["format", w.format === "mailsvc" ? null : w.format],
      ["description", w.description],
      ["alert", w.alertEmail],
      ["failing since", formatInstant(w.failingSince)],
      ["last error", lastError && formatReply(lastError.message ?? "", [lastError.httpStatus]).trim()],
      ["secret", w.secret],
      ["old secret until", formatInstant(w.secretRotatesAt)],
      ["created", formatInstant(w.createdAt)],
    ],
    out,
    width,
  );
  return w.secret === undefined ? fields : `${fields}\n\n${out.yellow("The secret is shown only now.")}`;
}

function redelivery({ count, countIsMinimum, id }: WebhookRedelivery, { term: { out } }: Session): string {
  if (count === 0 && !countIsMinimum) return "Nothing to send again: everything since then has arrived, or is on its way.";
  const events = count === 1 && !countIsMinimum ? "event" : "events";
  return `${out.green("Sending")} ${countIsMinimum ? "at least " : ""}${formatNumber(count)} ${events} again. Follow them: mailsvc webhooks deliveries ${safeText(id)}`;
}

function delivery(d: WebhookDeliveryDetail, session: Session): string {
  const { out, columns: width } = session.term;
  const last = d.log.at(-1);
  return [
    renderDetails(
      [
        ["id", d.id],
        ["event", d.eventId],
        ["type", d.type],
        ["happened", formatInstant(d.at)],
        ["state", paintDelivery(out, d.state)],
        ["next attempt", formatInstant(d.nextAttemptAt)],
        ["waits for", d.waitsFor],
        ["settled", formatInstant(d.settledAt)],
      ],
      out,
      width,
    ),
    ...(d.body === null ? [out.dim("The event has been deleted.")] : [formatBody(d.body)]),
    ...(d.log.length > 0 ? [renderTable(d.log, attemptColumns, out, width)] : []),
    ...(last && last.class !== "ok" ? [formatAttemptFailure(last, session)] : []),
  ].join("\n\n");
}
