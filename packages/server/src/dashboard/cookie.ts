import type { HeaderReader } from "../http/headers.ts";
import { ApiError } from "../lib/api-error.ts";
import { isLoopbackHostHeader } from "../lib/ip-network.ts";

/** Address and scheme by which a browser reached this server. The cookie and the expected Origin depend on them. */
interface Reached {
  readonly secure: boolean;
  /** Host and port, as the browser sent them. */
  readonly host: string;
}

/** The cookie of a session, and of a sign-in that is under way at the provider of OpenID Connect. */
type CookieName = "mailsvc-session" | "mailsvc-provider";

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Reads how a browser reached this server. A proxy that ends TLS keeps the Host header; `baseUrl` is the public address. */
export function readReached(headers: HeaderReader, baseUrl: string): Reached {
  const host = headers.get("host") ?? "";
  const base = new URL(baseUrl);
  return { host, secure: base.protocol === "https:" && (base.host === host || !isLoopbackHostHeader(host)) };
}

/** The token in the cookie of a request; null without a well-formed one. */
export function readToken(headers: HeaderReader, reached: Reached): string | null {
  const token = readCookie("mailsvc-session", headers, reached);
  return token !== null && TOKEN.test(token) ? token : null;
}

/** The value of a cookie; null without it. */
export function readCookie(cookie: CookieName, headers: HeaderReader, reached: Reached): string | null {
  const name = `${buildName(cookie, reached)}=`;
  const pair = (headers.get("cookie") ?? "").split("; ").find((one) => one.startsWith(name));
  return pair?.slice(name.length) ?? null;
}

/** A Set-Cookie header of a session: scripts cannot read it, other sites cannot cause it to be sent, and it ends after `seconds`. */
export function buildCookie(token: string, reached: Reached, seconds: number): string {
  return build("mailsvc-session", token, reached, seconds, "Strict");
}

/** The same for a sign-in at a provider, whose redirect comes from another site: it is sent with links from there, and with nothing else. */
export function buildProviderCookie(value: string, reached: Reached, seconds: number): string {
  return build("mailsvc-provider", value, reached, seconds, "Lax");
}

function build(cookie: CookieName, value: string, reached: Reached, seconds: number, sameSite: "Strict" | "Lax"): string {
  const secure = reached.secure ? "; Secure" : "";
  return `${buildName(cookie, reached)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=${sameSite}${secure}`;
}

/**
 * `__Host-` forbids other hosts of a domain to set it. Browsers take that by https only; by http its port tells servers on one host apart,
 * because cookies do not.
 */
function buildName(cookie: CookieName, { secure, host }: Reached): string {
  return secure ? `__Host-${cookie}` : `${cookie}-${/:(\d+)$/.exec(host)?.[1] ?? "80"}`;
}

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
