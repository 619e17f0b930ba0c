import type { CapturedMail, MailsvcContract, Output } from "@mailsvc/sdk/contract";
import { safeLines, safeText } from "../text/safe-text.ts";
import { type Column, renderDetails } from "../text/table.ts";
import { formatBytes, formatInstant, formatTimestamp } from "../text/units.ts";
import type { Session, Style } from "../types.ts";
import type { View } from "./view.ts";

const columns: Column<CapturedMail>[] = [
  { title: "id", value: (m) => m.id },
  { title: "to", value: (m) => m.to, flexible: true },
  { title: "from", value: (m) => m.from, flexible: true, priority: 2 },
  { title: "subject", value: (m) => m.subject, flexible: true },
  { title: "received (utc)", value: (m) => formatTimestamp(m.receivedAt), paint: (s, t) => s.dim(t), priority: 1 },
];

export const inboxViews: Readonly<Record<string, View>> = {
  "inbox.list": { columns, empty: "No mail yet. Emails that this server sends are captured here." },
  "inbox.get": { object: mail },
  "inbox.wait": { object: mail },
  "inbox.delete": { object: deleted },
  "inbox.release": { object: released },
  "inbox.report": { object: reported },
  "testInbox.list": { columns, empty: "No mail of test keys. Make one: mailsvc keys create --help" },
  "testInbox.get": { object: testMail },
  "testInbox.wait": { object: testMail },
  "testInbox.delete": { object: deleted },
  "testInbox.release": { object: released },
};

function deleted({ id, to, subject }: CapturedMail, { term: { out } }: Session): string {
  return `${out.green("deleted")} ${safeText(id)}  ${out.dim(safeText(`to ${to}: ${subject}`))}`;
}

function reported({ id, emailId, to, subject }: Output<MailsvcContract["inbox"]["report"]>, { term: { out } }: Session): string {
  const next = out.dim(safeText(`What came of it: mailsvc why ${emailId}`));
  return `${out.green("reported")} ${safeText(id)}  ${out.dim(safeText(`to ${to}: ${subject}`))}\n${next}`;
}

/** Formats the recipients; those refused by the mail server are reported as a failure. */
function released({ released: taken }: Output<MailsvcContract["inbox"]["release"]>, { term: { out } }: Session): string {
  return taken.map(({ to, response }) => `${out.green("released")} ${safeText(to)}  ${out.dim(safeText(response))}`).join("\n");
}

type Mail = Output<MailsvcContract["inbox"]["get"]>;

function mail(m: Mail, session: Session): string {
  const { out } = session.term;
  return `${testMail(m, session)}${m.html ? out.dim(`\n\nHTML part: mailsvc inbox html ${safeText(m.id)}`) : ""}`;
}

/** The invitation as its reader sees it: `summary` stands for an event without one. */
function invitation({ method, summary, start, end, location, organizer, attendees }: NonNullable<Mail["icalEvent"]>, out: Style): string {
  const facts = renderDetails(
    [
      ["event", summary],
      ["start", start],
      ["end", end],
      ["location", location],
      ["organizer", organizer],
      ["attendees", attendees.length > 0 ? attendees.join(", ") : null],
    ],
    out,
  );
  return `${out.bold("Invitation")}  ${out.dim(safeText(method))}\n${facts}`;
}

function testMail(m: Mail, { term: { out } }: Session): string {
  const files = m.attachments.map((a) => `  ${safeText(a.filename)}  ${out.dim(`${safeText(a.contentType)}, ${formatBytes(a.size)}`)}`);
  return [
    renderDetails(
      [
        ["id", m.id],
        ["email", m.emailId],
        ["from", m.from],
        ["to", m.to],
        ["subject", m.subject],
        ["received", formatInstant(m.receivedAt)],
        ["size", formatBytes(m.size)],
      ],
      out,
    ),
    ...(m.icalEvent ? [`\n${invitation(m.icalEvent, out)}`] : []),
    ...(files.length > 0 ? [`\n${out.bold("Attachments")}\n${files.join("\n")}`] : []),
    ...(m.text ? [`\n${safeLines(m.text).trimEnd()}`] : []),
    ...(m.truncated ? [out.dim("\nIt is too large to be shown whole: its raw source has all of it.")] : []),
  ].join("\n");
}
