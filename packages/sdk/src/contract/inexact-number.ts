const STRINGS_AND_NUMBERS = /"(?:[^"\\]+|\\.)*"|-?\d[\d.eE+-]*/g;

/**
 * Returns the first number of a JSON text that a program would change by reading it: an integer that no double holds, which is rounded,
 * or a number beyond all doubles, which becomes null. Returns null if all stay as they are.
 */
export function findInexactNumber(json: string): string | null {
  if (!/\d{16}|\d[eE]/.test(json)) return null;
  for (const [token] of json.matchAll(STRINGS_AND_NUMBERS)) {
    if (token.startsWith('"')) continue;
    const value = Number(token);
    if (!Number.isFinite(value) || (/^-?\d{16,}$/.test(token) && BigInt(token) !== BigInt(value))) return token;
  }
  return null;
}
