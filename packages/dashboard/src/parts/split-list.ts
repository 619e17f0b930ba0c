/** Values that a person has written with commas, semicolons or spaces between them. */
export function splitList(text: string): string[] {
  return text.split(/[\s,;]+/).filter((one) => one !== "");
}
