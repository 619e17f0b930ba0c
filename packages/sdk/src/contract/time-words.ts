import { dateExists } from "./dates.ts";
import { isTimeZone } from "./time-of-day.ts";
import { findNextTimeOfDay, findTimeOfDate, toLocalTime } from "./time-zone.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const UNITS: readonly [RegExp, number][] = [
  [/^(?:ms|milliseconds?)$/, 1],
  [/^(?:s|secs?|seconds?)$/, SECOND],
  [/^(?:m|mins?|minutes?)$/, MINUTE],
  [/^(?:h|hrs?|hours?)$/, HOUR],
  [/^(?:d|days?)$/, DAY],
  [/^(?:w|weeks?)$/, 7 * DAY],
];

const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

const MONTHS = [
  ...["january", "february", "march", "april", "may", "june"],
  ...["july", "august", "september", "october", "november", "december"],
];

/** Abbreviations that people write. An abbreviation of summer or winter time stands for its place, whichever time applies. */
const ZONES: Readonly<Record<string, string>> = {
  z: "UTC",
  utc: "UTC",
  gmt: "UTC",
  et: "America/New_York",
  est: "America/New_York",
  edt: "America/New_York",
  ct: "America/Chicago",
  cst: "America/Chicago",
  cdt: "America/Chicago",
  mt: "America/Denver",
  mst: "America/Denver",
  mdt: "America/Denver",
  pt: "America/Los_Angeles",
  pst: "America/Los_Angeles",
  pdt: "America/Los_Angeles",
  bst: "Europe/London",
  cet: "Europe/Berlin",
  cest: "Europe/Berlin",
  jst: "Asia/Tokyo",
};

const TIME = /(?:^|\s)(?:at\s+)?(?:(noon|midnight)|(\d{1,2})(?::(\d{2}))?\s?(am|pm)|(\d{1,2}):(\d{2})|(?<=\bat\s+)(\d{1,2}))(?=\s|$)/;

/**
 * The instant (ms) that a text names: an ISO 8601 instant with its zone, `now`, `in 1 hour`, `in 10m`, `tomorrow at 9am`, `friday 15:00`,
 * `2030-01-31 at noon`, `august 5 at 9am`. Times of day are those of `timeZone`, unless the text ends with another one: `tomorrow 9am Europe/Berlin`.
 * A weekday, today or tomorrow without a time means the present time of that day; a date needs one. Null for a text that names none.
 */
export function parseTimeWords(text: string, now: number, timeZone: string): number | null {
  if (text.length > 100) return null;
  const trimmed = text.trim();
  const [, instantDay] = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d\S*(?:Z|[+-]\d\d:?\d\d)$/i.exec(trimmed) ?? [];
  if (instantDay !== undefined) return dateExists(...readNumbers(instantDay)) ? keep(Date.parse(trimmed)) : null;
  const { words, zone } = splitZone(trimmed, timeZone);
  if (words === "now") return now;
  return parseSpan(words, now) ?? parseDate(words, now, zone);
}

/**
 * The instant (ms) that a text names when it tells of the past: `1h`, `2 days ago` and `last 30 minutes` count back from now; `yesterday`, `today`,
 * `monday`, `2030-01-31` and `january 31` are the midnights at which the latest of those days began; with a time of day that time, the last one
 * alone: `9am`. Otherwise as parseTimeWords. Null for a text that names none.
 */
export function parsePastTimeWords(text: string, now: number, timeZone: string): number | null {
  if (text.length > 100) return null;
  const trimmed = text.trim();
  if (/^\d{4}-\d\d-\d\dT/i.test(trimmed)) return parseTimeWords(trimmed, now, timeZone);
  const { words, zone } = splitZone(trimmed, timeZone);
  if (words === "now" || words === "") return words === "" ? null : now;
  const [, before, bare] = /^(?:(.+) ago|(?:- ?|(?:the )?(?:last |past ))?(.+))$/.exec(words) ?? [];
  const ms = parseAmounts(before ?? bare ?? "");
  return ms === null ? parsePastDate(words, now, zone) : keep(now - ms);
}

