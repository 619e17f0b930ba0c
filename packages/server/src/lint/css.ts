/** A declaration of a style sheet or style attribute, with its place in the source. */
export interface Declaration {
  readonly kind: "declaration";
  readonly property: string;
  readonly value: string;
  readonly offset: number;
  /** True inside an at-rule such as `@media`: only clients that understand the rule apply it. */
  readonly conditional: boolean;
}

/** Parts of a style sheet: at-rules with the text after their name, selectors, declarations. */
export type StylePart =
  | Declaration
  | { readonly kind: "at-rule"; readonly name: string; readonly prelude: string; readonly offset: number }
  | { readonly kind: "selector"; readonly selector: string; readonly offset: number };

const COMMENT = /\/\*[\s\S]*?(?:\*\/|$)/g;

/** Cuts a style sheet into its parts, as far as lint looks at them. Takes time in proportion to the length and accepts broken CSS. */
export function* readStyleSheet(source: string): Generator<StylePart> {
  // Comments become blanks, so that offsets stay.
  const css = source.replace(COMMENT, (comment) => " ".repeat(comment.length));
  /** The open blocks; true for those of at-rules. */
  const open: boolean[] = [];
  let conditions = 0;
  let start = 0;
  for (const at of listStops(css)) {
    const stop = css[at];
    const from = skipBlanks(css, start, at);
    const text = css.slice(from, at).trim();
    start = at + 1;
    if (stop === "{") {
      const isAtRule = text.startsWith("@");
      yield isAtRule ? toAtRule(text, from) : { kind: "selector", selector: text, offset: from };
      open.push(isAtRule);
      if (isAtRule) conditions += 1;
      continue;
    }
    if (text.startsWith("@")) yield toAtRule(text, from);
    else if (text !== "") yield* toDeclaration(text, from, conditions > 0);
    if (stop === "}" && open.pop() === true) conditions -= 1;
  }
}

/** The declarations of a style attribute. */
export function readStyleAttribute(style: string): Declaration[] {
  return [...readStyleSheet(`${style};`)].filter((part) => part.kind === "declaration");
}

/** The positions of `{`, `}` and `;` that are not in strings or parentheses. */
function* listStops(css: string): Generator<number> {
  let depth = 0;
  for (let at = 0; at < css.length; at += 1) {
    const c = css[at] as string;
    if (c === '"' || c === "'") {
      const end = css.indexOf(c, at + 1);
      // A string ends with its line at the latest.
      const line = css.indexOf("\n", at);
      if (end !== -1 && (line === -1 || end < line)) at = end;
    } else if (c === "(") depth += 1;
    else if (c === ")") depth = Math.max(0, depth - 1);
    else if (c === "{" || c === "}" || (c === ";" && depth === 0)) {
      depth = 0;
      yield at;
    }
  }
  yield css.length;
}

function toAtRule(text: string, offset: number): StylePart {
  const name = /^@([\w-]*)/.exec(text)?.[1] ?? "";
  return { kind: "at-rule", name: name.toLowerCase(), prelude: text.slice(name.length + 1).trim(), offset };
}

function* toDeclaration(text: string, offset: number, conditional: boolean): Generator<Declaration> {
  const colon = text.indexOf(":");
  if (colon <= 0) return;
  const property = text.slice(0, colon).trim().toLowerCase();
  yield { kind: "declaration", property, value: text.slice(colon + 1).trim(), offset, conditional };
}

function skipBlanks(css: string, from: number, to: number): number {
  let at = from;
  while (at < to && /\s/.test(css[at] as string)) at += 1;
  return at;
}

const NAMES: Readonly<Record<string, string>> = {
  black: "#000000",
  white: "#ffffff",
  gray: "#808080",
  grey: "#808080",
  silver: "#c0c0c0",
  red: "#ff0000",
  green: "#008000",
  blue: "#0000ff",
  navy: "#000080",
  yellow: "#ffff00",
  orange: "#ffa500",
  lightgray: "#d3d3d3",
  lightgrey: "#d3d3d3",
  darkgray: "#a9a9a9",
  darkgrey: "#a9a9a9",
};

/** A color of CSS as #rrggbb; null for one that is transparent, or written in another way than lint reads. */
export function toHexColor(value: string): string | null {
  const text = value
    .replace(/!important/i, "")
    .trim()
    .toLowerCase();
  if (Object.hasOwn(NAMES, text)) return NAMES[text] ?? null;
  const [, short] = /^#([0-9a-f]{3})$/.exec(text) ?? [];
  if (short !== undefined) return `#${[...short].map((digit) => digit + digit).join("")}`;
  if (/^#[0-9a-f]{6}$/.test(text)) return text;
  const rgb = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/.exec(text);
  if (!rgb) return null;
  return `#${rgb
    .slice(1)
    .map((one) => Math.min(255, Number(one)).toString(16).padStart(2, "0"))
    .join("")}`;
}
