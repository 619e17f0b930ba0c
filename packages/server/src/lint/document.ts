import { decodeAttribute } from "../html/escape.ts";
import { type LocatedTag, locateTags } from "../html/tokenizer.ts";
import { forEachInTurns } from "../lib/turn.ts";
import { type Declaration, readStyleAttribute, toHexColor } from "./css.ts";

/** Text color and background of an element: its own, or inherited; null where nobody set one. */
interface Colors {
  readonly color: string | null;
  readonly background: string | null;
}

/** An element of a mail. */
export interface MailElement {
  readonly name: string;
  /** References are resolved. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly start: number;
  readonly parent: string | null;
  readonly style: readonly Declaration[];
  readonly colors: Colors;
  /** Colors that the element sets itself. A background that is no plain color, such as an image, counts too. */
  readonly sets: { readonly color: boolean; readonly background: boolean };
  /** True if it holds words, or an image with a text. Kept for links, and for hidden elements. */
  hasWords: boolean;
  hasHeaderCells: boolean;
  isUnclosed: boolean;
}

/** A piece of the source, with its place. */
interface Piece {
  readonly text: string;
  readonly offset: number;
}

/** A mail's HTML as lint looks at it. */
export interface MailDocument {
  readonly html: string;
  readonly elements: readonly MailElement[];
  readonly styles: readonly Piece[];
  /** Texts that readers see. */
  readonly texts: readonly Piece[];
}

const VOID = new Set("area base br col embed hr img input link meta source track wbr".split(" "));
// Their end tags may be left out (HTML 13.1.2.4).
const OPTIONAL_END = new Set("html head body p li dt dd tr td th thead tbody tfoot colgroup option".split(" "));
const COMMENT = /<!--[\s\S]*?(?:-->|$)|<![^>]*>?/g;
const UNSEEN = new Set(["style", "script", "title", "head", "noscript", "template"]);

/** Reads the HTML of a mail, yielding to the event loop in between. Takes time in proportion to its length, however deep it nests. */
export async function readDocument(html: string): Promise<MailDocument> {
  const reader = new Reader(html);
  await forEachInTurns(locateTags(html), (tag) => reader.add(tag));
  return reader.end();
}

class Reader {
  readonly #html: string;
  readonly #elements: MailElement[] = [];
  readonly #styles: Piece[] = [];
  readonly #texts: Piece[] = [];
  readonly #open: MailElement[] = [];
  readonly #tables: MailElement[] = [];
  /** Number of open elements by name, so that an end tag without a start is known at once. */
  readonly #count = new Map<string, number>();
  #end = 0;

  constructor(html: string) {
    this.#html = html;
  }

  add({ token, start, end }: LocatedTag): void {
    this.#text(start);
    this.#end = end;
    if (token.kind === "close") {
      this.#close(token.name);
      return;
    }
    const element = this.#toElement(token.name, token.attributes, start);
    this.#elements.push(element);
    if (token.name === "img" && element.attributes.get("alt")?.trim()) this.#mark();
    if (token.name === "th") {
      const table = this.#tables.at(-1);
      if (table) table.hasHeaderCells = true;
    }
    if (VOID.has(token.name)) return;
    this.#open.push(element);
    if (token.name === "table") this.#tables.push(element);
    this.#count.set(token.name, (this.#count.get(token.name) ?? 0) + 1);
  }

  end(): MailDocument {
    this.#text(this.#html.length);
    for (const element of this.#open) element.isUnclosed = !OPTIONAL_END.has(element.name);
    return { html: this.#html, elements: this.#elements, styles: this.#styles, texts: this.#texts };
  }

  /** Takes what stands between the last tag and this one. */
  #text(to: number): void {
    if (to <= this.#end) return;
    const text = this.#html.slice(this.#end, to);
    const holder = this.#open.at(-1)?.name ?? "";
    if (holder === "style") this.#styles.push({ text, offset: this.#end });
    if (UNSEEN.has(holder)) return;
    // Comments become blanks, so that offsets stay.
    const seen = text.includes("<!") ? text.replace(COMMENT, (comment) => " ".repeat(comment.length)) : text;
    if (seen.trim() === "") return;
    this.#texts.push({ text: seen, offset: this.#end });
    this.#mark();
  }

  /** Marks the elements around this place as having words; all around one that is marked are marked already. */
  #mark(): void {
    for (let at = this.#open.length - 1; at >= 0; at -= 1) {
      const element = this.#open[at] as MailElement;
      if (element.hasWords) return;
      element.hasWords = true;
    }
  }

  #close(name: string): void {
    if ((this.#count.get(name) ?? 0) === 0) return;
    for (let element = this.#open.pop(); element; element = this.#open.pop()) {
      this.#count.set(element.name, (this.#count.get(element.name) ?? 1) - 1);
      if (element.name === "table") this.#tables.pop();
      if (element.name === name) return;
      element.isUnclosed = !OPTIONAL_END.has(element.name);
    }
  }

  #toElement(name: string, raw: readonly (readonly [string, string])[], start: number): MailElement {
    const attributes = new Map(raw.map(([key, value]) => [key, decodeAttribute(value)]));
    const style = readStyleAttribute(attributes.get("style") ?? "");
    const parent = this.#open.at(-1);
    const colorOf = (property: string) => style.findLast((one) => one.property === property)?.value;
    const color = colorOf("color") ?? (name === "font" ? attributes.get("color") : undefined);
    const background = colorOf("background-color") ?? colorOf("background") ?? attributes.get("bgcolor") ?? attributes.get("background");
    return {
      name,
      attributes,
      start,
      parent: parent?.name ?? null,
      style,
      colors: {
        color: color === undefined ? (parent?.colors.color ?? null) : toHexColor(color),
        background: background === undefined ? (parent?.colors.background ?? null) : toHexColor(background),
      },
      sets: {
        color: color !== undefined || (parent?.sets.color ?? false),
        background: background !== undefined || (parent?.sets.background ?? false),
      },
      hasWords: false,
      hasHeaderCells: false,
      isUnclosed: false,
    };
  }
}
