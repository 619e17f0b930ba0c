/** The same a month later. */
export function addMonth(ms: number): number {
  return addMonths(ms, 1);
}

/** The month in which an instant lies, of those that begin where the first one did: a short month makes none of the others shorter. */
export function findMonthAround(first: number, at: number): { from: number; until: number } {
  const begun = new Date(first);
  const then = new Date(at);
  const months = (then.getUTCFullYear() - begun.getUTCFullYear()) * 12 + then.getUTCMonth() - begun.getUTCMonth();
  const n = Math.max(0, addMonths(first, months) > at ? months - 1 : months);
  return { from: addMonths(first, n), until: addMonths(first, n + 1) };
}

/** The same day and time some calendar months later, UTC; of a month too short for it, the last day. */
function addMonths(ms: number, months: number): number {
  const from = new Date(ms);
  const to = new Date(ms);
  to.setUTCDate(1);
  to.setUTCMonth(to.getUTCMonth() + months);
  const days = new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() + 1, 0)).getUTCDate();
  to.setUTCDate(Math.min(from.getUTCDate(), days));
  return to.getTime();
}
