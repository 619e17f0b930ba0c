import { LOCALE } from "../../browser.ts";

const MINUTE = 60_000;

/** The time zone of this machine. */
export function ownTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** All time zones, of this machine first. */
export function listTimeZones(): readonly string[] {
  return [...new Set([ownTimeZone(), "UTC", ...Intl.supportedValuesOf("timeZone")])];
}

/** A date and time such as 2030-03-01T09:00 on the clocks of a zone, as an instant, ms since 1970. A time that they jump over is that of the jump. */
export function toInstant(local: string, timeZone: string): number {
  const wanted = Date.parse(`${local}Z`);
  // The second look corrects a guess that was made on the other side of a change of the clocks.
  const guess = wanted - offsetAt(wanted, timeZone);
  const instant = wanted - offsetAt(guess, timeZone);
  return toLocal(instant, timeZone) === local ? instant : Math.max(guess, instant);
}

/** An instant on the clocks of a zone: 2030-03-01T09:00. */
export function toLocal(instant: number, timeZone: string): string {
  return new Date(instant + offsetAt(instant, timeZone)).toISOString().slice(0, 16);
}

/** Returns the offset of a zone from UTC at an instant, ms. */
function offsetAt(instant: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  }).formatToParts(instant);
  const read = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.find((part) => part.type === type)?.value);
  const local = Date.UTC(read("year"), read("month") - 1, read("day"), read("hour"), read("minute"));
  return local - Math.floor(instant / MINUTE) * MINUTE;
}

/** An instant in words, in a zone: Monday, 9 March 2026 at 09:00. */
export function formatInstant(instant: number, timeZone: string): string {
  return new Intl.DateTimeFormat(LOCALE, { dateStyle: "full", timeStyle: "short", timeZone }).format(instant);
}