/** A day that has begun, a time of day or both; null for anything else. */
function parsePastDate(words: string, now: number, zone: string): number | null {
  const { day, minutes, isWrong } = splitTimeOfDay(words);
  if (isWrong) return null;
  const today = toLocalTime(now, zone);
  const onDay = (ahead: number): number => findTimeOfDate({ ...today, day: today.day + ahead }, minutes ?? 0, zone);
  if (day === "") return [0, -1].map(onDay).find((at) => at <= now) ?? null;
  if (day === "today") return onDay(0);
  if (day === "yesterday") return onDay(-1);
  if (day === "tomorrow") return onDay(1);
  if (day === "last week") return onDay(-7);
  if (/^\d{4}-\d\d-\d\d$/.test(day)) return readDate(readNumbers(day), minutes ?? 0, zone);
  const named = findNamedDate(day);
  if (named !== null) {
    const [at, before] = [today.year, today.year - 1].map((year) =>
      readDate([named.year ?? year, named.month, named.day], minutes ?? 0, zone),
    );
    return named.year === null && (at === null || at === undefined || at > now) ? (before ?? null) : (at ?? null);
  }
  const [, last, name = ""] = /^(last |this )?([a-z]+)$/.exec(day) ?? [];
  const wanted = findDayOfWeek(name);
  if (wanted < 0) return null;
  const back = (new Date(Date.UTC(today.year, today.month - 1, today.day)).getUTCDay() - wanted + 7) % 7;
  const at = onDay(-back);
  return back === 0 && (last === "last " || at > now) ? onDay(-7) : at;
}

/** Takes the zone from the end of a text. */
function splitZone(text: string, fallback: string): { readonly words: string; readonly zone: string } {
  const at = text.lastIndexOf(" ");
  const last = text.slice(at + 1);
  const zone = ZONES[last.toLowerCase()] ?? (last.includes("/") && isTimeZone(last) ? last : undefined);
  const words = zone === undefined || at < 0 ? text : text.slice(0, at);
  return { words: words.toLowerCase().replaceAll(",", " ").replace(/\s+/g, " ").trim(), zone: zone ?? fallback };
}

/** `in 1 hour and 30 minutes`, `2 days from now`, `+10m`; null for anything else. */
function parseSpan(words: string, now: number): number | null {
  const amounts = /^(?:in |\+ ?)(.+)$/.exec(words)?.[1] ?? /^(.+) from now$/.exec(words)?.[1];
  const ms = amounts === undefined ? null : parseAmounts(amounts);
  return ms === null ? null : keep(now + ms);
}

/** The length (ms) of `1h30m`, `3 days` or `half an hour`; null for anything else. */
export function parseAmounts(text: string): number | null {
  if (text.trim() === "") return null;
  let sum = 0;
  for (const part of text.replaceAll(" and ", " ").matchAll(/(\d{1,9}(?:\.\d{1,3})?|an?\b|half an)\s*([a-z]+)|(\S)/g)) {
    const [, amount = "", unit = ""] = part;
    const ms = UNITS.find(([pattern]) => pattern.test(unit))?.[1];
    if (ms === undefined) return null;
    sum += (amount === "half an" ? 0.5 : amount.startsWith("a") ? 1 : Number(amount)) * ms;
  }
  return Math.round(sum);
}

/** A day, a time of day or both; null for anything else. */
function parseDate(words: string, now: number, zone: string): number | null {
  const { day, minutes, isWrong } = splitTimeOfDay(words);
  if (isWrong) return null;
  const today = toLocalTime(now, zone);
  if (day === "") return minutes === null ? null : findNextTimeOfDay(now, minutes, zone);
  const at = minutes ?? today.minutes;
  const onDay = (ahead: number): number | null => keep(findTimeOfDate({ ...today, day: today.day + ahead }, at, zone));
  if (day === "today") return onDay(0);
  if (day === "tonight") return findTimeOfDate(today, minutes ?? 20 * 60, zone);
  if (day === "tomorrow") return onDay(1);
  const date = /^\d{4}-\d\d-\d\d$/.test(day);
  if (date && minutes === null) return null;
  if (date) return readDate(readNumbers(day), at, zone);
  const named = findNamedDate(day);
  if (named !== null) return minutes === null ? null : readNamedDate(named, { now, thisYear: today.year, minutes, zone });
  const ms = parseSpanOfDays(day);
  if (ms !== null) return ms % DAY === 0 && keep(now + ms) !== null ? onDay(ms / DAY) : null;
  return findWeekday(day, { now, onDay, weekday: new Date(Date.UTC(today.year, today.month - 1, today.day)).getUTCDay() });
}

