import type { BatchResponse, Email, EmailDetail, MailsvcContract, Output, Sender } from "@mailsvc/sdk/contract";
import { safeLines, safeText } from "../text/safe-text.ts";
import { type Column, renderDetails, renderTable } from "../text/table.ts";
import { formatBytes, formatInstant, formatTimestamp } from "../text/units.ts";
import type { Session, Style } from "../types.ts";
import { describeFields } from "./events.ts";
import { formatReply } from "./reply.ts";
import { paintStatus } from "./status.ts";
import type { View } from "./view.ts";

type Answer = Output<MailsvcContract["emails"]["send"]>;

type EmailEvent = EmailDetail["events"][number];

const emailColumns: Column<Email>[] = [
  { title: "id", value: (e) => e.id },
  { title: "status", value: (e) => e.status, paint: paintStatus },
  { title: "to", value: formatTo, flexible: true },
  { title: "subject", value: (e) => e.subject, flexible: true },
  { title: "created (utc)", value: (e) => formatTimestamp(e.createdAt), paint: (s, t) => s.dim(t), priority: 1 },
];

const PREVIEW_LINES = 20;

const senderColumns: Column<Sender>[] = [
  { title: "id", value: (s) => s.id },
  { title: "kind", value: (s) => s.kind },
  { title: "value", value: (s) => s.value, flexible: true },
  { title: "status", value: (s) => (s.failingSince === null ? s.status : "VERIFIED, record missing"), paint: paintStatus },
  { title: "created (utc)", value: (s) => formatTimestamp(s.createdAt), paint: (s, t) => s.dim(t), priority: 1 },
];

export const emailViews: Readonly<Record<string, View>> = {
  "emails.send": { object: formatSent },
  "emails.sendBatch": { object: batch },
  "emails.list": { columns: emailColumns, empty: "No emails yet. Send one: mailsvc send --help" },
  "emails.get": { object: detail },
  "emails.cancel": { object: one },
  "emails.reschedule": { object: one },
  "emails.requeue": { object: one },
  "senders.list": { columns: senderColumns, empty: "No senders yet. Add yours: mailsvc senders create --help" },
  "senders.create": { object: formatSender },
  "senders.get": { object: formatSender },
  "senders.verify": { object: formatSender },
};

/** The response of a send, also of a template. */
export function formatSent(answer: Answer, { term: { out } }: Session): string {
  if ("recipients" in answer)
    return [
      `${out.green("queued")} ${safeText(answer.id)}`,
      ...answer.recipients.map(
        ({ email, kind, status }) => `  ${kind} ${safeText(email)}${status === "queued" ? "" : ` ${paintStatus(out, status)}`}`,
      ),
    ].join("\n");
  if ("id" in answer) return `${out.green("queued")} ${safeText(answer.id)}`;
  return [
    `${out.green("queued")} ${answer.count} ${answer.count === 1 ? "email" : "emails"}`,
    ...answer.ids.map((id) => `  ${safeText(id)}`),
  ].join("\n");
}

/** The first recipient, and how many others there are. */
function formatTo({ to, recipients }: Email): string {
  return recipients.length > 1 ? `${to} +${recipients.length - 1}` : to;
}

function batch({ queued, failed, results }: BatchResponse, { term: { out } }: Session): string {
  const lines = results.map((result, i) => {
    if (result.status === "failed") return `  ${i}  ${out.red("failed")} ${safeText(result.error.code)}  ${safeText(result.error.message)}`;
    return `  ${i}  ${safeText([result.id, ...(result.ids ?? [])].filter((one) => one !== undefined).join(" "))}${result.replayed ? out.dim("  queued before") : ""}`;
  });
  const count = `${out.green("queued")} ${queued}${failed > 0 ? `, ${out.red("failed")} ${failed}` : ""}`;
  return [count, ...lines].join("\n");
}

function pairs(map: Readonly<Record<string, string>>): string {
  return Object.entries(map)
    .map(([k, v]) => `${k}=${v}`)
    .join(", ");
}

