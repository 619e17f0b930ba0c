import { parseMailbox } from "@mailsvc/sdk/contract";
import type { Deps } from "../deps.ts";
import type { OutgoingMail } from "../mail/mailer.ts";
import type { SenderRow } from "./senders.ts";

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

const page = (title: string, body: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1rem;color:#1b1f24}h1{font-size:1.3rem}button{font:inherit;padding:.6rem 1.2rem;border:0;border-radius:.4rem;background:#1b1f24;color:#fff;cursor:pointer}</style>
</head><body><h1>${title}</h1>${body}</body></html>
`;

/** The page behind the link: opening it changes nothing, because mail scanners open links too; its button confirms. */
export const confirmPage = (row: SenderRow): string =>
  row.status === "VERIFIED"
    ? confirmedPage(row)
    : page(
        "Confirm sender address",
        `<p>Allow mail to be sent from <b>${escapeHtml(row.value)}</b>?</p><form method="post"><button>Confirm ${escapeHtml(row.value)}</button></form>`,
      );

export const confirmedPage = (row: SenderRow): string =>
  page("Confirmed", `<p>Mail can now be sent from <b>${escapeHtml(row.value)}</b>. You may close this page.</p>`);

/** The mail that asks the owner of an address to confirm it. */
export const confirmationMail = (deps: Deps, row: SenderRow, attempt: number): OutgoingMail => {
  const from = parseMailbox(deps.config.mailFrom);
  const link = `${deps.baseUrl()}/senders/confirm/${row.token}`;
  return {
    envelopeFrom: from.address,
    envelopeTo: row.value,
    messageId: `<${row.id}.${attempt}@${from.domain}>`,
    from: deps.config.mailFrom,
    to: row.value,
    replyTo: null,
    subject: `Confirm ${row.value} as a sender`,
    text: `Somebody wants to send mail from ${row.value}.\n\nIf that is you, open this page and confirm:\n${link}\n\nIf not, do nothing: no mail can be sent from it.\n`,
    html: `<p>Somebody wants to send mail from <b>${escapeHtml(row.value)}</b>.</p><p>If that is you, <a href="${escapeHtml(link)}">open this page and confirm</a>.</p><p>If not, do nothing: no mail can be sent from it.</p>`,
    headers: {},
    attachments: [],
    date: deps.clock.now(),
    attempt,
    origin: { workspaceId: row.workspaceId, emailId: null },
  };
};
