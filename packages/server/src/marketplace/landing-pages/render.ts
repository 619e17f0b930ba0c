import { CONTACT_TEXTS, type FormField, labelContactText, mapContactTexts, type PageBlock, type PageForm } from "@mailsvc/sdk/contract";
import { escapeHtml, serializeAttribute } from "../../html/escape.ts";
import { type PageBrand, type RenderedPage, renderMessage, renderName, renderPage } from "../../html/page.ts";
import { FORM_MARK } from "../../html/sanitize.ts";
import { assetPath, linkTarget } from "../../html/urls.ts";
import type { AgentDeps } from "../agent-access.ts";
import { type PageRow, pagePath, pageUrl, unsubscribePath } from "./pages.ts";

/** Name of the honeypot field, which people do not see and bots fill. */
export const HONEYPOT = "topic";

/** A form that was refused: its values, and one sentence for each wrong field. */
export interface FormErrors {
  readonly values: Readonly<Record<string, string>>;
  readonly wrong: Readonly<Record<string, string>>;
}

type Field = "email" | FormField;

const FIELDS: Readonly<Record<Field, { label: string; type: string; complete: string; max: number }>> = {
  email: { label: "Email address", type: "email", complete: "email", max: 254 },
  ...mapContactTexts((field) => {
    const { input, autocomplete, maxLength } = CONTACT_TEXTS[field];
    return { label: labelContactText(field), type: input, complete: autocomplete, max: maxLength };
  }),
};

// A style that sets a color, as the sanitizer writes it.
const COLORED = / style="[^"]*(?:color|background|border|shadow)/;

/** A landing page as visitors see it; with `errors`, after their form was refused. */
export function renderLandingPage(
  page: PageRow,
  brand: PageBrand,
  deps: Pick<AgentDeps, "baseUrl">,
  errors: FormErrors | null = null,
): RenderedPage {
  const body = page.html ?? renderBlocks(page.blocks ?? []);
  const content = /<h1[\s>]/.test(body) ? body : `<h1>${escapeHtml(page.title)}</h1>${body}`;
  const { title = page.title, description, ogAssetId } = page.seo;
  return renderPage({
    brand,
    title,
    description,
    url: pageUrl(deps, page),
    image: ogAssetId === undefined ? undefined : `${deps.baseUrl()}${assetPath(ogAssetId)}`,
    main: page.hasForm ? insertForm(content, renderForm(page.form, pagePath(page), brand.name, errors)) : content,
    unsubscribePath: page.hasForm ? unsubscribePath(page) : undefined,
    listed: page.status === "PUBLISHED" && errors === null,
    colored: COLORED.test(body),
    locale: brand.locale,
    sendsTo: page.redirectUrl === null ? null : new URL(page.redirectUrl).origin,
  });
}

/** The form of a page as HTML for other pages: without a style of its own, and its hidden field hidden without ours. */
export function renderSnippet(page: PageRow, url: string, brandName: string): string {
  return renderForm(page.form, url, brandName, null)
    .replace(`action="${url}#signup"`, `action="${url}"`)
    .replace('class="trap"', 'style="position:absolute;left:-10000px"');
}

interface Thanks {
  /** Path of the file they signed up for. */
  readonly download: string | null;
  readonly fileName: string | null;
  /** True if a confirmation email was sent. */
  readonly confirm: boolean;
}

/** The page after a sign-up. It is the same whether or not the address was known. */
export function renderThanksPage(page: PageRow, brand: PageBrand, { download, fileName, confirm }: Thanks): RenderedPage {
  const text = page.form?.thanksText ?? (confirm ? "You're almost done." : "You're signed up.");
  const lines = text.split(/\r?\n+/).map((line) => `<p>${escapeHtml(line)}</p>`);
  if (confirm) lines.push("<p>Please confirm your subscription with the link in the email we've sent you.</p>");
  if (download !== null)
    lines.push(
      `<p><a class="button" href="${escapeHtml(download)}">Download ${escapeHtml(fileName ?? "the file")}</a></p><p class="muted">This link expires in 7 days.</p>`,
    );
  return renderPage({
    brand,
    title: page.form?.thanksTitle ?? "Thank you",
    main: `<h1>${escapeHtml(page.form?.thanksTitle ?? "Thank you")}</h1>${lines.join("")}`,
    unsubscribePath: unsubscribePath(page),
    locale: brand.locale,
  });
}

/** The page on which visitors unsubscribe, for those who have no mail with a link; with `error`, after an invalid address. */
export function renderUnsubscribePage(page: PageRow, brand: PageBrand, error: string | null = null): RenderedPage {
  const [attributes, text] = renderError("email", error === null ? null : { values: {}, wrong: { email: error } });
  return renderMessage(
    "Unsubscribe",
    `<p>Enter your email address to stop marketing email from ${renderName(brand.name)}.</p><form class="signup" method="post" action="${unsubscribePath(page)}"><p><label for="email">Email address</label><input id="email" name="email" type="email" autocomplete="email" maxlength="254" required${attributes}></p>${text}<button>Unsubscribe</button></form>`,
    brand,
  );
}