/** Takes the time of day out of a text: the rest is a day, or empty. */
function splitTimeOfDay(words: string): { readonly day: string; readonly minutes: number | null; readonly isWrong: boolean } {
  const found = TIME.exec(words);
  const minutes = found === null ? null : readMinutes(found);
  const day = (found === null ? words : words.replace(found[0], " ")).trim().replace(/^on /, "");
  return { day, minutes, isWrong: found !== null && minutes === null };
}

/** Minutes since midnight of a match of TIME; null for 25:00 or 13pm. */
function readMinutes([, word, twelve, past = "0", half, hour, minute, bare]: RegExpExecArray): number | null {
  if (word !== undefined) return word === "noon" ? 12 * 60 : 0;
  if (twelve !== undefined) {
    const hours = Number(twelve);
    if (hours < 1 || hours > 12 || Number(past) > 59) return null;
    return ((hours % 12) + (half === "pm" ? 12 : 0)) * 60 + Number(past);
  }
  const [hours, minutes] = [Number(hour ?? bare), Number(minute ?? 0)];
  return hours > 23 || minutes > 59 ? null : hours * 60 + minutes;
}

/** The length of `in 2 days`, `2 days from now` or `next week`; null for anything else. */
function parseSpanOfDays(day: string): number | null {
  if (day === "next week") return 7 * DAY;
  const span = /^in (.+)$/.exec(day)?.[1] ?? /^(.+) from now$/.exec(day)?.[1];
  return span === undefined ? null : parseAmounts(span);
}

/** A day with the name of its month, and perhaps a year. */
interface NamedDate {
  /** From 1. */
  readonly month: number;
  readonly day: number;
  readonly year: number | null;
}

/** `august 5`, `aug 5th 2030`, `5th of august`; null for anything else. */
function findNamedDate(text: string): NamedDate | null {
  const [, first, firstDay, secondDay, second, year] =
    /^(?:([a-z]{3,})\.? (\d{1,2})(?:st|nd|rd|th)?|(\d{1,2})(?:st|nd|rd|th)? (?:of )?([a-z]{3,})\.?)(?: (\d{4}))?$/.exec(text) ?? [];
  const name = first ?? second;
  const month = name === undefined ? -1 : MONTHS.findIndex((one) => one === name || (name.length <= 4 && one.startsWith(name)));
  return month < 0 ? null : { month: month + 1, day: Number(firstDay ?? secondDay), year: year === undefined ? null : Number(year) };
}

/** Returns the time of a named date; without a year, of its next occurrence. */
function readNamedDate(
  { month, day, year }: NamedDate,
  { now, thisYear, minutes, zone }: { readonly now: number; readonly thisYear: number; readonly minutes: number; readonly zone: string },
): number | null {
  const at = readDate([year ?? thisYear, month, day], minutes, zone);
  return year === null && (at === null || at < now) ? readDate([thisYear + 1, month, day], minutes, zone) : at;
}

type DateNumbers = readonly [year: number, month: number, day: number];

function readNumbers(date: string): DateNumbers {
  const [year = 0, month = 0, day = 0] = date.split("-").map(Number);
  return [year, month, day];
}

function readDate(date: DateNumbers, minutes: number, zone: string): number | null {
  const [year, month, day] = date;
  return dateExists(...date) ? keep(findTimeOfDate({ year, month, day }, minutes, zone)) : null;
}

interface Weekdays {
  readonly now: number;
  /** The weekday of today, 0 for Sunday. */
  readonly weekday: number;
  readonly onDay: (ahead: number) => number | null;
}

/** The next `friday` that is still to come; `next friday` is never today. */
function findWeekday(text: string, { now, weekday, onDay }: Weekdays): number | null {
  const [, next, name = ""] = /^(next |this )?([a-z]+)$/.exec(text) ?? [];
  const wanted = findDayOfWeek(name);
  if (wanted < 0) return null;
  const ahead = (wanted - weekday + 7) % 7;
  const at = onDay(ahead);
  if (ahead > 0 || at === null) return at;
  return next === "next " || at <= now ? onDay(7) : at;
}

/** 0 for sunday, -1 for what names no weekday. */
function findDayOfWeek(name: string): number {
  return WEEKDAYS.findIndex((day) => day === name || (name.length >= 3 && name.length <= 4 && day.startsWith(name)));
}

// The end of the year 9999: ISO 8601 writes no later one in four digits.
const MAX_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** The same instant; null beyond what ISO 8601 writes in four digits. */
function keep(at: number): number | null {
  return Math.abs(at) <= MAX_INSTANT ? at : null;
}
