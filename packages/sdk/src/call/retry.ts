import { type ApiError, ConnectionError, isApiError, isMailsvcError, type MailsvcError, TimeoutError } from "../errors.ts";

const STATUSES: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);
const BASE_MS = 250;
const CAP_MS = 8000;

/** True if the same request may succeed later: after overload or a broken connection, or once a first request has ended. */
export function isTransient(error: unknown): boolean {
  if (!isMailsvcError(error)) return false;
  if (isApiError(error)) return STATUSES.has(error.status) || error.code === "idempotency_in_progress";
  if (error instanceof ConnectionError) return error.transient;
  return error instanceof TimeoutError && error.scope === "attempt";
}

/**
 * The wait before the next attempt in milliseconds: the server's Retry-After, else exponential backoff with full jitter
 * (a random time up to 250 ms, doubled by each attempt, at most 8 s). `attempt` starts at 1.
 */
export function delayMs(error: MailsvcError, attempt: number, random: () => number): number {
  const asked = isApiError(error) ? (error as ApiError).retryAfterMs : null;
  return asked ?? Math.round(random() * Math.min(CAP_MS, BASE_MS * 2 ** (attempt - 1)));
}

/**
 * Parses Retry-After, seconds or an HTTP date, to milliseconds from now; null when absent or invalid. A date is compared
 * with the response's Date header if there is one, so that a wrong local clock does no harm.
 */
export function retryAfterMs(headers: Readonly<Record<string, string>>, now: number): number | null {
  const text = headers["retry-after"]?.trim();
  if (text === undefined || text === "") return null;
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.round(Number(text) * 1000);
  // Every HTTP date contains letters; without this check, Date.parse would read "-5" as a year.
  const at = /[A-Za-z]/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) return null;
  const base = Date.parse(headers.date ?? "");
  return Math.max(0, Math.round(at - (Number.isNaN(base) ? now : base)));
}
