import type { Email, EmailDetail, MailsvcContract, Output, Sender } from "@mailsvc/sdk/contract";
import { safeLines, safeText } from "../safe-text.ts";
import type { Session } from "../session.ts";
import type { Style } from "../tty.ts";
import type { View } from "./index.ts";
import { statusColor } from "./status.ts";
import { type Column, details, table } from "./table.ts";
import { bytes, instant, stamp } from "./time.ts";

type Answer = Output<MailsvcContract["emails"]["send"]>;

const emailColumns: Column<Email>[] = [
  { title: "id", value: (e) => e.id },
  { title: "status", value: (e) => e.status, paint: statusColor },
  { title: "to", value: (e) => e.to, flexible: true },
  { title: "subject", value: (e) => e.subject, flexible: true },
  { title: "created (utc)", value: (e) => stamp(e.createdAt), paint: (s, t) => s.dim(t), spare: 1 },
];

const PREVIEW_LINES = 20;

const senderColumns: Column<Sender>[] = [
  { title: "id", value: (s) => s.id },
  { title: "kind", value: (s) => s.kind },
  { title: "value", value: (s) => s.value, flexible: true },
  { title: "status", value: (s) => s.status, paint: statusColor },
  { title: "created (utc)", value: (s) => stamp(s.createdAt), paint: (s, t) => s.dim(t), spare: 1 },
];

export const emailViews: Readonly<Record<string, View>> = {
  "emails.send": { object: sent },
  "emails.list": { columns: emailColumns, empty: "No emails yet. Send one: mailsvc send --help" },
  "emails.get": { object: detail },
  "emails.cancel": { object: one },
  "emails.reschedule": { object: one },
  "senders.list": { columns: senderColumns, empty: "No senders yet. Add yours: mailsvc senders create --help" },
  "senders.create": { object: senderFacts },
  "senders.get": { object: senderFacts },
  "senders.verify": { object: senderFacts },
};

function sent(answer: Answer, { term: { out } }: Session): string {
  if ("id" in answer) return `${out.green("queued")} ${safeText(answer.id)}`;
  return [
    `${out.green("queued")} ${answer.count} ${answer.count === 1 ? "email" : "emails"}`,
    ...answer.ids.map((id) => `  ${safeText(id)}`),
  ].join("\n");
}

function pairs(map: Readonly<Record<string, string>>): string {
  return Object.entries(map)
    .map(([k, v]) => `${k}=${v}`)
    .join(", ");
}

function facts(email: Email, style: Style): string {
  return details(
    [
      ["id", email.id],
      ["status", email.status],
      ["from", email.from],
      ["to", email.to],
      ["subject", email.subject],
      ["tags", pairs(email.tags)],
      ["message id", email.messageId],
      ["attempts", email.attempts],
      ["in doubt", email.inDoubt ? "yes: it may have been delivered twice" : ""],
      [
        "last error",
        email.lastError ? [email.lastError.smtpCode, email.lastError.enhancedCode, email.lastError.message].filter(Boolean).join(" ") : "",
      ],
      ["created", instant(email.createdAt)],
      ["scheduled", instant(email.scheduledAt)],
      ["next attempt", instant(email.nextAttemptAt)],
      ["sent", instant(email.sentAt)],
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
  const events = table(
    email.events,
    [
      { title: "when (utc)", value: (e) => stamp(e.at), paint: (s, t) => s.dim(t) },
      { title: "event", value: (e) => e.type },
      { title: "data", value: (e) => (Object.keys(e.data).length > 0 ? e.data : ""), flexible: true },
    ],
    style,
    columns,
  );
  const files = email.attachments.map((a) => `  ${safeText(a.filename)}  ${style.dim(`${safeText(a.contentType)}, ${bytes(a.size)}`)}`);
  const blocks = [
    facts(email, style),
    ...(email.replyTo ? [details([["reply to", email.replyTo]], style)] : []),
    ...(Object.keys(email.headers).length > 0
      ? [
          `${style.bold("Headers")}\n${details(
            Object.entries(email.headers).map(([k, v]) => [`  ${safeText(k)}`, v]),
            style,
          )}`,
        ]
      : []),
    ...(files.length > 0 ? [`${style.bold("Attachments")}\n${files.join("\n")}`] : []),
    ...(email.events.length > 0 ? [`${style.bold("History")}\n${events}`] : []),
    ...(email.text ? [`${style.bold("Text")}\n${preview(email.text, style)}`] : []),
    ...(email.html ? [style.dim(`HTML body of ${email.html.length} characters; see it with --json`)] : []),
  ];
  return blocks.join("\n\n");
}

function one(email: Email, session: Session): string {
  return facts(email, session.term.out);
}

function senderFacts(sender: Sender, { term: { out } }: Session): string {
  const record = sender.dnsRecord;
  return [
    details(
      [
        ["id", sender.id],
        [sender.kind, sender.value],
        ["status", sender.status],
        ["verified", instant(sender.verifiedAt)],
        ["last error", sender.lastError],
      ],
      out,
    ),
    ...(record && sender.status === "PENDING"
      ? [
          `\n${out.bold("Publish this DNS record, then run: mailsvc senders verify")} ${safeText(sender.id)}\n${details(
            [
              ["type", record.type],
              ["name", record.name],
              ["value", record.value],
            ],
            out,
          )}`,
        ]
      : []),
  ].join("\n");
}
