import { limits } from "./limits.ts";

export const BLOCK_LIMITS = limits("templates", "A mail in blocks", {
  blocks: [200, "blocks, with those in columns"],
  heading: [300, "text of a heading", "characters"],
  text: [10_000, "text of a text block", "characters"],
  label: [100, "words of a button", "characters"],
  alt: [300, "words in place of a picture", "characters"],
  href: [2048, "an address", "characters"],
  columns: [3, "columns next to each other"],
  /** A mail is 600 wide. */
  width: [600, "width of a picture", "pixels"],
  height: [200, "height of a spacer", "pixels"],
});

/** The kinds of blocks of a mail, in the order in which an editor offers them. */
export const BLOCK_TYPES = ["heading", "text", "image", "button", "columns", "divider", "spacer"] as const;

/** A piece of a text: words, a variable as it is written, words in bold or italics, or a link. */
export type Span =
  | { readonly kind: "words"; readonly text: string }
  | { readonly kind: "variable"; readonly source: string }
  | { readonly kind: "strong" | "emphasis"; readonly spans: readonly Span[] }
  | { readonly kind: "link"; readonly href: string; readonly spans: readonly Span[] };

/** Lines that belong together: a paragraph, or the items of a list. */
interface Passage {
  readonly kind: "paragraph" | "bullets" | "numbers";
  readonly lines: readonly (readonly Span[])[];
}

const ITEM = { bullets: /^\s*[-•]\s+/, numbers: /^\s*\d{1,3}[.)]\s+/ } as const;

/** Reads the text of a block: empty lines separate passages, `- ` and `1. ` begin items of lists. */
export function parsePassages(text: string): Passage[] {
  const passages: { kind: Passage["kind"]; lines: (readonly Span[])[] }[] = [];
  let isNew = true;
  for (const line of text.split(/\r\n?|\n/)) {
    if (line.trim() === "") {
      isNew = true;
      continue;
    }
    const kind = ITEM.bullets.test(line) ? "bullets" : ITEM.numbers.test(line) ? "numbers" : "paragraph";
    const spans = parseSpans((kind === "paragraph" ? line : line.replace(ITEM[kind], "")).trim());
    const last = passages.at(-1);
    if (last?.kind === kind && !isNew) last.lines.push(spans);
    else passages.push({ kind, lines: [spans] });
    isNew = false;
  }
  return passages;
}

/** Splits a text at its variables, which are everything between `{{` and `}}`. */
export function splitVariables(text: string): Span[] {
  const spans: Span[] = [];
  let from = 0;
  for (let at = text.indexOf("{{"); at !== -1; at = text.indexOf("{{", from)) {
    const found = readVariable(text, at);
    if (found === null) break;
    if (at > from) spans.push({ kind: "words", text: text.slice(from, at) });
    spans.push(found.span);
    from = found.end;
  }
  return from === text.length ? spans : [...spans, { kind: "words", text: text.slice(from) }];
}

/** Reads a line of a text: `**bold**`, `*italic*`, `[words](address)` and variables; a `\` takes the meaning from the character after it. */
export function parseSpans(line: string): Span[] {
  const spans: Span[] = [];
  let words = "";
  for (let i = 0; i < line.length; ) {
    const found =
      readVariable(line, i) ?? readEscaped(line, i) ?? readMarked(line, i, "**") ?? readMarked(line, i, "*") ?? readLink(line, i);
    if (found === null) words += line[i];
    else if (found.span.kind === "words") words += found.span.text;
    else {
      if (words !== "") spans.push({ kind: "words", text: words });
      words = "";
      spans.push(found.span);
    }
    i = found?.end ?? i + 1;
  }
  return words === "" ? spans : [...spans, { kind: "words", text: words }];
}

/** Lists the addresses that a text links to. */
export function listTextLinks(text: string): string[] {
  const ofSpans = (spans: readonly Span[]): string[] =>
    spans.flatMap((span) => (span.kind === "link" ? [span.href] : "spans" in span ? ofSpans(span.spans) : []));
  return parsePassages(text).flatMap(({ lines }) => lines.flatMap(ofSpans));
}

