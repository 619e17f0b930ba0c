import type { H3, H3Event, HTTPResponse as H3Response } from "h3";
import { ApiError } from "../../lib/api-error.ts";
import type { Ids } from "../../lib/ids.ts";
import type { Log } from "../../lib/log.ts";
import type { HeaderList } from "../headers.ts";
import { buildResponse, errorResponse } from "../response.ts";
import { sendResponse } from "../routed-request.ts";
import { guardDev } from "./dev-guard.ts";

/** The content of a page. */
export interface DevPageResponse {
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers: HeaderList;
}

/** A page for a browser in dev mode; not an endpoint of the contract. */
export interface DevPage {
  readonly path: `/${string}`;
  /** Throws ApiError, e.g. not_found. */
  serve(params: Readonly<Record<string, string>>, query: URLSearchParams): Promise<DevPageResponse>;
}

const COMMON: HeaderList = [
  ["referrer-policy", "no-referrer"],
  ["cross-origin-opener-policy", "same-origin"],
  ["cross-origin-resource-policy", "same-origin"],
];

/** Serves pages to browsers on this machine only, like `/__dev`. */
export function mountDevPages(app: H3, pages: readonly DevPage[], { ids, log }: { ids: Ids; log: Log }): void {
  const route =
    (page: DevPage) =>
    async (event: H3Event): Promise<H3Response> => {
      const requestId = ids("req");
      const headers: HeaderList = [["x-request-id", requestId]];
      try {
        guardDev(event.req, event.runtime?.node?.req?.socket?.remoteAddress);
        const { type, body, headers: own } = await page.serve(event.context.params ?? {}, event.url.searchParams);
        return sendResponse(event, buildResponse(200, type, body, [...headers, ...COMMON, ...own]));
      } catch (error) {
        if (error instanceof ApiError) return sendResponse(event, errorResponse(error, requestId, headers));
        log.error("dev page failed", { requestId, error: String(error) });
        return sendResponse(event, errorResponse(new ApiError("internal_error", "An unexpected error occurred."), requestId, headers));
      }
    };
  for (const page of pages) {
    app.on("GET", page.path, route(page));
    app.on("HEAD", page.path, route(page));
  }
}
