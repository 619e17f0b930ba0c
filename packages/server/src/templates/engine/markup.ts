import { decodeAttribute } from "../../html/escape.ts";
import { type Dialect, readOn, startOfHtml, type Token, type TokenizerState } from "../../html/tokenizer.ts";
import { UNKNOWN, URL_ATTRIBUTES, urlPrefixSafety } from "../../html/urls.ts";
import type { Fault, Node, PutNode, SourceLocation, Tree } from "./tree.ts";

/** Reading of HTML in mail: Outlook reads conditional comments, and text areas and titles show escaped values as they are. */
const MAIL: Dialect = {
  raw: new Set(["script", "style", "xmp", "iframe", "noembed", "noframes"]),
  conditionalComments: true,
};

/** Elements of SVG that set an attribute of another element. */
const ANIMATIONS: ReadonlySet<string> = new Set(["set", "animate", "animatetransform", "animatemotion"]);

const MAX_FAULTS = 20;

/** A fault with the slug of the part it is in; null for the template itself. */
type PartFault = Fault & { readonly part: string | null };

/**
 * Reads the HTML of a template with everything it includes, and refuses values where escaping could not contain them:
 * outside of quotes, in scripts, in tag names, after the scheme of a script URL. Marks the values that can give an address
 * its scheme: those are checked while rendering.
 */
class Walker {
  readonly faults: PartFault[] = [];
  readonly #findPartial: (slug: string) => Tree | undefined;
  readonly #body: Tree | undefined;
  // A partial that is entered in the same state again ends in the same state again.
  readonly #ends = new Map<string, TokenizerState>();

  // The part whose source is read; null for the template's own.
  #part: string | null;
  // The last value in an attribute, where faults found later are reported.
  #lastPut: SourceLocation = { line: 1, column: 1 };

  constructor(findPartial: (slug: string) => Tree | undefined, body: Tree | undefined, part: string | null) {
    this.#findPartial = findPartial;
    this.#body = body;
    this.#part = part;
  }

  #fault(at: SourceLocation, message: string): void {
    const fault = { line: at.line, column: at.column, code: "unsafe_place", message, part: this.#part };
    // The body of a loop may be read twice.
    const known = this.faults.some((one) => one.line === fault.line && one.column === fault.column && one.message === message);
    if (!known && this.faults.length < MAX_FAULTS) this.faults.push(fault);
  }

  walk(nodes: readonly Node[], s: TokenizerState): TokenizerState {
    for (const node of nodes) s = this.#node(node, s);
    return s;
  }

