import { decodeEntities } from "./entities.ts";

const BLOCK = words(
  "address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header html li main nav ol p pre section summary table tbody tfoot thead tr ul",
);
// Blocks with an empty line around them.
const APART = words("p h1 h2 h3 h4 h5 h6 ul ol dl blockquote pre table");
// Elements whose text is not for reading.
const HIDDEN = words("head title style script template noscript iframe object select");
// Of those, the ones whose content is no HTML and ends at their end tag only.
const RAW = words("style script iframe");
const VOID = words("br hr img input meta link area base col embed source track wbr");
const MAX_OPEN = 200;

// Invisible characters in a row, spaces between them: soft hyphens, joiners and the like.
const PADDING = /(?:(?:\u00ad|\u034f|\u200b|\u200c|\u200d|\ufeff)[\s\u00a0]*){3,}/g;

const INVISIBLE = /\u00ad|\u034f|\u200b|\u200c|\u200d|\ufeff/;
// Any white space but single spaces.
const UNEVEN = /[^\S ]| {2}/;

const ATTRIBUTES = /([^\s=/>"']{1,100})(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+)))?/g;

const NONE: ReadonlyMap<string, string> = new Map();
// Elements of which an attribute counts, beside those that may hide any of them.
const TOLD = words("a img ol");

interface Element {
  readonly name: string;
  readonly hidden: boolean;
  /** Of a link: where it leads, and where its text begins. */
  readonly href: string;
  readonly start: number;
  /** Of a list: the number of the next item; -1 for bullets. */
  next: number;
}

/** Writes text as a page would show it, without its looks. */
class Writer {
  // Pieces, joined at the end: what is written is looked at again only where a link ends.
  readonly #out: string[] = [];
  #breaks = 0;
  #space = false;
  #open: Element[] = [];
  #hidden = 0;
  #pre = 0;
  #quotes = 0;
  #lists = 0;

  #break(lines: number): void {
    this.#breaks = Math.max(this.#breaks, lines);
    this.#space = false;
  }

  #emit(text: string): void {
    if (text === "") return;
    if (this.#out.length === 0) this.#breaks = 0;
    const lineStart = this.#breaks > 0 || this.#out.length === 0;
    if (this.#breaks > 0) this.#out.push("\n".repeat(Math.min(this.#breaks, 2)));
    const prefix = "> ".repeat(Math.min(this.#quotes, 5));
    if (lineStart) this.#out.push(prefix);
    else if (this.#space) this.#out.push(" ");
    this.#out.push(prefix === "" ? text : text.replaceAll("\n", `\n${prefix}`));
    this.#breaks = 0;
    this.#space = false;
  }

  text(source: string): void {
    if (this.#hidden > 0) return;
    const text = decodeEntities(source);
    if (this.#pre > 0) {
      this.#emit(text.replace(/\r\n?/g, "\n"));
      return;
    }
    // Spaces that keep a client from showing the body after the preview line.
    const bare = INVISIBLE.test(text) ? text.replace(PADDING, " ") : text;
    const shown = UNEVEN.test(bare) ? bare.replace(/[\s\u00a0]+/g, " ") : bare;
    if (shown.startsWith(" ") && this.#breaks === 0) this.#space = true;
    const words = shown.trim();
    if (words === "") return;
    this.#emit(words);
    this.#space = shown.endsWith(" ");
  }

  #leave(element: Element): void {
    if (element.hidden) this.#hidden -= 1;
    const { name } = element;
    if (name === "pre") this.#pre -= 1;
    if (name === "a") this.#endLink(element);
    if (name === "ul" || name === "ol") this.#lists -= 1;
    if (BLOCK.has(name)) this.#break(APART.has(name) && !(this.#lists > 0 && /^[uo]l$/.test(name)) ? 2 : 1);
    if (name === "blockquote") this.#quotes -= 1;
  }

  #endLink({ href, start }: Element): void {
    if (this.#hidden > 0 || !/^(?:https?|mailto|tel|sms):/i.test(href)) return;
    const shown = this.#out
      .slice(start)
      .join("")
      .replace(/^[\s>]+/, "")
      .trim();
    const plain = href.replace(/^(?:mailto|tel|sms):/i, "").replace(/\/$/, "");
    if (shown === "") this.#emit(plain === "" ? href : href.replace(/^(?:mailto|tel|sms):/i, ""));
    else if (shown.replace(/\/$/, "") !== plain && shown.replace(/\/$/, "") !== plain.replace(/^https?:\/\//i, "")) {
      this.#space = true;
      this.#emit(`(${href})`);
    }
  }

  end(name: string): void {
    const at = this.#open.findLastIndex((element) => element.name === name);
    if (at === -1) {
      if (name === "p") this.#break(2);
      return;
    }
    for (const element of this.#open.splice(at).reverse()) this.#leave(element);
  }

  start(name: string, tag: string): void {
    // A paragraph ends where a block begins, an item where the next one does.
    if (BLOCK.has(name) && this.#open.at(-1)?.name === "p") this.end("p");
    if ((name === "li" || name === "td" || name === "th" || name === "tr") && this.#open.at(-1)?.name === name) this.end(name);
    const attributes = attributesOf(name, tag);
    if (name === "br") {
      if (this.#hidden === 0) {
        this.#breaks = this.#out.length === 0 ? 0 : this.#breaks + 1;
        this.#space = false;
      }
      return;
    }
    if (name === "hr" && this.#hidden === 0) {
      this.#break(2);
      this.#emit("---");
      this.#break(2);
    }
    if (name === "img" && this.#hidden === 0) this.text((attributes.get("alt") ?? "").replaceAll("&", "&amp;"));
    if (VOID.has(name) || this.#open.length >= MAX_OPEN) return;
    this.#enter(name, attributes);
  }

  #enter(name: string, attributes: ReadonlyMap<string, string>): void {
    const hidden = HIDDEN.has(name) || attributes.has("hidden") || /display\s*:\s*none/i.test(attributes.get("style") ?? "");
    const list = this.#open.findLast((element) => element.name === "ul" || element.name === "ol");
    if (this.#hidden === 0 && !hidden) {
      if (BLOCK.has(name)) this.#break(APART.has(name) && !(this.#lists > 0 && /^[uo]l$/.test(name)) ? 2 : 1);
      if ((name === "td" || name === "th") && this.#breaks === 0 && this.#out.length > 0) {
        this.#out.push(" ");
        this.#space = true;
      }
      if (name === "blockquote") this.#break(2);
      if (name === "li") {
        this.#emit(`${"  ".repeat(Math.min(Math.max(0, this.#lists - 1), 5))}${list && list.next >= 0 ? `${list.next}.` : "-"}`);
        this.#space = true;
        if (list && list.next >= 0) list.next += 1;
      }
    }
    if (hidden) this.#hidden += 1;
    if (name === "pre") this.#pre += 1;
    if (name === "blockquote") this.#quotes += 1;
    if (name === "ul" || name === "ol") this.#lists += 1;
    const first = Number.parseInt(attributes.get("start") ?? "1", 10);
    this.#open.push({
      name,
      hidden,
      href: name === "a" ? (attributes.get("href") ?? "").trim() : "",
      start: this.#out.length,
      next: name === "ol" ? (Number.isNaN(first) ? 1 : first) : -1,
    });
  }

  finish(): string {
    const lines = this.#out.join("").split("\n");
    return lines
      .map((line) => line.trimEnd())
      .join("\n")
      .replace(/\n{3,}/g, "\n\n")
      .trim();
  }
}

/**
 * The plain text of an HTML mail: its words in their order, with lists, quotes, table rows on lines of their own, and
 * links as `text (address)`. In time linear to its length; no HTML is too broken for it.
 */
export function plainText(html: string): string {
  const writer = new Writer();
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    if (open === -1) break;
    const name = /^<(\/?)([A-Za-z][A-Za-z0-9:-]{0,30})/.exec(html.slice(open, open + 40));
    if (html.startsWith("<!--", open)) {
      writer.text(html.slice(at, open));
      const end = html.indexOf("-->", open + 2);
      at = end === -1 ? html.length : end + 3;
    } else if (name || html.startsWith("<!", open) || html.startsWith("<?", open)) {
      writer.text(html.slice(at, open));
      const end = endOfTag(html, open + 1);
      if (end === -1) return writer.finish();
      at = end + 1;
      if (!name) continue;
      const element = (name[2] as string).toLowerCase();
      if (name[1] === "/") writer.end(element);
      else {
        writer.start(element, html.slice(open + name[0].length, end));
        if (RAW.has(element)) {
          const close = new RegExp(`</${element}`, "gi");
          close.lastIndex = at;
          at = close.exec(html)?.index ?? html.length;
        }
      }
    } else {
      writer.text(html.slice(at, open + 1));
      at = open + 1;
    }
  }
  writer.text(html.slice(at));
  return writer.finish();
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}

function attributesOf(name: string, tag: string): ReadonlyMap<string, string> {
  if (tag === "" || (!TOLD.has(name) && !/hidden|display/i.test(tag))) return NONE;
  const found = new Map<string, string>();
  for (const [, name = "", double, single, bare] of tag.matchAll(ATTRIBUTES)) {
    const key = name.toLowerCase();
    if (!found.has(key)) found.set(key, decodeEntities(double ?? single ?? bare ?? ""));
  }
  return found;
}

/** Whether a quote stands where the value of an attribute begins: behind `=`, spaces apart. */
function opensValue(html: string, from: number, quote: number): boolean {
  let i = quote - 1;
  while (i > from && i > quote - 20 && /\s/.test(html[i] as string)) i -= 1;
  return html[i] === "=";
}

/** Where a tag that opens at `from` ends: the `>` outside of quotes; -1 when it does not. */
function endOfTag(html: string, from: number): number {
  for (let i = from; i < html.length; i += 1) {
    const c = html[i];
    if (c === ">") return i;
    if ((c === '"' || c === "'") && opensValue(html, from, i)) {
      const close = html.indexOf(c, i + 1);
      if (close === -1) return html.indexOf(">", i);
      i = close;
    }
  }
  return -1;
}
