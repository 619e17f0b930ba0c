import type { Reader } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import type { PendingMail } from "../emails/emails.ts";
import { findBodyEnd } from "../html/body-end.ts";
import { escapeHtml } from "../html/escape.ts";
import { getPageBrand } from "../marketplace/brand/brand.ts";
import { UNSUBSCRIBE_URL } from "../templates/templates.ts";
import { getUnsubscribePrefix, makeUnsubscribeUrl } from "./link.ts";

/** Headers that let mail programs unsubscribe with one click (RFC 2369, RFC 8058), and by email if there is an address for it. */
export function makeUnsubscribeHeaders(url: string, mailto?: string): Record<string, string> {
  return {
    "List-Unsubscribe": `<${url}>${mailto === undefined ? "" : `, <mailto:${mailto}?subject=unsubscribe>`}`,
    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
  };
}

/**
 * Gives mails that offer to unsubscribe their own link and the headers for it: every mail of a campaign, and every other mail
 * with `{{unsubscribeUrl}}`. A campaign without the link gets a footer with it. Headers that the sender set itself stay.
 */
export async function addUnsubscribe(read: Reader, deps: Deps, mails: readonly PendingMail[]): Promise<void> {
  const brands = new Map<string, string>();
  const prefix = getUnsubscribePrefix(deps);
  for (const mail of mails) {
    const { email, html, text } = mail;
    const isCampaign = email.campaignId !== null;
    const offers = [html, text].some((part) => part?.includes(UNSUBSCRIBE_URL));
    if (!offers && !isCampaign) continue;
    const { workspaceId } = email;
    const url = makeUnsubscribeUrl(deps, { workspaceId, email: email.to, emailId: email.id });
    mail.html = html?.replaceAll(UNSUBSCRIBE_URL, url) ?? null;
    mail.text = text?.replaceAll(UNSUBSCRIBE_URL, url) ?? null;
    mail.headers = withUnsubscribe(mail.headers, url, deps.returnPath.unsubscribeAddress(email.id));
    if (!isCampaign) continue;
    const sender = brands.get(workspaceId) ?? (await getPageBrand(read, workspaceId)).name;
    brands.set(workspaceId, sender);
    if (mail.html !== null && !mail.html.includes(prefix)) mail.html = await addFooter(mail.html, sender, url);
    if (mail.text !== null && !mail.text.includes(prefix)) mail.text = addTextFooter(mail.text, sender, url);
  }
}

/** The bodies of a mail, with a footer in each of them that does not offer to unsubscribe. */
export async function offerUnsubscribe<Bodies extends { readonly html: string | null; readonly text: string | null }>(
  read: Reader,
  workspaceId: string,
  { html, text }: Bodies,
): Promise<Pick<Bodies, "html" | "text">> {
  const lacks = (body: string | null): body is string => body !== null && !body.includes(UNSUBSCRIBE_URL);
  if (!lacks(html) && !lacks(text)) return { html, text };
  const { name } = await getPageBrand(read, workspaceId);
  return {
    html: lacks(html) ? await addFooter(html, name, UNSUBSCRIBE_URL) : html,
    text: lacks(text) ? addTextFooter(text, name, UNSUBSCRIBE_URL) : text,
  };
}

/** The pair of headers belongs together: one-click would be a false claim beside another address. */
function withUnsubscribe(headers: PendingMail["headers"], url: string, mailto: string | undefined): PendingMail["headers"] {
  const names = Object.keys(headers);
  if (names.some((name) => /^list-unsubscribe$/i.test(name))) return headers;
  const others = names.filter((name) => !/^list-unsubscribe-post$/i.test(name)).map((name) => [name, headers[name] as string]);
  return { ...Object.fromEntries(others), ...makeUnsubscribeHeaders(url, mailto) };
}

function addTextFooter(text: string, sender: string, url: string): string {
  return `${text.trimEnd()}\n\n-- \n${sender}\nUnsubscribe: ${url}\n`;
}

async function addFooter(html: string, sender: string, url: string): Promise<string> {
  const at = await findBodyEnd(html);
  const footer = `<p style="margin:32px 0 16px;color:#5c6470;font:13px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;text-align:center">${escapeHtml(sender)} · <a href="${escapeHtml(url)}" style="color:#5c6470">Unsubscribe</a></p>`;
  return html.slice(0, at) + footer + html.slice(at);
}
