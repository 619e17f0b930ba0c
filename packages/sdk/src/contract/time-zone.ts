const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** A date and time of day on the clocks of a time zone. */
interface ClockTime {
  readonly year: number;
  /** From 1. */
  readonly month: number;
  readonly day: number;
  /** Minutes since midnight on the clock, 0 to 1439. */
  readonly minutes: number;
}

/** Returns the local time of an IANA time zone at an instant (ms). */
export function toLocalTime(at: number, timeZone: string): ClockTime {
  const parts = Object.fromEntries(
    formatterOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0 } = parts;
  return { year, month, day, minutes: hour * 60 + minute };
}

/**
 * The first instant (ms) at or after `from` at which the clocks of a time zone show `minutes` since midnight, or show a later time of
 * that day because they were put forward over it.
 *
 * | the clocks                            | result                             |
 * | ------------------------------------- | ---------------------------------- |
 * | show the time once on that day        | that instant                       |
 * | were put back, and show it twice      | the first instant not before `from` |
 * | were put forward, and do not show it  | the instant they were put forward  |
 */
export function findNextTimeOfDay(from: number, minutes: number, timeZone: string): number {
  const today = toLocalTime(from, timeZone);
  // The date of `from`, and the following ones: a zone may skip a whole day.
  for (let ahead = 0; ; ahead += 1) {
    const found = listTimesOfDate(today, ahead, minutes, timeZone).find((at) => at >= from);
    if (found !== undefined) return found;
  }
}

/** The first instant (ms) at which the clocks of a time zone show a time of day on a date, or jump over it. */
export function findTimeOfDate(date: Pick<ClockTime, "year" | "month" | "day">, minutes: number, timeZone: string): number {
  return listTimesOfDate(date, 0, minutes, timeZone)[0] as number;
}

/** The instants at which a date shows a time of day: one, two when the clocks were put back, the jump when they were put forward over it. */
function listTimesOfDate(
  { year, month, day }: Pick<ClockTime, "year" | "month" | "day">,
  ahead: number,
  minutes: number,
  timeZone: string,
): number[] {
  const wanted = Date.UTC(year, month - 1, day + ahead) + minutes * MINUTE;
  const offsets = [...new Set([offsetAt(wanted - DAY, timeZone), offsetAt(wanted + DAY, timeZone)])];
  const shown = offsets.map((offset) => wanted - offset).filter((at) => at + offsetAt(at, timeZone) === wanted);
  if (shown.length > 0) return shown.sort((a, b) => a - b);
  // The clocks jump over it: within this range they are behind it before the jump and beyond it afterwards.
  let [before, after] = [wanted - Math.max(...offsets), wanted - Math.min(...offsets)];
  while (after - before > MINUTE) {
    const middle = before + Math.floor((after - before) / 2 / MINUTE) * MINUTE;
    if (middle + offsetAt(middle, timeZone) < wanted) before = middle;
    else after = middle;
  }
  return [after];
}

/** Returns the offset of a time zone from UTC at an instant, ms. */
function offsetAt(at: number, timeZone: string): number {
  const { year, month, day, minutes } = toLocalTime(at, timeZone);
  return Date.UTC(year, month - 1, day) + minutes * MINUTE - Math.floor(at / MINUTE) * MINUTE;
}

// Making a formatter takes some 50 µs.
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone);
  if (known) return known;
  const made = new Intl.DateTimeFormat("en-US", {
    timeZone,
    calendar: "iso8601",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
  formatters.set(timeZone, made);
  return made;
}
