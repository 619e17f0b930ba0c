import { decodeContent, type MimePart, readEncoding, walkParts } from "./mime-parts.ts";

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
  const encoding = readEncoding(header);
  const content = decodeContent(bytes.subarray(contentStart, Math.min(contentEnd, contentStart + MAX_TEXT)), encoding);
  const odd = readOddCharset(content, quoted ?? bare ?? "");
  if (odd === null) return null;
  const label = odd.label ?? "utf-8";
  const typed = whole === undefined ? `${field.trim()}; charset=${label}` : field.replace(whole, `; charset=${label}`);
  if (odd.text === undefined) return { fields: { "Content-Type": typed } };
  const written = Buffer.from(odd.text).toString("base64").replace(/.{76}/g, "$&\r\n");
  return { fields: { "Content-Type": typed, "Content-Transfer-Encoding": "base64" }, content: Buffer.from(`${written}\r\n`) };
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

// The code pages of DOS, which TextDecoder does not know: bytes 128 to 255. 858 is 850 with the euro sign, 865 is 437 with three others.
const DOS: Readonly<Record<string, string>> = {
  "437":
    "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0",
  "850":
    "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0",
  "852":
    "ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u00ad˝˛ˇ˘§÷¸°¨˙űŘř■\u00a0",
  "857":
    "ÇüéâäàåçêëèïîıÄÅÉæÆôöòûùİÖÜø£ØŞşáíóúñÑĞğ¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ºªÊËÈ\ufffdÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµ\ufffd×ÚÛÙìÿ¯´\u00ad±\ufffd¾¶§÷¸°¨·¹³²■\u00a0",
};

// Labels that say nothing about bytes beyond ASCII.
const SILENT =
  /^(?:|us-?ascii|ascii|ansi_x3\.4-19(?:68|86)|iso-ir-6|iso646-us|cp367|x?-?unknown(?:-8bit)?|8bit|binary|none|default|unspecified)$/;

/** The way to read a text whose label TextDecoder does not know, or which has none. */
interface OddCharset {
  /** The text, for charsets that are read here. */
  readonly text?: string;
  /** A better label, for bytes that TextDecoder reads under it. */
  readonly label?: "utf-8" | "windows-1252";
}

/**
 * Reads bytes whose charset is odd: a code page of DOS, UTF-7, ISO-2022-KR, HZ; or none, ASCII with bytes beyond it, or a name that nobody
 * knows. These are UTF-8 if they are valid UTF-8, else Windows-1252, as mail programs take them. Null for all other charsets.
 */
function readOddCharset(bytes: Uint8Array, name: string): OddCharset | null {
  const label = name.trim().toLowerCase();
  const page = /^(?:x-)?(?:cp|ibm|cspc|csibm|dos-?|pc-?)?0*(437|850|852|857|858|865)(?:multilingual|latin\d|p\d)?$/.exec(
    label.replace("codepage", ""),
  )?.[1];
  if (page !== undefined) return { text: readDos(bytes, page) };
  if (/^(?:unicode-1-1-)?(?:x-)?(?:cs)?utf-?7$/.test(label)) return { text: readUtf7(bytes) };
  if (/^(?:cs)?iso-?2022-?kr$/.test(label)) return { text: readShifted(bytes, "euc-kr") };
  if (/^hz(?:-gb-2312)?$/.test(label)) return { text: readHz(bytes) };
  const isSilent = SILENT.test(label);
  if ((!isSilent && isKnown(label)) || bytes.every((byte) => byte < 0x80)) return null;
  if (isUtf8(bytes)) return { label: "utf-8" };
  return isSilent ? { label: "windows-1252" } : null;
}

function isKnown(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== "replacement";
  } catch {
    return false;
  }
}

/** True if bytes are UTF-8; the last character may be cut. */
function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

function readDos(bytes: Uint8Array, page: string): string {
  const table = DOS[page === "858" ? "850" : page === "865" ? "437" : page] ?? "";
  const own: Readonly<Record<number, string>> = page === "858" ? { 213: "€" } : page === "865" ? { 155: "ø", 157: "Ø", 175: "¤" } : {};
  return Array.from(bytes, (byte) => (byte < 0x80 ? String.fromCharCode(byte) : (own[byte] ?? table[byte - 0x80] ?? "\ufffd"))).join("");
}

/** RFC 2152: "+AOk-" is é, "+-" is +. */
function readUtf7(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString("latin1")
    .replace(/\+([A-Za-z0-9+/]*)-?/g, (_all, digits: string) => {
      if (digits === "") return "+";
      const units = Buffer.from(digits, "base64");
      return Buffer.from(units.subarray(0, units.length & ~1))
        .swap16()
        .toString("utf16le");
    });
}

/** ISO-2022-KR (RFC 1557): after the byte 14 and up to the byte 15, two bytes of 7 bits are a letter. */
function readShifted(bytes: Uint8Array, encoding: string): string {
  let shifted = false;
  const plain: number[] = [];
  for (const byte of bytes) {
    if (byte === 0x0e || byte === 0x0f) shifted = byte === 0x0e;
    else plain.push(shifted && byte > 0x20 ? byte | 0x80 : byte);
    if (byte === 0x0a) shifted = false;
  }
  return new TextDecoder(encoding).decode(new Uint8Array(plain)).replaceAll("\u001b$)C", "");
}

/** RFC 1843: between ~{ and ~}, two bytes of 7 bits are a letter. */
function readHz(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString("latin1");
  const gb = text.replace(/~\{([\x21-\x7e]*?)~\}/g, (_all, letters: string) =>
    Array.from(letters, (letter) => String.fromCharCode(letter.charCodeAt(0) | 0x80)).join(""),
  );
  return new TextDecoder("gbk").decode(Buffer.from(gb, "latin1")).replaceAll("~~", "~");
}
