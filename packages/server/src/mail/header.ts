import type { Mailbox } from "@mailsvc/sdk/contract";
import { encodeWord } from "nodemailer/lib/mime-funcs";

// RFC 5322 2.1.1: lines should keep to 78 characters and must keep to 998 octets. What cannot be folded is encoded
// well before the hard limit, because some relays count the name and the line end too.
const LINE = 76;
const LONGEST_WORD = 900;
// One encoded word: 75 characters at most (RFC 2047 2); 52 leaves room beside a name and an address.
const ENCODED_WORD = 52;

/** A text header such as Subject, read back as exactly `text`. */
export function textHeader(name: string, text: string): string {
  // A text that looks like an encoded word would be decoded by readers; blanks at the ends would be trimmed.
  const plain = isAscii(text) && !text.includes("=?") && text.trim() === text && isFoldable(text);
  return plain ? line(name, text) : encodedLine(name, text);
}

/** A header of the caller: printable ASCII goes out as given, all else in encoded words. */
export function customHeader(name: string, value: string): string {
  if (isAscii(value) && isFoldable(value)) return line(name, value);
  // RFC 2369 2: blanks inside the angle brackets of List-* are ignored, and encoded words may not stand there.
  if (isAscii(value) && /^list-/i.test(name)) return lineOf(name, value.match(/.{1,900}/g) ?? []);
  return encodedLine(name, value);
}

/** An address header such as From. A local part beyond ASCII stays UTF-8 (RFC 6532); the domain is ASCII already. */
export function mailboxHeader(name: string, { name: person, address }: Mailbox): string {
  if (person === "") return line(name, address.startsWith('"') ? `<${address}>` : address);
  if (/\p{Cc}/u.test(person)) throw new TypeError(`The name in the header ${name} holds a line break or a control character.`);
  const phrase = /^[A-Za-z0-9]+(?: [A-Za-z0-9]+)*$/.test(person)
    ? person
    : isAscii(person) && !person.includes("=?")
      ? `"${person.replace(/["\\]/g, "\\$&")}"`
      : encoded(person);
  return line(name, `${phrase} <${address}>`);
}

/** A Date header value (RFC 5322 3.3) of ms since 1970. */
export function mailDate(ms: number): string {
  return new Date(ms).toUTCString().replace("GMT", "+0000");
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

// A place to fold is a single space between two words: a fold inside a run of spaces would leave a line of blanks, which
// some readers take for the end of the headers.
function wordsOf(text: string): string[] {
  return text.split(/(?<=[^ ]) (?=[^ ])/);
}

function isFoldable(text: string): boolean {
  return wordsOf(text).every((word) => word.length <= LONGEST_WORD);
}

/** RFC 2047 words for a whole text: readable Q where most of it is Latin, B elsewhere. */
function encoded(text: string): string {
  const latin = text.match(/[A-Za-z]/g)?.length ?? 0;
  const other = text.match(/[^\x20-\x7e]/gu)?.length ?? 0;
  return encodeWord(text, other < latin ? "Q" : "B", ENCODED_WORD);
}

/** `Name: words`, folded between words, without the line end. Throws when one would let something else into the header. */
function lineOf(name: string, [first = "", ...rest]: readonly string[]): string {
  if (!/^[\x21-\x39\x3b-\x7e]+$/.test(name)) throw new TypeError(`"${name}" cannot be a header name.`);
  let out = `${name}: ${first}`;
  let width = out.length;
  for (const word of rest) {
    const fits = width + 1 + word.length <= LINE;
    out += fits ? ` ${word}` : `\r\n ${word}`;
    width = fits ? width + 1 + word.length : 1 + word.length;
  }
  return out;
}

function line(name: string, value: string): string {
  if (/\p{Cc}/u.test(value)) throw new TypeError(`The header ${name} holds a line break or a control character.`);
  return lineOf(name, wordsOf(value));
}

function encodedLine(name: string, text: string): string {
  // Checked before it is encoded: readers put decoded headers together again.
  if (/\p{Cc}/u.test(text)) throw new TypeError(`The header ${name} holds a line break or a control character.`);
  return line(name, encoded(text));
}
