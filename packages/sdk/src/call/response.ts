import { type RequestSummary, ResponseValidationError } from "../errors.ts";
import { checkValidate, type ValidateMode } from "../options.ts";
import { platform } from "../platform/node.ts";
import type { EndpointName } from "../platform/platform.ts";
import type { HttpResponse } from "../platform/transport.ts";
import { toInvalidBodyError } from "./failure.ts";

// Making one takes longer than reading a short answer with it. Jest's jsdom has none, where programs are tested that never make a call.
const decoder = typeof TextDecoder === "undefined" ? null : /* @__PURE__ */ new TextDecoder();

/** The body as text. */
export function readText(response: HttpResponse): string {
  return (decoder ?? new TextDecoder()).decode(response.bytes);
}

/** The body as JSON; undefined for a 204. Throws ConnectionError when it is not valid JSON. */
export function readJson(response: HttpResponse, request: RequestSummary): unknown {
  if (response.status === 204) return undefined;
  try {
    return JSON.parse(readText(response));
  } catch {
    throw toInvalidBodyError(response, request);
  }
}

/**
 * Validates data against the contract. `strict` throws ResponseValidationError, `warn` calls `warn`. The data is never
 * changed, so fields newer than this package are kept.
 */
export async function validateData(
  endpoint: EndpointName,
  data: unknown,
  request: RequestSummary,
  mode: ValidateMode,
  warn: (message: string) => void,
): Promise<void> {
  if (checkValidate(mode) === "off") return;
  const schema = await platform.loadOutputSchema?.(endpoint);
  const result = schema?.safeParse(data);
  if (result === undefined || result.success) return;
  const details = result.error.issues.map((issue) => ({
    path: issue.path.map(String).join("."),
    code: issue.code,
    message: issue.message,
  }));
  const faults = details.map((detail) => `${detail.path || "the response"}: ${detail.message}`).join("; ");
  const message = `The response to ${request.method} ${request.path} does not match the contract: ${faults}`;
  if (mode === "warn") warn(message);
  else throw new ResponseValidationError({ message, request, details, hint: "The server and this package may have different versions." });
}
