import { hash } from "node:crypto";
import { LANDING_PAGE_LIMITS } from "@mailsvc/sdk/contract";
import { and, eq, isNull } from "drizzle-orm";
import type { Deps } from "../../deps.ts";
import type { HeaderList } from "../../http/headers.ts";
import type { PageRequest, PageResponse, PublicPage } from "../../http/public/public-pages.ts";
import { ApiError } from "../../lib/api-error.ts";
import type { Limiter, Rate } from "../../lib/rate.ts";
import { getBrand } from "../brand/brand.ts";
import { downloadPath, openLinkToken } from "../files/links.ts";
import { idOfRef, type PageRow, pagePath } from "./address.ts";
import type { Document } from "./look/document.ts";
import { landingPage, thanksPage } from "./look/page.ts";
import { anonymous, saltOf } from "./salt.ts";
import { readForm, signUp } from "./signup.ts";
import { ViewCounter } from "./views.ts";

// Forms from one place: ten at once, then one every ten seconds. Of one page: 50 a second.
const FORMS: Rate = { perSecond: 0.1, burst: 10 };
const FORMS_OF_PAGE: Rate = { perSecond: 50, burst: 500 };
// Views of one place that count: more of them are shown, and not counted.
const VIEWS: Rate = { perSecond: 1, burst: 60 };

const FORM_BYTES = 16 * 1024;
const DAY = 86_400_000;
const MACHINES = /bot\b|crawl|spider|slurp|facebookexternalhit/i;

const NOT_KEPT: HeaderList = [
  ["cache-control", "no-store"],
  ["x-robots-tag", "noindex"],
];