/** Explains why a mail cannot link to an address; null for one that it can. `schemes` are those of links, or of pictures. */
export function explainAddress(href: string, schemes: "link" | "image" = "link"): string | null {
  const allowed = schemes === "link" ? /^(?:https?:\/\/|mailto:)/i : /^https?:\/\//i;
  const begins = schemes === "link" ? "https://, http:// or mailto:" : "https:// or http://";
  if (!href.startsWith("{{") && !allowed.test(href)) return `An address begins with ${begins}, or is a variable such as {{url}}.`;
  const known = href.replace(/\{\{[\s\S]*?\}\}+/g, "x");
  if (/[\s\p{Cc}"<>\\`]/u.test(known)) return 'An address holds no spaces, quotes, < > or \\. Write a space as "%20".';
  if (!allowed.test(href)) return null;
  if (!URL.canParse(known)) return "This is not a whole address.";
  // A user name in an address can look like its host: https://bank.example@elsewhere.example
  const { username, password } = new URL(known);
  return username === "" && password === "" ? null : "An address cannot hold a user name (the part before @).";
}

/** Explains why the variables of a text cannot be used in a block; null if they can. In attributes, a variable has one kind of quotes. */
export function explainVariables(text: string, place: "text" | "attribute" = "text"): string | null {
  for (const { source } of splitVariables(text).filter((span) => span.kind === "variable")) {
    const shown = source.slice(0, 60);
    if (/^\{\{~?[{&]/.test(source) || source.endsWith("}}}"))
      return `${shown} would be put in as HTML. Write variables with two braces: {{name}}.`;
    if (/^\{\{~?[!*]/.test(source)) return `${shown} is no variable. Blocks take variables, {{#if}} and {{#each}}.`;
    if (/[<>]/.test(source)) return `${shown} holds < or >. Blocks take no partials, and no markup in variables.`;
    if (place === "attribute" && source.includes('"') && source.includes("'")) return `${shown} mixes two kinds of quotes. Use one.`;
  }
  return null;
}

interface Found {
  readonly span: Span;
  readonly end: number;
}

function readVariable(line: string, at: number): Found | null {
  if (!line.startsWith("{{", at)) return null;
  const close = line.indexOf("}}", at);
  if (close === -1) return null;
  const end = close + (/^\}+/.exec(line.slice(close, close + 4))?.[0].length ?? 2);
  return { span: { kind: "variable", source: line.slice(at, end) }, end };
}

function readEscaped(line: string, at: number): Found | null {
  const next = line[at + 1] ?? "";
  return line[at] === "\\" && next !== "" && "\\*[]".includes(next) ? { span: { kind: "words", text: next }, end: at + 2 } : null;
}

/** Words between two marks; the first follows, and the last precedes, anything but a blank. */
function readMarked(line: string, at: number, mark: "**" | "*"): Found | null {
  if (!line.startsWith(mark, at)) return null;
  const begin = at + mark.length;
  if (!/[^\s*]/.test(line[begin] ?? " ")) return null;
  const close = findClose(line, begin + 1, mark);
  if (close === -1) return null;
  const spans = parseSpans(line.slice(begin, close));
  return { span: { kind: mark === "**" ? "strong" : "emphasis", spans }, end: close + mark.length };
}

function findClose(line: string, from: number, mark: "**" | "*"): number {
  for (let at = line.indexOf(mark, from); at !== -1; at = line.indexOf(mark, at + 1)) {
    if (/\s/.test(line[at - 1] ?? " ") || line[at - 1] === "\\") continue;
    if (mark === "**" || (line[at - 1] !== "*" && line[at + 1] !== "*")) return at;
  }
  return -1;
}

function readLink(line: string, at: number): Found | null {
  if (line[at] !== "[") return null;
  const middle = line.indexOf("](", at + 1);
  if (middle <= at + 1) return null;
  const [address] = /^(?:\{\{[\s\S]*?\}\}+|\([^()\s]*\)|[^()\s])+(?=\))/.exec(line.slice(middle + 2, middle + 2 + BLOCK_LIMITS.href)) ?? [];
  if (address === undefined) return null;
  const label = line.slice(at + 1, middle);
  // The nearest bracket begins the link: [a] and [b](https://…)
  if (label.includes("[")) return null;
  return { span: { kind: "link", href: address, spans: parseSpans(label) }, end: middle + 2 + address.length + 1 };
}
