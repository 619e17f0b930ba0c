import { forEachInTurns } from "../lib/turn.ts";
import { MAIL } from "./body.ts";
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

/** The hosts that the addresses in a mail name. */
interface Hosts {
  /** Hosts that a reader follows a link to. */
  readonly linksTo: readonly string[];
  /** Hosts that a mail program asks when the mail is shown. */
  readonly loadsFrom: readonly string[];
}

const ADDRESS = /(?:^|[^a-z0-9+.-])(?:[a-z][a-z0-9+.-]*:)?[\\/]{2}([^\s\\/?#"'<>)]+)/gi;
const LINKS: ReadonlySet<string> = new Set(["a", "area", "form"]);

/** Lists the hosts in the HTML and the text of a mail, each once, in alphabetical order. */
export function listHosts(html: string, text: string): Hosts {
  const linksTo = new Set<string>();
  const loadsFrom = new Set<string>();
  const add = (to: Set<string>, written: string): void => {
    for (const [, authority = ""] of written.replace(/[\t\n\r]/g, "").matchAll(ADDRESS)) to.add(toHost(authority));
  };
  for (const token of tokenize(html, MAIL))
    if (token.kind === "text") add(loadsFrom, /url\(|@import/i.test(token.text) ? token.text : "");
    else if (token.kind === "open")
      for (const [, value] of token.attributes) add(LINKS.has(token.name) ? linksTo : loadsFrom, decodeAttribute(value));
  add(linksTo, text);
  return { linksTo: [...linksTo].sort(), loadsFrom: [...loadsFrom].sort() };
}

/** The host of an authority, without a user's name and port, in lower case. */
function toHost(authority: string): string {
  return authority
    .slice(authority.lastIndexOf("@") + 1)
    .replace(/:\d*$/, "")
    .toLowerCase();
}
