import { hash } from "node:crypto";
import { FORM_FIELDS, LANDING_PAGE_LIMITS, RECIPIENT_TEXTS } from "@mailsvc/sdk/contract";
import { and, eq } from "drizzle-orm";
import type { PageBrand, RenderedPage } from "../../html/page.ts";
import { chooseTexts, readWishes, type Texts } from "../../html/texts.ts";
import type { HeaderList } from "../../http/headers.ts";
import type { PageRequest, PageResponse, PublicPage } from "../../http/public/public-pages.ts";
import { ApiError } from "../../lib/api-error.ts";
import type { Limiter, Rate } from "../../lib/rate.ts";
import { DAY } from "../../lib/units.ts";
import { findLists } from "../../lists/lists.ts";
import { getPageBrand } from "../../workspaces/workspaces.ts";
import { downloadPath, openLinkToken } from "../files/files.ts";
import { type PageDeps, type PageRow, pagePath, parsePageRef } from "./pages.ts";
import { renderLandingPage, renderThanksPage, renderUnsubscribedPage, renderUnsubscribePage, withLanguage } from "./render.ts";
import { readForm, readPrefill, SignUps, unsubscribeByForm } from "./signups.ts";
import { getDailySalt, hashVisitor } from "./stats.ts";
import { ViewCounter } from "./views.ts";

// Per network: a burst of ten forms, then one every ten seconds. Per page: 50 a second.
const FORMS: Rate = { perSecond: 0.1, burst: 10 };
const FORMS_OF_PAGE: Rate = { perSecond: 50, burst: 500 };
// Views counted per network; further ones are shown but not counted.
const VIEWS: Rate = { perSecond: 1, burst: 60 };

const FORM_BYTES = 16 * 1024;
const BOTS = /bot\b|crawl|spider|slurp|facebookexternalhit/i;

const NO_STORE: HeaderList = [
  ["cache-control", "no-store"],
  ["x-robots-tag", "noindex"],
];

/** Landing pages for visitors. */
export function publicLandingPages(deps: PageDeps, limiter: Limiter): readonly PublicPage[] {
  const pages = new LandingPages(deps, limiter);
  return [
    { path: "/p/:ref/unsubscribe", methods: ["GET", "POST"], serve: (visit) => pages.unsubscribe(visit) },
    {
      ...{ path: "/p/:ref", methods: ["GET", "POST"], secretQuery: ["preview", "email", ...FORM_FIELDS] },
      serve: (visit) => (visit.method === "POST" ? pages.submit(visit) : pages.show(visit)),
    },
    { path: "/p/:ref/thanks", methods: ["GET"], secretQuery: ["file"], serve: (visit) => pages.thank(visit) },
  ];
}

class LandingPages {
  readonly #deps: PageDeps;
  readonly #limiter: Limiter;
  readonly #counter: ViewCounter;
  readonly #signUps: SignUps;

  constructor(deps: PageDeps, limiter: Limiter) {
    this.#deps = deps;
    this.#limiter = limiter;
    this.#counter = new ViewCounter(deps);
    this.#signUps = new SignUps(deps);
  }

  /** The page of an address: a published one, or any for the holder of a preview link. */
  async #getPage(visit: PageRequest): Promise<PageRow> {
    const id = parsePageRef(visit.params.ref ?? "");
    const { landingPages: t } = this.#deps.db.read.t;
    const [row] = id === null ? [] : await this.#deps.db.read.select().from(t).where(eq(t.id, id));
    if (!row || (row.status !== "PUBLISHED" && !this.#isPreview(visit, row))) throw pageNotFound();
    return row;
  }

  /** Texts of a page for its visitor: in the language of its list or its brand, else in one of the browser. */
  async #read(visit: PageRequest, page: PageRow): Promise<{ brand: PageBrand; texts: Texts; doubleOptIn: boolean }> {
    const { read } = this.#deps.db;
    const brand = await getPageBrand(read, page.workspaceId);
    const { listId } = page;
    const list = listId === null ? null : (await findLists(read, page.workspaceId, [listId])).get(listId);
    const texts = chooseTexts(brand.texts, [list?.language, brand.locale], readWishes(visit.query, visit.header));
    return { brand, texts, doubleOptIn: list?.doubleOptIn ?? false };
  }

  #isPreview(visit: PageRequest, row: PageRow): boolean {
    const token = visit.query.get("preview");
    return visit.method !== "POST" && token !== null && openLinkToken(this.#deps, "preview", token) === row.id;
  }

