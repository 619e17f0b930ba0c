const numbers = new Intl.NumberFormat("en-US");

/** A number with separators: 12,345. */
export function formatCount(n: number): string {
  return numbers.format(n);
}

/** Describes how much of a list is shown: "7", "50 of 1,000 or more", as far as it is known. */
export function formatShown(list: {
  readonly items: readonly unknown[];
  readonly total: number | null;
  readonly isMinimum: boolean;
}): string {
  const shown = formatCount(list.items.length);
  if (list.total === null) return shown;
  const isWhole = list.items.length === list.total;
  if (list.isMinimum) return isWhole ? `${shown} or more` : `${shown} of ${formatCount(list.total)} or more`;
  return isWhole ? `${shown} in all` : `${shown} of ${formatCount(list.total)}`;
}

/** A number and its noun: 1 contact, 12,345 contacts. */
export function count(n: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(n)} ${n === 1 ? noun : plural}`;
}
