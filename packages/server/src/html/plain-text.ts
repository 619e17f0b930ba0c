import { forEachInTurns, waitForTurn } from "../lib/turn.ts";
import { decodeAttribute, decodeText } from "./escape.ts";
import { type Attribute, type Token, tokenize } from "./tokenizer.ts";

/**
 * The plain text of an HTML mail: its words in their order, with lists, quotes, table rows on their own lines, and
 * links as `text (address)`. Takes time in proportion to the length, and accepts broken HTML.
 */
export function toPlainText(html: string): string {
  const writer = new Writer();
  for (const token of tokenize(html)) writer.write(token);
  const lines = new Lines();
  for (const piece of writer.pieces) lines.add(piece);
  return lines.join();
}

// Read in one turn of the event loop, characters: it takes 30 µs.
const SHORT = 10_000;

/** The same, yielding to the event loop in between: half a second for 5 MB. */
export async function toPlainTextInTurns(html: string): Promise<string> {
  if (html.length <= SHORT) return toPlainText(html);
  const writer = new Writer();
  await forEachInTurns(tokenize(html), (token) => writer.write(token));
  const lines = new Lines();
  await forEachInTurns(writer.pieces, (piece) => lines.add(piece));
  await waitForTurn();
  return lines.join();
}

const BLOCK = words(
  "address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header html li main nav ol p pre section summary table tbody tfoot thead tr ul",
);
// Blocks with an empty line before and after.
const SPACED = words("p h1 h2 h3 h4 h5 h6 ul ol dl blockquote pre table");
// Elements whose text is not shown.
const HIDDEN = words("head title style script template noscript iframe noembed noframes object select");
const VOID = words("br hr img input meta link area base col embed source track wbr");
const MAX_OPEN = 200;

// Runs of invisible characters (soft hyphens, joiners and the like), with spaces in between.
const PADDING = /(?:(?:\u00ad|\u034f|\u200b|\u200c|\u200d|\ufeff)[\s\u00a0]*){3,}/g;

const INVISIBLE = /\u00ad|\u034f|\u200b|\u200c|\u200d|\ufeff/;
// A run of white space other than a single space. Matching single spaces as well would take three times as long.
const UNEVEN = / ?[^\S ]\s*| {2}\s*/g;
// Most texts hold neither that nor invisible characters, and pass by one test.
const UNUSUAL = /[^ -~]| {2}/;

interface Element {
  readonly name: string;
  readonly hidden: boolean;
  /** For a link: its address, and the begin of its text in the output. */
  readonly href: string;
  readonly start: number;
  /** For a list: the number of the next item; -1 for bullets. */
  next: number;
}

/** Writes the text of a page as it would be read, without its styling. */
class Writer {
  // Joined to lines at the end; only the text of a link is read again before.
  readonly #out: string[] = [];
  #breaks = 0;
  #space = false;
  #open: Element[] = [];
  #hidden = 0;
  #pre = 0;
  #quotes = 0;
  #lists = 0;

  write(token: Token): void {
    if (token.kind === "text") {
      if (this.#hidden === 0) this.text(decodeText(token.text));
    } else if (token.kind === "open") this.start(token.name, token.attributes);
    else this.end(token.name);
  }

  #break(lines: number): void {
    this.#breaks = Math.max(this.#breaks, lines);
    this.#space = false;
  }

