import type { Removal } from "@mailsvc/sdk/contract";
import { forEachInTurns } from "../lib/turn.ts";
import { decodeAttribute, serializeAttribute, serializeText } from "./escape.ts";
import {
  BLOCKS,
  CLASSES,
  DROPPED,
  DROPPED_VOID,
  ELEMENTS,
  FORM_ANCESTORS,
  IMPLIED_END_TAGS,
  isAllowedAttribute,
  VOID_ELEMENTS,
} from "./policy.ts";
import { type Attribute, type Token, tokenize } from "./tokenizer.ts";
import { findAssetId, linkTarget, prefixedId } from "./urls.ts";

/** Marks the place of our form in sanitized HTML: at most once, and there is no other form. */
export const FORM_MARK = "<form></form>";

// Levels of nesting; deeper elements lose their tags. Browsers stop at 512.
const MAX_DEPTH = 64;
// Distinct removals reported.
const MAX_REMOVALS = 50;

export interface Sanitized {
  readonly html: string;
  readonly removed: Removal[];
  /** Ids of the images it shows. */
  readonly assets: readonly string[];
}

/**
 * Removes from HTML everything that runs, loads or leads where it should not, by a list of what is allowed, and writes the
 * rest anew: every tag balanced, every value quoted, every text escaped. So every browser reads it the same way. `origins`
 * are the addresses of this server, whose images may be shown.
 */
export function sanitize(html: string, origins: readonly string[]): Sanitized {
  const sanitizer = new Sanitizer(origins);
  for (const token of tokenize(html)) sanitizer.write(token);
  return sanitizer.finish();
}

/** The same, yielding to the event loop in between. */
export async function sanitizeInTurns(html: string, origins: readonly string[]): Promise<Sanitized> {
  const sanitizer = new Sanitizer(origins);
  await forEachInTurns(tokenize(html), (token) => sanitizer.write(token));
  return sanitizer.finish();
}

/** Writes the allowed tokens, and records what it removes. */
class Sanitizer {
  readonly #origins: readonly string[];
  /** Open elements, outermost first. */
  readonly #ancestors: string[] = [];
  readonly #out: string[] = [];
  readonly #removed = new Map<string, Removal>();
  readonly #assets = new Set<string>();
  #hasForm = false;
  #formPlaced = false;
  /** The removed element we are inside of, and how many of its name are open. */
  #dropping: { name: string; depth: number } | null = null;

  constructor(origins: readonly string[]) {
    this.#origins = origins;
  }

  write(token: Token): void {
    if (this.#dropping) this.#drop(token, this.#dropping);
    else if (token.kind === "text") this.#out.push(serializeText(token.text));
    else if (token.kind === "close") this.#close(token.name);
    else this.#open(token.name, token.attributes);
  }

  finish(): Sanitized {
    this.#closeDownTo(0);
    if (this.#hasForm && !this.#formPlaced) this.#out.push(FORM_MARK);
    return { html: this.#out.join(""), removed: [...this.#removed.values()], assets: [...this.#assets] };
  }

  #drop(token: Token, dropping: { name: string; depth: number }): void {
    if (token.kind === "text" || token.name !== dropping.name) return;
    dropping.depth += token.kind === "open" ? 1 : -1;
    if (dropping.depth === 0) this.#dropping = null;
  }

  #report(kind: Removal["kind"], name: string): void {
    const shown = /^[a-z0-9:_-]{1,40}$/.test(name) ? name : "other";
    const key = `${kind} ${shown}`;
    const known = this.#removed.get(key);
    if (known) known.count += 1;
    else if (this.#removed.size < MAX_REMOVALS) this.#removed.set(key, { kind, name: shown, count: 1 });
  }

  #open(name: string, attributes: readonly Attribute[]): void {
    if (DROPPED.has(name)) {
      this.#report("element", name);
      if (!DROPPED_VOID.has(name)) this.#dropping = { name, depth: 1 };
      return;
    }
    if (name === "form") {
      this.#placeForm();
      return;
    }
    if (!ELEMENTS.has(name)) {
      // Every whole document has these, and we write them ourselves.
      if (!["html", "head", "body"].includes(name)) this.#report("element", name);
      return;
    }
    if (BLOCKS.has(name)) this.#closeUpTo(new Set(["p"]), new Set());
    const implied = IMPLIED_END_TAGS[name];
    if (implied) this.#closeUpTo(implied.ends, implied.within);
    if (this.#ancestors.length >= MAX_DEPTH && !VOID_ELEMENTS.has(name)) {
      this.#report("depth", name);
      return;
    }
    const written = this.#serialize(name, attributes);
    if (written === null) return;
    this.#out.push(`<${name}${written}>`);
    if (!VOID_ELEMENTS.has(name)) this.#ancestors.push(name);
  }

  /** Our form takes the place of the first form that has only plain boxes around it; its own fields are removed. */
  #placeForm(): void {
    this.#closeUpTo(new Set(["p"]), new Set());
    if (!this.#formPlaced && this.#ancestors.every((one) => FORM_ANCESTORS.has(one))) {
      this.#out.push(FORM_MARK);
      this.#formPlaced = true;
    }
    this.#hasForm = true;
  }

