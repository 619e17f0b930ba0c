/** @jsxImportSource preact */
import { signal } from "@preact/signals";
import { LOCALE, now } from "../browser.ts";

// Offset of the server's clock from this machine's, ms: dev mode can move it.
const ahead = signal(0);

/** Learns the server's time from an answer that has it. */
export function learnTime(iso: string): void {
  ahead.value = Date.parse(iso) - now();
}

/** The server's time, ms since 1970. */
export function serverNow(): number {
  return now() + ahead.value;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const full = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeStyle: "medium" });
const day = new Intl.DateTimeFormat(LOCALE, { month: "short", day: "numeric" });
const dayOfYear = new Intl.DateTimeFormat(LOCALE, { year: "numeric", month: "short", day: "numeric" });
const hours = new Intl.DateTimeFormat(LOCALE, { hour: "2-digit", minute: "2-digit" });
const exact = new Intl.DateTimeFormat(LOCALE, { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** An instant: how long ago it was, or its date; in full where the mouse rests on it. `exactly` shows the time of day with seconds. */
export function Time({ at, exactly = false }: { readonly at: string; readonly exactly?: boolean }) {
  const ms = Date.parse(at);
  const text = exactly ? `${formatDay(ms, serverNow())}, ${exact.format(ms)}` : formatAge(ms, serverNow());
  return (
    <time dateTime={at} title={full.format(ms)}>
      {text}
    </time>
  );
}

/** Formats a time of today as its age, of another day as a date. */
function formatAge(ms: number, from: number): string {
  const past = from - ms;
  if (past < -MINUTE) return past > -DAY ? `at ${hours.format(ms)}` : formatDay(ms, from);
  if (past < MINUTE) return "just now";
  if (past < HOUR) return `${Math.floor(past / MINUTE)} min ago`;
  if (past < DAY) return `${Math.floor(past / HOUR)} h ago`;
  return formatDay(ms, from);
}

/** Formats a day; with its year, unless that is the present one. */
function formatDay(ms: number, from: number): string {
  const isThisYear = new Date(ms).getFullYear() === new Date(from).getFullYear();
  return (isThisYear ? day : dayOfYear).format(ms);
}

/** A number of bytes. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
