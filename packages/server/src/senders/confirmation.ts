import { parseMailbox } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import { renderMail } from "../html/mail.ts";
import { renderMessage, renderName } from "../html/page.ts";
import { chooseTexts, type ReaderWishes, type Texts } from "../html/texts.ts";
import type { OutgoingMail } from "../mail/mailer.ts";
import { getPageBrand } from "../workspaces/workspaces.ts";
import type { SenderDeps, SenderRow } from "./senders.ts";

/** The request to use an address, in the words for its owner. */
interface Request {
  /** The party that asks: the brand of the workspace, or, while that has no name, somebody at this server. */
  readonly asker: string;
  readonly texts: Texts;
}

/** Reads the request behind a sender; a page has a reader with a language. */
export async function readRequest(
  q: Reader | Tx,
  deps: Pick<SenderDeps, "baseUrl">,
  { workspaceId }: SenderRow,
  reader?: ReaderWishes,
): Promise<Request> {
  const brand = await getPageBrand(q, workspaceId);
  const texts = chooseTexts(brand.texts, [brand.locale], reader);
  return { texts, asker: brand.name ?? texts.say("somebodyAt", { host: new URL(deps.baseUrl()).host }) };
}

/** The page of a confirmation link. Opening it changes nothing, because mail scanners open links too; its button confirms. */
export function renderConfirmPage(row: SenderRow, request: Request): string {
  if (row.status === "VERIFIED") return renderConfirmedPage(row, request);
  const { asker, texts } = request;
  const question = texts.html("senderQuestion", { asker: renderName(asker), address: renderName(row.value) });
  return renderMessage(
    texts.say("senderTitle"),
    `<p>${question}</p><form method="post"><button>${texts.html("senderButton")}</button></form>`,
    { texts, menu: {} },
  ).html;
}

/** The page shown once an address is confirmed. */
export function renderConfirmedPage(row: SenderRow, { texts }: Request): string {
  const text = texts.html("senderConfirmedText", { address: renderName(row.value) });
  return renderMessage(texts.say("senderConfirmedTitle"), `<p>${text}</p>`, { texts, menu: {} }).html;
}

/** The email that asks the owner of an address to confirm it. */
export function buildConfirmationMail(deps: SenderDeps, row: SenderRow, { asker, texts }: Request, attempt: number): OutgoingMail {
  const from = parseMailbox(deps.config.mailFrom);
  const { html, text } = renderMail({
    brand: null,
    texts,
    baseUrl: deps.baseUrl(),
    title: texts.say("senderTitle"),
    text: texts.say("senderText", { asker }),
    name: row.value,
    button: { label: texts.say("senderButton"), url: `${deps.baseUrl()}/senders/confirm/${row.token}` },
    notes: [texts.say("senderNote")],
  });
  return {
    envelopeFrom: from.address,
    envelopeTo: row.value,
    messageId: `<${row.id}.${attempt}@${from.domain}>`,
    from: deps.config.mailFrom,
    to: [{ name: "", address: row.value }],
    cc: [],
    replyTo: null,
    subject: texts.say("senderSubject", { address: row.value }),
    text,
    html,
    headers: { "Content-Language": texts.language },
    attachments: [],
    date: deps.clock.now(),
    attempt,
    origin: { workspaceId: row.workspaceId, emailId: null },
  };
}
