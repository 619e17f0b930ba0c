import type { Delivery, DeliveryAttempt, DeliveryDetail, WebhookTest } from "@mailsvc/sdk/contract";
import { safeLines } from "../safe-text.ts";
import type { Session } from "../session.ts";
import type { Style } from "../tty.ts";
import type { View } from "./index.ts";
import { type Column, details, table } from "./table.ts";
import { stamp } from "./time.ts";

const GOOD = new Set(["delivered", "ok"]);
const MOOT = new Set(["superseded", "cancelled"]);
const WAITING = new Set(["pending", "queued"]);

const paint = (style: Style, text: string): string => {
  const word = text.split(/[: ]/)[0] ?? text;
  if (GOOD.has(word)) return style.green(text);
  if (WAITING.has(word)) return style.yellow(text);
  return MOOT.has(word) ? style.dim(text) : style.red(text);
};

/** What came of an attempt: its class, and the status where there was one. */
const outcome = ({ class: kind, httpStatus }: Pick<DeliveryAttempt, "class" | "httpStatus">): string =>
  httpStatus === null ? kind : `${kind} ${httpStatus}`;

const deliveryColumns: Column<Delivery>[] = [
  { title: "id", value: (d) => d.id },
  { title: "type", value: (d) => d.type },
  { title: "activation", value: (d) => d.activationId, flexible: true },
  { title: "no", value: (d) => d.sequence },
  { title: "state", value: (d) => d.state, paint },
  { title: "tried", value: (d) => d.attempts },
  { title: "last", value: (d) => d.lastAttempt && outcome(d.lastAttempt), flexible: true },
  { title: "next (utc)", value: (d) => stamp(d.nextAttemptAt) },
];

const attempts: Column<DeliveryAttempt>[] = [
  { title: "no", value: (a) => a.attempt },
  { title: "when (utc)", value: (a) => stamp(a.at) },
  { title: "ms", value: (a) => a.ms },
  { title: "outcome", value: outcome, paint },
  { title: "what", value: (a) => a.message, flexible: true },
  { title: "answer", value: (a) => a.answer, flexible: true },
];

const delivery = (d: DeliveryDetail, { term: { out, columns: width } }: Session): string =>
  [
    details(
      [
        ["id", d.id],
        ["type", d.type],
        ["activation", d.activationId],
        ["run", d.runId],
        ["no", d.sequence],
        ["happened", stamp(d.timestamp)],
        ["state", d.state],
        ["next attempt", stamp(d.nextAttemptAt)],
        ["settled", stamp(d.settledAt)],
      ],
      out,
    ),
    safeLines(d.body),
    ...(d.log.length > 0 ? [table(d.log, attempts, out, width)] : []),
  ].join("\n\n");

const tested = (t: WebhookTest, { term: { out } }: Session): string =>
  `${paint(out, outcome(t))}  ${t.ms} ms\n${t.message === null ? "" : `${safeLines(t.message)}\n`}${out.dim(t.hint)}${t.answer === null ? "" : `\n\n${safeLines(t.answer)}`}`;

export const deliveryViews: Readonly<Record<string, View>> = {
  "deliveries.list": { columns: deliveryColumns },
  "deliveries.get": { object: delivery },
  "deliveries.redeliver": { object: delivery },
  "deliveries.test": { object: tested },
};
