import { CONTACT_TEXTS, type FormField, LANDING_PAGE_LIMITS, type PageBlock, type PageForm } from "@mailsvc/sdk/contract";
import { escapeHtml, serializeAttribute } from "../../html/escape.ts";
import { type PageBrand, type RenderedPage, renderMessage, renderName, renderPage, renderSender } from "../../html/page.ts";
import { FORM_MARK } from "../../html/sanitize.ts";
import { chooseTexts, type Texts } from "../../html/texts.ts";
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

const FIELDS: Readonly<Record<Field, { label: FormField | "emailAddress"; type: string; complete: string; max: number }>> = {
  email: { label: "emailAddress", type: "email", complete: "email", max: 254 },
  firstName: toInput("firstName"),
  lastName: toInput("lastName"),
  phone: toInput("phone"),
};

function toInput(field: FormField) {
  const { input, autocomplete, maxLength } = CONTACT_TEXTS[field];
  return { label: field, type: input, complete: autocomplete, max: maxLength };
}

// A style that sets a color, as the sanitizer writes it.
const COLORED = / style="[^"]*(?:color|background|border|shadow)/;

/**
 * A landing page as visitors see it; with `errors`, after their form was refused. The language of its form can be chosen, and `kept` stays
 * in its address then.
 */
export function renderLandingPage(
  page: PageRow,
  brand: PageBrand,
  texts: Texts,
  deps: Pick<AgentDeps, "baseUrl">,
  errors: FormErrors | null = null,
  kept: Readonly<Record<string, string>> = {},
): RenderedPage {
  const body = page.html ?? renderBlocks(page.blocks ?? []);
  const content = /<h1[\s>]/.test(body) ? body : `<h1>${escapeHtml(page.title)}</h1>${body}`;
  const { title = page.title, description, ogAssetId } = page.seo;
  return renderPage({
    brand,
    texts,
    title,
    description,
    url: pageUrl(deps, page),
    image: ogAssetId === undefined ? undefined : `${deps.baseUrl()}${assetPath(ogAssetId)}`,
    main: page.hasForm ? insertForm(content, renderForm(page, brand, texts, errors)) : content,
    unsubscribePath: page.hasForm ? withLanguage(unsubscribePath(page), texts) : undefined,
    listed: page.status === "PUBLISHED" && errors === null,
    colored: COLORED.test(body),
    locale: getPageLanguage(brand),
    ...(page.hasForm && { menu: kept }),
    sendsTo: page.redirectUrl === null ? null : new URL(page.redirectUrl).origin,
  });
}

/**
 * The form of a page as HTML for other pages, whose language may be another: without a style of its own, and its hidden field hidden without
 * ours. Moved out of sight to the left, it would make a page from right to left ten thousand pixels wide.
 */
export function renderSnippet(page: PageRow, url: string, brand: PageBrand): string {
  const texts = chooseTexts(brand.texts, [brand.locale]);
  return renderForm(page, brand, texts, null)
    .replace(`action="${pagePath(page)}#signup"`, `action="${url}"${texts.attributes}`)
    .replaceAll("</label><input", "</label><br><input")
    .replace('class="trap"', 'style="position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden"');
}

interface Thanks {
  /** The file they signed up for, and its path; null without one. */
  readonly file: { readonly name: string; readonly path: string } | null;
  /** True if a confirmation email was sent. */
  readonly confirm: boolean;
  /** Values that stay in the address of the page when its language changes. */
  readonly menu: Readonly<Record<string, string>>;
}

/** The page after a sign-up. It is the same whether or not the address was known. */
export function renderThanksPage(page: PageRow, brand: PageBrand, texts: Texts, { file, confirm, menu }: Thanks): RenderedPage {
  const text = page.form?.thanksText ?? texts.say(confirm ? "thanksAlmost" : "thanksDone");
  const lines = text.split(/\r?\n+/).map((line) => `<p dir="auto">${escapeHtml(line)}</p>`);
  if (confirm) lines.push(`<p>${texts.html("thanksConfirm")}</p>`);
  if (file !== null) {
    const label = texts.html("download", { file: `<bdi>${escapeHtml(file.name)}</bdi>` });
    const expires = texts.html("expiresInDays", { count: LANDING_PAGE_LIMITS.downloadDays });
    lines.push(`<p><a class="button" href="${escapeHtml(file.path)}">${label}</a></p><p class="muted">${expires}</p>`);
  }
  const title = page.form?.thanksTitle ?? texts.say("thanksTitle");
  return renderPage({
    ...{ brand, texts, title, menu },
    main: `<h1 dir="auto">${escapeHtml(title)}</h1>${lines.join("")}`,
    unsubscribePath: withLanguage(unsubscribePath(page), texts),
  });
}

