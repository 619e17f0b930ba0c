import {
  BLOCK_LIMITS,
  type ColumnBlock,
  type MailBlock,
  parsePassages,
  parseSpans,
  type Span,
  splitVariables,
} from "@mailsvc/sdk/contract";
import { escapeHtml } from "../escape.ts";
import { type BlockBrand, buildButton, buildLook, type Look } from "./look.ts";

const SHEET = BLOCK_LIMITS.width;
const PADDING = 24;
const GAP = 24;
// Room on both sides of the sheet.
const AROUND = 12;
const INNER = SHEET - 2 * PADDING;

const HEADINGS = { 1: "30px", 2: "23px", 3: "18px" } as const;
const TABLE = 'role="presentation" border="0" cellpadding="0" cellspacing="0"';

/**
 * A mail in blocks as HTML for mail programs: tables with styles of their own, as Outlook needs them, 600 pixels wide and narrower on
 * phones, where columns stand below each other, in light and dark colors. Variables stay; everything else in the blocks is text.
 */
export function renderBlocks(blocks: readonly MailBlock[], brand: BlockBrand): string {
  const look = buildLook(brand);
  const { page, sheet, text, bodyFont, language, direction } = look;
  const scheme = look.dark === null ? "dark" : "light dark";
  const rows = blocks.map((block) => renderRow(block, look)).join("\n");
  return `<!doctype html>
<html lang="${escapeHtml(language)}" dir="${direction}" xmlns:o="urn:schemas-microsoft-com:office:office">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${scheme}">
<meta name="supported-color-schemes" content="${scheme}">
<meta name="format-detection" content="telephone=no,date=no,address=no,email=no">
<!--[if mso]><xml><o:OfficeDocumentSettings><o:PixelsPerInch>96</o:PixelsPerInch></o:OfficeDocumentSettings></xml><![endif]-->
<style>
${buildRules(look)}
</style>
</head>
<body class="page" style="margin:0;padding:0;background-color:${page};color:${text};-webkit-text-size-adjust:100%;-ms-text-size-adjust:100%">
<table ${TABLE} width="100%" class="page" style="width:100%;background-color:${page}">
<tr><td align="center" class="around" style="padding:24px ${AROUND}px 8px">
<!--[if mso]><table ${TABLE} width="${SHEET}" align="center"><tr><td><![endif]-->
<table ${TABLE} width="100%" dir="${direction}" class="sheet" style="width:100%;max-width:${SHEET}px;margin:0 auto;background-color:${sheet};border-radius:8px;border-collapse:separate">
<tr><td class="sheet text" style="padding:16px 0;background-color:${sheet};color:${text};border-radius:8px;font-family:${bodyFont};font-size:16px;line-height:1.5;overflow-wrap:anywhere;word-break:break-word">
<table ${TABLE} width="100%" style="width:100%">
${rows}
</table>
</td></tr>
</table>
<!--[if mso]></td></tr></table><![endif]-->
</td></tr>
</table>
</body>
</html>
`;
}

/** A field of a block whose text may hold variables, and the HTML that it becomes. */
interface FieldSource {
  /** Path within the blocks, such as `[2].columns[0].blocks[1].href`. */
  readonly path: string;
  readonly html: string;
}

/** The fields of blocks that hold variables, so that a fault in one is reported where it was written. */
export function listVariableFields(blocks: readonly MailBlock[], brand: BlockBrand, path = ""): FieldSource[] {
  const look = buildLook(brand);
  return blocks.flatMap((block, i): FieldSource[] => {
    const at = `${path}[${i}]`;
    if (block.type === "columns")
      return block.columns.flatMap((column, n) => listVariableFields(column.blocks, brand, `${at}.columns[${n}].blocks`));
    return listFields(block, look).flatMap(([name, value, html]) => (value.includes("{{") ? [{ path: `${at}.${name}`, html }] : []));
  });
}

/** The texts of a block by field, each with the HTML that it becomes. */
function listFields(block: ColumnBlock, look: Look): [name: string, value: string, html: string][] {
  switch (block.type) {
    case "heading":
      return [["text", block.text, renderLine(block.text)]];
    case "text":
      return [["text", block.text, renderPassages(block.text, look)]];
    case "image":
      return [
        ["src", block.src, `<img src="${renderAttribute(block.src)}">`],
        ["alt", block.alt, `<img alt="${renderAttribute(block.alt)}">`],
        ["href", block.href ?? "", `<a href="${renderAttribute(block.href ?? "")}">`],
      ];
    case "button":
      return [
        ["label", block.label, renderLine(block.label)],
        ["href", block.href, `<a href="${renderAttribute(block.href)}">`],
      ];
    case "divider":
    case "spacer":
      return [];
  }
}

