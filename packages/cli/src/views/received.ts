import type { InboundDomain, MailAuthentication, MailsvcContract, Output, ReceivedAttachment, ReceivedMail } from "@mailsvc/sdk/contract";
import { safeLines, safeText } from "../text/safe-text.ts";
import { type Column, renderDetails } from "../text/table.ts";
import { formatBytes, formatInstant, formatTimestamp } from "../text/units.ts";
import type { Session } from "../types.ts";
import type { View } from "./view.ts";

const columns: Column<ReceivedMail>[] = [
  { title: "id", value: (m) => m.id },
  { title: "from", value: (m) => m.from ?? "", flexible: true },
  { title: "to", value: (m) => m.to, flexible: true, priority: 2 },
  { title: "subject", value: (m) => m.subject, flexible: true },
  { title: "automatic", value: (m) => m.autoReply ?? "", paint: (s, t) => s.dim(t), priority: 3 },
  { title: "received (utc)", value: (m) => formatTimestamp(m.receivedAt), paint: (s, t) => s.dim(t), priority: 1 },
];

const files: Column<ReceivedAttachment>[] = [
  { title: "number", value: (a) => String(a.number) },
  { title: "file", value: (a) => a.filename, flexible: true },
  { title: "type", value: (a) => a.contentType },
  { title: "size", value: (a) => formatBytes(a.size) },
];

const domains: Column<InboundDomain>[] = [
  { title: "id", value: (d) => d.id },
  { title: "domain", value: (d) => d.domain, flexible: true },
  { title: "status", value: (d) => (d.failingSince === null ? d.status : "VERIFIED, record missing") },
  { title: "last error", value: (d) => d.lastError ?? "", flexible: true, priority: 1 },
];

export const receivedViews: Readonly<Record<string, View>> = {
  "received.list": { columns, empty: "No mail was received yet. Send with replyTo auto, or add a domain: mailsvc inbound-domains create" },
  "received.get": { object: mail },
  "inbox.reply": { object: arrived },
  "received.attachments": { columns: files, empty: "This mail has no files." },
  "inboundDomains.list": { columns: domains, empty: "No domain receives mail yet: mailsvc inbound-domains create" },
  "inboundDomains.get": { object: domain },
  "inboundDomains.create": { object: domain },
  "inboundDomains.verify": { object: domain },
};

function mail(m: Output<MailsvcContract["received"]["get"]>, { term: { out } }: Session): string {
  const listed = m.attachments.map(
    (a) => `  ${a.number}  ${safeText(a.filename)}  ${out.dim(`${safeText(a.contentType)}, ${formatBytes(a.size)}`)}`,
  );
  return [
    renderDetails(
      [
        ["id", m.id],
        ["thread", m.threadId],
        ["answers", m.emailId],
        ["from", [m.fromName, m.from].filter((one) => one !== null).join(" ")],
        ["to", m.to],
        ["reply to", m.replyTo.some((one) => one !== m.from) ? m.replyTo.join(", ") : null],
        ["subject", m.subject],
        ["automatic", m.autoReply],
        ["sender", m.authentication && describeSender(m.authentication)],
        ["received", formatInstant(m.receivedAt)],
        ["size", formatBytes(m.size)],
      ],
      out,
    ),
    ...(listed.length > 0 ? [`\n${out.bold("Attachments")}\n${listed.join("\n")}`] : []),
    `\n${safeLines(m.reply || m.text).trimEnd()}`,
    ...(m.reply !== "" && m.reply !== m.text.trim() ? [out.dim("\nThe quoted mail is left out: --json shows the whole text.")] : []),
  ].join("\n");
}

/** Describes the sender's authentication: DMARC decides, SPF and DKIM explain it. */
function describeSender({ spf, dkim, dmarc, signers, policy, reason }: MailAuthentication): string {
  const results = `DMARC ${dmarc ?? "not known"} (SPF ${spf ?? "not checked"}, DKIM ${dkim}${signers.length > 0 ? ` by ${signers.join(", ")}` : ""})`;
  const asked = dmarc === "fail" && policy !== null && policy !== "none" ? `; its domain asks to ${policy} such mail` : "";
  return `${results}${asked}${reason === null ? "" : `. ${reason}`}`;
}

/** Formats a mail that a recipient wrote in dev mode. */
function arrived({ id, from, emailId, subject }: ReceivedMail, { term: { out } }: Session): string {
  return [
    `${out.green("received")} ${safeText(id)}  ${out.dim(safeText(`from ${from ?? ""}: ${subject}`))}`,
    ...(emailId === null ? [] : [out.dim(safeText(`It answers ${emailId}. Read it: mailsvc received get ${id}`))]),
  ].join("\n");
}

function domain(d: InboundDomain, { term: { out } }: Session): string {
  const records = d.dnsRecords.map(
    ({ type, name, value, priority }) => `  ${safeText(name)}  ${type}  ${priority === null ? "" : `${priority} `}${safeText(value)}`,
  );
  return [
    renderDetails(
      [
        ["id", d.id],
        ["domain", d.domain],
        ["status", d.status],
        ["record missing since", formatInstant(d.failingSince)],
        ["last error", d.lastError],
      ],
      out,
    ),
    `\n${out.bold("DNS records")}\n${records.join("\n")}`,
  ].join("\n");
}
