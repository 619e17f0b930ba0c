import { CAMPAIGN_LIMITS, findTimeOfDate, isTimeZone, type LocalTime, minutesOfDay } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { invalid } from "../lib/api-error.ts";
import { DAY } from "../lib/units.ts";

/** Returns the instant at which the clocks of a time zone show the time of a campaign, ms: the first one, or their jump over it. */
export function findLocalTime({ at }: Pick<LocalTime, "at">, timeZone: string): number {
  const [date = "", time = ""] = at.split("T");
  const [year = 0, month = 1, day = 1] = date.split("-").map(Number);
  return findTimeOfDate({ year, month, day }, minutesOfDay(time), timeZone);
}

/** Throws ApiError validation_error for a local time over a year after sending starts, such as a mistyped year: sending would not end. */
export function assertWithinYear(localTime: LocalTime | null, startAt: number): void {
  const days = CAMPAIGN_LIMITS.scheduleDays;
  if (localTime !== null && findLocalTime(localTime, "UTC") > startAt + days * DAY)
    throw invalid("localTime.at", "too_far", `localTime.at must be at most ${days} days after sending starts.`);
}

/**
 * Returns the time at which each contact gets a campaign by their own clock, ms, by contact id. A contact without a valid time zone has
 * that of `fallback`.
 */
export async function loadLocalTimes(read: Reader, localTime: LocalTime, contactIds: readonly string[]): Promise<Map<string, number>> {
  const zones = new Map<string, number>();
  const find = (value: unknown): number => {
    const zone = typeof value === "string" && isTimeZone(value.trim()) ? value.trim() : localTime.fallback;
    const known = zones.get(zone);
    if (known !== undefined) return known;
    const found = findLocalTime(localTime, zone);
    zones.set(zone, found);
    return found;
  };
  const contacts = await findRows(read, read.t.contacts, { id: contactIds });
  return new Map(contacts.map(({ id, customFields }) => [id, find(customFields[localTime.field])]));
}