function renderRow(block: MailBlock, look: Look): string {
  if (block.type !== "columns") return renderCell(block, look, INNER, `8px ${PADDING}px`);
  const count = block.columns.length;
  // Columns are inline blocks, so that they wrap where there is no room; Outlook, which knows none, gets cells of a table.
  const width = Math.floor((SHEET - 2 * (PADDING - GAP / 2)) / count);
  const cells = block.columns.map(
    ({ blocks }) => `<!--[if mso]><td width="${width}" valign="top"><![endif]-->
<div class="column" style="display:inline-block;width:100%;max-width:${width}px;vertical-align:top;font-size:16px">
<table ${TABLE} width="100%" style="width:100%">
${blocks.map((one) => renderCell(one, look, width - GAP, `8px ${GAP / 2}px`)).join("\n")}
</table>
</div>
<!--[if mso]></td><![endif]-->`,
  );
  return `<tr><td style="padding:0 ${PADDING - GAP / 2}px;font-size:0">
<!--[if mso]><table ${TABLE} width="100%"><tr><![endif]-->
${cells.join("\n")}
<!--[if mso]></tr></table><![endif]-->
</td></tr>`;
}

/** A block in a row of its own; empty ones take no room. */
function renderCell(block: ColumnBlock, look: Look, room: number, padding: string): string {
  const html = renderContent(block, look, room);
  if (html === "") return "";
  const isBare = block.type === "spacer";
  const align = "align" in block && block.align !== undefined ? toSide(block.align, look) : undefined;
  const side = align === undefined ? "" : ` align="${align}"`;
  return `<tr><td${side} style="${isBare ? `height:${block.height ?? 24}px;line-height:${block.height ?? 24}px;font-size:1px` : `padding:${padding}${align === undefined ? "" : `;text-align:${align}`}`}">${html}</td></tr>`;
}

function renderContent(block: ColumnBlock, look: Look, room: number): string {
  switch (block.type) {
    case "heading": {
      const { level = 2, text } = block;
      if (!hasWords(text)) return "";
      return `<h${level} dir="auto" style="margin:0;font-family:${look.headingFont};font-size:${HEADINGS[level as 1 | 2 | 3]};line-height:1.25;font-weight:700">${renderLine(text)}</h${level}>`;
    }
    case "text": {
      const html = renderPassages(block.text, look);
      return block.size === "small" && html !== "" ? `<div style="font-size:13px;line-height:1.5">${html}</div>` : html;
    }
    case "image":
      return renderImage(block, look, room);
    case "button":
      return renderButton(block, look);
    case "divider":
      return `<div class="line" style="border-top:1px solid ${look.line};font-size:1px;line-height:1px;height:1px;margin:8px 0">&nbsp;</div>`;
    case "spacer":
      return "&nbsp;";
  }
}

function renderImage({ src, alt, width, href, align }: Extract<ColumnBlock, { type: "image" }>, look: Look, room: number): string {
  if (src === "") return "";
  const shown = Math.min(width ?? room, room);
  const image = `<img src="${renderAttribute(src)}" alt="${renderAttribute(alt)}" width="${shown}" border="0" style="display:block;width:100%;max-width:${shown}px;height:auto;margin:${toMargin(align, look)};border:0">`;
  return href ? `<a href="${renderAttribute(href)}" style="text-decoration:none">${image}</a>` : image;
}

function renderButton({ label, href, color, align }: Extract<ColumnBlock, { type: "button" }>, look: Look): string {
  if (!hasWords(label)) return "";
  const { ground, text, edge } = buildButton(color, look);
  const target = href === "" ? "" : ` href="${renderAttribute(href)}"`;
  return `<table ${TABLE} style="border-collapse:separate;margin:${toMargin(align, look)}"><tr><td align="center" bgcolor="${ground}" style="border-radius:8px;background-color:${ground};color:${text};border:1px solid ${edge};mso-padding-alt:12px 24px"><a${target} dir="auto" style="display:inline-block;padding:12px 24px;border-radius:8px;background-color:${ground};color:${text};font-family:${look.bodyFont};font-size:16px;line-height:1.25;font-weight:700;text-decoration:none">${renderLine(label)}</a></td></tr></table>`;
}

type Alignment = NonNullable<Extract<ColumnBlock, { type: "image" }>["align"]>;

