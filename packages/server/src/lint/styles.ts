import { MAIL_CLIENT_IDS, MAIL_CLIENTS, type MailClient } from "@mailsvc/sdk/contract";
import { contrast } from "../html/theme.ts";
import { CLIENT_SUPPORT } from "./client-support.generated.ts";
import { type Declaration, readStyleSheet, type StylePart } from "./css.ts";
import type { MailDocument, MailElement } from "./document.ts";
import type { Findings } from "./findings.ts";

/** The longest style element that Gmail reads, in characters. */
const GMAIL_STYLE = 8192;
// More mail programs than this are counted, not named.
const NAMED = 4;

/** Checks style elements, and what mail programs do not support. A feature is found once, where it is used first. */
export function checkStyles({ elements, styles }: MailDocument, clients: readonly MailClient[], findings: Findings): void {
  const seen = new Set<string>();
  const use = (features: readonly Feature[], offset: number): void => {
    for (const { slug, shown } of features) {
      if (seen.has(slug)) continue;
      seen.add(slug);
      const lacking = listUnsupporting(slug, clients);
      if (lacking.length > 0) findings.add("client-support", "html", offset, `${shown}: not supported by ${enumerate(lacking)}.`);
    }
  };
  for (const { text, offset } of styles) {
    if (text.length > GMAIL_STYLE)
      findings.add("style-too-long", "html", offset, `The style element has ${text.length.toLocaleString("en")} characters.`);
    for (const part of readStyleSheet(text)) {
      if (part.kind === "at-rule" && part.name === "import")
        findings.add("external-stylesheet", "html", offset + part.offset, "A style sheet is loaded by @import.");
      if (findings.isOn("client-support")) use(listFeatures(part), offset + part.offset);
    }
  }
  if (!findings.isOn("client-support")) return;
  for (const element of elements) {
    use(listElementFeatures(element), element.start);
    for (const declaration of element.style) use(listFeatures(declaration), element.start);
  }
}

function enumerate(names: readonly string[]): string {
  if (names.length === 1) return names[0] ?? "";
  const shown = names.length > NAMED + 1 ? names.slice(0, NAMED) : names.slice(0, -1);
  const rest = names.length - shown.length;
  return `${shown.join(", ")} and ${rest === 1 ? names.at(-1) : `${rest} others`}`;
}

/** Checks colors that are written at elements. Colors of style elements depend on selectors, which lint does not follow. */
export function checkColors({ elements }: MailDocument, findings: Findings): void {
  for (const element of elements) {
    const { start, sets, colors, hasWords } = element;
    const own = ownColors(element);
    if (!hasWords || (!own.color && !own.background)) continue;
    if (own.color && !sets.background)
      findings.add("dark-mode-colors", "html", start, "A text color is set here, and nothing around it has a background.");
    else if (own.background && !sets.color)
      findings.add("dark-mode-colors", "html", start, "A background is set here, and nothing around it has a text color.");
    if (colors.color === null || colors.background === null) continue;
    const ratio = contrast(colors.color, colors.background);
    if (ratio >= (isLarge(element) ? 3 : 4.5)) continue;
    findings.add("contrast", "html", start, `${colors.color} on ${colors.background} has a contrast of ${ratio.toFixed(1)}:1.`);
  }
}

function ownColors({ style, attributes, name }: MailElement): { color: boolean; background: boolean } {
  return {
    color: style.some(({ property }) => property === "color") || (name === "font" && attributes.has("color")),
    background:
      attributes.has("bgcolor") || style.some(({ property, value }) => /^background(?:-color)?$/.test(property) && value !== "transparent"),
  };
}

/** Large text: 24 pixels, or 18.5 and bold (WCAG 2). */
function isLarge({ style, name }: MailElement): boolean {
  const size = Number(/^([\d.]+)px/.exec(style.findLast(({ property }) => property === "font-size")?.value ?? "")?.[1] ?? 0);
  const weight = style.findLast(({ property }) => property === "font-weight")?.value ?? "";
  return size >= 24 || (size >= 18.5 && (/^(?:bold|[6-9]00)/.test(weight) || /^(?:h[1-6]|b|strong)$/.test(name)));
}

/** Something that mail programs may not support: how the data calls it, and how its author wrote it. */
interface Feature {
  readonly slug: string;
  readonly shown: string;
}

// Without them a mail looks plainer, and nothing is lost: nobody is told that Outlook has no rounded corners.
const HARMLESS =
  /^css-(?:accent-color|animation|aspect-ratio|backdrop-filter|border-(?:radius|spacing).*|box-(?:shadow|sizing)|color-scheme|cursor|hyphen.*|font-(?:kerning|stretch|size-adjust)|letter-spacing|orphans|outline.*|overflow-wrap|pseudo-.*|resize|scroll-snap|system-ui|tab-size|table-layout|text-(?:decoration|overflow|shadow|underline|wrap|emphasis|justify|align-last).*|transition|user-select|white-space.*|widows|word-.*)$/;

