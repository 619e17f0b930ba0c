// Strings are matched, too, so that digits in them are none.
const STRINGS_AND_NUMBERS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

// Texts without these have no such number: most are told apart at once.
const SUSPECT = /\d{16}|\d[eE]/;

/**
 * Lists the numbers of a JSON text that a program would change by reading it and writing it again: integers that no double holds, which are
 * rounded, and numbers beyond all doubles, which become null.
 */
export function* listInexactNumbers(json: string): Generator<string> {
  if (!SUSPECT.test(json)) return;
  for (const [token] of json.matchAll(STRINGS_AND_NUMBERS)) if (!token.startsWith('"') && isInexact(token)) yield token;
}

/** The first of these numbers; null if all of a text stay as they are. */
export function findInexactNumber(json: string): string | null {
  const [first = null] = listInexactNumbers(json);
  return first;
}

function isInexact(token: string): boolean {
  const value = Number(token);
  if (!Number.isFinite(value)) return true;
  // With a fraction or an exponent a number is approximate for its author, too.
  return /^-?\d{16,}$/.test(token) && BigInt(token) !== BigInt(value);
}
