import { ApiError } from "../../lib/api-error.ts";
import { isLoopbackAddress, isLoopbackHostHeader } from "../../lib/ip-network.ts";
import type { HeaderReader } from "../headers.ts";

// Programs give each of their sites its own name.
const SITE_HERE = /^[a-z0-9-]+\.localhost(?::\d+)?$/i;

/**
 * Admits to changes through `/__dev` only what a page of another site cannot send without asking first: a browser tells where a request
 * comes from, and forms have other types than JSON. Throws ApiError forbidden or unsupported_media_type.
 */
export function guardDevWrite({ headers }: { headers: HeaderReader }): void {
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none")
    throw new ApiError("forbidden", "/__dev is open to programs on this machine only.", {
      hint: "Call it from its own pages or a program.",
    });
  const type = headers.get("content-type");
  if (type !== null && !/^application\/json(?:\s*;|$)/i.test(type))
    throw new ApiError("unsupported_media_type", `Unsupported Content-Type ${type.slice(0, 80)}. Send application/json.`);
}

/**
 * Admits only this machine to `/__dev`: the connection must come from loopback, the Host header must name this machine (which
 * stops DNS rebinding), and the Origin must not be another site. Throws ApiError forbidden.
 */
export function guardDev({ headers }: { headers: HeaderReader }, remoteAddress: string | undefined): void {
  // Requests in process have no connection.
  if (remoteAddress === undefined) return;
  const host = headers.get("host") ?? "";
  const origin = headers.get("origin");
  if (
    isLoopbackAddress(remoteAddress) &&
    (isLoopbackHostHeader(host) || SITE_HERE.test(host)) &&
    (origin === null || origin === `http://${host}` || origin === `https://${host}`)
  )
    return;
  throw new ApiError("forbidden", "/__dev is open to programs on this machine only.", { hint: "Call it through 127.0.0.1 or localhost." });
}
