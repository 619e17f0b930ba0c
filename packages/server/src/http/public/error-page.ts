import { ERRORS } from "@mailsvc/sdk/contract";
import { escapeHtml } from "../../html/escape.ts";
import { renderMessage } from "../../html/page.ts";
import type { ApiError } from "../../lib/api-error.ts";
import type { HeaderList, HeaderReader } from "../headers.ts";
import type { HttpResponse } from "../response.ts";

/** An error as a small HTML page, for a person in a browser. `headers` are those of every response, such as the request id. */
export function errorPage(error: ApiError, headers: Readonly<HeaderList>): HttpResponse {
  const title = error.status === ERRORS.not_found.status ? "Page not found" : "Something went wrong";
  const { html, policy } = renderMessage(title, `<p>${escapeHtml(error.message)}</p>`);
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

/** Whether a request comes from a browser that navigates: it asks for HTML by name. API clients ask for JSON or for anything. */
export function prefersHtml(headers: HeaderReader): boolean {
  const accept = headers.get("accept") ?? "";
  return /\btext\/html\b/i.test(accept) && !/\bapplication\/json\b/i.test(accept);
}