  async #count(visit: PageRequest, page: PageRow): Promise<void> {
    const { date, salt } = await getDailySalt(this.#deps);
    const agent = (visit.header("user-agent") ?? "").slice(0, 500);
    const { allowed } = await this.#limiter.take(`view:${hashVisitor(salt, visit.address)}`, VIEWS);
    if (!allowed) return;
    await this.#counter.count({
      pageId: page.id,
      date,
      visitor: hashVisitor(salt, visit.address, page.id, agent),
      host: findReferrerHost(visit, this.#deps),
    });
  }

  async show(visit: PageRequest): Promise<PageResponse> {
    const page = await this.#getPage(visit);
    const preview = this.#isPreview(visit, page);
    if (pagePath(page) !== `/p/${visit.params.ref}`)
      return redirect(308, preview ? `${pagePath(page)}?preview=${visit.query.get("preview")}` : pagePath(page));
    const prefill = readPrefill(page, visit.query);
    const { brand, texts } = await this.#read(visit, page);
    const token = visit.query.get("preview");
    const kept = { ...(preview && token !== null && { preview: token }), ...prefill?.values };
    const document = renderLandingPage(page, brand, texts, this.#deps, prefill, kept);
    if (preview) return html(200, document, NO_STORE);
    if (isView(visit)) await this.#count(visit, page);
    if (prefill !== null) return html(200, document, NO_STORE);
    const etag = `"${hash("sha256", document.html, "base64url").slice(0, 27)}"`;
    const answer = html(200, document, [
      // Revalidated each time, so that an unpublished page disappears at once.
      ["cache-control", "public, no-cache"],
      ["vary", "accept-language"],
      ["etag", etag],
    ]);
    const known = visit
      .header("if-none-match")
      ?.split(",")
      .some((one) => one.trim().replace(/^W\//, "") === etag || one.trim() === "*");
    return known ? { ...answer, status: 304, body: null } : answer;
  }

  /** The body of a form. Throws ApiError unsupported_media_type, rate_limited or payload_too_large. */
  async #receiveForm(visit: PageRequest, page: PageRow): Promise<Uint8Array> {
    if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(visit.header("content-type") ?? ""))
      throw new ApiError("unsupported_media_type", "Send the form as application/x-www-form-urlencoded.");
    if (!/^(?:identity)?$/i.test(visit.header("content-encoding") ?? ""))
      throw new ApiError("unsupported_media_type", "Send the form without a Content-Encoding.");
    const { salt } = await getDailySalt(this.#deps);
    await limitRate(this.#limiter, `form:${hashVisitor(salt, visit.address)}`, FORMS);
    await limitRate(this.#limiter, `form:${page.id}`, FORMS_OF_PAGE);
    return visit.body(FORM_BYTES);
  }

  async submit(visit: PageRequest): Promise<PageResponse> {
    const page = await this.#getPage(visit);
    if (!page.hasForm) throw new ApiError("method_not_allowed", "This page has no sign-up form.", { headers: { allow: "GET, HEAD" } });
    const { brand, texts } = await this.#read(visit, page);
    const reading = readForm(page, texts, await this.#receiveForm(visit, page), this.#deps.config);
    if ("errors" in reading) return html(400, renderLandingPage(page, brand, texts, this.#deps, reading.errors), NO_STORE);
    if ("signup" in reading) await this.#signUps.add(page, { brand, texts }, reading.signup);
    if (page.redirectUrl !== null) return redirect(303, page.redirectUrl);
    const file =
      page.leadMagnetId === null
        ? ""
        : `?file=${downloadPath(this.#deps, page.leadMagnetId, LANDING_PAGE_LIMITS.downloadDays * DAY).slice("/f/".length)}`;
    return redirect(303, withLanguage(`${pagePath(page)}/thanks${file}`, texts));
  }

  async thank(visit: PageRequest): Promise<PageResponse> {
    const page = await this.#getPage(visit);
    if (!page.hasForm) throw pageNotFound();
    const token = visit.query.get("file") ?? "";
    const id = openLinkToken(this.#deps, "download", token);
    const { leadMagnets: m } = this.#deps.db.read.t;
    const [file] =
      id === null
        ? []
        : await this.#deps.db.read
            .select()
            .from(m)
            .where(and(eq(m.workspaceId, page.workspaceId), eq(m.id, id)));
    const { brand, texts, doubleOptIn } = await this.#read(visit, page);
    const document = renderThanksPage(page, brand, texts, {
      file: file ? { name: file.fileName, path: `/f/${token}` } : null,
      confirm: page.doubleOptIn || doubleOptIn,
      menu: file ? { file: token } : {},
    });
    return html(200, document, NO_STORE);
  }

  async unsubscribe(visit: PageRequest): Promise<PageResponse> {
    const page = await this.#getPage(visit);
    if (!page.hasForm) throw pageNotFound();
    const { brand, texts } = await this.#read(visit, page);
    if (visit.method !== "POST") return html(200, renderUnsubscribePage(page, brand, texts), NO_STORE);
    const email = await unsubscribeByForm(this.#deps, page, await this.#receiveForm(visit, page));
    if (email === null) return html(400, renderUnsubscribePage(page, brand, texts, texts.say("wrongEmail")), NO_STORE);
    return html(200, renderUnsubscribedPage(brand, texts, email), NO_STORE);
  }
}

function pageNotFound(): ApiError {
  return new ApiError("not_found", "It may have been removed.");
}

function html(status: number, { html: body, language, policy }: RenderedPage, headers: HeaderList): PageResponse {
  return {
    status,
    headers: [
      ["content-type", "text/html; charset=utf-8"],
      ["content-language", language],
      ["content-security-policy", policy],
      ["cross-origin-resource-policy", "same-origin"],
      ...headers,
    ],
    body,
  };
}

function redirect(status: 303 | 308, location: string): PageResponse {
  return {
    status,
    headers: [
      ["location", location],
      ["cache-control", "no-store"],
    ],
    body: null,
  };
}

/** The host of the referring page; null for none, for this server itself and for other schemes. */
function findReferrerHost(visit: PageRequest, deps: PageDeps): string | null {
  const text = visit.header("referer") ?? "";
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return null;
  const { hostname } = new URL(text);
  return hostname === "" || hostname.length > 253 || hostname === new URL(deps.baseUrl()).hostname ? null : hostname.replace(/^www\./, "");
}

/** True if a request is a person's view, not a prefetch or a crawler. */
function isView(visit: PageRequest): boolean {
  return (
    visit.method === "GET" &&
    !/prefetch|prerender/i.test(visit.header("sec-purpose") ?? visit.header("purpose") ?? "") &&
    !BOTS.test(visit.header("user-agent") ?? "")
  );
}

async function limitRate(limiter: Limiter, name: string, rate: Rate): Promise<void> {
  const taken = await limiter.take(name, rate);
  if (taken.allowed) return;
  throw new ApiError("rate_limited", RECIPIENT_TEXTS.waitText, {
    headers: { "retry-after": String(taken.reset) },
  });
}
