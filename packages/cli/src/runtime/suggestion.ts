import { countEdits } from "@mailsvc/sdk/contract";

/** The known words that a mistyped one may stand for: those that differ least from it, in a third of their letters at most. */
export function findSimilar(given: string, known: readonly string[]): string[] {
  const near = known
    .map((word) => ({ word, distance: countEdits(given.toLowerCase(), word.toLowerCase()) }))
    .filter(({ word, distance }) => distance <= Math.max(1, Math.floor(word.length / 3)));
  const least = Math.min(...near.map(({ distance }) => distance));
  return near.filter(({ distance }) => distance === least).map(({ word }) => word);
}
