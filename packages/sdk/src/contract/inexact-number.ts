// Strings are matched, too, so that digits in them are none.
const STRINGS_AND_NUMBERS = /"(?:[^"\\]+|\\.)*"|-?\d[\d.eE+-]*/g;

// Texts without these have no such number: most are told apart at once.
// A number with a fraction and no exponent is only ever rounded in digits that nobody reads.
const SUSPECT = /\d{16}|\d[eE]/;

/**
 * Returns the first number of a JSON text that a program would change by reading it and writing it again: an integer that no double holds,
 * which is rounded, or a number beyond all doubles, which becomes null. Returns null if all stay as they are. A server refuses such numbers
 * by name, which it can do only if it gets to see them.
 */
export function findInexactNumber(json: string): string | null {
  if (!SUSPECT.test(json)) return null;
  for (const [token] of json.matchAll(STRINGS_AND_NUMBERS)) {
    if (!token.startsWith('"') && isInexact(token)) return token;
  }
  return null;
}

function isInexact(token: string): boolean {
  const value = Number(token);
  if (!Number.isFinite(value)) return true;
  return isLongInteger(token) && BigInt(token) !== BigInt(value);
}

/** True for an integer with digits enough to be inexact; with a fraction or an exponent it is approximate for its author, too. */
function isLongInteger(token: string): boolean {
  return /^-?\d{16,}$/.test(token);
}
