import type { ErrorCode } from "@mailsvc/sdk/contract";
import { escapeHtml } from "../../html/escape.ts";
import { renderMessage } from "../../html/page.ts";
import { chooseTexts, ENGLISH, type ReaderWishes } from "../../html/texts.ts";
import type { ApiError, ErrorTexts } from "../../lib/api-error.ts";
import type { HeaderList, HeaderReader } from "../headers.ts";
import type { HttpResponse } from "../response.ts";

const BY_CODE: Partial<Readonly<Record<ErrorCode, ErrorTexts>>> = {
  not_found: { title: "notFoundTitle", text: "notFoundText" },
  payload_too_large: { title: "tooLargeTitle", text: "tooLargeText" },
  rate_limited: { title: "waitTitle", text: "waitText" },
  storage_unavailable: { title: "unavailableTitle", text: "unavailableText" },
};
const OTHER: ErrorTexts = { title: "errorTitle", text: "errorText" };

/**
 * An error as a small HTML page, for a person in a browser, in the reader's language. Pages of the dashboard have no reader: they show the
 * message itself, in English. `headers` are those of every response, such as the request id.
 */
export function errorPage(
  error: ApiError,
  requestId: string,
  headers: Readonly<HeaderList>,
  reader: ReaderWishes | "developer",
): HttpResponse {
  const texts = reader === "developer" ? ENGLISH : chooseTexts({}, [], reader);
  const page = error.page ?? BY_CODE[error.code] ?? OTHER;
  // The hints are for developers.
  const text = reader === "developer" ? error.message : texts.say(page.text);
  const reference = error.status < 500 ? "" : `<p class="muted">${texts.html("reference", { id: escapeHtml(requestId) })}</p>`;
  const { html, language, policy } = renderMessage(texts.say(page.title), `<p>${escapeHtml(text)}</p>${reference}`, { texts });
  return {
    status: error.status,
    headers: [
      ["content-type", "text/html; charset=utf-8"],
      ["content-language", language],
      ["vary", "accept-language"],
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
