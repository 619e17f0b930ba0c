import { FORM_MARK } from "../../../html/sanitize.ts";
import { escapeHtml } from "../../../lib/html.ts";
import type { BrandRow } from "../../brand/brand.ts";
import { assetPath } from "../../files/links.ts";
import { type PageRow, pagePath, pageUrl } from "../address.ts";
import { blocksHtml } from "./blocks.ts";
import { type Document, documentOf } from "./document.ts";
import { type Faults, formHtml } from "./form.ts";

interface Place {
  baseUrl(): string;
}

/** A style that sets a color, as the sanitiser writes it. It does not look for the end: in a text there may be none. */
const COLORED = / style="[^"]*(?:color|background|border|shadow)/;

/** A landing page as visitors see it. With `faults`, as it comes back to one whose form was not right. */
export function landingPage(page: PageRow, brand: BrandRow, place: Place, faults: Faults | null = null): Document {
  const body = page.html ?? blocksHtml(page.blocks ?? []);
  const content = /<h1[\s>]/.test(body) ? body : `<h1>${escapeHtml(page.title)}</h1>${body}`;
  const { title = page.title, description, ogAssetId } = page.seo;
  return documentOf({
    brand,
    title,
    description,
    url: pageUrl(place, page),
    image: ogAssetId === undefined ? undefined : `${place.baseUrl()}${assetPath(ogAssetId)}`,
    main: page.hasForm ? withForm(content, formHtml(page.form, pagePath(page), brand.name, faults)) : content,
    listed: page.status === "PUBLISHED" && faults === null,
    colored: COLORED.test(body),
  });
}

export interface Thanks {
  /** The path of the file people signed up for. */
  readonly download: string | null;
  readonly fileName: string | null;
  /** Whether a mail asks them to confirm. */
  readonly confirm: boolean;
}

/** What people see once they have signed up: the same for all, whether their address was known or not. */
export function thanksPage(page: PageRow, brand: BrandRow, { download, fileName, confirm }: Thanks): Document {
  const text = page.form?.thanksText ?? (confirm ? "You are almost there." : "You are signed up.");
  const lines = text.split(/\r?\n+/).map((line) => `<p>${escapeHtml(line)}</p>`);
  if (confirm) lines.push("<p>A mail is on its way to you. Please confirm with the link in it.</p>");
  if (download !== null)
    lines.push(
      `<p><a class="button" href="${escapeHtml(download)}">Download ${escapeHtml(fileName ?? "the file")}</a></p><p class="muted">The link works for 7 days.</p>`,
    );
  return documentOf({
    brand,
    title: page.form?.thanksTitle ?? "Thank you",
    main: `<h1>${escapeHtml(page.form?.thanksTitle ?? "Thank you")}</h1>${lines.join("")}`,
    listed: false,
  });
}

/** The form where it was put, once; at the end when it was put nowhere. */
function withForm(body: string, form: string): string {
  const at = body.indexOf(FORM_MARK);
  if (at === -1) return body + form;
  return body.slice(0, at) + form + body.slice(at + FORM_MARK.length).replaceAll(FORM_MARK, "");
}
