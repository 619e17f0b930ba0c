import type { Fault, Node, Place, PutNode, Tree } from "./tree.ts";

/** Where in HTML one stands, as a parser of HTML would see it. */
interface State {
  mode:
    | "text"
    | "open"
    | "bang"
    | "dashes"
    | "comment"
    | "conditional"
    | "declaration"
    | "name"
    | "tag"
    | "attribute"
    | "after-attribute"
    | "before-value"
    | "quoted"
    | "unquoted"
    | "raw";
  tag: string;
  closing: boolean;
  attribute: string;
  quote: string;
  /** Nothing of the attribute's value has been seen yet. */
  fresh: boolean;
  /** What was last seen in a comment, a raw element or a condition, as far as it may end there. */
  tail: string;
}

const START: State = { mode: "text", tag: "", closing: false, attribute: "", quote: "", fresh: false, tail: "" };

const SPACE = /[\t\n\f\r ]/;
const LETTER = /[A-Za-z]/;
// Elements whose content is no HTML.
const RAW: ReadonlySet<string> = new Set(["script", "style", "xmp", "iframe", "noembed", "noframes", "plaintext"]);
const URLS: ReadonlySet<string> = new Set(["href", "src", "action", "formaction", "background", "poster", "cite", "xlink:href", "data"]);

/** A fault with the slug of the part it is in; null for the template itself. */
type PartFault = Fault & { readonly part: string | null };

/**
 * Walks a page with everything it is put together from, and refuses values where escaping could not keep them in their
 * place: outside of quotes, in scripts, in tag names. Notes which values begin the address of a link.
 */
class Walker {
  readonly faults: PartFault[] = [];
  readonly #partial: (slug: string) => Tree | undefined;
  readonly #body: Tree | undefined;
  // A partial that is entered in the same place again ends in the same place again.
  readonly #ends = new Map<string, State>();

  // Whose source is walked: a part's, or, for null, the template's own.
  #part: string | null;

  constructor(partial: (slug: string) => Tree | undefined, body: Tree | undefined, part: string | null) {
    this.#partial = partial;
    this.#body = body;
    this.#part = part;
  }

  #fault(at: Place, code: string, message: string): void {
    if (this.faults.length < 20) this.faults.push({ line: at.line, column: at.column, code, message, part: this.#part });
  }

  walk(nodes: readonly Node[], s: State): State {
    for (const node of nodes) s = this.#node(node, s);
    return s;
  }

  #node(node: Node, s: State): State {
    switch (node.kind) {
      case "text":
        feed(s, node.text);
        return s;
      case "put": {
        const why = refusal(s, node);
        if (why) this.#fault(node.at, "unsafe_place", `{{${textOf(node)}}} ${why}`);
        if (s.mode === "quoted" && s.fresh && URLS.has(s.attribute)) node.opensUrl = true;
        s.fresh = false;
        s.tail = "";
        return s;
      }
      case "if": {
        const then = this.walk(node.body, { ...s });
        return this.#same(
          node.at,
          then,
          this.walk(node.otherwise, { ...s }),
          "Both ways through {{#if}} must end in the same place of the HTML",
        );
      }
      case "each":
      case "with": {
        const after = this.walk(node.body, { ...s });
        this.#same(node.at, after, s, `{{#${node.kind}}} must end where it began in the HTML`);
        return this.#same(
          node.at,
          after,
          this.walk(node.otherwise, { ...s }),
          `{{#${node.kind}}} and its {{else}} must end in the same place`,
        );
      }
      case "partial":
        return this.#enter(`${node.slug} ${keyOf(s)} ${s.fresh}`, this.#partial(node.slug), node.slug, s);
      case "body":
        if (s.mode !== "text") this.#fault(node.at, "unsafe_place", "{{{body}}} stands inside a tag.");
        return this.#enter(" body", this.#body, null, s);
    }
  }

  #enter(key: string, tree: Tree | undefined, part: string | null, s: State): State {
    const known = this.#ends.get(key);
    if (known) return { ...known };
    // Until it is known; a cycle is refused elsewhere, and must not go round here.
    this.#ends.set(key, { ...s });
    const outside = this.#part;
    this.#part = part;
    const end = tree ? this.walk(tree.nodes, { ...s }) : s;
    this.#part = outside;
    this.#ends.set(key, { ...end });
    return end;
  }

  #same(at: Place, a: State, b: State, rule: string): State {
    if (keyOf(a) !== keyOf(b)) this.#fault(at, "unsafe_place", `${rule}: one is in ${a.mode}, the other in ${b.mode}.`);
    // Where a value may be the first of its attribute, it is taken for the first.
    return { ...a, fresh: a.fresh || b.fresh };
  }
}

/**
 * The faults of an HTML source, together with its partials and, for a layout, its content. `part` is the slug of the
 * layout, or null.
 */
export function markupFaults(
  tree: Tree,
  part: string | null,
  partial: (slug: string) => Tree | undefined,
  body?: Tree,
): readonly PartFault[] {
  const walker = new Walker(partial, body, part);
  walker.walk(tree.nodes, { ...START });
  return walker.faults;
}

