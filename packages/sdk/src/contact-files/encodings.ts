/** Encodings that a file may be in besides UTF-8, UTF-16 and UTF-32, with what people call them. */
export const LEGACY_ENCODINGS = {
  "windows-1252": "Western (Windows-1252)",
  "windows-1250": "Central European (Windows-1250)",
  "windows-1251": "Cyrillic (Windows-1251)",
  "windows-1253": "Greek (Windows-1253)",
  "windows-1254": "Turkish (Windows-1254)",
  "windows-1255": "Hebrew (Windows-1255)",
  "windows-1256": "Arabic (Windows-1256)",
  "windows-1257": "Baltic (Windows-1257)",
  "windows-1258": "Vietnamese (Windows-1258)",
  "windows-874": "Thai (Windows-874)",
  "iso-8859-2": "Central European (ISO-8859-2)",
  "iso-8859-5": "Cyrillic (ISO-8859-5)",
  "iso-8859-7": "Greek (ISO-8859-7)",
  "iso-8859-15": "Western (ISO-8859-15)",
  "koi8-r": "Russian (KOI8-R)",
  "koi8-u": "Ukrainian (KOI8-U)",
  ibm866: "Russian (DOS)",
  macintosh: "Western (Mac)",
  "x-mac-cyrillic": "Cyrillic (Mac)",
  shift_jis: "Japanese (Shift JIS)",
  "euc-jp": "Japanese (EUC-JP)",
  "iso-2022-jp": "Japanese (ISO-2022-JP)",
  gbk: "Simplified Chinese (GBK)",
  gb18030: "Simplified Chinese (GB18030)",
  big5: "Traditional Chinese (Big5)",
  "euc-kr": "Korean (EUC-KR)",
} as const;
export type LegacyEncoding = keyof typeof LEGACY_ENCODINGS;

/** An encoding in which bytes can be read, with some words as they would read. */
interface EncodingGuess {
  readonly encoding: LegacyEncoding;
  readonly sample: string;
}

// Letters beyond ASCII that texts in an encoding mostly consist of. Others are possible, and speak for another encoding.
const USUAL: Partial<Record<LegacyEncoding, RegExp>> = {
  "windows-1252": /[äöüÄÖÜßéèêëàâçñóíúáøåæœÅÆØÉÀÇÑôîïùûãõìòÈÊÎÔŒ’–“”„…€]/u,
  "windows-1250": /[ąćęłńóśźżĄĆĘŁŃÓŚŹŻčďěňřšťůýžáíéúőűČŘŠŽÁÍÉÚŐŰĎŤŮÝäöüțșăâîțşţ’–“”„…]/u,
  "windows-1254": /[ğışİĞŞçöüÇÖÜâîû’–“”…]/u,
  "windows-1257": /[āčēģīķļņšūžĀČĒĢĪĶĻŅŠŪŽąęėįųĄĘĖĮŲõäöü]/u,
  macintosh: /[äöüÄÖÜßéèêëàâçñóíúáøåæÅÆØÉ]/u,
};

const LIKELY: readonly LegacyEncoding[] = [
  ...(["windows-1252", "windows-1250", "windows-1251", "windows-1254", "windows-1253", "windows-1257", "shift_jis", "euc-jp"] as const),
  ...(["gbk", "big5", "euc-kr", "koi8-r", "ibm866", "macintosh", "windows-1255", "windows-1256"] as const),
];

const SHOWN = 4;

/** The encodings in which bytes that are no UTF-8 read best, at most four, the likeliest first, each with a sample. */
export function guessEncodings(bytes: Uint8Array): EncodingGuess[] {
  const guesses = LIKELY.flatMap((encoding) => {
    const text = read(encoding, bytes);
    const words = text?.match(/[\p{L}\p{M}\p{N}'’.-]*[^\p{ASCII}][\p{L}\p{M}\p{N}'’.-]*/gu) ?? [];
    if (text === null || words.length === 0) return [];
    const score = rate(encoding, words);
    return score < 0.5 ? [] : [{ encoding, sample: [...new Set(words)].slice(0, 3).join(", ").slice(0, 60), score }];
  });
  const best = guesses.sort((one, other) => other.score - one.score);
  // Keeps the first of the encodings that read alike.
  const different = best.filter(({ sample }, i) => best.findIndex((other) => other.sample === sample) === i);
  return different.slice(0, SHOWN).map(({ encoding, sample }) => ({ encoding, sample }));
}

function read(encoding: LegacyEncoding, bytes: Uint8Array): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Rates how much some words look like a language, from 0 to 1. */
function rate(encoding: LegacyEncoding, words: readonly string[]): number {
  const text = words.join(" ");
  const beyond = [...text].filter((character) => character > "\u007f");
  const usual = USUAL[encoding];
  const good = beyond.filter((character) => (usual === undefined ? /\p{L}/u.test(character) : usual.test(character))).length;
  const bad = beyond.filter((character) => /[\p{Cc}\p{So}\p{Sm}\p{Sc}\p{Co}\uff61-\uff9f\u00aa\u00ba]/u.test(character)).length;
  const odd = words.filter((word) => isOdd(word)).length;
  return (good - 2 * bad) / beyond.length - odd / words.length;
}

/** A word with letters of two scripts, or with a capital letter after a small one: read in the wrong encoding. */
function isOdd(word: string): boolean {
  const scripts = [
    /\p{Script=Latin}/u,
    /\p{Script=Cyrillic}/u,
    /\p{Script=Greek}/u,
    /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}/u,
    /\p{Script=Hebrew}/u,
    /\p{Script=Arabic}/u,
  ];
  return scripts.filter((script) => script.test(word)).length > 1 || /\p{Ll}\p{Lu}/u.test(word);
}
