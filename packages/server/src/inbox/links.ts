import { decodeAttribute } from "../html/escape.ts";
import { tokenize } from "../html/tokenizer.ts";

const URLS = /https?:\/\/[^\s<>"')\]]+/g;
const CODES = /\b\d{4,8}\b/g;

/** The targets of the links of a mail, from its HTML and then from its text, each once. */
export function listLinks(html: string, text: string): string[] {
  return [...new Set([...listTargets(html), ...(text.match(URLS) ?? [])])];
}

/** The numbers of 4 to 8 digits outside of links, each once, in the order of the texts. */
export function listCodes(...texts: readonly string[]): string[] {
  return [...new Set(texts.flatMap((text) => text.replace(URLS, " ").match(CODES) ?? []))];
}

function* listTargets(html: string): Generator<string> {
  for (const token of tokenize(html)) {
    const href = token.kind === "open" && token.name === "a" ? token.attributes.find(([name]) => name === "href")?.[1] : undefined;
    if (href !== undefined) yield decodeAttribute(href).trim();
  }
}
