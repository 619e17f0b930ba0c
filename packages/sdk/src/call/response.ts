import type { Endpoint } from "../contract/index.ts";
import { type RequestSummary, ResponseValidationError } from "../errors.ts";
import type { ValidateMode } from "../options.ts";
import { toInvalidBodyError } from "./failure.ts";
import type { HttpResponse } from "./transport.ts";

/** The body as text. */
export function readText(answer: HttpResponse): string {
  return new TextDecoder().decode(answer.bytes);
}

/** The body as JSON; undefined for a 204. Throws ConnectionError when it is not valid JSON. */
export function readJson(answer: HttpResponse, request: RequestSummary): unknown {
  if (answer.status === 204) return undefined;
  try {
    return JSON.parse(readText(answer));
  } catch {
    throw toInvalidBodyError(answer, request);
  }
}

/**
 * Holds data against what the contract promises. `strict` throws ResponseValidationError, `warn` reports. The data
 * itself is never changed: fields newer than this package stay in it.
 */
export function validateData(
  endpoint: Endpoint,
  data: unknown,
  request: RequestSummary,
  mode: ValidateMode,
  warn: (message: string) => void,
): void {
  if (mode === "off") return;
  const result = endpoint.output.safeParse(data);
  if (result.success) return;
  const details = result.error.issues.map((issue) => ({
    path: issue.path.map(String).join("."),
    code: issue.code,
    message: issue.message,
  }));
  const faults = details.map((detail) => `${detail.path || "the answer"}: ${detail.message}`).join("; ");
  const message = `The answer to ${request.method} ${request.path} does not fit the contract: ${faults}`;
  if (mode === "warn") warn(message);
  else throw new ResponseValidationError({ message, request, details, hint: "The server and this package are of different versions." });
}
