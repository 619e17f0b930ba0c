import type { MailClient } from "@mailsvc/sdk/contract";
import { type Feature, listElementFeatures, listFeatures, listUnsupporting } from "./client-support.ts";
import { readStyleSheet } from "./css.ts";
import type { MailDocument } from "./document.ts";
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
