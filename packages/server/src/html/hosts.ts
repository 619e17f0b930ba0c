import { MAIL } from "./body-end.ts";
import { decodeAttribute } from "./escape.ts";
import { tokenize } from "./tokenizer.ts";

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