const DISPLAY: Readonly<Record<string, string>> = {
  flex: "flex",
  "inline-flex": "flex",
  grid: "grid",
  "inline-grid": "grid",
  none: "none",
};
const FUNCTIONS: Readonly<Record<string, string>> = {
  "calc(": "css-unit-calc",
  "clamp(": "css-function-clamp",
  "max(": "css-function-max",
  "min(": "css-function-min",
  "light-dark(": "css-function-light-dark",
  "var(": "css-variables",
  "rgba(": "css-rgba",
  "linear-gradient(": "css-linear-gradient",
  "radial-gradient(": "css-radial-gradient",
  "conic-gradient(": "css-conic-gradient",
};
/** Properties that the data has under a common name. */
const GROUPS: readonly (readonly [RegExp, string])[] = [
  [/^(?:top|left|right|bottom)$/, "css-left-right-top-bottom"],
  [/^inset/, "css-inset"],
  [/^(?:row|column)-gap$/, "css-gap"],
  [/^grid-/, "css-grid-template"],
  [/^flex/, "css-display-flex"],
  [/^(?:margin|padding)-(?:inline|block)$/, "css-$-inline-block"],
  [/^(?:margin|padding)-block-(?:start|end)$/, "css-$-block-start-end"],
  [/^column-|^columns$/, "css-column-layout-properties"],
  [/^animation/, "css-animation"],
  [/^transform/, "css-transform"],
  [/^transition/, "css-transition"],
  [/^overflow/, "css-overflow"],
  [/^mask/, "css-mask-image"],
];
const SEMANTIC = new Set("article aside details figcaption figure footer header main mark nav section summary time".split(" "));
const ELEMENTS = new Set("audio base dialog marquee meter object picture progress select svg textarea video".split(" "));
const AT_RULES: Readonly<Record<string, string>> = { import: "css-at-import", "font-face": "css-at-font-face" };

/** The mail programs that do not support a feature; those whose support was never tried are not among them. */
function listUnsupporting(slug: string, clients: readonly MailClient[]): string[] {
  const support = CLIENT_SUPPORT[slug] ?? "";
  return MAIL_CLIENT_IDS.flatMap((id, i) => (support[i] === "n" && clients.includes(id) ? [MAIL_CLIENTS[id]] : []));
}

/** The features of a declaration. Declarations in an at-rule are skipped: they are for mail programs that understand it. */
function listFeatures(part: StylePart): Feature[] {
  if (part.kind === "selector") return [];
  if (part.kind === "at-rule") return keepKnown([{ slug: AT_RULES[part.name] ?? "", shown: `@${part.name}` }]);
  return part.conditional ? [] : listFeaturesOf(part);
}

/** The features of an element, without those of its style. */
function listElementFeatures({ name, attributes }: MailElement): Feature[] {
  const features: Feature[] = [];
  if (SEMANTIC.has(name)) features.push({ slug: "html-semantics", shown: `<${name}>` });
  else if (ELEMENTS.has(name)) features.push({ slug: `html-${name}`, shown: `<${name}>` });
  if (attributes.has("srcset")) features.push({ slug: "html-srcset", shown: "srcset" });
  if (attributes.has("background")) features.push({ slug: "css-background-image", shown: "background" });
  const type =
    name === "img" ? /\.(svg|webp|avif|apng|heif|heic|tiff?|ico|hdr)(?:[?#]|$)/i.exec(attributes.get("src") ?? "")?.[1] : undefined;
  if (type !== undefined) {
    const slug = { heic: "heif", tif: "tiff" }[type.toLowerCase()] ?? type.toLowerCase();
    features.push({ slug: `image-${slug}`, shown: `images of type ${slug.toUpperCase()}` });
  }
  return keepKnown(features);
}

function listFeaturesOf({ property, value }: Declaration): Feature[] {
  const text = value.toLowerCase();
  const features: Feature[] = [];
  if (property === "display") {
    const kind = DISPLAY[text.split(/[\s!]/)[0] ?? ""];
    // Hiding is deliberate, for some mail programs.
    if (kind !== undefined && kind !== "none") features.push({ slug: `css-display-${kind}`, shown: `display: ${kind}` });
  } else features.push({ slug: toSlug(property), shown: property });
  for (const [name, slug] of Object.entries(FUNCTIONS))
    if (new RegExp(`(?:^|[^\\w-])${name.replace("(", "\\(")}`).test(text)) features.push({ slug, shown: `${name})` });
  for (const [, unit] of text.matchAll(/\d(vh|vw|vmin|vmax|rem|ch)\b/g))
    features.push({ slug: `css-unit-${unit}`, shown: `the unit ${unit}` });
  if (/^background(?:-image)?$/.test(property) && text.includes("url("))
    features.push({ slug: "css-background-image", shown: "background images" });
  return keepKnown(features);
}

function toSlug(property: string): string {
  if (Object.hasOwn(CLIENT_SUPPORT, `css-${property}`)) return `css-${property}`;
  const [, slug = ""] = GROUPS.find(([pattern]) => pattern.test(property)) ?? [];
  return slug.replace("$", property.split("-")[0] ?? "");
}

function keepKnown(features: readonly Feature[]): Feature[] {
  return features.filter(({ slug }) => Object.hasOwn(CLIENT_SUPPORT, slug) && !HARMLESS.test(slug));
}
