/** The same day and time one month later. */
export function addMonth(ms: number): number {
  return addMonths(ms, 1);
}

/** The billing month that contains `at`, counted from the start of the first one: a short month does not shift later ones. */
export function findMonthAround(first: number, at: number): { from: number; until: number } {
  const begun = new Date(first);
  const then = new Date(at);
  const months = (then.getUTCFullYear() - begun.getUTCFullYear()) * 12 + then.getUTCMonth() - begun.getUTCMonth();
  const n = Math.max(0, addMonths(first, months) > at ? months - 1 : months);
  return { from: addMonths(first, n), until: addMonths(first, n + 1) };
}

/** The same day and time some calendar months later, UTC; the last day of a month that is too short. */
function addMonths(ms: number, months: number): number {
  const from = new Date(ms);
  const to = new Date(ms);
  to.setUTCDate(1);
  to.setUTCMonth(to.getUTCMonth() + months);
  const days = new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() + 1, 0)).getUTCDate();
  to.setUTCDate(Math.min(from.getUTCDate(), days));
  return to.getTime();
}