  #emit(text: string): void {
    if (text === "") return;
    if (this.#out.length === 0) this.#breaks = 0;
    const lineStart = this.#breaks > 0 || this.#out.length === 0;
    if (this.#breaks > 0) this.#out.push("\n".repeat(Math.min(this.#breaks, 2)));
    if (!lineStart && this.#space) this.#out.push(" ");
    if (this.#quotes > 0) {
      const prefix = "> ".repeat(Math.min(this.#quotes, 5));
      this.#out.push(lineStart ? prefix : "", text.replaceAll("\n", `\n${prefix}`));
    } else this.#out.push(text);
    this.#breaks = 0;
    this.#space = false;
  }

  text(text: string): void {
    if (this.#hidden > 0) return;
    if (this.#pre > 0) {
      this.#emit(text.replace(/\r\n?/g, "\n"));
      return;
    }
    const shown = UNUSUAL.test(text) ? normalizeSpace(text) : text;
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
    if (BLOCK.has(name)) this.#break(SPACED.has(name) && !(this.#lists > 0 && /^[uo]l$/.test(name)) ? 2 : 1);
    if (name === "blockquote") this.#quotes -= 1;
  }

  #endLink({ href, start }: Element): void {
    if (this.#hidden > 0 || !/^(?:https?|mailto|tel|sms):/i.test(href)) return;
    const shown = this.#out
      .slice(start)
      .join("")
      .replace(/^[\s>]+/, "")
      .trim();
    const address = href.replace(/^(?:mailto|tel|sms):/i, "");
    const plain = withoutSlash(address);
    const label = withoutSlash(shown);
    if (shown === "") this.#emit(plain === "" ? href : address);
    else if (label !== plain && label !== plain.replace(/^https?:\/\//i, "")) {
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

  start(name: string, attributes: readonly Attribute[]): void {
    // A block closes an open paragraph, an item or cell the one before it.
    if (BLOCK.has(name) && this.#open.at(-1)?.name === "p") this.end("p");
    if ((name === "li" || name === "td" || name === "th" || name === "tr") && this.#open.at(-1)?.name === name) this.end(name);
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
    if (name === "img" && this.#hidden === 0) this.text(readAttribute(attributes, "alt") ?? "");
    if (VOID.has(name) || this.#open.length >= MAX_OPEN) return;
    this.#enter(name, attributes);
  }

  #enter(name: string, attributes: readonly Attribute[]): void {
    const hidden = HIDDEN.has(name) || isHidden(attributes);
    const list = name === "li" ? this.#open.findLast((element) => element.name === "ul" || element.name === "ol") : undefined;
    if (this.#hidden === 0 && !hidden) {
      if (BLOCK.has(name)) this.#break(SPACED.has(name) && !(this.#lists > 0 && /^[uo]l$/.test(name)) ? 2 : 1);
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
    const first = name === "ol" ? Number.parseInt(readAttribute(attributes, "start") ?? "1", 10) : Number.NaN;
    this.#open.push({
      name,
      hidden,
      href: name === "a" ? (readAttribute(attributes, "href") ?? "").trim() : "",
      start: this.#out.length,
      next: name === "ol" ? (Number.isNaN(first) ? 1 : first) : -1,
    });
  }

  /** The text in pieces. */
  get pieces(): readonly string[] {
    return this.#out;
  }
}

/** Joins pieces of text to lines: without blanks at their ends, and with one empty line at most between others. */
class Lines {
  readonly #lines: string[] = [];
  #open = "";

  add(piece: string): void {
    if (!piece.includes("\n")) {
      this.#open += piece;
      return;
    }
    const [first = "", ...others] = piece.split("\n");
    this.#open += first;
    for (const other of others) {
      this.#end();
      this.#open = other;
    }
  }

  join(): string {
    this.#end();
    return this.#lines.join("\n").trim();
  }

  #end(): void {
    const line = this.#open.trimEnd();
    if (line !== "" || this.#lines.at(-1) !== "") this.#lines.push(line);
  }
}

function withoutSlash(address: string): string {
  return address.endsWith("/") ? address.slice(0, -1) : address;
}

function normalizeSpace(text: string): string {
  // Padding that keeps a mail program from showing the body after the preview line.
  const bare = INVISIBLE.test(text) ? text.replace(PADDING, " ") : text;
  return bare.replace(UNEVEN, " ");
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}

/** The value of an attribute; undefined if it is absent. Only what is asked for is decoded. */
function readAttribute(attributes: readonly Attribute[], name: string): string | undefined {
  for (const [key, value] of attributes) if (key === name) return decodeAttribute(value);
  return undefined;
}

function isHidden(attributes: readonly Attribute[]): boolean {
  if (attributes.length === 0) return false;
  return readAttribute(attributes, "hidden") !== undefined || /display\s*:\s*none/i.test(readAttribute(attributes, "style") ?? "");
}
