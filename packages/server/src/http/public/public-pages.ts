import type { H3, H3Event } from "h3";
import { StorageUnavailable } from "../../db/errors.ts";
import { readWishes } from "../../html/texts.ts";
import { ApiError } from "../../lib/api-error.ts";
import type { Ids } from "../../lib/ids.ts";
import type { IpNetwork } from "../../lib/ip-network.ts";
import type { Log } from "../../lib/log.ts";
import { getClientAddress } from "../client-address.ts";
import type { HeaderList } from "../headers.ts";
import type { InFlightRequests } from "../in-flight.ts";
import { errorResponse } from "../response.ts";
import { RoutedRequest } from "../routed-request.ts";
import type { StorageHealth } from "../storage-health.ts";
import { errorPage } from "./error-page.ts";

/** A browser's request for a public page. */
export interface PageRequest {
  readonly method: "GET" | "HEAD" | "POST";
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The client's IP address; "local" in process, where there is no connection. */
  readonly address: string;
  /** The IP address of the peer, which may be a proxy; undefined in process. */
  readonly peer: string | undefined;
  header(name: string): string | null;
  /** Throws ApiError payload_too_large. */
  body(limit: number): Promise<Uint8Array>;
}

/** The response of a public page, with all its headers but the common ones. */
export interface PageResponse {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | null;
  /** The length of a stream, in bytes. */
  readonly length?: number;
}

/** A page served to everyone; not an endpoint of the contract. */
export interface PublicPage {
  readonly path: `/${string}`;
  readonly methods: readonly ("GET" | "POST")[];
  /** Takes POSTs also while the disk is nearly full: by it people leave, or get in to make room. */
  readonly whenFull?: true;
  /** Query parameters that open something, as a part of the path named `:token` does: nothing may record or log them. */
  readonly secretQuery?: readonly string[];
  /** Format of errors: a small page in the reader's language, one with the message for developers, or JSON for the program of a page. */
  readonly errors?: "json" | "developer";
  /** Throws ApiError. */
  serve(request: PageRequest): Promise<PageResponse>;
}

// Pages hold content written by others: no type sniffing, no referrer, no access to or from other windows.
const COMMON_HEADERS: Readonly<HeaderList> = [
  ["x-content-type-options", "nosniff"],
  ["referrer-policy", "no-referrer"],
  ["cross-origin-opener-policy", "same-origin"],
  ["permissions-policy", "camera=(), microphone=(), geolocation=()"],
];

interface PublicPagesParts {
  readonly ids: Ids;
  readonly log: Log;
  readonly inFlight: InFlightRequests;
  readonly storage: StorageHealth;
  /** Proxies whose X-Forwarded-For names the client. */
  readonly trustedProxies: readonly IpNetwork[];
}

/** Serves pages to everyone. Only those of the dashboard read a cookie. */
export function mountPublicPages(h3: H3, pages: readonly PublicPage[], parts: PublicPagesParts): void {
  const { ids, log, inFlight, storage, trustedProxies } = parts;
  const serve = async (page: PublicPage, event: H3Event, requestId: string): Promise<PageResponse> => {
    const request = new RoutedRequest(event);
    try {
      const method = event.req.method as PageRequest["method"];
      assertMethod(page, method);
      if (method === "POST" && !page.whenFull && storage.lowDisk !== null) throw new StorageUnavailable(storage.lowDisk);
      return await page.serve({
        method,
        params: request.params(),
        query: request.search(),
        address: getClientAddress(request.remoteAddress, request.headers.get("x-forwarded-for"), trustedProxies),
        peer: request.remoteAddress,
        header: (name) => request.headers.get(name),
        body: (limit) => request.body(limit),
      });
    } catch (error) {
      const apiError = toPageError(error, requestId, { log, storage });
      if (page.errors === "json") return errorResponse(apiError, requestId, []);
      return errorPage(apiError, requestId, [], page.errors ?? readWishes(request.search(), (name) => request.headers.get(name)));
    }
  };
  const route =
    (page: PublicPage) =>
    async (event: H3Event): Promise<Response> => {
      const requestId = ids("req");
      const { end } = inFlight.begin();
      try {
        return await toResponse(await serve(page, event, requestId), event, requestId, inFlight.draining);
      } finally {
        end();
      }
    };
  for (const page of pages) h3.all(page.path, route(page));
}

/** Throws ApiError method_not_allowed. */
function assertMethod({ methods }: PublicPage, method: PageRequest["method"]): void {
  if ((methods as readonly string[]).includes(method === "HEAD" ? "GET" : method)) return;
  const allow = methods.flatMap((one) => (one === "GET" ? ["GET", "HEAD"] : [one])).join(", ");
  throw new ApiError("method_not_allowed", `Method not allowed. This address accepts ${allow}.`, { headers: { allow } });
}

async function toResponse(page: PageResponse, event: H3Event, requestId: string, draining: boolean): Promise<Response> {
  const headers = new Headers([["x-request-id", requestId], ...COMMON_HEADERS, ...page.headers]);
  if (draining) headers.set("connection", "close");
  const length = findLength(page);
  if (length !== null && page.status !== 304) headers.set("content-length", String(length));
  const withoutBody = event.req.method === "HEAD" || page.status === 304;
  if (withoutBody && page.body instanceof ReadableStream) await page.body.cancel();
  return new Response(withoutBody ? null : (page.body as BodyInit | null), { status: page.status, headers });
}

function findLength({ body, length }: PageResponse): number | null {
  return length ?? (typeof body === "string" ? Buffer.byteLength(body) : body instanceof Uint8Array ? body.length : null);
}

function toPageError(error: unknown, requestId: string, { log, storage }: Pick<PublicPagesParts, "log" | "storage">): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof StorageUnavailable) {
    storage.failed(error, { requestId });
    return new ApiError("storage_unavailable", "This page is unavailable at the moment. Please try again shortly.", {
      headers: { "retry-after": "5" },
    });
  }
  log.error("public page failed", { requestId, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  return new ApiError("internal_error", "An unexpected error occurred. Please try again.");
}
