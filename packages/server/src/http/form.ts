import type { Endpoint } from "@mailsvc/sdk/contract";
import type { z } from "zod";
import { ApiError, invalid } from "../lib/api-error.ts";
import type { HeaderReader } from "./exchange.ts";

/** Whether a request brings a form with files. */
export const isForm = (headers: HeaderReader): boolean => /^multipart\/form-data\s*(?:;|$)/i.test(headers.get("content-type") ?? "");

/** The kind of values a field takes, behind what makes it optional. */
const kindOf = (schema: z.core.$ZodType | undefined): string | undefined => {
  const { def } = schema?._zod ?? {};
  if (!def) return undefined;
  return "innerType" in def ? kindOf(def.innerType as z.core.$ZodType) : def.type;
};

// Parts of one form; no endpoint has as many fields.
const MAX_PARTS = 64;

/**
 * Reads a form into the body JSON would have: `file` becomes `fileName` and `contentBase64`; a field that takes a list may
 * be given several times. Throws ApiError validation_error or unsupported_media_type.
 */
export const parseForm = async ({ body }: Endpoint, headers: HeaderReader, bytes: Uint8Array): Promise<Record<string, unknown>> => {
  const encoding = headers.get("content-encoding");
  if (encoding && encoding !== "identity")
    throw new ApiError("unsupported_media_type", `Content-Encoding ${encoding.slice(0, 40)} is not read here. Send the body as it is.`);
  const type = headers.get("content-type") ?? "";
  let form: FormData;
  try {
    form = await new Response(bytes as BodyInit, { headers: { "content-type": type } }).formData();
  } catch {
    throw invalid("", "invalid_form", "The body is no valid multipart/form-data, or not of the boundary its Content-Type names.");
  }
  const fields: Record<string, unknown> = Object.create(null);
  const names = [...form.keys()];
  if (names.length > MAX_PARTS) throw invalid("", "too_big", `A form has at most ${MAX_PARTS} parts.`);
  for (const name of new Set(names)) {
    const values = form.getAll(name);
    const [first] = values;
    if (first instanceof Blob !== (name === "file"))
      throw invalid(name.slice(0, 60), "invalid_type", name === "file" ? "file must be a file." : "Only the field file takes a file.");
    const list = kindOf(body?.shape[name]) === "array";
    if (values.length > 1 && !list) throw invalid(name.slice(0, 60), "duplicate", `${name.slice(0, 60)} is given ${values.length} times.`);
    if (first instanceof File) {
      fields.fileName = first.name;
      fields.contentBase64 = Buffer.from(await first.arrayBuffer()).toString("base64");
      if (first.type !== "") fields.contentType = first.type;
    } else fields[name] = list ? values : first;
  }
  return { ...fields };
};
