import { domainToASCII } from "node:url";
import { type Message, parseAnyMailbox } from "@mailsvc/sdk/contract";
import { eq, sql } from "drizzle-orm";
import { resolveContacts } from "../contacts/contacts.ts";
import type { Tx } from "../db/db.ts";
import { findEmail } from "../emails/emails.ts";
import { ApiError } from "../lib/api-error.ts";
import { findPassedOn, writeToAgent } from "../marketplace/messages/messages.ts";
import type { ReceivedDeps } from "./received.ts";
import { splitAddresses } from "./reply-addresses.ts";
import { getReceivedRow, type ReceivedRow } from "./store.ts";

/** Characters of a message that a brand writes to an agent. */
const MAX_TEXT = 10_000;

/**
 * Posts what a person wrote, without the mail that it quotes and without the addresses and names of its sender and recipients, into the
 * conversation of the brand with an agent. A mail that the agent has already got is not posted again: then `created` is false. Throws
 * ApiError not_found or invalid_state.
 */
export async function passOn(
  tx: Tx,
  deps: ReceivedDeps,
  workspaceId: string,
  { id, activationId }: { readonly id: string; readonly activationId: string },
): Promise<{ message: Message; created: boolean }> {
  const mail = await getReceivedRow(tx, workspaceId, id);
  const posted = await findPassedOn(tx, activationId, id, deps.clock.now());
  if (posted) return { message: posted, created: false };
  const written = mail.reply.trim() || (mail.emailId === null ? mail.text.trim() : "");
  if (written === "")
    throw new ApiError("invalid_state", "This mail has no text of its own to pass on.", {
      hint: `See it as it came: mailsvc received raw ${id}`,
    });
  await holdReceived(tx, id);
  const cut = cutText(written, MAX_TEXT);
  const known = await listKnown(tx, workspaceId, mail);
  const text = withoutNames(withoutAddresses(cut, mail.headers, known.addresses), known.names);
  return { message: await writeToAgent(tx, deps, workspaceId, activationId, { text, format: "plain", receivedId: id }), created: true };
}

/** Addresses and names of the people of a mail, which its text may contain. */
async function listKnown(tx: Tx, workspaceId: string, mail: ReceivedRow): Promise<{ addresses: string[]; names: string[] }> {
  const answered = mail.emailId === null ? null : await findEmail(tx, workspaceId, mail.emailId);
  const { to = [], cc = [] } = answered?.contents.addressees ?? {};
  const mailboxes = [...to, ...cc].map((text) => parseAnyMailbox(text));
  const [contact] = mail.contactId === null ? [] : await resolveContacts(tx, workspaceId, [mail.contactId]);
  return {
    addresses: [
      ...[mail.to, mail.from ?? "", answered?.email.to ?? ""],
      ...splitAddresses(mail.replyTo),
      ...mailboxes.map(({ address }) => address),
    ],
    names: [mail.fromName, contact?.firstName, contact?.lastName, ...mailboxes.map(({ name }) => name)].filter(
      (name) => typeof name === "string",
    ),
  };
}

/** Holds a mail until the end of the transaction: whoever deletes it meanwhile starts again, and sees what refers to it. */
async function holdReceived(tx: Tx, id: string): Promise<void> {
  const { received: t } = tx.t;
  await tx
    .update(t)
    .set({ id: sql`${t.id}` })
    .where(eq(t.id, id));
}

/** A text of at most this many characters, cut between two words: half an address would not be found. */
function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  let end = most;
  while (end > 0 && !/\s/.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end).trimEnd();
}

// Longer names, and more of them, are not looked for.
const MAX_NAME = 200;
const MAX_NAMES = 50;

/**
 * A text without these names of people: the whole names in any case, and their words of three letters or more as they are written, since
 * people sign with their first name.
 */