/** The page on which visitors unsubscribe, for those who have no mail with a link; with `error`, after an invalid address. */
export function renderUnsubscribePage(page: PageRow, brand: PageBrand, texts: Texts, error: string | null = null): RenderedPage {
  const [attributes, text] = renderError("email", error === null ? null : { values: {}, wrong: { email: error } });
  const unsubscribe = texts.html("unsubscribe");
  return renderMessage(
    texts.say("unsubscribe"),
    `<p>${texts.html("enterAddress", { sender: renderSender(brand, texts) })}</p><form class="signup" method="post" action="${escapeHtml(withLanguage(unsubscribePath(page), texts))}"><p><label for="email">${texts.html("emailAddress")}</label><input id="email" name="email" type="email" dir="ltr" autocomplete="email" maxlength="254" required${attributes}></p>${text}<button>${unsubscribe}</button></form>`,
    { brand, texts, menu: {} },
  );
}

/** The page after that. It is the same whether or not the address was known. */
export function renderUnsubscribedPage(brand: PageBrand, texts: Texts, email: string): RenderedPage {
  const sender = renderSender(brand, texts);
  const text = texts.html("unsubscribedText", { address: renderName(email), sender });
  return renderMessage(texts.say("unsubscribedTitle"), `<p>${text}</p>`, { brand, texts, menu: {} });
}

/** The consent people give by sending a form, in the language that they read it in. */
export function getConsentText(form: PageForm | null, brand: PageBrand, texts: Texts): string {
  return form?.consentText ?? texts.say("consent", { sender: brand.name ?? texts.say("unnamedSender") });
}

/** The language of what a page's author wrote. */
function getPageLanguage({ locale }: PageBrand): string {
  return locale ?? "en";
}

/** The address of a page with the language that the reader chose on the page before. */
export function withLanguage(path: string, { chooser, language }: Texts): string {
  return chooser === "menu" ? `${path}${path.includes("?") ? "&" : "?"}lang=${language}` : path;
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

/** The sign-up form; it may be in another language than its page. */
function renderForm(page: PageRow, brand: PageBrand, texts: Texts, errors: FormErrors | null): string {
  const { form } = page;
  const action = escapeHtml(withLanguage(pagePath(page), texts));
  const consent = escapeHtml(getConsentText(form, brand, texts));
  const [attributes, text] = renderError("consent", errors);
  const agree = form?.consentCheckbox
    ? `<p class="agree"><input id="consent" name="consent" type="checkbox" value="yes" required${attributes}><label for="consent">${consent}</label></p>${text}`
    : "";
  const title = form?.title ? `<h2>${escapeHtml(form.title)}</h2>` : "";
  const fields = (["email", ...new Set(form?.fields)] as Field[]).map((name) => renderField(name, form, texts, errors)).join("");
  const honeypot = `<p class="trap" aria-hidden="true"><label for="${HONEYPOT}">${texts.html("leaveEmpty")}</label><input id="${HONEYPOT}" name="${HONEYPOT}" type="text" tabindex="-1" autocomplete="off"></p>`;
  return `<form class="signup" id="signup"${getPageLanguage(brand) === texts.language ? "" : texts.attributes} method="post" action="${action}#signup" accept-charset="utf-8">${title}${fields}${honeypot}${agree}<button type="submit">${escapeHtml(
    form?.button ?? texts.say("signUp"),
  )}</button>${form?.consentCheckbox ? "" : `<p class="consent" dir="auto">${consent}</p>`}</form>`;
}

function renderError(name: string, errors: FormErrors | null): [attributes: string, text: string] {
  const text = errors?.wrong[name];
  return text === undefined
    ? ["", ""]
    : [` aria-invalid="true" aria-describedby="wrong-${name}"`, `<div class="wrong" id="wrong-${name}">${escapeHtml(text)}</div>`];
}

function renderField(name: Field, form: PageForm | null, texts: Texts, errors: FormErrors | null): string {
  const { label, type, complete, max } = FIELDS[name];
  const [attributes, text] = renderError(name, errors);
  const value = errors?.values[name];
  return `<p><label for="${name}">${escapeHtml(form?.labels?.[name] ?? texts.say(label))}</label><input id="${name}" name="${name}" type="${type}"${name === "email" || name === "phone" ? ' dir="ltr"' : ""} autocomplete="${complete}" maxlength="${max}"${
    name === "email" ? " required" : ""
  }${value ? ` value="${escapeHtml(value)}"` : ""}${attributes}></p>${text}`;
}
