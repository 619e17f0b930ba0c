import * as z from "./zod.ts";

/** A mailbox: the address to deliver to, and the name people see. */
export interface Mailbox {
  /** Display name, decoded; empty if there is none. */
  readonly name: string;
  /**
   * `local@domain` in its one canonical spelling: the local part in Unicode form C and without needless quotes and backslashes,
   * the domain in lower-case ASCII (IDNA). Upper case in the local part is kept.
   */
  readonly address: string;
  readonly local: string;
  readonly domain: string;
  /** Result of `addressKey`: equal for all spellings of one mailbox. */
  readonly key: string;
}

/** Error for a text that is not a mailbox; `message` is a complete sentence for people. */
export class AddressError extends Error {
  override name = "AddressError";
}

// RFC 5321 4.5.3.1: 64 octets before the @, 254 in all.
const MAX_LOCAL = 64;
const MAX_ADDRESS = 254;
// Longer texts are refused before anything looks for parts in them: a name of 255 bytes with escapes, and an address, are shorter.
const MAX_TEXT = 2000;
// RFC 5322 atext, plus everything beyond ASCII (RFC 6532).
const ATOM = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~\u0080-\u{10ffff}-]+$/u;
// Quoted local parts: printable text, with backslash escapes.
const QUOTED = /^"(?:[^"\\\p{Cc}]|\\[^\p{Cc}])*"$/u;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const PLAIN = /^[a-z0-9.-]+$/;
// Names that DNS does not have: of one label, with "_" or with numbers only; or an IP address in brackets.
const LOCAL_HOST = /^(?:(?!.*xn--)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*|\[(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|ipv6:[0-9a-f:.]{2,45})\])$/;
const ASCII = /^[ -~]*$/;
// Ordinary addresses: letters, digits, "_", "+", "-" and single dots at a domain without Punycode.
const USUAL = /^[A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*@(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z]{2,63}$/;
// Characters that are invisible or look like a blank. RFC 8264 9 allows none of them in a name; two addresses could look alike.
const INVISIBLE = /[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cf}\p{Co}\p{Cc}\u2800\ufffc\ufffd]/u;
const INVISIBLE_ENDS =
  /^[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cf}]+|[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cf}]+$/gu;
// Providers that gave out addresses with dots in a row or at the end, before RFC 5321 was observed. Quoted they are legal.
const LEGACY_DOTS = /^(?:docomo\.ne\.jp|ezweb\.ne\.jp)$/;
const encoder = new TextEncoder();

/**
 * A domain in lower-case ASCII; `bücher.example` becomes `xn--bcher-kva.example`. A label that looks like Punycode must decode to
 * a valid international label and encode back to itself. Throws AddressError.
 */