export function withoutNames(text: string, names: readonly string[]): string {
  const whole = names
    .map((name) => name.normalize("NFC").trim())
    .filter((name) => name.length > 1 && name.length <= MAX_NAME)
    .slice(0, MAX_NAMES);
  const words = whole.flatMap((name) => name.split(/[^\p{L}\p{N}'’-]+/u)).filter((word) => word.length > 2);
  return replaceAll(replaceAll(text.normalize("NFC"), whole, "giu"), words, "gu");
}

function replaceAll(text: string, names: readonly string[], flags: string): string {
  if (names.length === 0) return text;
  const longestFirst = [...new Set(names)].sort((one, other) => other.length - one.length);
  return text.replace(new RegExp(`(?<![\\p{L}\\p{N}])(?:${longestFirst.map(toPattern).join("|")})(?![\\p{L}\\p{N}])`, flags), "[name]");
}

function toPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

const NAMING = /^(?:from|to|cc|reply-to|sender|delivered-to|x-original-to)$/i;
// Separator of an address; in links it may be escaped.
const SEPARATOR = /@|%40/g;
// Local part, without the quotes, stars, slashes and the like that may stand around an address.
const LOCAL = /[\p{L}\p{N}][\p{L}\p{N}._+-]*$/u;
const DOMAIN = /^[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?/u;
// Longer parts are no part of an address.
const MAX_LOCAL = 64;
const MAX_DOMAIN = 255;
// Maximum size of the headers that name people: some thousand addresses.
const MAX_NAMING = 256 * 1024;

/** The domains of a local part, in ASCII, and the dots of the deepest one. */
interface Domains {
  readonly known: Set<string>;
  deepest: number;
}

/**
 * A text in form C without the addresses that the headers of its mail name, and without these others. International domains are found in
 * both of their spellings, in ASCII and not. Takes time that rises with the length of the text alone, whatever stands in it.
 */
export function withoutAddresses(text: string, headers: ReceivedRow["headers"], others: readonly string[]): string {
  const naming = headers.filter(({ name }) => NAMING.test(name)).map(({ value }) => value);
  const all = [...others, ...naming].join("\n").slice(0, MAX_NAMING).normalize("NFC");
  const byLocal = new Map<string, Domains>();
  for (const { local, domain } of listCandidates(all)) {
    const domains = byLocal.get(local.toLowerCase()) ?? { known: new Set(), deepest: 0 };
    byLocal.set(local.toLowerCase(), domains);
    const ascii = toAscii(domain);
    domains.known.add(ascii);
    domains.deepest = Math.max(domains.deepest, countDots(ascii));
  }
  const normal = text.normalize("NFC");
  let shown = "";
  let done = 0;
  for (const { start, local, at, domain } of listCandidates(normal)) {
    const domains = byLocal.get(local.toLowerCase());
    const end = domains === undefined || start < done ? 0 : findEnd(domain, domains);
    if (end === 0) continue;
    shown += `${normal.slice(done, start)}[address]`;
    done = at + end;
  }
  return shown + normal.slice(done);
}

/** Lists possible addresses: the start, the local part, and the position and text of the domain. */
function* listCandidates(text: string): Generator<{ start: number; local: string; at: number; domain: string }> {
  for (const { index, 0: sign } of text.matchAll(SEPARATOR)) {
    const [local] = LOCAL.exec(text.slice(Math.max(0, index - MAX_LOCAL), index)) ?? [];
    const at = index + sign.length;
    const [domain] = local === undefined ? [] : (DOMAIN.exec(text.slice(at, at + MAX_DOMAIN)) ?? []);
    if (local !== undefined && domain !== undefined) yield { start: index - local.length, local, at, domain };
  }
}

/** The length of the domain at the begin of a text that is one of these; 0 if none is. The next sentence may follow it without a blank. */
function findEnd(text: string, { known, deepest }: Domains): number {
  for (let end = text.length; end > 0; end = Math.max(text.lastIndexOf(".", end - 1), text.lastIndexOf("-", end - 1))) {
    const domain = text.slice(0, end);
    if (countDots(domain) <= deepest && known.has(toAscii(domain))) return end;
  }
  return 0;
}

function countDots(text: string): number {
  return text.split(".").length;
}

const IS_ASCII = /^[a-z0-9.-]*$/i;

/** A domain in lower-case ASCII; what is none only in lower case. */
function toAscii(domain: string): string {
  // Skips the conversion, which takes a hundred times as long.
  if (IS_ASCII.test(domain)) return domain.toLowerCase();
  return domainToASCII(domain) || domain.toLowerCase();
}
