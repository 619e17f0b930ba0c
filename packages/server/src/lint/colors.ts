import { contrast } from "../html/colors.ts";
import type { MailDocument, MailElement } from "./document.ts";
import type { Findings } from "./findings.ts";

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
