const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  AMP: "&",
  lt: "<",
  LT: "<",
  gt: ">",
  GT: ">",
  quot: '"',
  QUOT: '"',
  apos: "'",
  nbsp: "\u00a0",
  shy: "",
  copy: "©",
  reg: "®",
  trade: "™",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  laquo: "«",
  raquo: "»",
  bull: "•",
  middot: "·",
  times: "×",
  euro: "€",
  pound: "£",
  colon: ":",
  sol: "/",
  lpar: "(",
  rpar: ")",
  comma: ",",
  period: ".",
  num: "#",
  percnt: "%",
  equals: "=",
  semi: ";",
  quest: "?",
  excl: "!",
  commat: "@",
  lowbar: "_",
  bsol: "\\",
  Tab: "\t",
  NewLine: "\n",
};

/** A value of an attribute with its character references resolved: those by number, and the names that matter in addresses and texts. */
export function decoded(value: string): string {
  return value.replace(
    /&(?:#(\d{1,8});?|#[xX]([0-9a-fA-F]{1,8});?|([A-Za-z]{2,8});|(amp|lt|gt|quot)(?![A-Za-z0-9=]))/g,
    (whole, decimal, hex, named, bare) => {
      if (decimal !== undefined) return character(Number(decimal));
      if (hex !== undefined) return character(Number.parseInt(hex, 16));
      return NAMED[named ?? bare] ?? whole;
    },
  );
}

// Controls that no page shows, and NUL, which no database of ours takes.
const CONTROLS = /[^\P{Cc}\t\n\r]/gu;

/** A value between double quotes. */
export function quoted(value: string): string {
  return value
    .replace(CONTROLS, "")
    .replace(/[&<>"`]/g, (c) => (c === "&" ? "&amp;" : c === '"' ? "&quot;" : c === "<" ? "&lt;" : c === ">" ? "&gt;" : "&#96;"));
}

/** A text between tags. References stay as they are: in a text they can become characters, and nothing else. */
export function texted(text: string): string {
  return text
    .replace(CONTROLS, "")
    .replace(/&(?!(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)/g, "&amp;")
    .replace(/&#(?:0+|[xX]0+);/g, "\ufffd")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;");
}

function character(code: number): string {
  return code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? "\ufffd" : String.fromCodePoint(code);
}
