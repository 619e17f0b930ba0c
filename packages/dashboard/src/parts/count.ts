const numbers = new Intl.NumberFormat();
const percents = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

/** A number with separators: 2,831. */
export function formatCount(n: number): string {
  return numbers.format(n);
}

/** A number with its noun: 1 person, 2,831 people. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${formatCount(n)} ${n === 1 ? one : many}`;
}

/** A share, 0 to 1; a dash while there is nothing to divide by. */
export function formatShare(share: number | null): string {
  return share === null ? "–" : percents.format(share);
}
