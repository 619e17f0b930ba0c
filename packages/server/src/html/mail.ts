import { escapeHtml } from "./escape.ts";
import type { PageBrand } from "./page.ts";
import { getButtonColors } from "./theme.ts";

/** A short mail of the service, with one thing to do. Everything in it is text. */
export interface MailContent {
  readonly brand: PageBrand;
  /** Address of this server, for the brand's logo. */
  readonly baseUrl: string;
  readonly title: string;
  readonly paragraphs: readonly string[];
  readonly button: { readonly label: string; readonly url: string };
  /** What follows the button, in small letters. */
  readonly notes: readonly string[];
  readonly unsubscribeUrl: string;
}

const FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

/** The HTML and text of a mail in the brand's colors. Styles are inline and simple, as mail programs need them. */
export function renderMail(mail: MailContent): { html: string; text: string } {
  return { html: renderHtml(mail), text: renderText(mail) };
}

function renderHtml({ brand, baseUrl, title, paragraphs, button, notes, unsubscribeUrl }: MailContent): string {
  const { background, color } = getButtonColors(brand.colors);
  const name = escapeHtml(brand.name);
  const header =
    brand.logo === null
      ? `<b>${name}</b>`
      : `<img src="${escapeHtml(baseUrl + brand.logo)}" alt="${name}" height="40" style="height:40px;width:auto;border:0">`;
  const paragraph = (text: string, style: string): string => `<p style="margin:0 0 16px;${style}">${escapeHtml(text)}</p>`;
  return `<!doctype html>
<html lang="${escapeHtml(brand.locale)}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title></head>
<body style="margin:0;padding:32px 20px;background:#ffffff;color:#1b1f24;${FONT};font-size:16px;line-height:1.5">
<div style="max-width:520px;margin:0 auto">
<p style="margin:0 0 24px">${header}</p>
<h1 style="margin:0 0 16px;font-size:22px;line-height:1.3">${escapeHtml(title)}</h1>
${paragraphs.map((text) => paragraph(text, "")).join("\n")}
<p style="margin:24px 0"><a href="${escapeHtml(button.url)}" style="display:inline-block;padding:12px 22px;border-radius:8px;background:${background};color:${color};font-weight:600;text-decoration:none">${escapeHtml(button.label)}</a></p>
${notes.map((text) => paragraph(text, "color:#5c6470;font-size:14px")).join("\n")}
<p style="margin:24px 0 0;padding-top:16px;border-top:1px solid #e2e5ea;color:#5c6470;font-size:13px">${name} · <a href="${escapeHtml(unsubscribeUrl)}" style="color:#5c6470">Unsubscribe</a></p>
</div>
</body></html>
`;
}

function renderText({ brand, paragraphs, button, notes, unsubscribeUrl }: MailContent): string {
  return `${[...paragraphs, `${button.label}:\n${button.url}`, ...notes, `-- \n${brand.name}\nUnsubscribe: ${unsubscribeUrl}`].join("\n\n")}\n`;
}
