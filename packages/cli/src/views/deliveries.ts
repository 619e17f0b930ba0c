import type { Delivery, DeliveryAttempt, DeliveryDetail, Recovery, WebhookTest } from "@mailsvc/sdk/contract";
import { parsePathParams } from "../runtime/request.ts";
import { safeJson, safeLines, safeText } from "../text/safe-text.ts";
import { type Column, renderDetails, renderTable, wrapText } from "../text/table.ts";
import { formatInstant, formatTimestamp } from "../text/units.ts";
import type { Session, Style } from "../types.ts";
import type { View } from "./view.ts";

const GOOD = new Set(["delivered", "ok"]);
const DROPPED = new Set(["superseded", "cancelled"]);
const WAITING = new Set(["pending", "queued"]);

const deliveryColumns: Column<Delivery>[] = [
  { title: "id", value: (d) => d.id },
  { title: "type", value: (d) => d.type },
  { title: "activation", value: (d) => d.activationId, priority: 2 },
  { title: "no", value: (d) => d.sequence, priority: 3 },
  { title: "state", value: (d) => d.state, paint: paintDelivery },
  { title: "tried", value: (d) => d.attempts },
  { title: "last", value: (d) => d.lastAttempt && formatOutcome(d.lastAttempt), flexible: true },
  { title: "next (utc)", value: (d) => formatTimestamp(d.nextAttemptAt), priority: 1 },
];

export const attemptColumns: Column<DeliveryAttempt>[] = [
  { title: "no", value: (a) => a.attempt },
  { title: "when (utc)", value: (a) => formatTimestamp(a.at) },
  { title: "ms", value: (a) => a.ms },
  { title: "outcome", value: formatOutcome, paint: paintDelivery },
  { title: "what", value: (a) => a.message, flexible: true },
];

export const deliveryViews: Readonly<Record<string, View>> = {
  "deliveries.list": {
    columns: deliveryColumns,
    empty: "No deliveries yet. Test the webhook: mailsvc deliveries test <slug>",
    next: suggestInspect,
  },
  "deliveries.get": { object: delivery },
  "deliveries.redeliver": { object: delivery },
  "deliveries.recover": { object: formatRecovery },
  "deliveries.test": { object: formatTest },
};

/** A delivery as one line, for a terminal that follows them. */
export function formatDeliveryLine({ timestamp, type, activationId, sequence, id }: Delivery, style: Style): string {
  return `${style.dim(formatTimestamp(timestamp))}  ${type.padEnd(22)}  ${safeText(activationId)} ${style.dim(`#${sequence}`)}  ${style.dim(safeText(id))}`;
}

export function paintDelivery(style: Style, text: string): string {
  const word = text.split(/[: ]/)[0] ?? text;
  if (GOOD.has(word)) return style.green(text);
  if (WAITING.has(word)) return style.yellow(text);
  return DROPPED.has(word) ? style.dim(text) : style.red(text);
}

/** The outcome of an attempt: its class, or the HTTP status. */
export function formatOutcome({ class: kind, httpStatus }: Pick<DeliveryAttempt, "class" | "httpStatus">): string {
  if (kind === "http_status") return `status ${httpStatus}`;
  return httpStatus === null ? kind : `${kind} ${httpStatus}`;
}

/** The slug of the listing; a delivery does not contain it. */
function getSlug({ spec, lastCall }: Session): string {
  return (spec && parsePathParams(spec.endpoint, lastCall)["slug"]) ?? "<slug>";
}

/** The next command: inspect the failed delivery, not the event about the pause that followed, which failed too. */
function suggestInspect(rows: readonly Delivery[], session: Session): string | undefined {
  const failed = rows.filter((d) => d.state === "dead");
  const failing = failed.find((d) => d.type !== "agent.paused") ?? failed[0] ?? rows.find((d) => d.state === "queued");
  return failing && `mailsvc deliveries get ${getSlug(session)} ${failing.id}`;
}

// Indented for reading; --json has the exact bytes.
export function formatBody(body: string): string {
  try {
    return safeJson(JSON.parse(body), 2);
  } catch {
    return safeLines(body);
  }
}

/** The last error, and the webhook's response. */
export function formatAttemptFailure({ hint, answer }: DeliveryAttempt, { term: { out, columns } }: Session): string {
  return [out.dim(wrapText(safeLines(hint), columns)), ...(answer === null ? [] : [`${out.dim("Response:")}\n${safeLines(answer)}`])].join(
    "\n\n",
  );
}

function delivery(d: DeliveryDetail, session: Session): string {
  const { out, columns } = session.term;
  const last = d.log.at(-1);
  const failed = last && last.class !== "ok" ? last : undefined;
  return [
    renderDetails(
      [
        ["id", d.id],
        ["type", d.type],
        ["activation", d.activationId],
        ["run", d.runId],
        ["no", d.sequence],
        ["happened", formatInstant(d.timestamp)],
        ["state", d.state],
        ["next attempt", formatInstant(d.nextAttemptAt)],
        ["waits for", d.waitsFor],
        ["settled", formatInstant(d.settledAt)],
        ["next", failed && !DROPPED.has(d.state) ? `mailsvc deliveries redeliver ${getSlug(session)} ${d.id}` : ""],
      ],
      out,
      columns,
    ),
    formatBody(d.body),
    ...(d.log.length > 0 ? [renderTable(d.log, attemptColumns, out, columns)] : []),
    ...(failed ? [formatAttemptFailure(failed, session)] : []),
  ].join("\n\n");
}

function formatRecovery({ count, resumed }: Recovery): string {
  if (count === 0) return "Nothing is missing: every event that is kept has arrived.";
  const deliveries = count === 1 ? "1 delivery goes" : `${count} deliveries go`;
  const activations = resumed === 1 ? "1 activation is" : `${resumed} activations are`;
  return `${deliveries} out now, in order.${resumed > 0 ? ` ${activations} no longer paused for the failing webhook.` : ""}`;
}

export function formatTest(t: WebhookTest, { term: { out, columns } }: Session): string {
  return [
    `${paintDelivery(out, formatOutcome(t))}  ${t.ms} ms`,
    ...(t.message === null ? [] : [wrapText(safeLines(t.message), columns)]),
    out.dim(wrapText(t.hint, columns)),
    ...(t.answer === null ? [] : [`\n${safeLines(t.answer)}`]),
  ].join("\n");
}
