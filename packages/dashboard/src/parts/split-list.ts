/** Values that a person has written with commas, semicolons or spaces between them. */
export function splitList(text: string): string[] {
  return text.split(/[\s,;]+/).filter((one) => one !== "");
}

/** Phrases that a person has written with a mark between them: a comma, or the end of a line. */
export function splitPhrases(text: string, mark: "," | "\n"): string[] {
  return text.split(mark).flatMap((phrase) => phrase.trim() || []);
}
