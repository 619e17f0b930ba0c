import type { ErrorCode } from "@mailsvc/sdk/contract";
import type { FileBody } from "../../http/body/upload.ts";
import { ApiError, invalid } from "../../lib/api-error.ts";
import { declaredType, detectKind, type FileKind, kindByName } from "./file-kind.ts";

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
