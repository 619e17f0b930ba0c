// Longer names, and more of them, are not looked for.
const MAX_NAME = 200;
const MAX_NAMES = 50;

/**
 * A text without these names of people: the whole names in any case, and their words of three letters or more as they are written, since
 * people sign with their first name.
 */
export function withoutNames(text: string, names: readonly string[]): string {
  const whole = names
    .map((name) => name.normalize("NFC").trim())
    .filter((name) => name.length > 1 && name.length <= MAX_NAME)
    .slice(0, MAX_NAMES);
  const words = whole.flatMap((name) => name.split(/[^\p{L}\p{N}'’-]+/u)).filter((word) => word.length > 2);
  return replaceAll(replaceAll(text.normalize("NFC"), whole, "giu"), words, "gu");
}

function replaceAll(text: string, names: readonly string[], flags: string): string {
  if (names.length === 0) return text;
  const longestFirst = [...new Set(names)].sort((one, other) => other.length - one.length);
  return text.replace(new RegExp(`(?<![\\p{L}\\p{N}])(?:${longestFirst.map(toPattern).join("|")})(?![\\p{L}\\p{N}])`, flags), "[name]");
}

function toPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
