import { escapeHtml } from "./escape.ts";
import type { PageBrand } from "./page.ts";
import type { Texts } from "./texts.ts";
import { getButtonColors } from "./theme.ts";

/** A short mail of the service, with one thing to do. Everything in it is text. */
interface MailContent {
  /** Null for mail of the service itself. */
  readonly brand: PageBrand | null;
  readonly texts: Texts;
  /** Address of this server, for the brand's logo. */
  readonly baseUrl: string;
  readonly title: string;
  readonly text: string;
  /** Subject of the text, such as a list or an address, on its own line. */
  readonly name: string;
  readonly button: { readonly label: string; readonly url: string };
  /** Texts below the button, in small letters. */
  readonly notes: readonly string[];
  /** Absent in mail that does not belong to a subscription. */
  readonly unsubscribeUrl?: string;
}

const FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

/** The HTML and text of a mail in the brand's colors. Styles are inline and simple, as mail programs need them. */
export function renderMail(mail: MailContent): { html: string; text: string } {
  return { html: renderHtml(mail), text: renderText(mail) };
}

function renderHtml({ brand, texts, baseUrl, title, text, name, button, notes, unsubscribeUrl }: MailContent): string {
  const { background, color } = getButtonColors(brand?.colors ?? {});
  const paragraph = (text: string, style: string): string => `<p style="margin:0 0 16px${style}">${escapeHtml(text)}</p>`;
  return `<!doctype html>
<html${texts.attributes}><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light"><title>${escapeHtml(title)}</title></head>
<body${texts.attributes} style="margin:0;padding:32px 20px;background:#ffffff;color:#1b1f24;${FONT};font-size:16px;line-height:1.5">
<div style="max-width:520px;margin:0 auto">
${brand === null ? "" : renderHeader(brand, baseUrl)}<h1 style="margin:0 0 16px;font-size:22px;line-height:1.3">${escapeHtml(title)}</h1>
${paragraph(text, "")}
<p style="margin:0 0 16px;font-weight:600;font-size:18px;overflow-wrap:anywhere;word-break:break-word"><bdi>${escapeHtml(name)}</bdi></p>
<p style="margin:24px 0"><a href="${escapeHtml(button.url)}" style="display:inline-block;padding:12px 22px;border-radius:8px;background:${background};color:${color};font-weight:600;text-decoration:none">${escapeHtml(button.label)}</a></p>
${notes.map((note) => paragraph(note, ";color:#5c6470;font-size:14px")).join("\n")}
${renderFooter(brand, texts, unsubscribeUrl)}</div>
</body></html>
`;
}

function renderHeader({ name, logo }: PageBrand, baseUrl: string): string {
  if (name === null && logo === null) return "";
  const text = escapeHtml(name ?? "");
  const shown =
    logo === null
      ? `<b dir="auto">${text}</b>`
      : `<img src="${escapeHtml(baseUrl + logo)}" alt="${text}" height="40" style="height:40px;width:auto;max-width:240px;border:0">`;
  return `<p style="margin:0 0 24px">${shown}</p>\n`;
}

function renderFooter(brand: PageBrand | null, texts: Texts, unsubscribeUrl: string | undefined): string {
  const parts = [
    ...(brand?.name ? [`<bdi>${escapeHtml(brand.name)}</bdi>`] : []),
    ...(unsubscribeUrl === undefined
      ? []
      : [`<a href="${escapeHtml(unsubscribeUrl)}" style="color:#5c6470">${texts.html("unsubscribe")}</a>`]),
  ];
  if (parts.length === 0) return "";
  return `<p style="margin:24px 0 0;padding-top:16px;border-top:1px solid #e2e5ea;color:#5c6470;font-size:13px">${parts.join(" · ")}</p>\n`;
}

function renderText({ brand, texts, text, name, button, notes, unsubscribeUrl }: MailContent): string {
  const end = [
    ...(brand?.name ? [brand.name] : []),
    ...(unsubscribeUrl === undefined ? [] : [`${texts.say("unsubscribe")}: ${unsubscribeUrl}`]),
  ];
  const parts = [text, name, `${button.label}:\n${button.url}`, ...notes, ...(end.length === 0 ? [] : [["-- ", ...end].join("\n")])];
  return `${parts.join("\n\n")}\n`;
}
