// U+00A0 to U+00FF, in order.
const LATIN =
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest " +
  "Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig " +
  "agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";

const NAMED: ReadonlyMap<string, string> = new Map([
  ...LATIN.split(" ").map((name, i) => [name, String.fromCharCode(0xa0 + i)] as const),
  ...Object.entries({
    amp: "&",
    lt: "<",
    gt: ">",
    quot: '"',
    apos: "'",
    AMP: "&",
    LT: "<",
    GT: ">",
    QUOT: '"',
    ndash: "–",
    mdash: "—",
    lsquo: "‘",
    rsquo: "’",
    sbquo: "‚",
    ldquo: "“",
    rdquo: "”",
    bdquo: "„",
    lsaquo: "‹",
    rsaquo: "›",
    hellip: "…",
    bull: "•",
    euro: "€",
    trade: "™",
    dagger: "†",
    permil: "‰",
    minus: "−",
    ne: "≠",
    le: "≤",
    ge: "≥",
    infin: "∞",
    larr: "←",
    uarr: "↑",
    rarr: "→",
    darr: "↓",
    harr: "↔",
    check: "✓",
    star: "☆",
    starf: "★",
    hearts: "♥",
    ensp: " ",
    emsp: " ",
    thinsp: " ",
    zwnj: "\u200c",
    zwj: "\u200d",
    lrm: "\u200e",
    rlm: "\u200f",
    NewLine: "\n",
    Tab: "\t",
    OElig: "Œ",
    oelig: "œ",
    Scaron: "Š",
    scaron: "š",
    Yuml: "Ÿ",
    fnof: "ƒ",
    circ: "ˆ",
    tilde: "˜",
  }),
]);

/** HTML text with its character references resolved; names nobody knows stay as they are. */
export function decodeEntities(text: string): string {
  return text.includes("&")
    ? text.replace(/&(?:#(\d{1,8})|#[xX]([0-9a-fA-F]{1,8})|([A-Za-z][A-Za-z0-9]{1,10}));?/g, (whole, decimal, hex, name) => {
        if (decimal !== undefined) return fromCode(Number(decimal));
        if (hex !== undefined) return fromCode(Number.parseInt(hex as string, 16));
        // Without its semicolon a name may be part of an address: ?a=1&copy=2
        return whole.endsWith(";") ? (NAMED.get(name as string) ?? whole) : whole;
      })
    : text;
}

function fromCode(code: number): string {
  // What no text may hold is shown as a character that could not be read.
  if (!(code > 0 && code <= 0x10ffff) || (code >= 0xd800 && code <= 0xdfff)) return "\ufffd";
  return code < 32 && code !== 9 && code !== 10 && code !== 13 ? "\ufffd" : String.fromCodePoint(code);
}
