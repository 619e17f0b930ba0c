import { parseAnyMailbox } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import type { PendingMail } from "../delivery/delivery.ts";
import { findBodyEnd } from "../html/body.ts";
import { escapeHtml } from "../html/escape.ts";
import { chooseTexts, type Texts } from "../html/texts.ts";
import { brokenLink } from "../lib/api-error.ts";
import { SealBroken } from "../lib/seal.ts";
import { UNSUBSCRIBE_URL } from "../templates/templates.ts";
import { loadBrandWords } from "../workspaces/workspaces.ts";
import type { UnsubscribeDeps } from "./unsubscribe.ts";

/** Person whom a link unsubscribes, the workspace that sent the mail, and the email with the link. */
export interface Subscriber {
  readonly workspaceId: string;
  readonly email: string;
  /** Absent for a link that is not in its own email. */
  readonly emailId?: string | undefined;
}

type LinkDeps = Pick<UnsubscribeDeps, "seal" | "baseUrl">;

const PURPOSE = "link:unsubscribe";

// A token holds two ids and an address of at most 254 characters.
const MAX_TOKEN = 1000;

/**
 * The link that unsubscribes an address from the marketing mail of a workspace. It does not expire, and works after the
 * contact and the email were deleted. The address in it is encrypted and authenticated. The same input gives the same link.
 */
export function makeUnsubscribeUrl({ seal, baseUrl }: LinkDeps, { workspaceId, email, emailId }: Subscriber): string {
  const text = [workspaceId, ...(emailId === undefined ? [] : [emailId]), email].join(" ");
  return `${getUnsubscribePrefix({ baseUrl })}${Buffer.from(seal.sealSame(text, PURPOSE)).toString("base64url")}`;
}

/**
 * The subject of a mail that unsubscribes: it holds the token of the link, because an address has no room for it. So the mail works after
 * the email was deleted.
 */
function makeUnsubscribeSubject(url: string): string {
  return `unsubscribe ${url.slice(url.lastIndexOf("/") + 1)}`;
}

/** Reads the person from such a subject, also with prefixes and line breaks that a mail program put in; null for another subject. */
export function readUnsubscribeSubject({ seal }: Pick<LinkDeps, "seal">, subject: string): Subscriber | null {
  const token =
    subject
      .split(/unsubscribe\s/i)
      .at(-1)
      ?.replace(/\s/g, "") ?? "";
  try {
    return readToken(seal, token);
  } catch (error) {
    if (error instanceof SealBroken) return null;
    throw error;
  }
}

/** Returns the common beginning of all these links. */
function getUnsubscribePrefix({ baseUrl }: Pick<LinkDeps, "baseUrl">): string {
  return `${baseUrl()}/unsubscribe/`;
}

/** Throws ApiError not_found for a token that was not made by this server. */
export function openToken({ seal }: Pick<LinkDeps, "seal">, token: string): Subscriber {
  try {
    return readToken(seal, token);
  } catch (error) {
    if (error instanceof SealBroken) throw brokenLink("linkIncomplete");
    throw error;
  }
}

/** Throws SealBroken. */
function readToken(seal: LinkDeps["seal"], token: string): Subscriber {
  const sealed = Buffer.from(token.slice(0, MAX_TOKEN), "base64url");
  // Only the address may contain spaces, and only between quotes.
  const [workspaceId = "", ...rest] = seal.open(sealed, PURPOSE).split(" ");
  const emailId = rest.length > 1 && /^em_[0-9a-z]{26}$/.test(rest[0] as string) ? rest.shift() : undefined;
  return { workspaceId, email: rest.join(" "), emailId };
}

/** Headers that let mail programs unsubscribe with one click (RFC 2369, RFC 8058), and by email if there is an address for it. */
export function makeUnsubscribeHeaders(url: string, mailto?: string): Record<string, string> {
  return {
    "List-Unsubscribe": `<${url}>${mailto === undefined ? "" : `, <mailto:${mailto}?subject=${encodeURIComponent(makeUnsubscribeSubject(url))}>`}`,
    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
  };
}

/**
 * Gives mails that offer to unsubscribe their own link and the headers for it: every mail of a campaign, and every other mail
 * with `{{unsubscribeUrl}}`. A campaign without the link gets a footer with it. Headers that the sender set itself stay.
 */
