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