export function toDomain(text: string): string {
  // The URL parser is the one IDNA implementation every runtime has, but it also reads ports, paths and IP literals.
  if (text.length > MAX_TEXT) fail("The domain is longer than 253 characters.");
  if (text === "" || /[\s/:?#@\\[\]<>^|%"'`{}()*,;!$&=+~]/.test(text)) fail(`"${text}" is not a domain name.`);
  // Plain lower-case ASCII needs no IDNA.
  let ascii = PLAIN.test(text) && !text.includes("xn--") ? text : "";
  try {
    ascii ||= new URL(`http://${text}`).hostname;
  } catch {
    fail(`"${text}" is not a domain name.`);
  }
  if (ascii.length > 253) fail("The domain is longer than 253 characters.");
  const labels = ascii.split(".");
  if (labels.length < 2) fail(`"${text}" has no dot; use a full domain such as example.com.`);
  if (!labels.every((l) => LABEL.test(l))) fail(`"${text}" is not a domain name.`);
  if (/^[0-9]+$/.test(labels.at(-1) as string)) fail(`"${text}" is an IP address, not a domain.`);
  // URL parsers accept labels such as xn--0 in names that are ASCII throughout.
  for (const label of labels)
    if (label.startsWith("xn--") && decodeLabel(label) === null) fail(`"${text}" is not a domain name: ${label} is not valid Punycode.`);
  return ascii;
}

/**
 * The part after the @ as `toDomain` returns it, or the name of a host of a local network, such as `localhost`, or an address such as
 * `[127.0.0.1]` (RFC 5321 4.1.3) in lower case. Throws AddressError.
 */
function toHost(text: string): string {
  const host = text.toLowerCase();
  return LOCAL_HOST.test(host) && host.length <= 253 ? host : toDomain(text);
}

/** A domain as from `toDomain` in Unicode: `xn--bcher-kva.example` becomes `bücher.example`. */
export function toUnicodeDomain(domain: string): string {
  if (!domain.includes("xn--")) return domain;
  return domain
    .split(".")
    .map((label) => (label.startsWith("xn--") ? (decodeLabel(label) ?? label) : label))
    .join(".");
}

/**
 * Parses one mailbox: `ada@example.com`, `Ada <ada@example.com>` or `"Lovelace, Ada" <ada@example.com>` (RFC 5322 3.4,
 * UTF-8 as in RFC 6532, IDN domains). Groups, lists, comments and source routes are refused. Throws AddressError.
 */
export function parseMailbox(input: string): Mailbox {
  return parse(input, toDomain);
}

/**
 * Parses one mailbox as `parseMailbox` does, or one of a host that only a local network knows, such as `root@localhost` or
 * `cron@[127.0.0.1]`. Mail that is captured may have such addresses. Throws AddressError.
 */
export function parseAnyMailbox(input: string): Mailbox {
  return parse(input, toHost);
}

function parse(input: string, readDomain: (text: string) => string): Mailbox {
  // With 64 characters in all, no part of it is too long.
  if (input.length <= MAX_LOCAL && USUAL.test(input)) {
    const at = input.indexOf("@");
    return { name: "", address: input, local: input.slice(0, at), domain: input.slice(at + 1), key: input.toLowerCase() };
  }
  if (input.length > MAX_TEXT) fail(`The address has ${input.length} characters, and ${MAX_ADDRESS} bytes are allowed.`);
  if (/[\p{Cc}\u2028\u2029]/u.test(input)) fail("An address cannot contain line breaks or control characters.");
  if (!input.isWellFormed()) fail("The address is not valid Unicode.");
  const text = trimInvisible(input);
  if (text === "") fail("The address is empty.");
  if (!text.endsWith(">")) {
    if (/^[^"]*</.test(text)) fail(`"${text}" opens < but does not end with >.`);
    if (!text.startsWith('"') && /[,;]/.test(text)) fail("Use one address only.");
    return splitAddress(text, readDomain);
  }
  const open = text.lastIndexOf("<");
  if (open < 0) fail(`"${text}" closes > but does not open <.`);
  const name = unquote(text.slice(0, open));
  if (longer(name, 255)) fail("The name is longer than 255 bytes.");
  return { ...splitAddress(trimInvisible(text.slice(open + 1, -1)), readDomain), name };
}

/** Parses a bare address, without a name. Throws AddressError. */
export function parseAddress(input: string): Mailbox {
  return withoutName(input, parseMailbox(input));
}

/** Parses a bare address, without a name, also one of a local host: see `parseAnyMailbox`. Throws AddressError. */
export function parseAnyAddress(input: string): Mailbox {
  return withoutName(input, parseAnyMailbox(input));
}

function withoutName(input: string, box: Mailbox): Mailbox {
  if (box.name !== "" || trimInvisible(input).endsWith(">")) fail("Use a bare address, without a name.");
  return box;
}

/**
 * The form under which addresses are compared and stored as keys: canonical and in lower case. Mailboxes differ by case in
 * theory (RFC 5321 2.4), in practice they never do. Text that is not an address is only normalized.
 */
export function addressKey(text: string): string {
  try {
    return parseAnyAddress(text).key;
  } catch {
    return toLowerCaseNfc(text);
  }
}

/** A bare address. */
export const EmailAddress = z
  .string()
  .max(320)
  .superRefine(checked(parseAddress))
  .meta({ description: "Email address", examples: ["ada@example.com"] });

/** The address of a mail that is looked for: captured mail may have addresses of local hosts too. */
export const SoughtAddress = z
  .string()
  .max(320)
  .superRefine(checked(parseAnyAddress))
  .meta({ description: "Email address", examples: ["ada@example.com"] });

/** A bare address or `Name <address>`. */
export const MailboxText = z
  .string()
  .max(640)
  .superRefine(checked(parseMailbox))
  .meta({ description: "A bare address or: Name <address>", examples: ["Acme <hello@acme.example>"] });

/** Stands in for a Reply-To address: the server makes an address of its own for each email, to receive the answers. */
export const AUTO_REPLY_TO = "auto";

/** Maximum number of addresses in a Reply-To. */
const MAX_REPLY_TO = 10;

/** A mailbox as in `MailboxText`, several, or `auto`. */
export const ReplyTo = z
  .union([
    z
      .string()
      .max(640)
      .superRefine((text, ctx) => {
        if (text !== AUTO_REPLY_TO) checked(parseMailbox)(text, ctx);
      }),
    z.array(MailboxText).min(1).max(MAX_REPLY_TO),
  ])
  .meta({ description: "Reply-To address, or up to ten; auto to receive the replies here", examples: ["auto"] });

/** The same in responses, as it was given. */
export const ShownReplyTo = z.union([z.string(), z.array(z.string())]).nullable();

function fail(why: string): never {
  throw new AddressError(why);
}

/** True when a text takes more than `limit` bytes in UTF-8; a character is three at most, so most texts need no counting. */
function longer(text: string, limit: number): boolean {
  return text.length > limit || (text.length * 3 > limit && encoder.encode(text).length > limit);
}

function splitAddress(given: string, readDomain: (text: string) => string): Mailbox {
  // Before any check: form C turns some characters beyond ASCII into ASCII, U+037E into a semicolon.
  const text = toNfc(given);
  if (INVISIBLE.test(text.startsWith('"') ? text.replaceAll(" ", "") : text))
    fail(`"${text.replace(new RegExp(INVISIBLE, "gu"), "\ufffd")}" has a blank or an invisible character inside.`);
  const at = text.lastIndexOf("@");
  if (at < 0) fail(`"${text}" has no @.`);
  const domain = readDomain(text.slice(at + 1));
  const written = text.slice(0, at);
  const hasLegacyDots = LEGACY_DOTS.test(domain) && !isDotAtom(written) && /^\w[\w.+-]*$/.test(written);
  const local = toCanonicalLocal(hasLegacyDots ? `"${written}"` : written, text);
  if (longer(local, MAX_LOCAL)) fail(`The part before the @ is longer than ${MAX_LOCAL} bytes.`);
  const address = `${local}@${domain}`;
  if (longer(address, MAX_ADDRESS)) fail(`The address is longer than ${MAX_ADDRESS} bytes.`);
  return { name: "", address, local, domain, key: toLowerCaseNfc(address) };
}

/**
 * The one spelling of a local part: `"gone"`, `"g\\one"` and `gone` name the same mailbox (RFC 5321 4.1.2), so quotes and
 * backslashes stay only where they are needed. Throws AddressError.
 */
function toCanonicalLocal(local: string, text: string): string {
  if (local === "") fail(`"${text}" has nothing before the @.`);
  // Wide, narrow and joined forms of letters, such as ａ or ﬁ, would be another person than the letters that they stand for.
  if (!ASCII.test(local) && local.normalize("NFKC") !== local)
    fail(`The part before the @ in "${text}" has a form of a letter that is not allowed there: write it with plain letters.`);
  if (!local.startsWith('"')) {
    if (!isDotAtom(local)) fail(`The part before the @ in "${text}" has a character or dot that is not allowed there.`);
    return local;
  }
  if (!QUOTED.test(local)) fail(`The quoted part of "${text}" is not closed or holds control characters.`);
  const content = local.slice(1, -1).replace(/\\(.)/gu, "$1");
  return isDotAtom(content) ? content : `"${content.replace(/["\\]/g, "\\$&")}"`;
}

function trimInvisible(text: string): string {
  return ASCII.test(text) ? text.trim() : text.replace(INVISIBLE_ENDS, "");
}

function isDotAtom(text: string): boolean {
  return text.split(".").every((part) => ATOM.test(part));
}

/** Lower case can undo form C, so it is applied on both sides. */
function toLowerCaseNfc(text: string): string {
  return toNfc(toNfc(text).toLowerCase());
}

/** Most addresses are ASCII, for which form C changes nothing and would take as long as the rest of the parsing. */
function toNfc(text: string): string {
  return ASCII.test(text) ? text : text.normalize("NFC");
}

/** The Unicode form of a label such as `xn--bcher-kva`; null if it is not the Punycode of a valid label. */
function decodeLabel(label: string): string | null {
  const decoded = decodePunycode(label.slice(4));
  if (decoded === null) return null;
  try {
    return new URL(`http://${decoded}.example`).hostname === `${label}.example` ? decoded : null;
  } catch {
    return null;
  }
}

/** RFC 3492 6.2, with its names. Null for text that is not Punycode. */
function decodePunycode(text: string): string | null {
  const [base, tMin, tMax, skew, damp] = [36, 1, 26, 38, 700];
  const output = [...text.slice(0, Math.max(0, text.lastIndexOf("-")))];
  let [n, i, bias] = [128, 0, 72];
  for (let at = output.length > 0 ? output.length + 1 : 0; at < text.length; ) {
    const before = i;
    for (let [weight, k] = [1, base]; ; k += base, at += 1) {
      const digit = "abcdefghijklmnopqrstuvwxyz0123456789".indexOf(text.charAt(at) || " ");
      if (digit < 0) return null;
      i += digit * weight;
      const t = Math.min(Math.max(k - bias, tMin), tMax);
      if (digit < t) break;
      weight *= base - t;
    }
    at += 1;
    const length = output.length + 1;
    let delta = Math.floor((i - before) / (before === 0 ? damp : 2));
    delta += Math.floor(delta / length);
    let k = 0;
    for (; delta > ((base - tMin) * tMax) >> 1; k += base) delta = Math.floor(delta / (base - tMin));
    bias = k + Math.floor(((base - tMin + 1) * delta) / (delta + skew));
    n += Math.floor(i / length);
    i %= length;
    if (n > 0x10ffff) return null;
    output.splice(i, 0, String.fromCodePoint(n));
    i += 1;
  }
  return output.join("");
}

function unquote(phrase: string): string {
  const text = phrase.trim();
  if (!text.startsWith('"')) {
    if (/["<>@,;:\\[\]()]/.test(text)) fail(`Put the name in double quotes: "${text.replaceAll('"', "")}" <…>.`);
    return text.replace(/\s+/g, " ");
  }
  if (!/^"(?:[^"\\]|\\.)*"$/u.test(text)) fail("The quoted name is not closed, or has an unescaped quote inside.");
  return text.slice(1, -1).replace(/\\(.)/gu, "$1");
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
