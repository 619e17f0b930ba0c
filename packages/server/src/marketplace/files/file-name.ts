import type { FileKind } from "./sniff.ts";
import { kindByName } from "./sniff.ts";

const MAX = 120;
// Names that mean a device on Windows.
const DEVICE = /^(?:con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³])(?:\.|$)/i;

/** A file's name for people: no folders, nothing that turns or hides a part of it, and the extension its bytes call for. */
export function safeFileName(given: string, { extension, type }: FileKind): string {
  const last = given.split(/[/\\]/).at(-1) ?? "";
  const plain = last
    .normalize("NFC")
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029<>:"|?*%;]/gu, "")
    .replace(/\s+/g, " ")
    .replace(/^[\s.]+|[\s.]+$/g, "");
  const known = kindByName(plain);
  const stem = known?.type === type ? plain.replace(/\.[^.]*$/, "") : plain;
  const end = known?.type === type ? plain.slice(stem.length) : `.${extension}`;
  const short = [...stem].slice(0, MAX).join("").trimEnd();
  return `${short === "" || DEVICE.test(short) ? "file" : short}${end}`;
}

/** A Content-Disposition under a file's own name (RFC 6266). */
export function contentDisposition(how: "inline" | "attachment", fileName: string): string {
  const ascii = fileName.replace(/[^A-Za-z0-9._ -]/g, "_");
  const encoded = encodeURIComponent(fileName.toWellFormed()).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `${how}; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
