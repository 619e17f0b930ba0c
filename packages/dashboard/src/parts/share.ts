import { LOCALE } from "../browser.ts";

const percents = new Intl.NumberFormat(LOCALE, { style: "percent", maximumFractionDigits: 1 });

/** A share, 0 to 1; a dash while there is nothing to divide by. */
export function formatShare(share: number | null): string {
  return share === null ? "–" : percents.format(share);
}
