import type { ErrorCode } from "@mailsvc/sdk/contract";
import type { FileBody } from "../../http/body/upload.ts";
import { ApiError, invalid } from "../../lib/api-error.ts";

const MAX_NAME = 120;
// Names of devices on Windows.
const DEVICE = /^(?:con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³])(?:\.|$)/i;

/** Name and type of a file, as the caller gives them. */
export interface FileInput {
  readonly fileName: string;
  readonly contentType?: string | undefined;
}

/** A file that passed the checks. */
export interface Upload {
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly type: string;
  readonly fileName: string;
}

interface UploadRules {
  readonly types: readonly string[];
  /** Size in bytes. */
  readonly max: number;
}

/**
 * Checks a file: its kind, detected by its bytes, must be allowed, and its name and declared type must agree with it. Throws
 * ApiError validation_error, payload_too_large, unsupported_file_type or type_mismatch.
 */
export function checkUpload({ fileName, contentType }: FileInput, { bytes, sha256 }: FileBody, { types, max }: UploadRules): Upload {
  if (bytes.length > max) throw new ApiError("payload_too_large", `The file has ${bytes.length} bytes; the limit is ${max}.`);
  if (bytes.length === 0) throw invalid("file", "too_small", "The file is empty.");
  const kind = detectKind(bytes);
  const named = kindByName(fileName);
  const declared = declaredType(contentType);
  // Formats based on ZIP may be named or declared as ZIP.
  const fits = (type: string): boolean => type === kind.type || (type === "application/zip" && kind.type.includes("zip"));
  if (!types.includes(kind.type))
    refuse("unsupported_file_type", `This file is ${describeKind(kind)}. Allowed types: ${types.join(", ")}.`);
  if (named && !fits(named.type))
    refuse("type_mismatch", `The file name stands for ${describeKind(named)}, but the file is ${describeKind(kind)}.`);
  if (declared !== undefined && !fits(declared))
    refuse("type_mismatch", `The Content-Type is ${declared.slice(0, 80)}, but the file is ${describeKind(kind)}.`);
  return { bytes, sha256, type: kind.type, fileName: safeFileName(fileName, kind) };
}

/** A safe display name: without folders, invisible or direction-changing characters, and with the extension of its kind. */
function safeFileName(given: string, { extension, type }: FileKind): string {
  const last = given.split(/[/\\]/).at(-1) ?? "";
  const plain = last
    .normalize("NFC")
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029<>:"|?*%;]/gu, "")
    .replace(/\s+/g, " ")
    .replace(/^[\s.]+|[\s.]+$/g, "");
  const known = kindByName(plain);
  const stem = known?.type === type ? plain.replace(/\.[^.]*$/, "") : plain;
  const end = known?.type === type ? plain.slice(stem.length) : `.${extension}`;
  const short = [...stem].slice(0, MAX_NAME).join("").trimEnd();
  return `${short === "" || DEVICE.test(short) ? "file" : short}${end}`;
}

function refuse(code: ErrorCode, message: string): never {
  throw new ApiError(code, message, { details: [{ path: "file", code, message }] });
}

function describeKind({ name, type }: FileKind): string {
  return `${/^(?:[aeio]|HTML|MP|SVG|XML)/i.test(name) ? "an" : "a"} ${name} (${type})`;
}

/** A kind of file, detected by its bytes. */
interface FileKind {
  readonly type: string;
  /** Its name for people. */
  readonly name: string;
  /** The usual extension, without a dot. */
  readonly extension: string;
}