/** Landing pages as the net sees them. */
export function publicLandingPages(deps: Deps, limiter: Limiter): readonly PublicPage[] {
  const counter = new ViewCounter(deps);
  const { read } = deps.db;

  /** The page of an address: one that is out, or one the holder of a preview link may see. */
  const pageOf = async (visit: PageRequest): Promise<PageRow> => {
    const id = idOfRef(visit.params.ref ?? "");
    const { landingPages: t } = read.t;
    const [row] = id === null ? [] : await read.select().from(t).where(eq(t.id, id));
    if (!row || (row.status !== "PUBLISHED" && !isPreview(visit, row))) throw nowhere();
    return row;
  };

  const isPreview = (visit: PageRequest, row: PageRow): boolean => {
    const token = visit.query.get("preview");
    return visit.method !== "POST" && token !== null && openLinkToken(deps, "preview", token) === row.id;
  };

  const count = async (visit: PageRequest, page: PageRow): Promise<void> => {
    const { date, salt } = await saltOf(deps);
    const agent = (visit.header("user-agent") ?? "").slice(0, 500);
    const { allowed } = await limiter.take(`view:${anonymous(salt, visit.address)}`, VIEWS);
    if (!allowed) return;
    await counter.count({ pageId: page.id, date, visitor: anonymous(salt, visit.address, page.id, agent), host: refererOf(visit, deps) });
  };

  const show = async (visit: PageRequest): Promise<PageResponse> => {
    const page = await pageOf(visit);
    const preview = isPreview(visit, page);
    if (pagePath(page) !== `/p/${visit.params.ref}`)
      return moved(308, preview ? `${pagePath(page)}?preview=${visit.query.get("preview")}` : pagePath(page));
    const document = landingPage(page, await getBrand(read, page.workspaceId), deps);
    if (preview) return html(200, document, NOT_KEPT);
    if (isLooking(visit)) await count(visit, page);
    const etag = `"${hash("sha256", document.html, "base64url").slice(0, 27)}"`;
    const answer = html(200, document, [
      // Kept, but asked again each time: a page that is taken down is down.
      ["cache-control", "public, no-cache"],
      ["etag", etag],
    ]);
    const known = visit
      .header("if-none-match")
      ?.split(",")
      .some((one) => one.trim().replace(/^W\//, "") === etag || one.trim() === "*");
    return known ? { ...answer, status: 304, body: null } : answer;
  };

  const submit = async (visit: PageRequest): Promise<PageResponse> => {
    const page = await pageOf(visit);
    if (!page.hasForm) throw new ApiError("method_not_allowed", "Nobody can sign up on this page.", { headers: { allow: "GET, HEAD" } });
    if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(visit.header("content-type") ?? ""))
      throw new ApiError("unsupported_media_type", "Forms come as application/x-www-form-urlencoded.");
    if (!/^(?:identity)?$/i.test(visit.header("content-encoding") ?? ""))
      throw new ApiError("unsupported_media_type", "Forms come as they are, without a Content-Encoding.");
    const { salt } = await saltOf(deps);
    await limited(limiter, `form:${anonymous(salt, visit.address)}`, FORMS);
    await limited(limiter, `form:${page.id}`, FORMS_OF_PAGE);
    const reading = readForm(page, await visit.body(FORM_BYTES));
    const brand = await getBrand(read, page.workspaceId);
    if ("faults" in reading) return html(400, landingPage(page, brand, deps, reading.faults), NOT_KEPT);
    if ("signup" in reading) await signUp(deps, page, brand.name, reading.signup);
    const file =
      page.leadMagnetId === null
        ? ""
        : `?file=${downloadPath(deps, page.leadMagnetId, LANDING_PAGE_LIMITS.downloadDays * DAY).slice("/f/".length)}`;
    return moved(303, `${pagePath(page)}/thanks${file}`);
  };

  const thanks = async (visit: PageRequest): Promise<PageResponse> => {
    const page = await pageOf(visit);
    if (!page.hasForm) throw nowhere();
    const token = visit.query.get("file") ?? "";
    const id = openLinkToken(deps, "download", token);
    const { leadMagnets: m, lists: l } = read.t;
    const [file] =
      id === null
        ? []
        : await read
            .select()
            .from(m)
            .where(and(eq(m.workspaceId, page.workspaceId), eq(m.id, id)));
    const [list] =
      page.listId === null
        ? []
        : await read
            .select({ doubleOptIn: l.doubleOptIn })
            .from(l)
            .where(and(eq(l.workspaceId, page.workspaceId), eq(l.id, page.listId), isNull(l.deletedAt)));
    const document = thanksPage(page, await getBrand(read, page.workspaceId), {
      download: file ? `/f/${token}` : null,
      fileName: file?.fileName ?? null,
      confirm: list?.doubleOptIn ?? false,
    });
    return html(200, document, NOT_KEPT);
  };

  return [
    { path: "/p/:ref", methods: ["GET", "POST"], serve: (visit) => (visit.method === "POST" ? submit(visit) : show(visit)) },
    { path: "/p/:ref/thanks", methods: ["GET"], serve: thanks },
  ];
}

function nowhere(): ApiError {
  return new ApiError("not_found", "There is no page at this address, or no longer.");
}

function html(status: number, { html: body, policy }: Document, headers: HeaderList): PageResponse {
  return {
    status,
    headers: [
      ["content-type", "text/html; charset=utf-8"],
      ["content-security-policy", policy],
      ["cross-origin-resource-policy", "same-origin"],
      ...headers,
    ],
    body,
  };
}

function moved(status: 303 | 308, location: string): PageResponse {
  return {
    status,
    headers: [
      ["location", location],
      ["cache-control", "no-store"],
    ],
    body: null,
  };
}

/** The host a visitor came from; null for none, for this server itself, and for what is no address of a page. */
function refererOf(visit: PageRequest, deps: Deps): string | null {
  const text = visit.header("referer") ?? "";
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return null;
  const { hostname } = new URL(text);
  return hostname === "" || hostname.length > 253 || hostname === new URL(deps.baseUrl()).hostname ? null : hostname.replace(/^www\./, "");
}

/** Whether a request is somebody looking: programs that fetch ahead or index are not. */
function isLooking(visit: PageRequest): boolean {
  return (
    visit.method === "GET" &&
    !/prefetch|prerender/i.test(visit.header("sec-purpose") ?? visit.header("purpose") ?? "") &&
    !MACHINES.test(visit.header("user-agent") ?? "")
  );
}

async function limited(limiter: Limiter, name: string, rate: Rate): Promise<void> {
  const taken = await limiter.take(name, rate);
  if (taken.allowed) return;
  throw new ApiError("rate_limited", "Too many forms came from where you are. Please try again in a moment.", {
    headers: { "retry-after": String(taken.reset) },
  });
}
