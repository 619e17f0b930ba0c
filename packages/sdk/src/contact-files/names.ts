const SPELLED: Readonly<Record<string, string>> = { ł: "l", ø: "o", æ: "ae", œ: "oe", ß: "ss", đ: "d", ð: "d", ı: "i" };

/** A text without case, accents, blanks and punctuation, in which names of columns and words of cells are compared: `E-Mail-Adresse` is `emailadresse`. */
export function normalizeName(text: string): string {
  return splitWords(text).join("");
}

/** The words of a name as `normalizeName` spells them: `HasOptedOutOfEmail` and `has_opted_out_of_email` have the same. */
export function splitWords(text: string): string[] {
  const parted = text
    .normalize("NFKC")
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2");
  const folded = parted
    .toLowerCase()
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .replace(/[łøæœßđðı]/g, (letter) => SPELLED[letter] ?? letter);
  return folded.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** The column name of a custom field, `custom.plan`. A key that begins or ends with a space or quote is written as JSON. */
export function formatCustomColumn(key: string): string {
  return `custom.${/^["\s]|\s$/u.test(key) ? JSON.stringify(key) : key}`;
}

/** The key of a custom field as `formatCustomColumn` writes it behind `custom.`. */
export function parseCustomKey(text: string): string {
  if (!text.startsWith('"')) return text.trim();
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}
