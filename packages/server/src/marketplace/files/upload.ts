import type { ErrorCode } from "@mailsvc/sdk/contract";
import type { FileBody } from "../../http/body/upload.ts";
import { ApiError, invalid } from "../../lib/api-error.ts";
import { safeFileName } from "./file-name.ts";
import { declaredType, detectKind, type FileKind, kindByName } from "./sniff.ts";

/** What is said of a file that came in. */
export interface FileInput {
  readonly fileName: string;
  readonly contentType?: string | undefined;
}

/** A file that may be kept. */
export interface Upload {
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly type: string;
  readonly fileName: string;
}

export interface UploadRules {
  readonly types: readonly string[];
  /** In bytes. */
  readonly max: number;
}

/**
 * Looks at what is to be kept: its bytes say what it is, and its name and declared type must not say otherwise. Throws ApiError
 * validation_error, payload_too_large, unsupported_file_type or type_mismatch.
 */
export function checkUpload({ fileName, contentType }: FileInput, { bytes, sha256 }: FileBody, { types, max }: UploadRules): Upload {
  if (bytes.length > max) throw new ApiError("payload_too_large", `The file has ${bytes.length} bytes; at most ${max} are taken here.`);
  if (bytes.length === 0) throw invalid("file", "too_small", "The file is empty.");
  const kind = detectKind(bytes);
  const named = kindByName(fileName);
  const declared = declaredType(contentType);
  // What a ZIP is beyond a ZIP, its name alone may say.
  const fits = (type: string): boolean => type === kind.type || (type === "application/zip" && kind.type.includes("zip"));
  if (!types.includes(kind.type))
    refuse("unsupported_file_type", `By its bytes this is ${describeKind(kind)}; taken here are ${types.join(", ")}.`);
  if (named && !fits(named.type)) refuse("type_mismatch", `Its name says ${describeKind(named)}, its bytes say ${describeKind(kind)}.`);
  if (declared !== undefined && !fits(declared))
    refuse("type_mismatch", `Its Content-Type says ${declared.slice(0, 80)}, its bytes say ${describeKind(kind)}.`);
  return { bytes, sha256, type: kind.type, fileName: safeFileName(fileName, kind) };
}

function refuse(code: ErrorCode, message: string): never {
  throw new ApiError(code, message, { details: [{ path: "file", code, message }] });
}

function describeKind({ name, type }: FileKind): string {
  return `${/^(?:[aeio]|HTML|MP|SVG|XML)/i.test(name) ? "an" : "a"} ${name} (${type})`;
}
