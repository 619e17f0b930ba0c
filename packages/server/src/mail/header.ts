import { parseAnyMailbox } from "@mailsvc/sdk/contract";
import { encodeWord } from "nodemailer/lib/mime-funcs";
import { readAddressList } from "./address-list.ts";
import type { Addressee } from "./mailer.ts";
import { splitMessage } from "./message-head.ts";

// RFC 5322 2.1.1: lines should not exceed 78 characters and must not exceed 998 octets. A word that cannot be folded is
// encoded well below the hard limit, because some relays count the name and the line end too.
const LINE = 76;
const LONGEST_WORD = 900;
// A line with nothing but one word, with the blank before it and the line end.
const LONGEST_LINE = 995;
// One encoded word: 75 characters at most (RFC 2047 2); 52 leaves room for a name and an address.
const ENCODED_WORD = 52;
const FILENAME_PIECE = 56;

/** A text header such as Subject, from which a reader gets exactly `text`. */
export function textHeader(name: string, text: string): string {
  // Readers would decode a text that looks like an encoded word, and trim blanks at the ends.
  const plain = isAscii(text) && !text.includes("=?") && text.trim() === text && isFoldable(text);
  return plain ? line(name, text) : encodedLine(name, text);
}

/** A header of the caller: printable ASCII goes out as given, everything else in encoded words. */
export function customHeader(name: string, value: string): string {
  if (isAscii(value) && isFoldable(value)) return line(name, value);
  // RFC 2369 2: blanks inside the angle brackets of List-* are ignored, and encoded words are not allowed there.
  // An address that a line of its own can hold stays whole, for readers that do not remove blanks.
  if (isAscii(value) && /^list-/i.test(name))
    return lineOf(
      name,
      wordsOf(value).flatMap((word) => (word.length <= LONGEST_LINE ? word : (word.match(/.{1,900}/g) ?? []))),
    );
  return encodedLine(name, value);
}

/**
 * An address header such as From, with one mailbox or more. A local part beyond ASCII stays UTF-8 (RFC 6532); the domain is ASCII
 * already.
 */
export function mailboxHeader(name: string, ...boxes: readonly Addressee[]): string {
  return line(name, boxes.map((box) => toAddress(name, box)).join(", "));
}

/** A Date header value (RFC 5322 3.3) of ms since 1970. */
export function mailDate(ms: number): string {
  return new Date(ms).toUTCString().replace("GMT", "+0000");
}

/** The `filename` of a Content-Disposition: quoted, or encoded as RFC 2231 says where a reader would change it. */
export function filenameParam(name: string): string {
  if (isQuotable(name)) return `filename=${quote(name)}`;
  const pieces: string[] = [""];
  for (const character of `utf-8''${encodeURIComponent(name).replace(/['()*!~]/g, toHex)}`.matchAll(/%[0-9A-F]{2}|[^%]/g)) {
    if ((pieces.at(-1) as string).length > FILENAME_PIECE) pieces.push("");
    pieces[pieces.length - 1] += character[0];
  }
  if (pieces.length === 1) return `filename*=${pieces[0]}`;
  return pieces.map((piece, i) => `filename*${i}*=${piece}`).join(";\r\n ");
}

/** The `name` of a Content-Type, which old readers look at instead: quoted, with encoded words where needed. */
export function nameParam(name: string): string {
  return isQuotable(name) ? `name=${quote(name)}` : `name="${encoded(name).split(" ").join("\r\n ")}"`;
}

function toAddress(header: string, { name: person, address }: Addressee): string {
  if (person === "") return address.startsWith('"') ? `<${address}>` : address;
  if (/\p{Cc}/u.test(person)) throw new TypeError(`The name in the header ${header} holds a line break or a control character.`);
  const phrase = /^[A-Za-z0-9]+(?: [A-Za-z0-9]+)*$/.test(person)
    ? person
    : isAscii(person) && !person.includes("=?")
      ? `"${person.replace(/["\\]/g, "\\$&")}"`
      : encoded(person);
  return `${phrase} <${address}>`;
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

// A line may be folded at a single space between two words. A fold inside a run of spaces would leave a line of blanks,
// which some readers take for the end of the headers.
function wordsOf(text: string): string[] {
  return text.split(/ (?<=[^ ] )(?=[^ ])/);
}

function isFoldable(text: string): boolean {
  return text.length <= LONGEST_WORD || wordsOf(text).every((word) => word.length <= LONGEST_WORD);
}

/** A whole text as RFC 2047 words: Q, which stays readable, if most of it is Latin, else B. */
function encoded(text: string): string {
  const latin = text.match(/[A-Za-z]/g)?.length ?? 0;
  const other = text.match(/[^\x20-\x7e]/gu)?.length ?? 0;
  return encodeWord(text, other < latin ? "Q" : "B", ENCODED_WORD);
}

/** `Name: words`, folded between words, without the line end. Throws TypeError if the name is not a header name. */
function lineOf(name: string, [first = "", ...rest]: readonly string[]): string {
  if (!/^[\x21-\x39\x3b-\x7e]+$/.test(name)) throw new TypeError(`"${name}" cannot be a header name.`);
  const isTooLong = name.length + 2 + first.length > LONGEST_LINE;
  let out = isTooLong ? `${name}:` : `${name}: ${first}`;
  let width = isTooLong ? LINE : out.length;
  for (const word of isTooLong ? [first, ...rest] : rest) {
    const fits = width + 1 + word.length <= LINE;
    out += fits ? ` ${word}` : `\r\n ${word}`;
    width = fits ? width + 1 + word.length : 1 + word.length;
  }
  return out;
}

function line(name: string, value: string): string {
  if (/\p{Cc}/u.test(value)) throw new TypeError(`The header ${name} holds a line break or a control character.`);
  // Most fit in one line.
  return lineOf(name, name.length + 2 + value.length <= LINE ? [value] : wordsOf(value));
}

function encodedLine(name: string, text: string): string {
  // Checked before encoding, because readers decode it again.
  if (/\p{Cc}/u.test(text)) throw new TypeError(`The header ${name} holds a line break or a control character.`);
  return line(name, encoded(text));
}

// Short printable ASCII that no reader takes for an encoded word.
function isQuotable(name: string): boolean {
  return isAscii(name) && !name.includes("=?") && name.length <= ENCODED_WORD;
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

function toHex(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/**
 * Returns a message whose To and Cc headers no longer name a person; `key` is the address as `addressKey` returns it. Signatures
 * over these headers are invalid afterwards. A header with more mailboxes than are read names nobody afterwards.
 */
export async function forgetAddressee(message: Buffer, key: string): Promise<Buffer> {
  const { decodeWords } = await import("postal-mime");
  const { fields, content } = splitMessage(message);
  const lines = fields.map((field) => {
    if (field.key !== "to" && field.key !== "cc") return Buffer.from(field.line, "latin1");
    const { boxes, complete } = readAddressList(field.value);
    const named = boxes.flatMap(({ name, address }) => toAddressee(decodeWords(name), address));
    const others = complete ? named.filter((one) => parseAnyMailbox(one.address).key !== key) : [];
    if (complete && others.length === named.length) return Buffer.from(field.line, "latin1");
    return Buffer.from(others.length === 0 ? `${field.name}: undisclosed-recipients:;\r\n` : `${mailboxHeader(field.name, ...others)}\r\n`);
  });
  return Buffer.concat([...lines, Buffer.from("\r\n"), content]);
}

function toAddressee(name: string, address: string): Addressee[] {
  try {
    return [{ name: name.replace(/\p{Cc}/gu, " "), address: parseAnyMailbox(address).address }];
  } catch {
    return [];
  }
}
