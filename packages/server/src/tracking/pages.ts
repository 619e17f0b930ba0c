import type { HeaderList } from "../http/headers.ts";
import type { PageRequest, PageResponse, PublicPage } from "../http/public/public-pages.ts";
import { ApiError, brokenLink } from "../lib/api-error.ts";
import { identifyClient } from "./client.ts";
import type { TrackingDeps } from "./deps.ts";
import { CLICK_PATH, OPEN_PATH, PIXEL, parseToken, type TrackedLink, type TrackingToken } from "./links.ts";
import { REPEAT_MS, recordRequest } from "./record.ts";

// A transparent GIF of one pixel.
const GIF = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

const NOT_CACHED: HeaderList = [
  ["cache-control", "no-store, private"],
  ["x-robots-tag", "noindex, nofollow"],
];

/**
 * The addresses in tracked mail. An address that this installation has not made gets a 404 and leaves no trace. A link leads
 * to its target even if nothing can be recorded at the moment.
 */
export function trackingPages(deps: TrackingDeps): readonly PublicPage[] {
  return [
    {
      path: `${OPEN_PATH}/:token`,
      methods: ["GET"],
      serve: async (request) => {
        const token = parseToken(deps.macs, "open", request.params.token ?? "");
        const pixel = token && (await deps.tracker.links.find(deps.db.read, token.linkId));
        if (!token || pixel?.url !== PIXEL) throw new ApiError("not_found", "This image does not exist.");
        await record(deps, pixel, token, request);
        return { status: 200, headers: [["content-type", "image/gif"], ...NOT_CACHED], body: GIF };
      },
    },
    {
      path: `${CLICK_PATH}/:token`,
      methods: ["GET"],
      serve: async (request): Promise<PageResponse> => {
        const token = parseToken(deps.macs, "click", request.params.token ?? "");
        const link = token && (await deps.tracker.links.find(deps.db.read, token.linkId));
        if (!token || !link || link.url === PIXEL) throw brokenLink("linkIncomplete");
        await record(deps, link, token, request);
        return { status: 302, headers: [["location", toLocation(link.url)], ...NOT_CACHED], body: null };
      },
    },
  ];
}

async function record(deps: TrackingDeps, link: TrackedLink, token: TrackingToken, request: PageRequest): Promise<void> {
  const client = identifyClient(request);
  // Spares the database what it would find to be a repeat.
  const key = `${token.emailId} ${token.linkId} ${client.reason !== null}`;
  if (deps.tracker.isRepeat(key, deps.clock.now(), REPEAT_MS)) return;
  try {
    await deps.db.tx((tx) => recordRequest(tx, deps, link, token, client));
    deps.tracker.remember(key, deps.clock.now());
  } catch (error) {
    deps.log.warn("an open or click was not recorded", { error: error instanceof Error ? error.message : String(error) });
  }
}

/** A header takes ASCII only; an address of ASCII goes out as it was written. */
function toLocation(url: string): string {
  return /^[\x21-\x7e]+$/.test(url) ? url : new URL(url).href;
}
