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
export function sanitizeStyle(style: string): { style: string; removed: string[] } {
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
