import { isUtf8 } from "node:buffer";
import type { Endpoint } from "@mailsvc/sdk/contract";
import type { z } from "zod";
import { invalid } from "../../lib/api-error.ts";
import type { HeaderReader } from "../headers.ts";
import { assertNotEncoded } from "./json.ts";
import { type Part, readMultipart } from "./multipart.ts";

/** True if the body is multipart/form-data. */
export function isForm(headers: HeaderReader): boolean {
  return /^multipart\/form-data\s*(?:;|$)/i.test(headers.get("content-type") ?? "");
}

/** A parsed form: its fields as JSON would have them, and the bytes of its file. */
interface Form {
  readonly fields: Record<string, unknown>;
  readonly file: Uint8Array | null;
}

/**
 * Parses a form. The file in `file` also gives the fields `fileName` and `contentType`; a field that takes a list may be repeated. Throws
 * ApiError validation_error or unsupported_media_type.
 */
export function parseForm({ body }: Endpoint, headers: HeaderReader, bytes: Uint8Array): Form {
  assertNotEncoded(headers);
  const parts = readMultipart(headers.get("content-type") ?? "", bytes);
  const fields: Record<string, unknown> = Object.create(null);
  let file: Part | null = null;
  for (const [name, all] of Map.groupBy(parts, (part) => part.name)) {
    const shown = name.slice(0, 60);
    const list = findKind(body?.shape[name]) === "array";
    if (all.length > 1 && !list) throw invalid(shown, "duplicate", `${shown} appears ${all.length} times; it takes one value.`);
    const texts = all.map((part) => {
      if ((part.fileName !== null) !== (name === "file"))
        throw invalid(
          shown,
          "invalid_type",
          name === "file" ? "file must be a file: its part needs a filename." : "Send the file in the field file.",
        );
      if (part.fileName === null) {
        if (!isUtf8(part.bytes)) throw invalid(shown, "invalid_characters", `${shown} is not valid UTF-8.`);
        return part.bytes.toString();
      }
      return "";
    });
    if (name === "file") file = all[0] ?? null;
    else fields[name] = list ? texts : texts[0];
  }
  return { fields: { ...describeFile(file), ...fields }, file: file?.bytes ?? null };
}

/** The kind of values a field takes, without wrappers such as optional. */
function findKind(schema: z.core.$ZodType | undefined): string | null {
  const { def } = schema?._zod ?? {};
  if (!def) return null;
  return "innerType" in def ? findKind(def.innerType as z.core.$ZodType) : def.type;
}

/** The name and type of a file's part; other fields override them. */
function describeFile(file: Part | null): Record<string, string> {
  return {
    ...(file?.fileName != null && { fileName: file.fileName }),
    ...(file && file.type !== "" && { contentType: file.type }),
  };
}
