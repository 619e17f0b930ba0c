/** The words of a query or a text, without their endings of the plural: `Paused campaigns.create` has paused, campaign, create. */
export function toWords(text: string): string[] {
  return [...new Set(listWords(text))];
}

/** The same with each word as often as it is there. */
export function listWords(text: string): string[] {
  const words = text
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .match(/[\p{L}\p{N}_]+/gu);
  return (words ?? []).map((word) => (word.length > 3 ? word.replace(/(?:es|s)$/, "") : word));
}

/** Counts the words that begin a word of the text. */
export function countMatches(text: string, words: readonly string[]): number {
  const own = toWords(text);
  return words.filter((word) => own.some((one) => one.startsWith(word))).length;
}
