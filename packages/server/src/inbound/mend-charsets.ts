import { isUtf8, readOddCharset } from "./charsets.ts";
import { type MimePart, walkParts } from "./mime-parts.ts";

// Characters of each text in an odd charset that are read again.
const MAX_TEXT = 4 * 1024 * 1024;

/**
 * Returns a mail whose texts and header fields have charsets that postal-mime reads: others are converted to UTF-8, and those without a
 * label get the one that fits their bytes. Files stay as they are. Returns the same bytes if there is nothing to mend, as in nearly every
 * mail.
 */
export function mendCharsets(mail: Uint8Array): Uint8Array {
  const bytes = Buffer.from(mail.buffer, mail.byteOffset, mail.byteLength);
  const pieces: Uint8Array[] = [];
  let kept = 0;
  for (const part of walkParts(bytes)) {
    const mended = mendText(bytes, part);
    const header = mendHeader(bytes.subarray(part.start, part.contentStart), mended?.fields ?? {});
    if (header === null && mended?.content === undefined) continue;
    pieces.push(bytes.subarray(kept, part.start), header ?? bytes.subarray(part.start, part.contentStart));
    kept = part.contentStart;
    if (mended?.content === undefined) continue;
    pieces.push(mended.content);
    kept = part.contentEnd;
  }
  return pieces.length === 0 ? mail : Buffer.concat([...pieces, bytes.subarray(kept)]);
}

/** The fields of a part that change, and its content if that does. */
interface MendedText {
  readonly fields: Readonly<Record<string, string>>;
  readonly content?: Uint8Array;
}

function mendText(bytes: Buffer, { header, type, contentStart, contentEnd }: MimePart): MendedText | null {
  if (type !== "text/plain" && type !== "text/html") return null;
  if (/^content-disposition:[ \t]*attachment/im.test(header)) return null;
  const field = /^content-type:[ \t]*([^\r\n]*)/im.exec(header)?.[1] ?? "text/plain";
  const [whole, quoted, bare] = /;\s*charset\s*=\s*(?:"([^"]{0,100})"|([^\s;"]{0,100}))/i.exec(field) ?? [];
  const encoding = /^content-transfer-encoding:[ \t]*([\w-]+)/im.exec(header)?.[1]?.toLowerCase() ?? "8bit";
  const content = decodeContent(bytes.subarray(contentStart, Math.min(contentEnd, contentStart + MAX_TEXT)), encoding);
  const odd = readOddCharset(content, quoted ?? bare ?? "");
  if (odd === null) return null;
  const label = odd.label ?? "utf-8";
  const typed = whole === undefined ? `${field.trim()}; charset=${label}` : field.replace(whole, `; charset=${label}`);
  if (odd.text === undefined) return { fields: { "Content-Type": typed } };
  const written = Buffer.from(odd.text).toString("base64").replace(/.{76}/g, "$&\r\n");
  return { fields: { "Content-Type": typed, "Content-Transfer-Encoding": "base64" }, content: Buffer.from(`${written}\r\n`) };
}

function decodeContent(content: Buffer, encoding: string): Uint8Array {
  if (encoding === "base64") return Buffer.from(content.toString("latin1"), "base64");
  if (encoding !== "quoted-printable") return content;
  const text = content.toString("latin1").replace(/=[ \t]*\r?\n/g, "");
  return Buffer.from(
    text.replace(/=([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
}

/** A header with these fields in place of its own, in UTF-8, and without encoded words of odd charsets; null if nothing changes. */
function mendHeader(bytes: Buffer, fields: Readonly<Record<string, string>>): Buffer | null {
  const isReadable = isUtf8(bytes);
  const text = isReadable ? bytes.toString("utf8") : new TextDecoder("windows-1252").decode(bytes);
  let mended = text.replace(/=\?([\w-]{1,40})(?:\*[\w-]{0,20})?\?([bq])\?([^?\s]{0,1000})\?=/gi, mendWord);
  for (const [name, value] of Object.entries(fields)) {
    const own = new RegExp(`^${name}:[^\\n]*\\n(?:[ \\t][^\\n]*\\n)*`, "im");
    mended = `${name}: ${value}\r\n${mended.replace(own, "")}`;
  }
  return mended === text && isReadable ? null : Buffer.from(mended);
}

/** An encoded word (RFC 2047) of an odd charset, in UTF-8; all others as they are. */
function mendWord(word: string, charset: string, encoding: string, content: string): string {
  const bytes =
    encoding.toLowerCase() === "b"
      ? Buffer.from(content, "base64")
      : decodeContent(Buffer.from(content.replaceAll("_", " "), "latin1"), "quoted-printable");
  const odd = readOddCharset(bytes, charset);
  if (odd === null) return word;
  const text = odd.text ?? new TextDecoder(odd.label ?? "utf-8").decode(bytes);
  return `=?utf-8?B?${Buffer.from(text).toString("base64")}?=`;
}
