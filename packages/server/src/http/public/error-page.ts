import type { ErrorCode } from "@mailsvc/sdk/contract";
import { escapeHtml } from "../../html/escape.ts";
import { renderMessage } from "../../html/page.ts";
import type { ApiError } from "../../lib/api-error.ts";
import type { HeaderList, HeaderReader } from "../headers.ts";
import type { HttpResponse } from "../response.ts";

const TITLES: Partial<Readonly<Record<ErrorCode, string>>> = {
  not_found: "Page not found",
  payload_too_large: "That is too large",
  rate_limited: "Please wait a moment",
  storage_unavailable: "Unavailable at the moment",
};

/** An error as a small HTML page, for a person in a browser. `headers` are those of every response, such as the request id. */
export function errorPage(error: ApiError, requestId: string, headers: Readonly<HeaderList>): HttpResponse {
  const title = error.title ?? TITLES[error.code] ?? "Something went wrong";
  // The other hints are for developers.
  const text = error.title === null ? error.message : `${error.message} ${error.hint}`;
  const reference = error.status < 500 ? "" : `<p class="muted">Reference: ${escapeHtml(requestId)}</p>`;
  const { html, policy } = renderMessage(title, `<p>${escapeHtml(text)}</p>${reference}`);
  return {
    status: error.status,
    headers: [
      ["content-type", "text/html; charset=utf-8"],
      ["cache-control", "no-store"],
      ["content-security-policy", policy],
      ...headers,
      ...Object.entries(error.headers),
    ],
    body: html,
  };
}

/** True if a request comes from a browser that navigates: it asks for HTML by name. API clients ask for JSON or for anything. */
export function prefersHtml(headers: HeaderReader): boolean {
  const accept = headers.get("accept") ?? "";
  return /\btext\/html\b/i.test(accept) && !/\bapplication\/json\b/i.test(accept);
}