const PNG = kind("image/png", "PNG image", "png");
const JPEG = kind("image/jpeg", "JPEG image", "jpg", "jpeg");
const GIF = kind("image/gif", "GIF image", "gif");
const WEBP = kind("image/webp", "WebP image", "webp");
const PDF = kind("application/pdf", "PDF", "pdf");
const ZIP = kind("application/zip", "ZIP", "zip");
const EPUB = kind("application/epub+zip", "EPUB", "epub");
const DOCX = kind("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "DOCX", "docx");
const MP3 = kind("audio/mpeg", "MP3", "mp3");
const MP4 = kind("video/mp4", "MP4", "mp4", "m4v");
const SVG = kind("image/svg+xml", "SVG image", "svg");
const HTML = kind("text/html", "HTML page", "html", "htm", "xhtml");
const XML = kind("application/xml", "XML", "xml");
const PROGRAM = kind("application/x-msdownload", "program", "exe", "dll", "msi", "com", "scr");
const ELF = kind("application/x-executable", "program", "elf", "so");
const SCRIPT = kind("text/javascript", "script", "js", "mjs", "sh", "bat", "ps1", "php", "jar");
const TEXT = kind("text/plain", "text", "txt", "md", "csv", "css", "json");
const UNKNOWN = kind("application/octet-stream", "file of an unknown type", "bin");

const KINDS = [PNG, JPEG, GIF, WEBP, PDF, ZIP, EPUB, DOCX, MP3, MP4, SVG, HTML, XML, PROGRAM, ELF, SCRIPT, TEXT];

const ZIP_END = 0x504b0506;
const ZIP_ENTRY = 0x504b0102;
const ZIP_END_SIZE = 22;
const ZIP_MAX_COMMENT = 65_535;
// Entries to read: those that tell the kind of a ZIP are among the first.
const ZIP_MAX_ENTRIES = 5000;

/** Detects the kind of a file by its bytes alone. */
function detectKind(bytes: Uint8Array): FileKind {
  if (startsWith(bytes, "\x89PNG\r\n\x1a\n")) return PNG;
  if (startsWith(bytes, "\xff\xd8\xff")) return JPEG;
  if (startsWith(bytes, "GIF87a") || startsWith(bytes, "GIF89a")) return GIF;
  if (startsWith(bytes, "RIFF") && startsWith(bytes, "WEBP", 8)) return WEBP;
  if (startsWith(bytes, "%PDF-")) return PDF;
  if (startsWith(bytes, "PK\x03\x04") || startsWith(bytes, "PK\x05\x06")) return zipKind(bytes);
  if (startsWith(bytes, "ftyp", 4)) return MP4;
  if (startsWith(bytes, "MZ")) return PROGRAM;
  if (startsWith(bytes, "\x7fELF")) return ELF;
  return isMp3(bytes) ? MP3 : textKind(bytes);
}

/** The kind a file name's extension stands for; undefined for an unknown extension. */
function kindByName(fileName: string): FileKind | undefined {
  const extension = /\.([A-Za-z0-9]{1,5})$/.exec(fileName)?.[1]?.toLowerCase();
  return extension === undefined ? undefined : KINDS.find(({ extensions }) => extensions.includes(extension));
}

const TYPE_ALIASES: Readonly<Record<string, string>> = {
  "image/jpg": "image/jpeg",
  "image/pjpeg": "image/jpeg",
  "image/x-png": "image/png",
  "application/x-pdf": "application/pdf",
  "application/x-zip-compressed": "application/zip",
  "application/x-zip": "application/zip",
  "audio/mp3": "audio/mpeg",
  "video/x-m4v": "video/mp4",
};

/** The media type a caller declared; undefined when it is generic or missing. */
function declaredType(contentType: string | undefined): string | undefined {
  const type = contentType?.split(";")[0]?.trim().toLowerCase();
  if (!type || type === "application/octet-stream" || type === "binary/octet-stream") return undefined;
  return TYPE_ALIASES[type] ?? type;
}

/** The entry names in a ZIP's directory, without unpacking; null when the directory is missing or broken. */
export function listZipEntries(bytes: Uint8Array): string[] | null {
  const v = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = bytes.length - ZIP_END_SIZE; at >= Math.max(0, bytes.length - ZIP_END_SIZE - ZIP_MAX_COMMENT); at -= 1) {
    if (v.getUint32(at) !== ZIP_END) continue;
    const names: string[] = [];
    const count = Math.min(v.getUint16(at + 10, true), ZIP_MAX_ENTRIES);
    let entry = v.getUint32(at + 16, true);
    for (let i = 0; i < count; i += 1) {
      if (entry + 46 > bytes.length || v.getUint32(entry) !== ZIP_ENTRY) return null;
      const length = v.getUint16(entry + 28, true);
      names.push(Buffer.from(bytes.subarray(entry + 46, entry + 46 + length)).toString("utf8"));
      entry += 46 + length + v.getUint16(entry + 30, true) + v.getUint16(entry + 32, true);
    }
    return names;
  }
  return null;
}

function kind(type: string, name: string, ...extensions: string[]) {
  return { type, name, extension: extensions[0] as string, extensions };
}

function startsWith(bytes: Uint8Array, signature: string, at = 0): boolean {
  return bytes.length >= at + signature.length && Buffer.from(bytes.subarray(at, at + signature.length)).toString("latin1") === signature;
}

function zipKind(bytes: Uint8Array): FileKind {
  // The first entry of an EPUB names its type and is not compressed.
  if (startsWith(bytes, "mimetypeapplication/epub+zip", 30)) return EPUB;
  const names = listZipEntries(bytes) ?? [];
  return names.includes("[Content_Types].xml") && names.some((name) => name.startsWith("word/")) ? DOCX : ZIP;
}

/** An MP3 frame starts with eleven set bits, then a valid layer and bit rate. */
function isMp3(bytes: Uint8Array): boolean {
  if (startsWith(bytes, "ID3")) return true;
  const [a = 0, b = 0, c = 0] = bytes;
  return a === 0xff && (b & 0xe6) === 0xe2 && (c & 0xf0) !== 0xf0 && (c & 0xf0) !== 0;
}

function textKind(bytes: Uint8Array): FileKind {
  const head = Buffer.from(bytes.subarray(0, 4096))
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .trimStart();
  if (/<svg[\s>]/i.test(head) && head.startsWith("<")) return SVG;
  if (/^<(?:!doctype\s+html|html|head|body|script|iframe|a|p|div|h[1-6]|img|form)\b/i.test(head)) return HTML;
  if (head.startsWith("<")) return XML;
  if (head.startsWith("#!")) return SCRIPT;
  return head !== "" && !/[^\P{Cc}\t\n\v\f\r]|\ufffd/u.test(head) ? TEXT : UNKNOWN;
}
