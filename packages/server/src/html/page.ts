import { hash } from "node:crypto";
import { escapeHtml } from "./escape.ts";
import { buildStyle, type ThemeColors, type ThemeFonts } from "./theme.ts";

/** The parts of a brand that its pages show. */
export interface PageBrand {
  readonly name: string;
  readonly website: string | null;
  /** Path of its logo on this server. */
  readonly logo: string | null;
  readonly colors: ThemeColors;
  readonly fonts: ThemeFonts;
  /** BCP 47, as in `lang`. */
  readonly locale: string;
}

/** A whole page, and the Content-Security-Policy it is served under. */
export interface RenderedPage {
  readonly html: string;
  readonly policy: string;
}

interface PageContent {
  /** Null for pages of the service itself. */
  readonly brand: PageBrand | null;
  readonly title: string;
  readonly description?: string | undefined;
  /** Absolute addresses of the page, and of the image that shared links show. */
  readonly url?: string;
  readonly image?: string | undefined;
  /** HTML. Everything else is text. */
  readonly main: string;
  /** Path of the page on which visitors unsubscribe from the brand's mail. */
  readonly unsubscribePath?: string | undefined;
  /** True if search engines may list it. */
  readonly listed?: boolean;
  /** True if `main` sets colors itself. */
  readonly colored?: boolean;
  /** The language of the page, BCP 47; English for the texts of the service. */
  readonly locale?: string;
  /** The origin of another server to which its form leads in the end. */
  readonly sendsTo?: string | null;
}

/** A page in the brand's colors and fonts, or in neutral ones. */
export function renderPage({
  brand,
  title,
  description,
  url,
  image,
  main,
  unsubscribePath,
  listed = false,
  colored = false,
  locale = "en",
  sendsTo = null,
}: PageContent): RenderedPage {
  const style = buildStyle(brand?.colors ?? {}, brand?.fonts ?? {}, colored);
  const head = [
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(title)}</title>`,
    meta("description", description),
    listed ? "" : meta("robots", "noindex"),
    url === undefined ? "" : `<link rel="canonical" href="${escapeHtml(url)}">`,
    meta("og:type", url === undefined ? undefined : "website", "property"),
    meta("og:title", url === undefined ? undefined : title, "property"),
    meta("og:description", url === undefined ? undefined : description, "property"),
    meta("og:url", url, "property"),
    meta("og:image", image, "property"),
    `<style>${style}</style>`,
  ].join("");
  const html = `<!doctype html>
<html lang="${escapeHtml(locale)}" dir="${getDirection(locale)}"><head>${head}</head>
<body>${brand === null ? "" : renderHeader(brand)}<main><div class="frame">${main}</div></main>
${brand === null ? "" : renderFooter(brand, unsubscribePath)}</body></html>
`;
  return { html, policy: buildPolicy(style, sendsTo) };
}

/** Stands in sentences for a brand that has no name yet; its pages and mails have no heading and no footer with a name. */
export const NO_NAME = "this sender";

/** A short page that says or asks one thing, such as what a link in a mail leads to. `body` is HTML, `title` is text. */
export function renderMessage(title: string, body: string, brand: PageBrand | null = null): RenderedPage {
  const main = `<div class="message"><h1>${escapeHtml(title)}</h1>${body}</div>`;
  return renderPage({ brand, title: brand === null || brand.name === NO_NAME ? title : `${title} · ${brand.name}`, main });
}

/** Builds the response of a `PublicPage` with a page that belongs to one person: neither caches nor search engines keep it. */
export function toPrivateResponse({ html, policy }: RenderedPage): { status: number; headers: [string, string][]; body: string } {
  return {
    status: 200,
    headers: [
      ["content-type", "text/html; charset=utf-8"],
      ["content-security-policy", policy],
      ["cache-control", "no-store"],
      ["x-robots-tag", "noindex"],
    ],
    body: html,
  };
}

/** A name or an address within a sentence, as HTML. One written from right to left leaves the sentence in order. */
export function renderName(text: string): string {
  return `<b dir="auto">${escapeHtml(text)}</b>`;
}

const RIGHT_TO_LEFT = new Set(["Adlm", "Arab", "Hebr", "Nkoo", "Rohg", "Syrc", "Thaa"]);

function getDirection(locale: string): "ltr" | "rtl" {
  return RIGHT_TO_LEFT.has(new Intl.Locale(locale).maximize().script ?? "") ? "rtl" : "ltr";
}

function renderHeader({ name, logo }: PageBrand): string {
  if (name === NO_NAME && logo === null) return "";
  const shown = logo === null ? `<b>${escapeHtml(name)}</b>` : `<img src="${escapeHtml(logo)}" alt="${escapeHtml(name)}">`;
  return `<header class="top"><div class="frame">${shown}</div></header>\n`;
}

function renderFooter({ name, website }: PageBrand, unsubscribePath: string | undefined): string {
  const text = `<bdi>${escapeHtml(name)}</bdi>`;
  const safe = website !== null && /^https?:\/\//.test(website);
  const link = safe ? `<a href="${escapeHtml(website)}" rel="noopener noreferrer">${text}</a>` : text;
  const parts = [
    ...(name === NO_NAME ? [] : [link]),
    ...(unsubscribePath === undefined ? [] : [`<a href="${escapeHtml(unsubscribePath)}">Unsubscribe</a>`]),
  ];
  return parts.length === 0 ? "" : `<footer class="bottom"><div class="frame">${parts.join(" · ")}</div></footer>`;
}

/** The Content-Security-Policy of pages whose style sheet is not known where they are served. */
export const PAGE_POLICY = buildPolicy(null);

/**
 * A page may be looked at, show images of the asset library, and send its form to this server. The sandbox also denies
 * scripts and this server's origin, should the rest ever fail.
 */
function buildPolicy(style: string | null, sendsTo: string | null = null): string {
  return [
    "default-src 'none'",
    "img-src 'self'",
    style === null ? "style-src 'unsafe-inline'" : `style-src 'sha256-${hash("sha256", style, "base64")}'`,
    "style-src-attr 'unsafe-inline'",
    `form-action 'self'${sendsTo === null ? "" : ` ${sendsTo}`}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "sandbox allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads",
  ].join("; ");
}

function meta(name: string, content: string | undefined, key = "name"): string {
  return content === undefined ? "" : `<meta ${key}="${name}" content="${escapeHtml(content)}">`;
}
