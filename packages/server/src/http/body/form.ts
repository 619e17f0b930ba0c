import { isUtf8 } from "node:buffer";
import type { Endpoint } from "@mailsvc/sdk/contract";
import type { z } from "zod";
import { ApiError, invalid } from "../../lib/api-error.ts";
import type { HeaderReader } from "../headers.ts";
import { type Part, readMultipart } from "./multipart.ts";

/** Whether a request brings a form with files. */
export function isForm(headers: HeaderReader): boolean {
  return /^multipart\/form-data\s*(?:;|$)/i.test(headers.get("content-type") ?? "");
}

/** A form: its fields as JSON would have them, and the bytes of its file. */
export interface Form {
  readonly fields: Record<string, unknown>;
  readonly file: Uint8Array | null;
}

/**
 * Reads a form: of `file` the name becomes `fileName`, the type `contentType`; a field that takes a list may be given several
 * times. Throws ApiError validation_error or unsupported_media_type.
 */
export function parseForm({ body }: Endpoint, headers: HeaderReader, bytes: Uint8Array): Form {
  const encoding = headers.get("content-encoding");
  if (encoding && encoding !== "identity")
    throw new ApiError("unsupported_media_type", `Content-Encoding ${encoding.slice(0, 40)} is not read here. Send the body as it is.`);
  const parts = readMultipart(headers.get("content-type") ?? "", bytes);
  const fields: Record<string, unknown> = Object.create(null);
  let file: Part | null = null;
  for (const [name, all] of Map.groupBy(parts, (part) => part.name)) {
    const shown = name.slice(0, 60);
    const list = kindOf(body?.shape[name]) === "array";
    if (all.length > 1 && !list) throw invalid(shown, "duplicate", `${shown} is given ${all.length} times.`);
    const texts = all.map((part) => {
      if ((part.fileName !== null) !== (name === "file"))
        throw invalid(
          shown,
          "invalid_type",
          name === "file" ? "file must be a file: its part needs a filename." : "Only the field file takes a file.",
        );
      if (part.fileName === null) {
        if (!isUtf8(part.bytes)) throw invalid(shown, "invalid_characters", `${shown} is not UTF-8.`);
        return part.bytes.toString();
      }
      return "";
    });
    if (name === "file") file = all[0] ?? null;
    else fields[name] = list ? texts : texts[0];
  }
  return { fields: { ...said(file), ...fields }, file: file?.bytes ?? null };
}

/** The kind of values a field takes, behind what makes it optional. */
function kindOf(schema: z.core.$ZodType | undefined): string | undefined {
  const { def } = schema?._zod ?? {};
  if (!def) return undefined;
  return "innerType" in def ? kindOf(def.innerType as z.core.$ZodType) : def.type;
}

/** What a file says of itself; what the fields beside it say counts more. */
function said(file: Part | null): Record<string, string> {
  return {
    ...(file?.fileName != null && { fileName: file.fileName }),
    ...(file && file.type !== "" && { contentType: file.type }),
  };
}
