import type { Delivery, DeliveryAttempt, DeliveryDetail, WebhookTest } from "@mailsvc/sdk/contract";
import { paramsIn } from "../places.ts";
import { safeJson, safeLines } from "../safe-text.ts";
import type { Session } from "../session.ts";
import type { Style } from "../tty.ts";
import type { View } from "./index.ts";
import { type Column, details, paragraphs, table } from "./table.ts";
import { instant, stamp } from "./time.ts";

const GOOD = new Set(["delivered", "ok"]);
const MOOT = new Set(["superseded", "cancelled"]);
const WAITING = new Set(["pending", "queued"]);

const deliveryColumns: Column<Delivery>[] = [
  { title: "id", value: (d) => d.id },
  { title: "type", value: (d) => d.type },
  { title: "activation", value: (d) => d.activationId, spare: 2 },
  { title: "no", value: (d) => d.sequence, spare: 3 },
  { title: "state", value: (d) => d.state, paint },
  { title: "tried", value: (d) => d.attempts },
  { title: "last", value: (d) => d.lastAttempt && outcome(d.lastAttempt), flexible: true },
  { title: "next (utc)", value: (d) => stamp(d.nextAttemptAt), spare: 1 },
];

const attempts: Column<DeliveryAttempt>[] = [
  { title: "no", value: (a) => a.attempt },
  { title: "when (utc)", value: (a) => stamp(a.at) },
  { title: "ms", value: (a) => a.ms },
  { title: "outcome", value: outcome, paint },
  { title: "what", value: (a) => a.message, flexible: true },
];

export const deliveryViews: Readonly<Record<string, View>> = {
  "deliveries.list": {
    columns: deliveryColumns,
    empty: "Nothing was sent yet. Try the webhook: mailsvc deliveries test <slug>",
    next: lookInto,
  },
  "deliveries.get": { object: delivery },
  "deliveries.redeliver": { object: delivery },
  "deliveries.test": { object: tested },
};

function paint(style: Style, text: string): string {
  const word = text.split(/[: ]/)[0] ?? text;
  if (GOOD.has(word)) return style.green(text);
  if (WAITING.has(word)) return style.yellow(text);
  return MOOT.has(word) ? style.dim(text) : style.red(text);
}

/** What came of an attempt: its class, or the status that was answered. */
function outcome({ class: kind, httpStatus }: Pick<DeliveryAttempt, "class" | "httpStatus">): string {
  if (kind === "http_status") return `status ${httpStatus}`;
  return httpStatus === null ? kind : `${kind} ${httpStatus}`;
}

/** The listing whose deliveries are looked at; an event does not say it. */
function slugOf({ place, lastCall }: Session): string {
  return (place && paramsIn(place.endpoint, lastCall)["slug"]) ?? "<slug>";
}

/** Leads to what failed; news of the pause that followed fails too, and tells less. */
function lookInto(rows: readonly Delivery[], session: Session): string | undefined {
  const failed = rows.filter((d) => d.state === "dead");
  const failing = failed.find((d) => d.type !== "agent.paused") ?? failed[0] ?? rows.find((d) => d.state === "queued");
  return failing && `mailsvc deliveries get ${slugOf(session)} ${failing.id}`;
}

// For reading; the very bytes are in --json.
function indented(body: string): string {
  try {
    return safeJson(JSON.parse(body), 2);
  } catch {
    return safeLines(body);
  }
}

/** What went wrong last, and what the webhook said. */
function failure({ hint, answer }: DeliveryAttempt, { term: { out, columns } }: Session): string {
  return [
    out.dim(paragraphs(safeLines(hint), columns)),
    ...(answer === null ? [] : [`${out.dim("It answered:")}\n${safeLines(answer)}`]),
  ].join("\n\n");
}

function delivery(d: DeliveryDetail, session: Session): string {
  const { out, columns } = session.term;
  const last = d.log.at(-1);
  const failed = last && last.class !== "ok" ? last : undefined;
  return [
    details(
      [
        ["id", d.id],
        ["type", d.type],
        ["activation", d.activationId],
        ["run", d.runId],
        ["no", d.sequence],
        ["happened", instant(d.timestamp)],
        ["state", d.state],
        ["next attempt", instant(d.nextAttemptAt)],
        ["settled", instant(d.settledAt)],
        ["next", failed && !MOOT.has(d.state) ? `mailsvc deliveries redeliver ${slugOf(session)} ${d.id}` : ""],
      ],
      out,
      columns,
    ),
    indented(d.body),
    ...(d.log.length > 0 ? [table(d.log, attempts, out, columns)] : []),
    ...(failed ? [failure(failed, session)] : []),
  ].join("\n\n");
}

function tested(t: WebhookTest, { term: { out, columns } }: Session): string {
  return [
    `${paint(out, outcome(t))}  ${t.ms} ms`,
    ...(t.message === null ? [] : [paragraphs(safeLines(t.message), columns)]),
    out.dim(paragraphs(t.hint, columns)),
    ...(t.answer === null ? [] : [`\n${safeLines(t.answer)}`]),
  ].join("\n");
}
