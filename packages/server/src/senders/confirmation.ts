import { parseMailbox } from "@mailsvc/sdk/contract";
import { escapeHtml } from "../html/escape.ts";
import { renderMail } from "../html/mail.ts";
import { renderMessage, renderName } from "../html/page.ts";
import type { OutgoingMail } from "../mail/mailer.ts";
import type { SenderDeps } from "./deps.ts";
import type { SenderRow } from "./senders.ts";

/** The page of a confirmation link. Opening it changes nothing, because mail scanners open links too; its button confirms. */
export function renderConfirmPage(row: SenderRow): string {
  return row.status === "VERIFIED"
    ? renderConfirmedPage(row)
    : renderMessage(
        "Confirm sender address",
        `<p>Allow email to be sent from ${renderName(row.value)}?</p><form method="post"><button>Confirm ${escapeHtml(row.value)}</button></form>`,
      ).html;
}

/** The page shown once an address is confirmed. */
export function renderConfirmedPage(row: SenderRow): string {
  return renderMessage("Sender address confirmed", `<p>You can now send email from ${renderName(row.value)}. You can close this page.</p>`)
    .html;
}

/** The email that asks the owner of an address to confirm it. */
export function buildConfirmationMail(deps: SenderDeps, row: SenderRow, attempt: number): OutgoingMail {
  const from = parseMailbox(deps.config.mailFrom);
  const { html, text } = renderMail({
    brand: null,
    baseUrl: deps.baseUrl(),
    title: "Confirm sender address",
    text: "Please confirm that email may be sent from this address:",
    name: row.value,
    button: { label: "Confirm this address", url: `${deps.baseUrl()}/senders/confirm/${row.token}` },
    notes: ["If you did not request this, ignore this email. No email can be sent from the address without your confirmation."],
  });
  return {
    envelopeFrom: from.address,
    envelopeTo: row.value,
    messageId: `<${row.id}.${attempt}@${from.domain}>`,
    from: deps.config.mailFrom,
    to: [{ name: "", address: row.value }],
    cc: [],
    replyTo: null,
    subject: `Confirm ${row.value} as a sender`,
    text,
    html,
    headers: {},
    attachments: [],
    date: deps.clock.now(),
    attempt,
    origin: { workspaceId: row.workspaceId, emailId: null },
  };
}