/** The page after that. It is the same whether or not the address was known. */
export function renderUnsubscribedPage(brand: PageBrand, email: string): RenderedPage {
  return renderMessage(
    "You're unsubscribed",
    `<p>${renderName(email)} will no longer receive marketing email from ${renderName(brand.name)}.</p>`,
    brand,
  );
}

/** The consent people give by sending a form. */
export function getConsentText(form: PageForm | null, brandName: string): string {
  return form?.consentText ?? `By signing up, you agree to receive email from ${brandName}. You can unsubscribe at any time.`;
}

/** Puts the form in its place, or at the end when it has none. */
function insertForm(body: string, form: string): string {
  const at = body.indexOf(FORM_MARK);
  if (at === -1) return body + form;
  return body.slice(0, at) + form + body.slice(at + FORM_MARK.length).replaceAll(FORM_MARK, "");
}

function renderBlocks(blocks: readonly PageBlock[]): string {
  return blocks.map(renderBlock).join("\n");
}

function renderParagraphs(text: string): string {
  return text
    .split(/(?:\r?\n){2,}/)
    .filter((part) => part.trim() !== "")
    .map((part) => `<p>${escapeHtml(part.trim()).replace(/\r?\n/g, "<br>")}</p>`)
    .join("");
}

function renderBlock(block: PageBlock): string {
  switch (block.type) {
    case "heading":
      return `<h${block.level}>${escapeHtml(block.text)}</h${block.level}>`;
    case "text":
      return renderParagraphs(block.text);
    case "image": {
      const caption = block.caption === undefined ? "" : `<figcaption>${escapeHtml(block.caption)}</figcaption>`;
      return `<figure><img src="${assetPath(escapeHtml(block.assetId))}" alt="${escapeHtml(block.alt)}" loading="lazy">${caption}</figure>`;
    }
    case "list": {
      const tag = block.ordered ? "ol" : "ul";
      return `<${tag}>${block.items.map((item) => `<li>${escapeHtml(item)}</li>`).join("")}</${tag}>`;
    }
    case "quote":
      return `<blockquote>${renderParagraphs(block.text)}${block.by === undefined ? "" : `<footer>${escapeHtml(block.by)}</footer>`}</blockquote>`;
    case "button": {
      const target = linkTarget(block.href);
      return target === null
        ? ""
        : `<p><a class="button" href="${serializeAttribute(target)}" rel="noopener noreferrer">${escapeHtml(block.label)}</a></p>`;
    }
    case "divider":
      return "<hr>";
    case "form":
      return FORM_MARK;
  }
}

/** The sign-up form. `action` is the path of its page. */
function renderForm(form: PageForm | null, action: string, brandName: string, errors: FormErrors | null): string {
  const consent = escapeHtml(getConsentText(form, brandName));
  const [attributes, text] = renderError("consent", errors);
  const agree = form?.consentCheckbox
    ? `<p class="agree"><input id="consent" name="consent" type="checkbox" value="yes" required${attributes}><label for="consent">${consent}</label></p>${text}`
    : "";
  const title = form?.title ? `<h2>${escapeHtml(form.title)}</h2>` : "";
  const fields = (["email", ...new Set(form?.fields)] as Field[]).map((name) => renderField(name, form, errors)).join("");
  const honeypot = `<p class="trap" aria-hidden="true"><label for="${HONEYPOT}">Leave this empty</label><input id="${HONEYPOT}" name="${HONEYPOT}" type="text" tabindex="-1" autocomplete="off"></p>`;
  return `<form class="signup" id="signup" method="post" action="${action}#signup" accept-charset="utf-8">${title}${fields}${honeypot}${agree}<button type="submit">${escapeHtml(
    form?.button ?? "Sign up",
  )}</button>${form?.consentCheckbox ? "" : `<p class="consent" dir="auto">${consent}</p>`}</form>`;
}

function renderError(name: string, errors: FormErrors | null): [attributes: string, text: string] {
  const text = errors?.wrong[name];
  return text === undefined
    ? ["", ""]
    : [` aria-invalid="true" aria-describedby="wrong-${name}"`, `<div class="wrong" id="wrong-${name}">${escapeHtml(text)}</div>`];
}

function renderField(name: Field, form: PageForm | null, errors: FormErrors | null): string {
  const { label, type, complete, max } = FIELDS[name];
  const [attributes, text] = renderError(name, errors);
  const value = errors?.values[name];
  return `<p><label for="${name}">${escapeHtml(form?.labels?.[name] ?? label)}</label><input id="${name}" name="${name}" type="${type}" autocomplete="${complete}" maxlength="${max}"${
    name === "email" ? " required" : ""
  }${value ? ` value="${escapeHtml(value)}"` : ""}${attributes}></p>${text}`;
}
