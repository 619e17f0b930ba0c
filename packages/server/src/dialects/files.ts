import { SEND_LIMITS } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { invalid } from "../lib/api-error.ts";
import { MB, SECOND } from "../lib/units.ts";
import { FileFault } from "../webhooks/webhooks.ts";
import type { DialectDeps } from "./deps.ts";

const ByteList = z.custom<number[]>(isByteList, "The content of a file is base64, or an array of its bytes from 0 to 255.");

/**
 * The content of a file in JSON: base64, an array of bytes as the SDKs for Python and Go write it, or a Buffer written by JSON.stringify.
 */
export const FileContent = z.union([z.string(), ByteList, z.object({ type: z.literal("Buffer"), data: ByteList })]);
type FileContent = z.output<typeof FileContent>;

/** The content as the contract takes it: base64 with padding, without line breaks. */
export function toBase64(content: FileContent): string {
  if (typeof content !== "string") return Buffer.from(Array.isArray(content) ? content : content.data).toString("base64");
  const digits = /[\s_-]/.test(content) ? content.replaceAll(/\s/g, "").replaceAll("-", "+").replaceAll("_", "/") : content;
  return digits.endsWith("=") || digits.length % 4 === 0 ? digits : digits.padEnd(Math.ceil(digits.length / 4) * 4, "=");
}

// After this long no further file of a request is fetched, ms: each may take ten seconds.
const FETCHING_MS = 30 * SECOND;

/**
 * Fetches the files that the emails of one request name by URL, one after the other, with one limit of bytes and one of time for all of
 * them: a request of a few KB must not make the server hold gigabytes.
 */
export class FileFetcher {
  readonly #deps: Pick<DialectDeps, "fetchFile" | "clock">;
  readonly #until: number;
  readonly #maxBytes: number;
  #left: number;

  constructor(deps: Pick<DialectDeps, "fetchFile" | "clock">, maxBytes: number) {
    this.#deps = deps;
    this.#until = deps.clock.real.now() + FETCHING_MS;
    this.#maxBytes = maxBytes;
    this.#left = maxBytes;
  }

  /** A file, and its name there. Throws ApiError validation_error that names `path`. */
  async fetch(url: string, path: string): Promise<{ content: string; contentType: string | null; filename: string }> {
    if (this.#deps.clock.real.now() > this.#until)
      throw invalid(path, "not_fetched", `${path}: fetching the files of this request took over ${FETCHING_MS / SECOND} seconds.`);
    const most = Math.min(SEND_LIMITS.attachmentBytes, this.#left);
    try {
      const { bytes, contentType } = await this.#deps.fetchFile(url, most);
      this.#left -= bytes.length;
      return { content: Buffer.from(bytes).toString("base64"), contentType, filename: readFilename(url) };
    } catch (error) {
      if (!(error instanceof FileFault)) throw error;
      const limit = most < SEND_LIMITS.attachmentBytes ? ` All files of a request may take ${this.#maxBytes / MB} MB together.` : "";
      throw invalid(path, "not_fetched", `${path}: ${error.message}${limit}`);
    }
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