  #node(node: Node, s: TokenizerState): TokenizerState {
    switch (node.kind) {
      case "text":
        for (const token of readOn(s, node.text, MAIL)) this.#checkTag(token);
        return s;
      case "put":
        this.#put(node, s);
        return s;
      case "if": {
        const then = this.walk(node.body, fork(s));
        const otherwise = this.walk(node.otherwise, fork(s));
        return this.#join(node.at, then, otherwise, "Both branches of {{#if}} must end in the same place of the HTML");
      }
      case "each":
      case "with": {
        let after = this.walk(node.body, fork(s));
        // From the second round on, the address has begun.
        if (after.mode === "quoted" && after.value.includes(UNKNOWN) && !s.value.includes(UNKNOWN))
          after = this.walk(node.body, fork({ ...after, value: UNKNOWN }));
        const looped = this.#join(node.at, after, s, `{{#${node.kind}}} must end where it began in the HTML`);
        const otherwise = this.walk(node.otherwise, fork(s));
        return this.#join(node.at, looped, otherwise, `{{#${node.kind}}} and its {{else}} must end in the same place`);
      }
      case "partial":
        return this.#enter(node.slug, this.#findPartial(node.slug), node.slug, s);
      case "body":
        if (s.mode !== "text") this.#fault(node.at, "{{{body}}} is inside a tag.");
        return this.#enter(" body", this.#body, null, s);
    }
  }

  #put(node: PutNode, s: TokenizerState): void {
    const written = `{{${describe(node)}}}`;
    const reason = findRefusal(s, node);
    if (reason) this.#fault(node.at, `${written} ${reason}`);
    if (s.mode !== "quoted") {
      s.tail = "";
      return;
    }
    if (URL_ATTRIBUTES.has(s.attribute)) {
      const safety = urlPrefixSafety(s.value);
      if (safety === "unsafe") this.#fault(node.at, `${written} is in an address that runs code, or whose scheme comes from a value.`);
      if (safety === "open" && /&[#\w]*$/.test(s.value)) this.#fault(node.at, `${written} is in a character reference.`);
      // A partial can be used in several places.
      if (safety === "open") node.address = s.value === "" && node.address !== "continues" ? "begins" : "continues";
    }
    this.#lastPut = node.at;
    s.value = normalizeValue(s, s.value + UNKNOWN);
  }

  /** Checks that need the whole tag, since attributes may follow the one with a value. */
  #checkTag(token: Token): void {
    if (token.kind !== "open") return;
    const { name, attributes } = token;
    for (const [attribute, value] of attributes)
      if (value.includes(UNKNOWN) && URL_ATTRIBUTES.has(attribute) && urlPrefixSafety(value) === "unsafe")
        this.#fault(this.#lastPut, `The address in ${attribute} gets its scheme from a value. Write the scheme, as in https://{{host}}.`);
    if (name !== "meta") return;
    const refreshes = attributes.some(([attribute, value]) => attribute === "http-equiv" && /refresh/i.test(decodeAttribute(value)));
    if (refreshes && attributes.some(([attribute, value]) => attribute === "content" && value.includes(UNKNOWN)))
      this.#fault(this.#lastPut, "A value in <meta http-equiv=refresh> would decide which page is opened.");
  }

  #enter(slug: string, tree: Tree | undefined, part: string | null, s: TokenizerState): TokenizerState {
    s.value = normalizeValue(s, s.value);
    const key = `${slug} ${keyOf(s)} ${s.mode === "quoted" ? s.value : ""} ${s.tag === "meta" ? JSON.stringify(s.attributes) : ""}`;
    const known = this.#ends.get(key);
    if (known) return fork(known);
    const outside = this.#part;
    this.#part = part;
    const end = tree ? this.walk(tree.nodes, fork(s)) : s;
    this.#part = outside;
    this.#ends.set(key, fork(end));
    return end;
  }

  /** The state after a block, from the states after its branches. */
  #join(at: SourceLocation, a: TokenizerState, b: TokenizerState, rule: string): TokenizerState {
    if (keyOf(a) !== keyOf(b)) this.#fault(at, `${rule}: one is in ${a.mode}, the other in ${b.mode}.`);
    if (a.mode === "quoted" && a.value !== b.value) this.#lastPut = at;
    return {
      ...a,
      // Rendering decides with which of the two an attribute begins.
      value: a.value === b.value ? a.value : normalizeValue(a, UNKNOWN),
      attributes: [...a.attributes, ...b.attributes.filter(([name]) => !a.attributes.some(([known]) => known === name))],
    };
  }
}

/**
 * The faults of an HTML source, together with its partials and, for a layout, its content. `part` is the slug of the
 * layout, or null.
 */
export function findMarkupFaults(
  tree: Tree,
  part: string | null,
  findPartial: (slug: string) => Tree | undefined,
  body?: Tree,
): readonly PartFault[] {
  const walker = new Walker(findPartial, body, part);
  walker.walk(tree.nodes, startOfHtml());
  return walker.faults;
}

function fork(s: TokenizerState): TokenizerState {
  return { ...s, attributes: [...s.attributes] };
}

/**
 * The part of an attribute's value that matters for what follows: of an address, its beginning until its scheme is known;
 * of other values, whether a template value is in them. So a partial has few different states to be entered in.
 */
function normalizeValue({ mode, attribute }: TokenizerState, value: string): string {
  if (mode !== "quoted") return value;
  if (attribute === "http-equiv") return value.slice(0, 50);
  if (!URL_ATTRIBUTES.has(attribute)) return value.includes(UNKNOWN) ? UNKNOWN : "";
  if (urlPrefixSafety(value) === "safe") return `/${value.includes(UNKNOWN) ? UNKNOWN : ""}`;
  return value.includes(UNKNOWN) ? UNKNOWN + value.slice(value.lastIndexOf(UNKNOWN) + 1) : value;
}

