/**
 * The form of a text for case-insensitive comparison: `Straße`, `STRASSE` and `strasse` are the same, and so are `é` as one
 * character and as two. Folding a substring gives a substring of the folded text: lower case first, for letters such as the Kelvin
 * sign, then upper case, which has no special form for the end of a word.
 */
export function fold(text: string): string {
  return text.normalize("NFC").toLowerCase().toUpperCase();
}
