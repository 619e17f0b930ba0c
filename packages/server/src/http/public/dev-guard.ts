import { ApiError } from "../../lib/api-error.ts";
import type { HeaderReader } from "../headers.ts";

const LOOPBACK = /^(?:::1|::ffff:127\.\d+\.\d+\.\d+|127\.\d+\.\d+\.\d+)$/;
const LOCAL_HOST = /^(?:localhost|[a-z0-9-]+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i;

/**
 * Lets only this machine at `/__dev`: the connection comes from loopback, the Host header names it (a web page that
 * rebinds its own name to 127.0.0.1 does not), and no other site's page is asking. Throws ApiError forbidden.
 */
export function guardDev({ headers }: { headers: HeaderReader }, remoteAddress: string | undefined): void {
  // In-process requests have no connection.
  if (remoteAddress === undefined) return;
  const host = headers.get("host") ?? "";
  const origin = headers.get("origin");
  if (
    LOOPBACK.test(remoteAddress) &&
    LOCAL_HOST.test(host) &&
    (origin === null || origin === `http://${host}` || origin === `https://${host}`)
  )
    return;
  throw new ApiError("forbidden", "/__dev answers only to programs on this machine.", { hint: "Call it at 127.0.0.1 or localhost." });
}
