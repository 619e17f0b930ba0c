import { z } from "zod";

/** A mailbox: the address to deliver to, and the name people see. */
export interface Mailbox {
  /** Display name, decoded; empty when there is none. */
  readonly name: string;
  /** `local@domain` as written, the domain in lower-case ASCII (IDNA). */
  readonly address: string;
  readonly local: string;
  readonly domain: string;
}

/** Why a text is no mailbox; `message` is a whole sentence for people. */
export class AddressError extends Error {
  override name = "AddressError";
}

// RFC 5321 4.5.3.1: 64 octets before the @, 254 in all.
const MAX_LOCAL = 64;
const MAX_ADDRESS = 254;
// RFC 5322 atext, plus everything beyond ASCII (RFC 6532).
const ATOM = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~\u0080-\u{10ffff}-]+$/u;
// Quoted local parts: printable text, with backslash escapes.
const QUOTED = /^"(?:[^"\\\p{Cc}]|\\[^\p{Cc}])*"$/u;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const PLAIN = /^[a-z0-9.-]+$/;
const encoder = new TextEncoder();

/** A domain in lower-case ASCII; `bücher.example` becomes `xn--bcher-kva.example`. Throws AddressError. */
export function toDomain(text: string): string {
  // The URL parser is the one IDNA implementation every runtime has, but it also reads ports, paths and IP literals.
  if (text === "" || /[\s/:?#@\\[\]<>^|%"'`{}()*,;!$&=+~]/.test(text)) fail(`"${text}" is not a domain name.`);
  // Lower-case ASCII is what IDNA would make of it, unless a label is punycode that has yet to be checked.
  let ascii = PLAIN.test(text) && !text.includes("xn--") ? text : "";
  try {
    ascii ||= new URL(`http://${text}`).hostname;
  } catch {
    fail(`"${text}" is not a domain name.`);
  }
  if (ascii.length > 253) fail("The domain is longer than 253 characters.");
  const labels = ascii.split(".");
  if (labels.length < 2) fail(`"${text}" has no dot; a full domain such as example.com is needed.`);
  if (!labels.every((l) => LABEL.test(l))) fail(`"${text}" is not a domain name.`);
  if (/^[0-9]+$/.test(labels.at(-1) as string)) fail(`"${text}" is an IP address, not a domain.`);
  return ascii;
}

/**
 * Reads one mailbox: `ada@example.com`, `Ada <ada@example.com>` or `"Lovelace, Ada" <ada@example.com>` (RFC 5322 3.4,
 * UTF-8 as in RFC 6532, IDN domains). Groups, lists, comments and source routes are refused. Throws AddressError.
 */
export function parseMailbox(input: string): Mailbox {
  let box = seen.get(input);
  if (box === undefined) {
    box = Object.freeze(readMailbox(input));
    if (seen.size >= MAX_SEEN) seen.clear();
    seen.set(input, box);
  }
  return box;
}

// Each text is read twice, to check it and to use it, and senders come again and again: reading costs 2 µs, this 0.1.
const seen = new Map<string, Mailbox>();
const MAX_SEEN = 1000;

/** Reads a bare address, without a name. Throws AddressError. */
export function parseAddress(input: string): Mailbox {
  const box = parseMailbox(input);
  if (box.name !== "" || input.includes("<")) fail("A bare address is needed here, without a name.");
  return box;
}

/** The form under which addresses are compared: mailboxes differ by case in theory, in practice they never do. */
export function addressKey(address: string): string {
  return address.toLowerCase();
}

/** A bare address. */
export const EmailAddress = z
  .string()
  .max(320)
  .superRefine(checked(parseAddress))
  .meta({ description: "Email address", examples: ["ada@example.com"] });

/** A bare address or `Name <address>` (SPEC 2). */
export const MailboxText = z
  .string()
  .max(640)
  .superRefine(checked(parseMailbox))
  .meta({ description: "A bare address or: Name <address>", examples: ["Acme <hello@acme.example>"] });

function fail(why: string): never {
  throw new AddressError(why);
}

/** True when a text takes more than `limit` bytes in UTF-8; a character is three at most, so most texts need no counting. */
function longer(text: string, limit: number): boolean {
  return text.length > limit || (text.length * 3 > limit && encoder.encode(text).length > limit);
}

function splitAddress(text: string): Mailbox {
  const at = text.lastIndexOf("@");
  if (at < 0) fail(`"${text}" has no @.`);
  const local = text.slice(0, at);
  if (local === "") fail(`"${text}" has nothing before the @.`);
  if (local.startsWith('"')) {
    if (!QUOTED.test(local)) fail(`The quoted part of "${text}" is not closed or holds control characters.`);
  } else if (!local.split(".").every((part) => ATOM.test(part))) {
    fail(`The part before the @ in "${text}" has a character or dot where none may stand.`);
  }
  if (longer(local, MAX_LOCAL)) fail(`The part before the @ is longer than ${MAX_LOCAL} bytes.`);
  const domain = toDomain(text.slice(at + 1));
  const address = `${local}@${domain}`;
  if (longer(address, MAX_ADDRESS)) fail(`The address is longer than ${MAX_ADDRESS} bytes.`);
  return { name: "", address, local, domain };
}

function unquote(phrase: string): string {
  const text = phrase.trim();
  if (!text.startsWith('"')) {
    if (/["<>@,;:\\[\]()]/.test(text)) fail(`Put the name in double quotes: "${text.replaceAll('"', "")}" <…>.`);
    return text.replace(/\s+/g, " ");
  }
  if (!/^"(?:[^"\\]|\\.)*"$/u.test(text)) fail("The quoted name is not closed, or has a bare quote inside.");
  return text.slice(1, -1).replace(/\\(.)/gu, "$1");
}

function readMailbox(input: string): Mailbox {
  if (/[\p{Cc}\u2028\u2029]/u.test(input)) fail("An address holds no line breaks or control characters.");
  if (!input.isWellFormed()) fail("The address is not valid Unicode.");
  const text = input.trim();
  if (text === "") fail("The address is empty.");
  if (!text.endsWith(">")) {
    if (/^[^"]*</.test(text)) fail(`"${text}" opens < but does not end with >.`);
    if (!text.startsWith('"') && /[,;]/.test(text)) fail("Only one address may stand here.");
    return splitAddress(text);
  }
  const open = text.lastIndexOf("<");
  if (open < 0) fail(`"${text}" closes > but does not open <.`);
  const name = unquote(text.slice(0, open));
  if (longer(name, 255)) fail("The name is longer than 255 bytes.");
  return { ...splitAddress(text.slice(open + 1, -1).trim()), name };
}

function checked(read: (text: string) => Mailbox) {
  return (text: string, ctx: z.RefinementCtx) => {
    try {
      read(text);
    } catch (error) {
      ctx.addIssue({ code: "custom", message: (error as Error).message, params: { code: "invalid_email" } });
    }
  };
}
