import { forEachInTurns } from "../lib/turn.ts";
import { decodeAttribute } from "./escape.ts";
import { type Token, tokenize } from "./tokenizer.ts";

const URLS = /https?:\/\/[^\s<>"')\]]+/g;
const CODES = /\b\d{4,8}\b/g;

/** The targets of the links of a mail, from its HTML and then from its text, each once. */
export function listLinks(html: string, text: string): string[] {
  const targets = new Set<string>();
  for (const token of tokenize(html)) addTarget(targets, token);
  return [...addTexts(targets, text)];
}

/** The same, yielding to the event loop in between. */
export async function listLinksInTurns(html: string, text: string): Promise<string[]> {
  const targets = new Set<string>();
  await forEachInTurns(tokenize(html), (token) => addTarget(targets, token));
  return [...addTexts(targets, text)];
}

/** The numbers of 4 to 8 digits outside of links, each once, in the order of the texts. */
export function listCodes(...texts: readonly string[]): string[] {
  return [...new Set(texts.flatMap((text) => text.replace(URLS, " ").match(CODES) ?? []))];
}

function addTarget(targets: Set<string>, token: Token): void {
  const href = token.kind === "open" && token.name === "a" ? token.attributes.find(([name]) => name === "href")?.[1] : undefined;
  if (href !== undefined) targets.add(decodeAttribute(href).trim());
}

function addTexts(targets: Set<string>, text: string): ReadonlySet<string> {
  for (const link of text.match(URLS) ?? []) targets.add(link);
  return targets;
}