  /** The attributes as HTML; null for an image that is not ours. */
  #serialize(element: string, attributes: readonly Attribute[]): string | null {
    let out = "";
    let source: string | null = null;
    for (const [name, raw] of attributes) {
      const value = decodeAttribute(raw);
      if (name === "style") {
        const { style, removed } = sanitizeStyle(value);
        for (const property of removed) this.#report("style", property);
        if (style !== "") out += ` style="${serializeAttribute(style)}"`;
      } else if (name === "class") {
        const classes = value.split(/\s+/).filter((one) => CLASSES.has(one));
        if (classes.length > 0) out += ` class="${classes.join(" ")}"`;
        else if (value.trim() !== "") this.#report("attribute", "class");
      } else if (name === "id" && prefixedId(value) !== null) out += ` id="${prefixedId(value)}"`;
      else if (name === "href" && element === "a") {
        const target = linkTarget(value);
        if (target === null) this.#report("address", "href");
        else out += ` href="${serializeAttribute(target)}"${target.startsWith("#") ? "" : ' rel="noopener noreferrer"'}`;
      } else if (name === "src" && element === "img") source = findAssetId(value, this.#origins);
      // We write these ourselves.
      else if (["rel", "loading", "target"].includes(name)) continue;
      else if (isAllowedAttribute(element, name, value)) out += ` ${name}="${serializeAttribute(value)}"`;
      else this.#report("attribute", name);
    }
    if (element !== "img") return out;
    if (source === null) {
      this.#report("address", "img");
      return null;
    }
    this.#assets.add(source);
    return ` src="/a/${source}"${out}${/ alt="/.test(out) ? "" : ' alt=""'} loading="lazy"`;
  }

  #close(name: string): void {
    const at = this.#ancestors.lastIndexOf(name);
    if (at !== -1) this.#closeDownTo(at);
  }

  /** Closes every open element of `ends`, up to the innermost of `within`. */
  #closeUpTo(ends: ReadonlySet<string>, within: ReadonlySet<string>): void {
    for (let at = this.#ancestors.length - 1; at >= 0; at -= 1) {
      const one = this.#ancestors[at] as string;
      if (within.has(one)) return;
      if (ends.has(one)) this.#closeDownTo(at);
    }
  }

  #closeDownTo(length: number): void {
    while (this.#ancestors.length > length) this.#out.push(`</${this.#ancestors.pop()}>`);
  }
}

const SIDES = "(?:-(?:top|right|bottom|left|block|inline|block-start|block-end|inline-start|inline-end))?";

/** Allowed properties: text, colors, boxes and their spacing. None that moves, covers or hides something. */
const PROPERTIES = new RegExp(
  `^(?:${[
    "color",
    "background",
    "background-color",
    "font",
    "font-(?:family|size|style|weight|variant)",
    "line-height",
    "letter-spacing",
    "word-spacing",
    "text-(?:align|decoration|transform|indent)",
    "vertical-align",
    "white-space",
    `margin${SIDES}`,
    `padding${SIDES}`,
    `border${SIDES}`,
    `border${SIDES}-(?:color|style|width)`,
    "border-radius",
    "border-(?:top|bottom)-(?:left|right)-radius",
    "border-(?:collapse|spacing)",
    "(?:max-|min-)?(?:width|height)",
    "aspect-ratio",
    "object-fit",
    "display",
    "float",
    "clear",
    "gap",
    "(?:row|column)-gap",
    "flex",
    "flex-(?:basis|direction|flow|grow|shrink|wrap)",
    "(?:align|justify|place)-(?:content|items|self)",
    "grid-(?:template-columns|template-rows|column|row|auto-flow)",
    "list-style(?:-type|-position)?",
    "box-shadow",
    "columns",
    "column-(?:count|width)",
  ].join("|")})$`,
);

const FUNCTIONS = new Set([
  "rgb",
  "rgba",
  "hsl",
  "hsla",
  "calc",
  "min",
  "max",
  "clamp",
  "repeat",
  "minmax",
  "linear-gradient",
  "radial-gradient",
]);
const DISPLAY_VALUES = new Set(["block", "inline", "inline-block", "flex", "inline-flex", "grid", "inline-grid", "list-item"]);

/** The allowed declarations of a style attribute, and the names of the removed ones. */
function sanitizeStyle(style: string): { style: string; removed: string[] } {
  const kept: string[] = [];
  const removed: string[] = [];
  for (const declaration of style.split(";")) {
    if (declaration.trim() === "") continue;
    const colon = declaration.indexOf(":");
    const property = declaration.slice(0, Math.max(0, colon)).trim().toLowerCase();
    const value = declaration.slice(colon + 1).trim();
    if (colon > 0 && PROPERTIES.test(property) && isSafeDeclaration(property, value)) kept.push(`${property}: ${value}`);
    else removed.push(/^[a-z-]{1,40}$/.test(property) ? property : "declaration");
  }
  return { style: kept.join("; "), removed };
}

function isBalanced(value: string): boolean {
  let depth = 0;
  for (const c of value) {
    if (c === "(") depth += 1;
    if (c === ")") depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0 && value.split('"').length % 2 === 1 && value.split("'").length % 2 === 1;
}

function isSafeDeclaration(property: string, value: string): boolean {
  return (
    value !== "" &&
    value.length <= 300 &&
    // These characters allow no escapes, comments, "!important", URLs or at-rules.
    /^[-\w\s#%.,()+*/'"]*$/.test(value) &&
    !/\/\s*\*|\*\s*\//.test(value) &&
    isBalanced(value) &&
    [...value.matchAll(/([-\w]*)\s*\(/g)].every(([, name = ""]) => name === "" || FUNCTIONS.has(name.toLowerCase())) &&
    // Negative margins and shadows of any size would cover other content.
    (!/^(?:margin|text-indent|letter-spacing|word-spacing)/.test(property) || !/-\s*[\d.]|calc|var/i.test(value)) &&
    (property !== "display" || DISPLAY_VALUES.has(value.toLowerCase()))
  );
}
