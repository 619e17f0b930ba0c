const numbers = new Intl.NumberFormat("en-US");

/** A number with separators: 12,345. */
export function formatCount(n: number): string {
  return numbers.format(n);
}

/** A number and its noun: 1 contact, 12,345 contacts. */
export function count(n: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(n)} ${n === 1 ? noun : plural}`;
}