/** Two branches of a block must end in the same place. */
function keyOf({ mode, tag, closing, attribute, quote }: TokenizerState): string {
  if (mode === "text" || mode === "comment" || mode === "bogus" || mode === "conditional") return mode;
  if (mode === "raw" || mode === "tag-name" || mode === "tag") return `${mode} ${closing} ${tag}`;
  return `${mode} ${tag} ${attribute} ${quote}`;
}

function findRefusal(s: TokenizerState, node: PutNode): string | null {
  switch (s.mode) {
    case "text":
      return null;
    case "comment":
    case "bogus":
    case "conditional":
      if (node.raw) return "is in a comment, which a value in three braces could end.";
      return s.mode === "comment" && /--!?$/.test(s.tail) ? "is where a comment may end." : null;
    case "quoted":
      if (node.raw) return "is in an attribute, which a value in three braces could end. Write two.";
      if (s.attribute.startsWith("on") || s.attribute === "srcdoc") return `is in ${s.attribute}, where it would be run as code.`;
      if (s.tag === "meta" && s.attribute === "http-equiv") return "is in http-equiv, which decides what the element does.";
      return ANIMATIONS.has(s.tag) ? `is in <${s.tag}>, which can change any attribute of another element.` : null;
    case "unquoted":
    case "before-value":
      return `is the value of ${s.attribute} without quotes. Write ${s.attribute}="…".`;
    case "raw":
      if (s.tag !== "style" || node.raw) return `is in <${s.tag}>, where escaping does not protect.`;
      return /<\/?\w*$/.test(s.tail) ? "is in an incomplete tag." : null;
    case "plaintext":
      return "is after <plaintext>, where escaping does not protect.";
    default:
      return "is inside a tag. Values can be between tags and in quoted attributes.";
  }
}

function describe({ value }: PutNode): string {
  return value.kind === "path" ? value.text : value.kind === "call" ? `${value.helper} …` : "…";
}

/** Addresses that are the same for whoever writes the mail: those of this service. */
const OWN_ADDRESSES: ReadonlySet<string> = new Set(["unsubscribeUrl", "viewInBrowserUrl"]);

/** Elements whose text a form sends. */
const SENT_BY_FORMS: ReadonlySet<string> = new Set(["textarea", "option"]);

/**
 * Finds what makes a mail differ from what one reader of it sees, or tells others about its readers: anything but fields of contacts with
 * a default, fields inside of tags, such as in the address of an image, and fields that a form would send.
 */
export function findUnplain({ role, nodes }: Tree): Fault[] {
  const faults: Fault[] = [];
  const state = startOfHtml();
  // Programs differ in where such an element ends, so nothing after it can be a field.
  let sentBy: string | null = null;
  const refuse = ({ at }: { at: Fault | PutNode["at"] }, message: string): void => {
    if (faults.length < MAX_FAULTS) faults.push({ line: at.line, column: at.column, code: "not_plain", message });
  };
  for (const node of nodes) {
    if (node.kind === "text") {
      if (role === "html")
        for (const token of readOn(state, node.text, MAIL))
          if (token.kind === "open" && SENT_BY_FORMS.has(token.name)) sentBy ??= token.name;
      continue;
    }
    if (node.kind !== "put" || node.raw || !isField(node)) {
      refuse(node, 'Only fields of contacts can be in it: {{firstName}}, or {{default firstName "there"}}.');
      continue;
    }
    const isOwn = node.value.kind === "path" && OWN_ADDRESSES.has(node.value.text);
    const isAddress = state.mode === "quoted" && state.tag === "a" && state.attribute === "href";
    if (state.mode !== "text" && !(isOwn && isAddress && state.value === ""))
      refuse(node, "A field cannot be inside of a tag, a style or a comment: others would learn of the reader by it.");
    else if (sentBy !== null) refuse(node, `A field cannot follow <${sentBy}>: a form would send it to others.`);
  }
  return faults;
}

/** A field of the contact, with a fixed text in its place at most. */
function isField({ value }: Extract<Node, { kind: "put" }>): boolean {
  if (value.kind === "path") return value.from === "root" || value.from === "here";
  if (value.kind !== "call" || value.helper !== "default") return false;
  const [field, other] = value.args;
  return field?.kind === "path" && other?.kind === "literal";
}
