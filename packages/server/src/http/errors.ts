import type { Endpoint, ErrorCode } from "@mailsvc/sdk/contract";
import { StorageUnavailable, Unstorable } from "../db/errors.ts";
import { ApiError, invalid } from "../lib/api-error.ts";
import type { Log } from "../lib/log.ts";
import type { StorageHealth } from "./storage-health.ts";

interface ErrorParts {
  readonly log: Log;
  readonly storage: StorageHealth;
  /** Hears of every error that is answered. */
  readonly onError?: (code: ErrorCode) => void;
}

/**
 * Turns anything thrown into the error to answer with. An unexpected error is logged with its stack and answered without its
 * text, which may hold SQL or addresses.
 */
export function toApiError(error: unknown, endpoint: Endpoint, requestId: string, parts: ErrorParts): ApiError {
  const answered = translate(error, endpoint, requestId, parts);
  parts.onError?.(answered.code);
  return answered;
}

function translate(error: unknown, endpoint: Endpoint, requestId: string, { log, storage }: ErrorParts): ApiError {
  if (error instanceof ApiError) {
    const facts = { requestId, ...(error.cause !== undefined && { cause: String(error.cause) }) };
    if (error.code === "storage_unavailable") storage.mention(error.message, facts);
    // A caller asked for something that a dialect does not have.
    else if (error.status >= 500 && error.code !== "not_implemented") log.error(error.message, facts);
    return error;
  }
  if (error instanceof StorageUnavailable) {
    storage.failed(error, { requestId });
    return new ApiError("storage_unavailable", error.message, { headers: { "retry-after": "1" } });
  }
  if (error instanceof Unstorable)
    return invalid("", "invalid_characters", "The request contains U+0000 or another character that cannot be stored. Remove it.");
  log.error("request failed", { requestId, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  if (endpoint.errors?.includes("queue_failed")) return new ApiError("queue_failed", "The email could not be queued.");
  return new ApiError("internal_error", "An unexpected error occurred.");
}
