import type Handlebars from "handlebars";
import { type Fault, SourceFaults, type SourceLocation } from "./tree.ts";

/** Parses Handlebars into its syntax tree. */
export type Parse = (source: string) => hbs.AST.Program;

/** The parser of Handlebars, loaded with the first template because it takes 20 ms. Its compiler and runtime are not used. */
export async function loadParser(): Promise<Parse> {
  const module = (await import("handlebars")) as unknown as { default: typeof Handlebars };
  return module.default.parse;
}

/** Placeholders and blocks allowed in one source. */
export const MAX_TAGS = 10_000;
/** Characters between `{{` and `}}` of one placeholder, and of all: the parser takes a second for a million of them. */
const MAX_TAG_LENGTH = 5000;
const MAX_TAG_LENGTHS = 200_000;
/** Levels blocks may nest. */
const MAX_NESTING = 50;
const MAX_OPEN_PARENTHESES = 1000;

interface Open {
  readonly name: string;
  readonly offset: number;
  /** Number of `{{else if}}` that follow it: the parser nests each of them one level deeper. */
  chained: number;
}

const BLOCK = /\{\{~?(?:([#^/])[>*]?\s*([^\s}~)(|=]{0,100})|\s*(else)\s+[^\s}~])/y;
const LONG_COMMENT_END = /--~?\}\}/g;

/** Parses a source. Throws SourceFaults with line and column. */
export function parseSource(parse: Parse, source: string): hbs.AST.Program {
  const open = scan(source);
  try {
    return parse(source);
  } catch (error) {
    if (error instanceof RangeError) return fail(source, 0, "too_deep", "The template is nested too deeply.");
    throw new SourceFaults([explain(source, error as Error, open)]);
  }
}

function toSourceLocation(source: string, offset: number): SourceLocation {
  const before = source.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}

function makeFault(source: string, offset: number, code: string, message: string): Fault {
  return { ...toSourceLocation(source, offset), code, message };
}

function fail(source: string, offset: number, code: string, message: string): never {
  throw new SourceFaults([makeFault(source, offset, code, message)]);
}

/** Position after the text of a comment that begins at `from`; -1 when it does not end. */
function findCommentEnd(source: string, from: number): number {
  if (!/^\{\{~?!--/.test(source.slice(from, from + 6))) return source.indexOf("}}", from);
  LONG_COMMENT_END.lastIndex = from + 5;
  return LONG_COMMENT_END.exec(source) === null ? -1 : LONG_COMMENT_END.lastIndex - 2;
}

/**
 * Limits tags, nesting and parentheses before parsing, since the parser and the walk over its tree are recursive. Returns
 * the blocks left open.
 */
function scan(source: string): Open[] {
  const open: Open[] = [];
  let depth = 0;
  let count = 0;
  let parentheses = 0;
  let lengths = 0;
  for (let at = source.indexOf("{{"); at !== -1; at = source.indexOf("{{", at)) {
    count += 1;
    if (count > MAX_TAGS) fail(source, at, "too_many_tags", `A template can have at most ${MAX_TAGS} placeholders.`);
    if (/^\{\{~?!/.test(source.slice(at, at + 4))) {
      const end = findCommentEnd(source, at);
      if (end === -1) return open;
      at = end + 2;
      continue;
    }
    BLOCK.lastIndex = at;
    const [, sign, name = "", chain] = BLOCK.exec(source) ?? [];
    // `{{^}}` alone means else.
    if (sign === "#" || (sign === "^" && name !== "")) {
      open.push({ name, offset: at, chained: 0 });
      depth += 1;
    } else if (sign === "/") depth -= (open.pop()?.chained ?? -1) + 1;
    const last = open.at(-1);
    if (chain && last) {
      last.chained += 1;
      depth += 1;
    }
    if (depth > MAX_NESTING) fail(source, at, "too_deep", `Blocks can nest at most ${MAX_NESTING} levels deep, counting each {{else if}}.`);
    const end = source.indexOf("}}", at + 2);
    const stop = end === -1 ? source.length : end;
    for (let i = at; i < stop; i += 1) {
      if (source[i] === "(") parentheses += 1;
      else if (source[i] === ")") parentheses -= 1;
      if (parentheses > MAX_OPEN_PARENTHESES) fail(source, i, "too_deep", "Too many parentheses are nested.");
    }
    if (stop - at > MAX_TAG_LENGTH)
      fail(source, at, "tag_too_long", `A placeholder can have at most ${MAX_TAG_LENGTH} characters, and this one has more, or no end.`);
    lengths += stop - at;
    if (lengths > MAX_TAG_LENGTHS)
      fail(source, at, "too_many_tags", `The placeholders have more than ${MAX_TAG_LENGTHS} characters in all.`);
    at = stop;
  }
  return open;
}

// The parser reports where it stopped by up to 20 characters before and after, without line breaks, and a caret below.
function findStop(source: string, line: number, excerpt: string, caret: number): number {
  const cut = excerpt.startsWith("...") && caret >= 3 ? 3 : 0;
  const past = excerpt.slice(cut, caret);
  const wanted = past + excerpt.slice(caret).replace(/\.\.\.$/, "");
  const text = source.replaceAll("\n", "");
  // Counts line breaks on the way from one match to the next.
  let offset = 0;
  let flat = 0;
  let here = 1;
  const walk = (target: number): void => {
    while (flat < target || source[offset] === "\n") {
      if (offset >= source.length) return;
      if (source[offset] === "\n") here += 1;
      else flat += 1;
      offset += 1;
    }
  };
  let best = source.length;
  let nearest = Number.POSITIVE_INFINITY;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
    walk(at + past.length);
    const away = Math.abs(here - line);
    if (away < nearest) {
      best = offset;
      nearest = away;
    }
    if (away === 0 || here > line) break;
  }
  return best;
}

function explain(source: string, error: Error, open: readonly Open[]): Fault {
  const mismatch = /^(\S+) doesn't match (\S+) - (\d+):(\d+)/.exec(error.message);
  if (mismatch) {
    const [, opened, closed, line, column] = mismatch;
    return { line: Number(line), column: Number(column) + 1, code: "syntax_error", message: `{{#${opened}}} is closed by {{/${closed}}}.` };
  }
  const exact = /^([^\n]*) - (\d+):(\d+)$/.exec(error.message);
  if (exact) return { line: Number(exact[2]), column: Number(exact[3]) + 1, code: "syntax_error", message: `${exact[1]}.` };
  const [head = "", excerpt = "", dashes = "", expecting = ""] = error.message.split("\n");
  const last = open.at(-1);
  if (/got 'EOF'/.test(expecting) && last)
    return makeFault(source, last.offset, "syntax_error", `{{#${last.name}}} is not closed. Add {{/${last.name}}}.`);
  const offset = findStop(source, Number(/on line (\d+)/.exec(head)?.[1] ?? 1), excerpt, dashes.length - 1);
  const found = /^(?:\}+|[^\s{}]{1,20}|\{+)/.exec(source.slice(offset, offset + 20))?.[0] ?? "";
  const message =
    found === ""
      ? "A placeholder is not complete, or contains something that is not a name."
      : `Unexpected ${JSON.stringify(found)}.${adviseBlank(found)}`;
  return makeFault(source, offset, "syntax_error", message);
}

/** Advice where the brace of a style or of JSON follows a placeholder, as in `p{color:{{color}}}`. */
function adviseBlank(found: string): string {
  return /^\}{3,}$/.test(found) ? " If a brace follows the placeholder, put a blank between }} and }." : "";
}
