import { SEND_LIMITS } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { invalid } from "../lib/api-error.ts";
import { FileFault } from "../webhooks/webhooks.ts";
import type { DialectDeps } from "./deps.ts";

/** The content of a file in JSON: base64, or what JSON.stringify makes of a Buffer. */
export const FileContent = z.union([
  z.string(),
  z.object({ type: z.literal("Buffer"), data: z.custom<number[]>(isByteList, "A Buffer's data is an array of bytes.") }),
]);
type FileContent = z.output<typeof FileContent>;

/** The content as the contract takes it: base64 with padding, without line breaks. */
export function toBase64(content: FileContent): string {
  if (typeof content !== "string") return Buffer.from(content.data).toString("base64");
  const digits = /[\s_-]/.test(content) ? content.replaceAll(/\s/g, "").replaceAll("-", "+").replaceAll("_", "/") : content;
  return digits.endsWith("=") || digits.length % 4 === 0 ? digits : digits.padEnd(Math.ceil(digits.length / 4) * 4, "=");
}

/** A file that a send names by its URL, and its name there. Throws ApiError validation_error that names `path`. */
export async function fetchAttachment({ fetchFile }: Pick<DialectDeps, "fetchFile">, url: string, path: string) {
  try {
    const { bytes, contentType } = await fetchFile(url, SEND_LIMITS.attachmentBytes);
    return { content: Buffer.from(bytes).toString("base64"), contentType, filename: readFilename(url) };
  } catch (error) {
    if (error instanceof FileFault) throw invalid(path, "not_fetched", `${path}: ${error.message}`);
    throw error;
  }
}

function readFilename(url: string): string {
  const last = new URL(url).pathname.split("/").at(-1) ?? "";
  try {
    return (
      decodeURIComponent(last)
        .replaceAll(/[/\\\p{Cc}]/gu, "_")
        .slice(0, 255) || "attachment"
    );
  } catch {
    return last || "attachment";
  }
}

function isByteList(value: unknown): boolean {
  return Array.isArray(value) && value.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255);
}
