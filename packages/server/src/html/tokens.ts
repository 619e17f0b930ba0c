/** A piece of HTML as a browser cuts it. Names are in lower case; texts and values are as they came. */
export type Token =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "open"; readonly name: string; readonly attributes: readonly (readonly [name: string, value: string])[] }
  | { readonly kind: "close"; readonly name: string };

/** What stands inside these is text to a browser, up to their end tag. */
const RAW = new Set(["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "noscript"]);

const MAX_ATTRIBUTES = 64;

const SPACE = /[\t\n\f\r ]/;

/**
 * Cuts HTML into tokens the way the tokenizer of the HTML standard does; comments, doctypes and what is inside raw texts
 * are left out. Takes a time in proportion to the length.
 */
export function* tokens(html: string): Generator<Token> {
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    if (open === -1 || open > at) {
      yield { kind: "text", text: html.slice(at, open === -1 ? html.length : open) };
      if (open === -1) return;
      at = open;
    }
    const next = html[at + 1] ?? "";
    if (html.startsWith("<!--", at)) at = commentEnd(html, at);
    else if (next === "!" || next === "?" || (next === "/" && !/[A-Za-z]/.test(html[at + 2] ?? ""))) {
      // "</" at the very end is text; everything else of this kind is a comment up to the next ">".
      const close = html.indexOf(">", at);
      at = close === -1 ? html.length : close + 1;
    } else if (next === "/" || /[A-Za-z]/.test(next)) {
      const closing = next === "/";
      const nameAt = closing ? at + 2 : at + 1;
      let nameEnd = nameAt;
      while (nameEnd < html.length && !/[\t\n\f\r />]/.test(html[nameEnd] as string)) nameEnd += 1;
      const name = html.slice(nameAt, nameEnd).toLowerCase();
      const { attributes, end } = readTag(html, nameEnd);
      // A tag that does not end is left out, with all that follows.
      if (end === -1) return;
      at = end;
      yield closing ? { kind: "close", name } : { kind: "open", name, attributes };
      if (!closing && name === "plaintext") return;
      if (!closing && RAW.has(name)) at = rawEnd(html, name, at);
    } else {
      yield { kind: "text", text: "<" };
      at += 1;
    }
  }
}

/** Reads the attributes of a tag from `at`; where the tag ends, or -1 when it does not. */
function readTag(html: string, start: number): { attributes: [string, string][]; end: number } {
  const attributes: [string, string][] = [];
  const seen = new Set<string>();
  const { length } = html;
  let at = start;
  for (;;) {
    while (at < length && (SPACE.test(html[at] as string) || html[at] === "/")) at += 1;
    if (at >= length) return { attributes, end: -1 };
    if (html[at] === ">") return { attributes, end: at + 1 };
    const nameAt = at;
    // A name may begin with "=".
    at += 1;
    while (at < length && !SPACE.test(html[at] as string) && html[at] !== "/" && html[at] !== ">" && html[at] !== "=") at += 1;
    const name = html.slice(nameAt, at).toLowerCase();
    let next = at;
    while (next < length && SPACE.test(html[next] as string)) next += 1;
    let value = "";
    if (html[next] === "=") {
      at = next + 1;
      while (at < length && SPACE.test(html[at] as string)) at += 1;
      const quote = html[at];
      if (quote === '"' || quote === "'") {
        const close = html.indexOf(quote, at + 1);
        if (close === -1) return { attributes, end: -1 };
        value = html.slice(at + 1, close);
        at = close + 1;
      } else {
        const valueAt = at;
        while (at < length && !SPACE.test(html[at] as string) && html[at] !== ">") at += 1;
        value = html.slice(valueAt, at);
      }
    }
    // The first of two attributes of one name counts.
    if (seen.has(name)) continue;
    seen.add(name);
    if (attributes.length < MAX_ATTRIBUTES) attributes.push([name, value]);
  }
}

/** Where a comment that begins at `at` ends. */
function commentEnd(html: string, at: number): number {
  if (html.startsWith("<!-->", at)) return at + 5;
  if (html.startsWith("<!--->", at)) return at + 6;
  const found = /--!?>/g;
  found.lastIndex = at + 4;
  return found.exec(html) ? found.lastIndex : html.length;
}

/** Where the end tag of a raw text begins; the end of everything when there is none. */
function rawEnd(html: string, name: string, at: number): number {
  const found = new RegExp(`</${name}(?=[\\t\\n\\f\\r />])`, "gi");
  found.lastIndex = at;
  return found.exec(html)?.index ?? html.length;
}
