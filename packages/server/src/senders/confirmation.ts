import { parseMailbox } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import { escapeHtml } from "../html/escape.ts";
import { renderMail } from "../html/mail.ts";
import { renderMessage, renderName } from "../html/page.ts";
import type { OutgoingMail } from "../mail/mailer.ts";
import { listBrandNames } from "../workspaces/workspaces.ts";
import type { SenderDeps } from "./deps.ts";
import type { SenderRow } from "./senders.ts";

/**
 * Returns the name of the party that asks to use an address: the brand of its workspace, or, while that has no name, somebody at
 * this server.
 */
export async function findAsker(read: Reader, deps: Pick<SenderDeps, "baseUrl">, { workspaceId }: SenderRow): Promise<string> {
  const names = await listBrandNames(read, [workspaceId]);
  return names.get(workspaceId) ?? `Somebody at ${new URL(deps.baseUrl()).host}`;
}

/** The page of a confirmation link. Opening it changes nothing, because mail scanners open links too; its button confirms. */
export function renderConfirmPage(row: SenderRow, asker: string): string {
  return row.status === "VERIFIED"
    ? renderConfirmedPage(row)
    : renderMessage(
        "Confirm sender address",
        `<p>${renderName(asker)} asks to send email from ${renderName(row.value)}. Allow it?</p><form method="post"><button>Confirm ${escapeHtml(row.value)}</button></form>`,
      ).html;
}

/** The page shown once an address is confirmed. */
export function renderConfirmedPage(row: SenderRow): string {
  return renderMessage("Sender address confirmed", `<p>You can now send email from ${renderName(row.value)}. You can close this page.</p>`)
    .html;
}

/** The email that asks the owner of an address to confirm it. */
export function buildConfirmationMail(deps: SenderDeps, row: SenderRow, asker: string, attempt: number): OutgoingMail {
  const from = parseMailbox(deps.config.mailFrom);
  const { html, text } = renderMail({
    brand: null,
    baseUrl: deps.baseUrl(),
    title: "Confirm sender address",
    text: `${asker} asks to send email from this address:`,
    name: row.value,
    button: { label: "Confirm this address", url: `${deps.baseUrl()}/senders/confirm/${row.token}` },
    notes: ["If you do not know why, ignore this email. No email can be sent from the address without your confirmation."],
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
