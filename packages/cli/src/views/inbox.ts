import type { CapturedMail, MailsvcContract, Output } from "@mailsvc/sdk/contract";
import { safeLines, safeText } from "../safe-text.ts";
import type { Session } from "../session.ts";
import type { View } from "./index.ts";
import { type Column, details } from "./table.ts";
import { bytes, instant, stamp } from "./time.ts";

const columns: Column<CapturedMail>[] = [
  { title: "id", value: (m) => m.id },
  { title: "to", value: (m) => m.to, flexible: true },
  { title: "from", value: (m) => m.from, flexible: true, spare: 2 },
  { title: "subject", value: (m) => m.subject, flexible: true },
  { title: "received (utc)", value: (m) => stamp(m.receivedAt), paint: (s, t) => s.dim(t), spare: 1 },
];

export const inboxViews: Readonly<Record<string, View>> = {
  "inbox.list": { columns, empty: "No mail yet. What this server sends is caught here." },
  "inbox.get": { object: mail },
  "inbox.wait": { object: mail },
};

function mail(m: Output<MailsvcContract["inbox"]["get"]>, { term: { out } }: Session): string {
  const files = m.attachments.map((a) => `  ${safeText(a.filename)}  ${out.dim(`${safeText(a.contentType)}, ${bytes(a.size)}`)}`);
  return [
    details(
      [
        ["id", m.id],
        ["email", m.emailId],
        ["from", m.from],
        ["to", m.to],
        ["subject", m.subject],
        ["received", instant(m.receivedAt)],
        ["size", bytes(m.size)],
      ],
      out,
    ),
    ...(files.length > 0 ? [`\n${out.bold("Attachments")}\n${files.join("\n")}`] : []),
    ...(m.text ? [`\n${safeLines(m.text).trimEnd()}`] : []),
    ...(m.html ? [out.dim(`\nHTML part: mailsvc inbox html ${safeText(m.id)}`)] : []),
  ].join("\n");
}
