import type { Removal } from "@mailsvc/sdk/contract";
import { yieldToEventLoop } from "../lib/turn.ts";
import { assetOf, linkTarget, ownId } from "./addresses.ts";
import { BLOCKS, BOXES, CLASSES, DROPPED, DROPPED_VOID, ELEMENTS, ENDS, mayStand, VOID } from "./allowed.ts";
import { decoded, quoted, texted } from "./characters.ts";
import { safeStyle } from "./styles.ts";
import { type Token, tokens } from "./tokens.ts";

/** Marks the place of the form in what is kept: once, and no other form is. */
export const FORM_MARK = "<form></form>";

// Elements inside each other; deeper ones lose their tags. Browsers stop at 512.
const MAX_DEPTH = 64;
// Different things that are told of; of more, the rest is left out.
const MAX_REMOVALS = 50;

export interface Sanitized {
  readonly html: string;
  readonly removed: Removal[];
  /** The images it shows. */
  readonly assets: readonly string[];
}

class Writer {
  readonly #origins: readonly string[];
  readonly #open: string[] = [];
  readonly #out: string[] = [];
  readonly #removed = new Map<string, Removal>();
  readonly #assets = new Set<string>();
  #form = false;
  #placed = false;
  /** The element whose content is being left out, and how many of its name are open in it. */
  #skipping: { name: string; depth: number } | null = null;

  constructor(origins: readonly string[]) {
    this.#origins = origins;
  }

  take(token: Token): void {
    if (this.#skipping) this.#skip(token, this.#skipping);
    else if (token.kind === "text") this.#out.push(texted(token.text));
    else if (token.kind === "close") this.#close(token.name);
    else this.#begin(token.name, token.attributes);
  }

  end(): Sanitized {
    this.#closeDownTo(0);
    if (this.#form && !this.#placed) this.#out.push(FORM_MARK);
    return { html: this.#out.join(""), removed: [...this.#removed.values()], assets: [...this.#assets] };
  }

  #skip(token: Token, skipping: { name: string; depth: number }): void {
    if (token.kind === "text" || token.name !== skipping.name) return;
    skipping.depth += token.kind === "open" ? 1 : -1;
    if (skipping.depth === 0) this.#skipping = null;
  }

  #remove(kind: Removal["kind"], name: string): void {
    const shown = /^[a-z0-9:_-]{1,40}$/.test(name) ? name : "other";
    const key = `${kind} ${shown}`;
    const known = this.#removed.get(key);
    if (known) known.count += 1;
    else if (this.#removed.size < MAX_REMOVALS) this.#removed.set(key, { kind, name: shown, count: 1 });
  }

  #begin(name: string, attributes: readonly (readonly [string, string])[]): void {
    if (DROPPED.has(name)) {
      this.#remove("element", name);
      if (!DROPPED_VOID.has(name)) this.#skipping = { name, depth: 1 };
      return;
    }
    if (name === "form") {
      this.#placeForm();
      return;
    }
    if (!ELEMENTS.has(name)) {
      // The frame every whole document has is ours: no need to tell of it.
      if (!["html", "head", "body"].includes(name)) this.#remove("element", name);
      return;
    }
    if (BLOCKS.has(name)) this.#closeUpTo(new Set(["p"]), new Set());
    const rule = ENDS[name];
    if (rule) this.#closeUpTo(rule.ends, rule.within);
    if (this.#open.length >= MAX_DEPTH && !VOID.has(name)) {
      this.#remove("depth", name);
      return;
    }
    const written = this.#attributes(name, attributes);
    if (written === null) return;
    this.#out.push(`<${name}${written}>`);
    if (!VOID.has(name)) this.#open.push(name);
  }

  /** The first form that stands among boxes becomes the place of ours; fields of a caller's are left out. */
  #placeForm(): void {
    this.#closeUpTo(new Set(["p"]), new Set());
    if (!this.#placed && this.#open.every((one) => BOXES.has(one))) {
      this.#out.push(FORM_MARK);
      this.#placed = true;
    }
    this.#form = true;
  }

  #attributes(element: string, attributes: readonly (readonly [string, string])[]): string | null {
    let out = "";
    let source: string | null = null;
    for (const [name, raw] of attributes) {
      const value = decoded(raw);
      if (name === "style") {
        const { style, removed } = safeStyle(value);
        for (const property of removed) this.#remove("style", property);
        if (style !== "") out += ` style="${quoted(style)}"`;
      } else if (name === "class") {
        const classes = value.split(/\s+/).filter((one) => CLASSES.has(one));
        if (classes.length > 0) out += ` class="${classes.join(" ")}"`;
        else if (value.trim() !== "") this.#remove("attribute", "class");
      } else if (name === "id" && ownId(value) !== null) out += ` id="${ownId(value)}"`;
      else if (name === "href" && element === "a") {
        const target = linkTarget(value);
        if (target === null) this.#remove("address", "href");
        else out += ` href="${quoted(target)}"${target.startsWith("#") ? "" : ' rel="noopener noreferrer"'}`;
      } else if (name === "src" && element === "img") source = assetOf(value, this.#origins);
      // What we add ourselves, and what a link may ask for in vain: not worth telling.
      else if (["rel", "loading", "target"].includes(name)) continue;
      else if (mayStand(element, name, value)) out += ` ${name}="${quoted(value)}"`;
      else this.#remove("attribute", name);
    }
    if (element !== "img") return out;
    if (source === null) {
      this.#remove("address", "img");
      return null;
    }
    this.#assets.add(source);
    return ` src="/a/${source}"${out}${/ alt="/.test(out) ? "" : ' alt=""'} loading="lazy"`;
  }

  #close(name: string): void {
    const at = this.#open.lastIndexOf(name);
    if (at !== -1) this.#closeDownTo(at);
  }

  /** Closes the innermost of these elements, unless one of `within` is further in. */
  #closeUpTo(ends: ReadonlySet<string>, within: ReadonlySet<string>): void {
    for (let at = this.#open.length - 1; at >= 0; at -= 1) {
      const one = this.#open[at] as string;
      if (within.has(one)) return;
      // What an outer one of these has to end with goes with it.
      if (ends.has(one)) this.#closeDownTo(at);
    }
  }

  #closeDownTo(length: number): void {
    while (this.#open.length > length) this.#out.push(`</${this.#open.pop()}>`);
  }
}

/**
 * Takes out of HTML all that acts, loads or leads where it should not, by a list of what may stay, and writes the rest anew:
 * every tag balanced, every value quoted, every text escaped. So no browser can read more in it than was meant. `origins` are
 * the addresses of this server, whose images may be shown.
 */
export function sanitize(html: string, origins: readonly string[]): Sanitized {
  const writer = new Writer(origins);
  for (const token of tokens(html)) writer.take(token);
  return writer.end();
}

// Tokens that are taken at a time: a few milliseconds. The largest page has half a million.
const AT_A_TIME = 10_000;

/** The same, with turns for others in between. */
export async function sanitizeInTurns(html: string, origins: readonly string[]): Promise<Sanitized> {
  const writer = new Writer(origins);
  let taken = 0;
  for (const token of tokens(html)) {
    writer.take(token);
    taken += 1;
    if (taken % AT_A_TIME === 0) await yieldToEventLoop();
  }
  return writer.end();
}
