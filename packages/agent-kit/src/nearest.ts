/** The known name that is nearest to a misspelt one, as the end of a message; empty when none is near. */
export function didYouMean(given: string, known: readonly string[]): string {
  const limit = Math.max(2, Math.floor(given.length / 3));
  const ranked = known.map((name) => ({ name, distance: distanceOf(given.toLowerCase(), name.toLowerCase()) }));
  const [best] = ranked.sort((a, b) => a.distance - b.distance);
  return best && best.distance <= limit ? ` Did you mean "${best.name}"?` : "";
}

/** Counts the letters to add, remove or replace to turn one text into the other. */
function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...to].entries()) {
      const [above = 0, diagonal = 0, left = 0] = [row[j + 1], row[j], next[j]];
      next.push(Math.min(above + 1, left + 1, diagonal + (letter === other ? 0 : 1)));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
