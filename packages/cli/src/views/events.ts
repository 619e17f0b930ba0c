import type { Event } from "@mailsvc/sdk/contract";
import { safeText } from "../text/safe-text.ts";
import { type Column, renderDetails } from "../text/table.ts";
import { formatInstant, formatTimestamp } from "../text/units.ts";
import { measureWidth, truncate } from "../text/width.ts";
import type { Session, Style } from "../types.ts";
import type { View } from "./view.ts";

const GOOD = /\.(?:delivered|sent|opened|clicked|subscribed|joined|entered|completed|goal_reached|started|resumed)$/;
const BAD = /\.(?:bounced|complained|failed|suppressed|disabled)$/;
const WARN = /\.(?:deferred|unsubscribed|paused|cancelled|left|exited)$/;

const columns: Column<Event>[] = [
  { title: "when (utc)", value: (e) => formatTimestamp(e.at), paint: (s, t) => s.dim(t) },
  { title: "type", value: (e) => e.type, paint: paintType },
  { title: "recipient", value: describeSubject, flexible: true },
  { title: "details", value: describeData, flexible: true },
  { title: "id", value: (e) => e.id, paint: (s, t) => s.dim(t), priority: 1 },
];

export const eventViews: Readonly<Record<string, View>> = {
  "events.list": { columns, empty: "No events yet. Send an email, or follow what happens: mailsvc events tail" },
  "events.get": { object: one },
};

const TYPE_WIDTH = 22;
const SUBJECT_WIDTH = 30;

/** An event as one line, for a terminal that follows the stream. */
export function formatEventLine(event: Event, style: Style, width: number): string {
  const when = formatTimestamp(event.at);
  const type = event.type.padEnd(TYPE_WIDTH);
  const subject = safeText(describeSubject(event));
  const shown = truncate(subject, SUBJECT_WIDTH);
  const pad = " ".repeat(SUBJECT_WIDTH - measureWidth(shown));
  const left = width - when.length - TYPE_WIDTH - SUBJECT_WIDTH - 6;
  const details = left < 8 ? "" : truncate(safeText(describeData(event)), left);
  return `${style.dim(when)}  ${paintType(style, type)}  ${shown}${pad}  ${style.dim(details)}`.trimEnd();
}

function paintType(style: Style, text: string): string {
  const type = text.trimEnd();
  return BAD.test(type) ? style.red(text) : WARN.test(type) ? style.yellow(text) : GOOD.test(type) ? style.green(text) : text;
}

/** Subject of an event: the recipient, else the contact, the campaign or the automation. */
function describeSubject({ to, contactId, campaignId, automationId }: Event): string {
  return to ?? contactId ?? campaignId ?? automationId ?? "";
}

function describeData({ data, machine }: Event): string {
  return [...(machine ? ["machine"] : []), describeFields(data)].filter(Boolean).join(" ");
}

/** The fields of an event's data on one line. */
export function describeFields(data: object): string {
  return Object.entries(data)
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
}

function one(event: Event, { term: { out } }: Session): string {
  return renderDetails(
    [
      ["id", event.id],
      ["sequence", event.sequence],
      ["type", paintType(out, event.type)],
      ["at", formatInstant(event.at)],
      ["to", event.to],
      ["email", event.emailId],
      ["contact", event.contactId],
      ["campaign", event.campaignId],
      ["automation", event.automationId],
      ["machine", event.machine === null ? "" : event.machine ? "yes" : "no"],
      ...Object.entries(event.data).map(([name, value]): [string, unknown] => [name, value]),
    ],
    out,
  );
}