function formatFields(email: Email, style: Style): string {
  return renderDetails(
    [
      ["id", email.id],
      ["status", email.status],
      ["from", email.from],
      ["to", formatTo(email)],
      ["subject", email.subject],
      ["tags", pairs(email.tags)],
      ["message id", email.messageId],
      ["attempts", email.attempts],
      ["in doubt", email.inDoubt ? "yes: it may have been delivered twice" : ""],
      ["last error", email.lastError ? formatReply(email.lastError.message, [email.lastError.smtpCode, email.lastError.enhancedCode]) : ""],
      ["created", formatInstant(email.createdAt)],
      ["scheduled", formatInstant(email.scheduledAt)],
      ["next attempt", formatInstant(email.nextAttemptAt)],
      ["sent", formatInstant(email.sentAt)],
    ],
    style,
  );
}

function preview(text: string, style: Style): string {
  const lines = safeLines(text).trimEnd().split("\n");
  const rest = lines.length - PREVIEW_LINES;
  return [...lines.slice(0, PREVIEW_LINES).map((l) => `  ${l}`), ...(rest > 0 ? [style.dim(`  … ${rest} more lines`)] : [])].join("\n");
}

function detail(email: EmailDetail, { term: { out: style, columns } }: Session): string {
  const events = renderTable(
    email.events,
    [
      { title: "when (utc)", value: (e) => formatTimestamp(e.at), paint: (s, t) => s.dim(t) },
      { title: "event", value: (e) => e.type },
      ...(email.recipients.length > 1 ? [{ title: "recipient", value: (e: EmailEvent) => e.recipient.email, flexible: true }] : []),
      { title: "data", value: (e) => describeFields(e.data), flexible: true },
    ],
    style,
    columns,
  );
  const recipients = renderTable(
    email.recipients,
    [
      { title: "recipient", value: (r) => r.email, flexible: true },
      { title: "kind", value: (r) => r.kind },
      { title: "status", value: (r) => r.status, paint: paintStatus },
      { title: "in doubt", value: (r) => (r.inDoubt ? "yes" : "") },
      { title: "last error", value: (r) => r.lastError?.message ?? "", flexible: true },
    ],
    style,
    columns,
  );
  const files = email.attachments.map(
    (a) => `  ${safeText(a.filename)}  ${style.dim(`${safeText(a.contentType)}, ${formatBytes(a.size)}`)}`,
  );
  const blocks = [
    formatFields(email, style),
    ...(email.recipients.length > 1 ? [`${style.bold("Recipients")}\n${recipients}`] : []),
    ...(email.replyTo ? [renderDetails([["reply to", [email.replyTo].flat().join(", ")]], style)] : []),
    ...(Object.keys(email.headers).length > 0
      ? [
          `${style.bold("Headers")}\n${renderDetails(
            Object.entries(email.headers).map(([k, v]) => [`  ${safeText(k)}`, v]),
            style,
          )}`,
        ]
      : []),
    ...(files.length > 0 ? [`${style.bold("Attachments")}\n${files.join("\n")}`] : []),
    ...(email.events.length > 0 ? [`${style.bold("History")}\n${events}`] : []),
    ...(email.text ? [`${style.bold("Text")}\n${preview(email.text, style)}`] : []),
    ...(email.html ? [style.dim(`HTML body of ${email.html.length} characters; see it with --json`)] : []),
    ...(email.truncated ? [style.dim(explainMissing(email))] : []),
  ];
  return blocks.join("\n\n");
}

/** Explains why the texts of an email are not shown whole. */
function explainMissing({ text, html }: EmailDetail): string {
  if (text === null && html === null) return "Its texts could not be read; the attached message has all of it.";
  return "Its texts are longer than what is shown here.";
}

function one(email: Email, session: Session): string {
  return formatFields(email, session.term.out);
}

function formatSender(sender: Sender, { term: { out } }: Session): string {
  const record = sender.dnsRecord;
  return [
    renderDetails(
      [
        ["id", sender.id],
        [sender.kind, sender.value],
        ["status", sender.status],
        ["verified", formatInstant(sender.verifiedAt)],
        ["record missing since", formatInstant(sender.failingSince)],
        ["last error", sender.lastError],
      ],
      out,
    ),
    ...(record
      ? [
          `\n${out.bold("Publish this DNS record, then run: mailsvc senders verify")} ${safeText(sender.id)}\n${renderDetails(
            [
              ["type", record.type],
              ["name", record.name],
              ["value", record.value],
            ],
            out,
          )}\n\n${out.dim("Without DNS, on your own server: mailsvc senders verify --force, with the owner key, or with several workspaces the operator key")}`,
        ]
      : []),
  ].join("\n");
}
