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
