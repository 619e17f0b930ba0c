import { isIP } from "node:net";
import type { H3, H3Event } from "h3";
import { StorageUnavailable } from "../../db/errors.ts";
import { escapeHtml } from "../../html/escape.ts";
import { renderMessage } from "../../html/page.ts";
import { ApiError } from "../../lib/api-error.ts";
import { isForbiddenAddress } from "../../lib/guard-url.ts";
import type { Ids } from "../../lib/ids.ts";
import type { Log } from "../../lib/log.ts";
import type { HeaderList } from "../headers.ts";
import type { InFlightRequests } from "../in-flight.ts";
import { RoutedRequest } from "../request.ts";

/** A request of a browser somewhere on the net. */
export interface PageRequest {
  readonly method: "GET" | "HEAD" | "POST";
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Where it comes from; "local" in process, where there is no connection. */
  readonly address: string;
  header(name: string): string | null;
  /** Throws ApiError payload_too_large. */
  body(limit: number): Promise<Uint8Array>;
}

/** What a page answers; its headers are all that go out, but for the common ones. */
export interface PageResponse {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | null;
  /** Of a stream: how many bytes it has. */
  readonly length?: number;
}

/** Something served to anybody, which is no endpoint of the contract. */
export interface PublicPage {
  readonly path: `/${string}`;
  readonly methods: readonly ("GET" | "POST")[];
  /** Throws ApiError; people get it as a small page. */
  serve(visit: PageRequest): Promise<PageResponse>;
}

/** What holds of everything that was written by others: no guessing of types, no address given away, no part in other pages. */
const COMMON: HeaderList = [
  ["x-content-type-options", "nosniff"],
  ["referrer-policy", "no-referrer"],
  ["cross-origin-opener-policy", "same-origin"],
  ["permissions-policy", "camera=(), microphone=(), geolocation=()"],
];

export interface PublicParts {
  readonly ids: Ids;
  readonly log: Log;
  readonly flight: InFlightRequests;
}

/** Serves pages to everybody. They read no cookie and set none. */
export function mountPublicPages(app: H3, pages: readonly PublicPage[], { ids, log, flight }: PublicParts): void {
  const answered = async (page: PublicPage, event: H3Event, requestId: string): Promise<PageResponse> => {
    const exchange = new RoutedRequest(event);
    try {
      const method = event.req.method as PageRequest["method"];
      if (!(page.methods as readonly string[]).includes(method === "HEAD" ? "GET" : method)) {
        const allow = page.methods.flatMap((one) => (one === "GET" ? ["GET", "HEAD"] : [one])).join(", ");
        throw new ApiError("method_not_allowed", `This address answers ${allow} only.`, { headers: { allow } });
      }
      return await page.serve({
        method,
        params: exchange.params(),
        query: exchange.search(),
        address: addressOf(exchange.remoteAddress, event.req.headers.get("x-forwarded-for")),
        header: (name) => event.req.headers.get(name),
        body: (limit) => exchange.body(limit),
      });
    } catch (error) {
      if (error instanceof ApiError) return failed(error);
      if (error instanceof StorageUnavailable)
        return failed(
          new ApiError("storage_unavailable", "Nothing can be stored at the moment. Please try again shortly.", {
            headers: { "retry-after": "5" },
          }),
        );
      log.error("a public page failed", { requestId, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
      return failed(new ApiError("internal_error", "Something went wrong on our side. Please try again."));
    }
  };
  const route =
    (page: PublicPage) =>
    async (event: H3Event): Promise<Response> => {
      const requestId = ids("req");
      flight.count += 1;
      try {
        const answer = await answered(page, event, requestId);
        const headers = new Headers([["x-request-id", requestId], ...COMMON, ...answer.headers]);
        if (flight.draining) headers.set("connection", "close");
        const length = lengthOf(answer);
        if (length !== undefined && answer.status !== 304) headers.set("content-length", String(length));
        const silent = event.req.method === "HEAD" || answer.status === 304;
        if (silent && answer.body instanceof ReadableStream) await answer.body.cancel();
        return new Response(silent ? null : (answer.body as BodyInit | null), { status: answer.status, headers });
      } finally {
        flight.count -= 1;
      }
    };
  for (const page of pages) app.all(page.path, route(page));
}

/** An address of IPv4 that a socket for both kinds shows as one of IPv6, as itself. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

/**
 * Where a visitor is. A proxy on this machine or beside it says so: the last address of X-Forwarded-For is the one it has
 * seen itself. From everywhere else the header is not believed.
 */
function addressOf(remote: string | undefined, forwarded: string | null): string {
  const peer = remote === undefined ? undefined : plain(remote);
  if (peer !== undefined && !isForbiddenAddress(peer, { dev: false })) return peer;
  const last = plain(forwarded?.split(",").at(-1)?.trim() ?? "");
  return isIP(last) === 0 ? (peer ?? "local") : last;
}

function failed(error: ApiError): PageResponse {
  const title = error.status === 404 ? "Page not found" : "Something went wrong";
  const { html, policy } = renderMessage(title, `<p>${escapeHtml(error.message)}</p>`);
  return {
    status: error.status,
    headers: [
      ["content-type", "text/html; charset=utf-8"],
      ["cache-control", "no-store"],
      ["content-security-policy", policy],
      ...Object.entries(error.headers),
    ],
    body: html,
  };
}

function lengthOf({ body, length }: PageResponse): number | undefined {
  return length ?? (typeof body === "string" ? Buffer.byteLength(body) : body instanceof Uint8Array ? body.length : undefined);
}
