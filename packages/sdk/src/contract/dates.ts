const DATE_AND_TIME = /^\s*(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?|(?!\d))/i;

/**
 * Says what of a date, or of a date with a time, does not exist: `2026-02-30`, month 13, hour 25. Null if all of it does, and for other texts.
 * Every place that reads a date asks here, because JavaScript makes 2 March of 30 February.
 */
export function explainMissingDate(text: string): string | null {
  const found = DATE_AND_TIME.exec(text);
  if (found === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found.slice(1).map((digits) => Number(digits ?? 0));
  if (month < 1 || month > 12) return `There is no month ${month}.`;
  if (!dateExists(year, month, day)) return `There is no ${found.slice(1, 4).join("-")}: that month has ${countDays(year, month)} days.`;
  if (hour > 23) return `There is no hour ${hour}; the last one is 23.`;
  if (minute > 59) return `There is no minute ${minute}; the last one is 59.`;
  return second > 59 ? `There is no second ${second}; the last one is 59.` : null;
}

/** True for a day of the calendar, by its numbers from 1. */
export function dateExists(year: number, month: number, day: number): boolean {
  return month >= 1 && month <= 12 && day >= 1 && day <= countDays(year, month);
}

/** The message of a schema for a refused text: what does not exist of it, or how to write one. */
export function describeDate(advice: string) {
  return ({ input }: { readonly input?: unknown }): string | undefined =>
    typeof input === "string" ? (explainMissingDate(input) ?? advice) : undefined;
}

function countDays(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
}