function endTag(s: State): void {
  s.mode = !s.closing && RAW.has(s.tag) ? "raw" : "text";
  s.tail = "";
}

/** Moves on by one character; true when it must be looked at again in the new mode. */
function step(s: State, c: string): boolean {
  switch (s.mode) {
    case "text":
      if (c === "<") Object.assign(s, { mode: "open", closing: false });
      return false;
    case "open":
      if (c === "/" && !s.closing) s.closing = true;
      else if (LETTER.test(c)) Object.assign(s, { mode: "name", tag: c.toLowerCase() });
      else if (c === "!" && !s.closing) Object.assign(s, { mode: "bang", tail: "" });
      else if (c === "?" || s.closing) s.mode = c === ">" ? "text" : "declaration";
      else {
        s.mode = "text";
        return true;
      }
      return false;
    case "bang":
      s.tail += c;
      if (s.tail === "--") Object.assign(s, { mode: "dashes", tail: "--" });
      else if (s.tail !== "-") {
        s.mode = "declaration";
        return c === ">";
      }
      return false;
    case "dashes":
      // What stands in a conditional comment is HTML to the one client that reads it.
      s.mode = c === "[" ? "conditional" : "comment";
      return c !== "[";
    case "conditional":
      if (c === ">" && s.tail.endsWith("]")) s.mode = "text";
      s.tail = c;
      return false;
    case "comment":
      if (c === ">" && s.tail.endsWith("--")) s.mode = "text";
      s.tail = (s.tail + c).slice(-2);
      return false;
    case "declaration":
      if (c === ">") s.mode = "text";
      return false;
    case "name":
      if (c === ">") endTag(s);
      else if (SPACE.test(c) || c === "/") s.mode = "tag";
      else s.tag += c.toLowerCase();
      return false;
    case "tag":
      if (c === ">") endTag(s);
      else if (!SPACE.test(c) && c !== "/") Object.assign(s, { mode: "attribute", attribute: c.toLowerCase() });
      return false;
    case "attribute":
      if (c === "=") s.mode = "before-value";
      else if (SPACE.test(c)) s.mode = "after-attribute";
      else if (c === ">") endTag(s);
      else if (c === "/") s.mode = "tag";
      else s.attribute += c.toLowerCase();
      return false;
    case "after-attribute":
      if (c === "=") s.mode = "before-value";
      else if (!SPACE.test(c)) {
        s.mode = "tag";
        return true;
      }
      return false;
    case "before-value":
      if (c === '"' || c === "'") Object.assign(s, { mode: "quoted", quote: c, fresh: true });
      else if (c === ">") endTag(s);
      else if (!SPACE.test(c)) s.mode = "unquoted";
      return false;
    case "quoted":
      if (c === s.quote) s.mode = "tag";
      else if (!SPACE.test(c)) s.fresh = false;
      return false;
    case "unquoted":
      if (SPACE.test(c)) s.mode = "tag";
      else if (c === ">") endTag(s);
      return false;
    case "raw":
      s.tail = (s.tail + c.toLowerCase()).slice(-(s.tag.length + 2));
      if (s.tail === `</${s.tag}`) Object.assign(s, { mode: "name", closing: true });
      return false;
  }
}

function feed(s: State, text: string): void {
  for (let i = 0; i < text.length; i += 1) {
    // Most of a mail is text between tags.
    if (s.mode === "text") {
      const next = text.indexOf("<", i);
      if (next === -1) return;
      i = next;
    }
    if (step(s, text[i] as string)) i -= 1;
  }
}

/** Two ways through a block must end in the same place. */
function keyOf({ mode, tag, closing, attribute, quote }: State): string {
  if (mode === "text" || mode === "comment" || mode === "declaration" || mode === "conditional") return mode;
  if (mode === "raw" || mode === "name" || mode === "tag") return `${mode} ${closing} ${tag}`;
  return `${mode} ${tag} ${attribute} ${quote}`;
}

function refusal(s: State, node: PutNode): string | null {
  switch (s.mode) {
    case "text":
      return null;
    case "comment":
    case "declaration":
    case "conditional":
      return node.raw ? "stands in a comment, where three braces could end it." : null;
    case "quoted":
      if (node.raw) return "stands in an attribute, where three braces could end it; write two.";
      return s.attribute.startsWith("on") || s.attribute === "srcdoc" ? `stands in ${s.attribute}, where it would be run as code.` : null;
    case "unquoted":
    case "before-value":
      return `is the value of ${s.attribute} without quotes; write ${s.attribute}="…".`;
    case "raw":
      return s.tag === "style" && !node.raw ? null : `stands in <${s.tag}>, where escaping does not protect.`;
    default:
      return "stands inside a tag; a value may stand between tags and in quoted attributes.";
  }
}

function textOf({ value }: PutNode): string {
  return value.kind === "path" ? value.text : value.kind === "call" ? `${value.helper} …` : "…";
}
