import type { HeaderReader } from "../http/headers.ts";
import { isLoopbackHostHeader } from "../lib/loopback.ts";

/** Address and scheme by which a browser reached this server. The cookie and the expected Origin depend on them. */
interface Reached {
  readonly secure: boolean;
  /** Host and port, as the browser sent them. */
  readonly host: string;
}

const NAME = "mailsvc-session";
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Reads how a browser reached this server. A proxy that ends TLS keeps the Host header; `baseUrl` is the public address. */
export function readReached(headers: HeaderReader, baseUrl: string): Reached {
  const host = headers.get("host") ?? "";
  const base = new URL(baseUrl);
  return { host, secure: base.protocol === "https:" && (base.host === host || !isLoopbackHostHeader(host)) };
}

/** The token in the cookie of a request; null without a well-formed one. */
export function readToken(headers: HeaderReader, reached: Reached): string | null {
  const name = `${buildName(reached)}=`;
  const pair = (headers.get("cookie") ?? "").split("; ").find((one) => one.startsWith(name));
  const token = pair?.slice(name.length) ?? "";
  return TOKEN.test(token) ? token : null;
}

/** A Set-Cookie header: scripts cannot read it, other sites cannot cause it to be sent, and it ends after `seconds`. */
export function buildCookie(token: string, reached: Reached, seconds: number): string {
  const secure = reached.secure ? "; Secure" : "";
  return `${buildName(reached)}=${token}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}

/**
 * `__Host-` forbids other hosts of a domain to set it. Browsers take that by https only; by http its port tells servers on one host apart,
 * because cookies do not.
 */
function buildName({ secure, host }: Reached): string {
  return secure ? `__Host-${NAME}` : `${NAME}-${/:(\d+)$/.exec(host)?.[1] ?? "80"}`;
}