export async function addUnsubscribe(
  read: Reader,
  deps: UnsubscribeDeps,
  mails: readonly Pick<PendingMail, "email" | "contents" | "html" | "text" | "headers" | "language">[],
): Promise<void> {
  const campaigns = mails.filter(({ email }) => email.campaignId !== null);
  const brands = await loadBrandWords(read, [...new Set(campaigns.map(({ email }) => email.workspaceId))]);
  const prefix = getUnsubscribePrefix(deps);
  for (const mail of mails) {
    const { email, html, text } = mail;
    const isCampaign = email.campaignId !== null;
    const inHtml = html !== null && holdsUrl(html, UNSUBSCRIBE_URL);
    const inText = text !== null && holdsUrl(text, UNSUBSCRIBE_URL);
    if (!inHtml && !inText && !isCampaign) continue;
    const { workspaceId } = email;
    const url = makeUnsubscribeUrl(deps, { workspaceId, email: email.to, emailId: email.id });
    mail.headers = withUnsubscribe(mail.headers, url, deps.returnPath.unsubscribeAddress(email.id));
    // Only a campaign gets footers, and each of its workspaces was looked up.
    const brand = brands.get(workspaceId);
    const footer: Footer = {
      sender: brand?.name ?? findDisplayName(mail.contents.from),
      texts: () => chooseTexts(brand?.texts ?? {}, [mail.language, brand?.locale]),
      url,
    };
    if (html !== null && inHtml) mail.html = html.replaceAll(UNSUBSCRIBE_URL, url);
    else if (html !== null && isCampaign && !holdsUrl(html, prefix)) mail.html = await addFooter(html, footer);
    if (text !== null && inText) mail.text = text.replaceAll(UNSUBSCRIBE_URL, url);
    else if (text !== null && isCampaign && !holdsUrl(text, prefix)) mail.text = addTextFooter(text, footer);
  }
}

/** The bodies of a mail, with a footer in each of them that does not offer to unsubscribe. */
export async function offerUnsubscribe<Bodies extends { readonly html: string | null; readonly text: string | null }>(
  read: Reader,
  workspaceId: string,
  { html, text }: Bodies,
  language: string | null,
): Promise<Pick<Bodies, "html" | "text">> {
  const lacks = (body: string | null): body is string => body !== null && !body.includes(UNSUBSCRIBE_URL);
  if (!lacks(html) && !lacks(text)) return { html, text };
  const brand = (await loadBrandWords(read, [workspaceId])).get(workspaceId);
  const texts = chooseTexts(brand?.texts ?? {}, [language, brand?.locale]);
  const footer: Footer = { sender: brand?.name ?? null, texts: () => texts, url: UNSUBSCRIBE_URL };
  return {
    html: lacks(html) ? await addFooter(html, footer) : html,
    text: lacks(text) ? addTextFooter(text, footer) : text,
  };
}

/** `text.includes(url)`, ten times as fast: a search looks for the first character first, and most texts hold few colons. */
function holdsUrl(text: string, url: string): boolean {
  return text.includes(url.slice(url.indexOf(":"))) && text.includes(url);
}

/** The pair of headers belongs together: one-click would be a false claim with another address. */
function withUnsubscribe(headers: PendingMail["headers"], url: string, mailto: string | undefined): PendingMail["headers"] {
  const names = Object.keys(headers);
  if (names.length === 0) return makeUnsubscribeHeaders(url, mailto);
  if (names.some((name) => /^list-unsubscribe$/i.test(name))) return headers;
  const others = names.filter((name) => !/^list-unsubscribe-post$/i.test(name)).map((name) => [name, headers[name] as string]);
  return { ...Object.fromEntries(others), ...makeUnsubscribeHeaders(url, mailto) };
}

/** The name that a sender gives itself in `Acme <news@acme.example>`; null for an address alone. */
function findDisplayName(from: string): string | null {
  return parseAnyMailbox(from).name || null;
}

/** Contents of a footer: the sender, and the link to unsubscribe. */
interface Footer {
  readonly sender: string | null;
  /** Chosen only where a body needs a footer. */
  readonly texts: () => Texts;
  readonly url: string;
}

function addTextFooter(text: string, { sender, texts, url }: Footer): string {
  return `${text.trimEnd()}\n\n-- \n${sender === null ? "" : `${sender}\n`}${texts().say("unsubscribe")}: ${url}\n`;
}

async function addFooter(html: string, { sender, texts, url }: Footer): Promise<string> {
  const at = await findBodyEnd(html);
  const own = texts();
  const footer = `<p class="mailsvc-footer"${own.attributes} style="margin:32px 0 16px;color:#5c6470;font:13px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;text-align:center">${sender === null ? "" : `<bdi>${escapeHtml(sender)}</bdi> · `}<a href="${escapeHtml(url)}" style="color:#5c6470">${own.html("unsubscribe")}</a></p>`;
  return html.slice(0, at) + footer + html.slice(at);
}