function toSide(align: Alignment, { direction }: Look): "left" | "center" | "right" {
  if (align === "center") return "center";
  return (align === "start") === (direction === "ltr") ? "left" : "right";
}

/** The margins of a block that is narrower than its place. */
function toMargin(align: Alignment = "start", look: Look): string {
  return { left: "0 auto 0 0", center: "0 auto", right: "0 0 0 auto" }[toSide(align, look)];
}

/** Rules that cannot stand in style attributes: narrow screens, dark mode, and dark mode of Outlook on the web. */
function buildRules(look: Look): string {
  const narrow = `@media only screen and (max-width:${SHEET + 2 * AROUND - 1}px){.column{max-width:100%!important}}
@media only screen and (max-width:480px){.around{padding:0 0 8px!important}.around .sheet{border-radius:0!important}}`;
  const footer = (prefix: string, { muted }: Pick<Look, "muted">): string =>
    `${prefix}.mailsvc-footer,${prefix}.mailsvc-footer a{color:${muted}!important}`;
  const { dark } = look;
  if (dark === null) return `${narrow}\n${footer("", look)}`;
  const { page, sheet, text, link, line } = dark;
  const colors = (prefix: string): string =>
    [
      `${prefix}.page{background-color:${page}!important;color:${text}!important}`,
      `${prefix}.sheet{background-color:${sheet}!important}`,
      `${prefix}.text{color:${text}!important}`,
      `${prefix}.link{color:${link}!important}`,
      `${prefix}.line{border-color:${line}!important}`,
      footer(prefix, dark),
    ].join("");
  return `:root{color-scheme:light dark;supported-color-schemes:light dark}
${narrow}
${footer("", look)}
@media (prefers-color-scheme:dark){${colors("")}}
${colors("[data-ogsc] ")}`;
}

const LIST_STYLE = "margin:0 0 16px;padding-inline-start:24px";

/** The text of a block as HTML: paragraphs and lists. Variables stay as they are written, everything else is escaped. */
function renderPassages(text: string, look: Look): string {
  return parsePassages(text)
    .map(({ kind, lines }, i, all) => {
      const margin = i === all.length - 1 ? "margin:0" : "margin:0 0 16px";
      if (kind === "paragraph") return `<p dir="auto" style="${margin}">${lines.map((spans) => renderSpans(spans, look)).join("<br>")}</p>`;
      const tag = kind === "bullets" ? "ul" : "ol";
      const items = lines.map((spans) => `<li style="margin:0 0 4px">${renderSpans(spans, look)}</li>`).join("");
      return `<${tag} dir="auto" style="${LIST_STYLE.replace("margin:0 0 16px", margin)}">${items}</${tag}>`;
    })
    .join("");
}

/** One line as HTML, such as a heading: variables stay, and no character has a meaning. */
function renderLine(text: string): string {
  return splitVariables(text)
    .map((span, i, all) => renderPlain(span, all[i + 1]?.kind === "variable"))
    .join("");
}

/** A text as the value of an attribute in double quotes; variables stay, with single quotes in them. */
function renderAttribute(text: string): string {
  return splitVariables(text)
    .map((span, i, all) =>
      span.kind === "variable" ? span.source.replaceAll('"', "'") : renderPlain(span, all[i + 1]?.kind === "variable"),
    )
    .join("");
}

/** True if a line has words or variables. */
function hasWords(text: string): boolean {
  return parseSpans(text).some((span) => span.kind !== "words" || span.text.trim() !== "");
}

function renderSpans(spans: readonly Span[], look: Look): string {
  return spans
    .map((span, i) => {
      if (span.kind === "strong") return `<strong>${renderSpans(span.spans, look)}</strong>`;
      if (span.kind === "emphasis") return `<em>${renderSpans(span.spans, look)}</em>`;
      if (span.kind === "link")
        return `<a class="link" href="${renderAttribute(span.href)}" style="color:${look.link};text-decoration:underline">${renderSpans(span.spans, look)}</a>`;
      return renderPlain(span, spans[i + 1]?.kind === "variable");
    })
    .join("");
}

/** Words, or a variable. Before a variable, a \ would take the meaning from its braces. */
function renderPlain(span: Span, beforeVariable: boolean): string {
  if (span.kind === "variable") return span.source;
  if (span.kind !== "words") return "";
  const html = escapeHtml(span.text);
  return beforeVariable ? html.replace(/\\+$/, (slashes) => "&#92;".repeat(slashes.length)) : html;
}
