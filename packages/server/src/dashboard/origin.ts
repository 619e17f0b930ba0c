import type { HeaderReader } from "../http/headers.ts";
import { ApiError } from "../lib/api-error.ts";
import { readReached } from "./cookie.ts";

/**
 * Refuses what a page of another site has made the browser send. Browsers say with each request that is no GET from which origin it comes;
 * a request without Origin is no browser's and has no business with a session. Throws ApiError forbidden.
 */
export function assertSameOrigin(headers: HeaderReader, baseUrl: string): void {
  const origin = headers.get("origin");
  const site = headers.get("sec-fetch-site");
  const host = headers.get("host");
  const own = [`http://${host}`, `https://${host}`, new URL(baseUrl).origin];
  if (origin !== null && own.includes(origin) && (site === null || site === "same-origin")) return;
  throw new ApiError("forbidden", "This request does not come from the dashboard.", {
    hint: "A session works in the dashboard of the same address only. Programs use an API key.",
  });
}

/**
 * Refuses to begin a session whose cookie the browser would drop: one that is for https, in a page that came by http. Throws ApiError
 * forbidden.
 */
export function assertKept(headers: HeaderReader, baseUrl: string): void {
  if (!readReached(headers, baseUrl).secure || !headers.get("origin")?.startsWith("http://")) return;
  throw new ApiError("forbidden", "The browser would not keep this session: the page did not come by https.", {
    hint: `Open ${new URL("/dashboard", baseUrl).href}, the address that --public-url names.`,
  });
}
