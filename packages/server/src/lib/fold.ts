/**
 * The form in which texts are compared where case does not count: `Straße`, `STRASSE` and `strasse` are the same, and
 * so are `é` in one character and in two. Folding a part of a text gives a part of the folded text: lower case first, for
 * letters such as the Kelvin sign, then upper case, which knows no special form for the end of a word.
 */
export function fold(text: string): string {
  return text.normalize("NFC").toLowerCase().toUpperCase();
}
