import { MAIL_CLIENT_IDS, MAIL_CLIENTS, type MailClient } from "@mailsvc/sdk/contract";
import { CLIENT_SUPPORT } from "./client-support.generated.ts";
import type { Declaration, StylePart } from "./css.ts";
import type { MailElement } from "./document.ts";

/** Something that mail programs may not support: how the data calls it, and how its author wrote it. */
export interface Feature {
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
export function listUnsupporting(slug: string, clients: readonly MailClient[]): string[] {
  const support = CLIENT_SUPPORT[slug] ?? "";
  return MAIL_CLIENT_IDS.flatMap((id, i) => (support[i] === "n" && clients.includes(id) ? [MAIL_CLIENTS[id]] : []));
}

/** The features of a declaration. Declarations in an at-rule are skipped: they are for mail programs that understand it. */
export function listFeatures(part: StylePart): Feature[] {
  if (part.kind === "selector") return [];
  if (part.kind === "at-rule") return keepKnown([{ slug: AT_RULES[part.name] ?? "", shown: `@${part.name}` }]);
  return part.conditional ? [] : listFeaturesOf(part);
}

/** The features of an element, without those of its style. */
export function listElementFeatures({ name, attributes }: MailElement): Feature[] {
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
