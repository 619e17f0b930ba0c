import * as z from "./zod.ts";

/** A time of day on a clock, to the minute. */
export const TimeOfDay = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, "Write a time of day such as 09:00 or 17:30.");

/** Minutes since midnight of a TimeOfDay. */
export function minutesOfDay(time: string): number {
  const [hours = 0, minutes = 0] = time.split(":").map(Number);
  return hours * 60 + minutes;
}

/** A time zone of the IANA database. */
export const TimeZone = z
  .string()
  .max(100)
  .refine(isTimeZone, {
    message: "A time zone of the IANA database is needed, such as Europe/Berlin or America/New_York.",
    params: { code: "invalid_time_zone" },
  });

/** True if a text names a time zone of the IANA database. */
export function isTimeZone(name: string): boolean {
  // Offsets such as +02:00 know no daylight saving.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
