import { hash } from "node:crypto";
import { escapeHtml } from "./escape.ts";
import { ENGLISH, getDirection, type OwnTexts, type Texts } from "./texts.ts";
import { buildStyle, type ThemeColors, type ThemeFonts } from "./theme.ts";

/** The parts of a brand that its pages show. */
export interface PageBrand {
  /** Null until somebody has named it: its pages and mails have no heading and no footer with a name. */
  readonly name: string | null;
  readonly website: string | null;
  /** Path of its logo on this server. */
  readonly logo: string | null;
  readonly colors: ThemeColors;
  readonly fonts: ThemeFonts;
  /** Its language, a tag of BCP 47; null while none is chosen. */
  readonly locale: string | null;
  readonly texts: OwnTexts;
}

/** A whole page, its language, and the Content-Security-Policy it is served under. */
export interface RenderedPage {
  readonly html: string;
  readonly language: string;
  readonly policy: string;
}

interface PageContent {
  /** Null for pages of the service itself. */
  readonly brand: PageBrand | null;
  readonly texts: Texts;
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
  /** The language of `main`, where it is not that of the texts. */
  readonly locale?: string | null;
  /** Lets the reader choose another language; the values stay in the address of the page. */
  readonly menu?: Readonly<Record<string, string>>;
  /** The origin of another server to which its form leads in the end. */
  readonly sendsTo?: string | null;
}

/** A page in the brand's colors and fonts, or in neutral ones. */
export function renderPage({
  brand,
  texts,
  title,
  description,
  url,
  image,
  main,
  unsubscribePath,
  listed = false,
  colored = false,
  locale = null,
  menu,
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
  const language = locale ?? texts.language;
  const html = `<!doctype html>
<html lang="${escapeHtml(language)}" dir="${getDirection(language)}"><head>${head}</head>
<body>${brand === null ? "" : renderHeader(brand)}<main><div class="frame">${main}</div></main>
${renderFooter(brand, texts, language, unsubscribePath, menu)}</body></html>
`;
  return { html, language, policy: buildPolicy(style, sendsTo) };
}

/** A short page that says or asks one thing, such as what a link in a mail leads to. `body` is HTML, `title` is text. */
export function renderMessage(
  title: string,
  body: string,
  { brand = null, texts = ENGLISH, menu }: Partial<Pick<PageContent, "brand" | "texts" | "menu">> = {},
): RenderedPage {
  const main = `<div class="message"><h1>${escapeHtml(title)}</h1>${body}</div>`;
  const full = brand?.name ? `${title} · ${brand.name}` : title;
  return renderPage({ brand, texts, title: full, main, ...(menu && { menu }) });
}

/** Builds the response of a `PublicPage` with a page that belongs to one person: neither caches nor search engines keep it. */
export function toPrivateResponse({ html, language, policy }: Omit<RenderedPage, "language"> & { readonly language?: string }): {
  status: number;
  headers: [string, string][];
  body: string;
} {
  return {
    status: 200,
    headers: [
      ["content-type", "text/html; charset=utf-8"],
      ...(language === undefined ? [] : [["content-language", language] satisfies [string, string]]),
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

/** The sender in a sentence, as HTML: the brand, or "this sender" until it has a name. */
export function renderSender({ name }: PageBrand, texts: Texts): string {
  return name === null ? escapeHtml(texts.say("unnamedSender")) : renderName(name);
}

function renderHeader({ name, logo }: PageBrand): string {
  if (name === null && logo === null) return "";
  const shown =
    logo === null ? `<b dir="auto">${escapeHtml(name ?? "")}</b>` : `<img src="${escapeHtml(logo)}" alt="${escapeHtml(name ?? "")}">`;
  return `<header class="top"><div class="frame">${shown}</div></header>\n`;
}

function renderFooter(
  brand: PageBrand | null,
  texts: Texts,
  language: string,
  unsubscribePath: string | undefined,
  menu: PageContent["menu"],
): string {
  const parts = [
    ...(brand?.name ? [renderWebsite(brand.name, brand.website)] : []),
    ...(unsubscribePath === undefined ? [] : [`<a href="${escapeHtml(unsubscribePath)}">${texts.html("unsubscribe")}</a>`]),
  ];
  if (parts.length === 0 && menu === undefined) return "";
  const other = language === texts.language ? "" : texts.attributes;
  return `<footer class="bottom"${other}><div class="frame">${parts.length === 0 ? "" : `<span>${parts.join(" · ")}</span>`}${menu === undefined ? "" : renderMenu(texts, menu)}</div></footer>`;
}

function renderWebsite(name: string, website: string | null): string {
  const text = `<bdi>${escapeHtml(name)}</bdi>`;
  const safe = website !== null && /^https?:\/\//.test(website);
  return safe ? `<a href="${escapeHtml(website)}" rel="noopener noreferrer">${text}</a>` : text;
}

/** Links to the same page in each language. */
function renderMenu(texts: Texts, kept: Readonly<Record<string, string>>): string {
  const items = texts.listLanguages().map(({ tag, name }) => {
    const query = new URLSearchParams({ ...kept, lang: tag });
    const current = tag === texts.language ? ' aria-current="true"' : "";
    return `<li><a href="?${escapeHtml(query.toString())}" lang="${escapeHtml(tag)}" hreflang="${escapeHtml(tag)}" rel="nofollow"${current}><bdi>${escapeHtml(name)}</bdi></a></li>`;
  });
  return `<details class="languages"><summary>${texts.html("language")}</summary><ul>${items.join("")}</ul></details>`;
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
