import { hash } from "node:crypto";
import { escapeHtml } from "../../../lib/html.ts";
import type { BrandRow } from "../../brand/brand.ts";
import { assetPath } from "../../files/links.ts";
import { themeOf } from "./theme.ts";

/** A whole page, and the policy it is served under. */
export interface Document {
  readonly html: string;
  readonly policy: string;
}

export interface DocumentParts {
  readonly brand: BrandRow;
  readonly title: string;
  readonly description?: string | undefined;
  /** Whole address of the page, and of the picture shared links show. */
  readonly url?: string;
  readonly image?: string | undefined;
  readonly main: string;
  /** Whether search engines may list it. */
  readonly listed: boolean;
  /** Whether `main` sets colors itself. */
  readonly colored?: boolean;
}

/** Puts a page together, in the brand's look. `main` is HTML; everything else is text. */
export function documentOf({ brand, title, description, url, image, main, listed, colored = false }: DocumentParts): Document {
  const style = themeOf(brand, colored);
  const name = escapeHtml(brand.name);
  const logo = brand.logoAssetId === null ? `<b>${name}</b>` : `<img src="${assetPath(escapeHtml(brand.logoAssetId))}" alt="${name}">`;
  const website = safeWebsite(brand.website);
  const home = website === null ? name : `<a href="${escapeHtml(website)}" rel="noopener noreferrer">${name}</a>`;
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
<html lang="${escapeHtml(brand.locale)}"><head>${head}</head>
<body><header class="top"><div class="frame">${logo}</div></header>
<main><div class="frame">${main}</div></main>
<footer class="bottom"><div class="frame">${home}</div></footer></body></html>
`;
  return { html, policy: policyOf(style) };
}

/**
 * What a page may do: be looked at, show images of the asset library, and send its form here. The sandbox takes scripts and
 * this server's origin away from it as well, should the rest ever fail.
 */
function policyOf(style: string): string {
  return [
    "default-src 'none'",
    "img-src 'self'",
    `style-src 'sha256-${hash("sha256", style, "base64")}'`,
    "style-src-attr 'unsafe-inline'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "sandbox allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads",
  ].join("; ");
}

function safeWebsite(website: string | null): string | null {
  return website !== null && /^https?:\/\//.test(website) ? website : null;
}

function meta(name: string, content: string | undefined, key = "name"): string {
  return content === undefined ? "" : `<meta ${key}="${name}" content="${escapeHtml(content)}">`;
}
