// A cell that begins like this is a formula to a spreadsheet, and would be run on the machine of whoever opens the file.
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/u;
const GUARDED = /^'+[=+\-@\t\r\n＝＋－＠]/u;

/**
 * A text as a cell that no spreadsheet runs: with `'` in front where it begins with = + - @, a tab or a line break, or
 * with apostrophes and then one of these. `unguard` takes exactly that one `'` away again.
 */
export function guard(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** The text behind a cell that `guard` made; all other texts, `'t Hooft` among them, stay as they are. */
export function unguard(cell: string): string {
  return GUARDED.test(cell) ? cell.slice(1) : cell;
}
