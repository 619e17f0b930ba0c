import { SEND_LIMITS } from "@mailsvc/sdk/contract";
import { invalid } from "../lib/api-error.ts";

const DAY = 86_400_000;

/** The instant of a `scheduledAt`, ms; null without one. Throws ApiError validation_error when it is past or too far ahead. */
export function scheduleOf(scheduledAt: string | undefined, now: number): number | null {
  if (scheduledAt === undefined) return null;
  const at = Date.parse(scheduledAt);
  if (at <= now)
    throw invalid("scheduledAt", "in_the_past", `scheduledAt must lie in the future; it is ${new Date(now).toISOString()} here.`);
  if (at > now + SEND_LIMITS.scheduleDays * DAY)
    throw invalid("scheduledAt", "too_far", `scheduledAt may be at most ${SEND_LIMITS.scheduleDays} days ahead.`);
  return at;
}
