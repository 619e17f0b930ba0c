import { LOCALE } from "../browser.ts";

const numbers = new Intl.NumberFormat(LOCALE);

/** A number with separators: 12,345. */
export function formatCount(n: number): string {
  return numbers.format(n);
}

/** A number of which there are at least so many: 10,000+. */
export function formatMinimum(n: number, isMinimum: boolean): string {
  return `${formatCount(n)}${isMinimum ? "+" : ""}`;
}

/** Describes how much of a list is shown: "7", "50 of 1,000+", as far as it is known. */
export function formatShown(list: {
  readonly items: readonly unknown[];
  readonly total: number | null;
  readonly isMinimum: boolean;
}): string {
  const shown = formatCount(list.items.length);
  if (list.total === null) return shown;
  const isWhole = list.items.length === list.total;
  if (list.isMinimum) return isWhole ? `${shown}+` : `${shown} of ${formatMinimum(list.total, true)}`;
  return isWhole ? `${shown} in all` : `${shown} of ${formatCount(list.total)}`;
}

/** A number and its noun: 1 contact, 12,345 contacts. */
export function count(n: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(n)} ${n === 1 ? noun : plural}`;
}
