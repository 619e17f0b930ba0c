import { hash } from "node:crypto";
import type { ErrorCode } from "@mailsvc/sdk/contract";
import { ApiError, invalid } from "../../lib/api-error.ts";
import { safeFileName } from "./file-name.ts";
import { declaredType, type FileKind, kindByName, sniff } from "./sniff.ts";

/** A file as it came in: JSON or a form. */
export interface FileInput {
  readonly fileName: string;
  readonly contentBase64: string;
  readonly contentType?: string | undefined;
}

/** A file that may be kept. */
export interface Upload {
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly type: string;
  readonly fileName: string;
}

export interface Allowance {
  readonly types: readonly string[];
  /** In bytes. */
  readonly max: number;
}

/** Throws ApiError validation_error. Not by a regular expression: it would take a stack as deep as the file is long. */
const decode = (base64: string): Uint8Array => {
  const bytes = Buffer.from(base64, "base64");
  // What is no digit of base64 is passed over, and then bytes are missing.
  const digits = base64.endsWith("==") ? base64.length - 2 : base64.endsWith("=") ? base64.length - 1 : base64.length;
  if (bytes.length !== Math.floor((digits * 3) / 4) || digits % 4 === 1)
    throw invalid("contentBase64", "invalid_base64", "contentBase64 is not base64: A to Z, a to z, 0 to 9, + and /, nothing between them.");
  return bytes;
};

const refuse = (code: ErrorCode, message: string): never => {
  throw new ApiError(code, message, { details: [{ path: "file", code, message }] });
};

const says = ({ name, type }: FileKind): string => `${/^[aeio]/i.test(name) ? "an" : "a"} ${name} (${type})`;

/**
 * Looks at what is to be kept: its bytes say what it is, and its name and declared type must not say otherwise. Throws ApiError
 * validation_error, payload_too_large, unsupported_file_type or type_mismatch.
 */
export const checkUpload = ({ fileName, contentBase64, contentType }: FileInput, { types, max }: Allowance): Upload => {
  const bytes = decode(contentBase64);
  if (bytes.length > max) throw new ApiError("payload_too_large", `The file has ${bytes.length} bytes; at most ${max} are taken here.`);
  if (bytes.length === 0) throw invalid("file", "too_small", "The file is empty.");
  const kind = sniff(bytes);
  const named = kindByName(fileName);
  const declared = declaredType(contentType);
  // What a ZIP is beyond a ZIP, its name alone may say.
  const fits = (type: string): boolean => type === kind.type || (type === "application/zip" && kind.type.includes("zip"));
  if (!types.includes(kind.type))
    refuse("unsupported_file_type", `By its bytes this is ${says(kind)}; taken here are ${types.join(", ")}.`);
  if (named && !fits(named.type)) refuse("type_mismatch", `Its name says ${says(named)}, its bytes say ${says(kind)}.`);
  if (declared !== undefined && !fits(declared))
    refuse("type_mismatch", `Its Content-Type says ${declared.slice(0, 80)}, its bytes say ${says(kind)}.`);
  return { bytes, sha256: hash("sha256", bytes, "hex"), type: kind.type, fileName: safeFileName(fileName, kind) };
};
