import type { Tracking } from "@mailsvc/sdk/contract";
import type { PendingMail } from "../delivery/delivery.ts";
import type { HeaderList } from "../http/headers.ts";
import type { PageRequest, PageResponse, PublicPage } from "../http/public/public-pages.ts";
import { ApiError, brokenLink } from "../lib/api-error.ts";
import { waitForTurn } from "../lib/turn.ts";
import { UNSUBSCRIBE_URL, VIEW_URL } from "../templates/templates.ts";
import { identifyClient } from "./client.ts";
import type { TrackingDeps } from "./deps.ts";
import { CLICK_PATH, makeToken, OPEN_PATH, PIXEL, parseToken, type TrackedLink, type TrackingToken } from "./links.ts";
import { REPEAT_MS, recordRequest } from "./record.ts";
import { addUtm, assemble, CUTS_PER_TURN, type Cut, cutHtml, type Skeleton, toAttribute } from "./skeleton.ts";

export { deleteLinks, eraseLinks, listOwnLinks } from "./links.ts";
export { deleteEngagements, REQUESTS_JOB, recordHeldRequests } from "./record.ts";
export { Tracker } from "./tracker.ts";

/**
 * Makes mails trackable as each of them asks: its links lead over this server, its UTM parameters are added, and a pixel ends
 * it. The link to unsubscribe and other links to this server stay as they are. The same mail becomes the same HTML at every
 * attempt. New link targets are stored durably before this returns.
 */
export async function trackMails(deps: TrackingDeps, mails: readonly PendingMail[]): Promise<void> {
  const own = [`${deps.baseUrl()}/`, UNSUBSCRIBE_URL, VIEW_URL];
  const wanted = new Map<string, Map<string, string | null>>();
  const tracked: Tracked[] = [];
  for (const mail of mails) {
    const { html } = mail;
    const { tracking } = mail.contents;
    if (html === null || tracking === null || !(tracking.opens || tracking.clicks || tracking.utm)) continue;
    const last = tracked.at(-1);
    const skeleton =
      last?.html === html ? last.skeleton : await (html === mail.contents.html ? deps.tracker.skeletonOf(html) : cutHtml(html));
    const urls = getOrCreate(wanted, mail.email.workspaceId);
    const want = (url: string): void => void urls.set(url, urls.has(url) && urls.get(url) !== mail.email.id ? null : mail.email.id);
    if (tracking.opens) urls.set(PIXEL, null);
    const targets: (string | null)[] = [];
    for (const cut of skeleton.cuts) {
      const target = toTarget(cut, tracking, own);
      if (tracking.clicks && target !== null) want(target);
      targets.push(target);
      if (targets.length % CUTS_PER_TURN === 0) await waitForTurn();
    }
    tracked.push({ mail, tracking, html, skeleton, targets });
  }
  if (tracked.length === 0) return;
  const idOf = await deps.tracker.links.load(deps, wanted);
  const base = deps.config.trackingUrl ?? deps.baseUrl();
  // Escaped once: a token needs no escaping.
  const [open, click] = [OPEN_PATH, CLICK_PATH].map((path) => toAttribute(`${base}${path}/`, false));
  for (const { mail, tracking, skeleton, targets } of tracked) {
    const { workspaceId, id: emailId } = mail.email;
    mail.html = await assemble(skeleton, (cut, i) => {
      if (cut.kind === "pixel") {
        if (!tracking.opens) return "";
        const token = makeToken(deps.macs, "open", { emailId, linkId: idOf(workspaceId, PIXEL) });
        return `<img src="${open}${token}" alt="" width="1" height="1" style="display:block;width:1px;height:1px;border:0">`;
      }
      const target = targets[i] ?? null;
      if (target === null) return cut.source;
      if (!tracking.clicks) return target === cut.url ? cut.source : toAttribute(target, cut.bare);
      const token = makeToken(deps.macs, "click", { emailId, linkId: idOf(workspaceId, target) });
      return cut.bare ? `"${click}${token}"` : `${click}${token}`;
    });
  }
}

/** The first link of a mail that is tracked, as its clicks name it; null if there is none. `html` is as it was before `trackMails`. */
export async function findFirstTarget(
  { baseUrl }: Pick<TrackingDeps, "baseUrl">,
  html: string,
  tracking: Tracking,
): Promise<string | null> {
  const own = [`${baseUrl()}/`, UNSUBSCRIBE_URL, VIEW_URL];
  for (const cut of (await cutHtml(html)).cuts) {
    const target = toTarget(cut, tracking, own);
    if (target !== null) return target;
  }
  return null;
}

/** A mail of whose HTML something is tracked. */
interface Tracked {
  readonly mail: PendingMail;
  readonly tracking: Tracking;
  readonly html: string;
  readonly skeleton: Skeleton;
  /** Results of `toTarget`, one for each cut. */
  readonly targets: readonly (string | null)[];
}

/** Returns the target of a link; null for the pixel, and for a link that stays as it is. */
function toTarget(cut: Cut, { utm }: Tracking, own: readonly string[]): string | null {
  if (cut.kind === "pixel" || own.some((prefix) => cut.url.startsWith(prefix))) return null;
  return utm === undefined ? cut.url : addUtm(cut.url, utm);
}

function getOrCreate(map: Map<string, Map<string, string | null>>, key: string): Map<string, string | null> {
  const known = map.get(key) ?? new Map();
  map.set(key, known);
  return known;
}

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
