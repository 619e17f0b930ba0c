import { findNextTimeOfDay, type Throttle, toLocalTime } from "@mailsvc/sdk/contract";

/** Number of emails that may be released now. */
interface Allowance {
  /** At most as many as were asked for. */
  readonly count: number;
  /** Time of the next release, ms. */
  readonly nextAt: number;
}

/**
 * Computes how many of `wanted` emails a campaign may release at `now`, and the time of its next release. `nextReleaseAt` is the
 * `nextAt` of the last call. Emails that were not sent while the server was down are not made up for.
 */
export function computeAllowance(throttle: Throttle | null, nextReleaseAt: number | null, now: number, wanted: number): Allowance {
  const opensAt = findOpening(throttle?.window, now);
  if (opensAt > now) return { count: 0, nextAt: opensAt };
  const perSecond = throttle?.perSecond;
  if (perSecond === undefined) return { count: wanted, nextAt: now };
  if (nextReleaseAt !== null && nextReleaseAt > now) return { count: 0, nextAt: nextReleaseAt };
  const count = Math.min(wanted, Math.max(1, Math.floor(perSecond)));
  return { count, nextAt: now + Math.ceil((count * 1000) / perSecond) };
}

/** `now` (ms) within a window of hours or without one; otherwise when to look again: the next time it should open. */
export function findOpening(window: Throttle["window"], now: number): number {
  if (window === undefined) return now;
  const [start, end] = [toMinutes(window.start), toMinutes(window.end)];
  const { minutes } = toLocalTime(now, window.timeZone);
  // A window such as 22:00 to 06:00 holds midnight.
  const open = start < end ? minutes >= start && minutes < end : minutes >= start || minutes < end;
  // Later than now: the clocks may just have been put forward over the whole window.
  return open ? now : findNextTimeOfDay(now + 1, start, window.timeZone);
}

function toMinutes(time: string): number {
  const [hours = "0", minutes = "0"] = time.split(":");
  return Number(hours) * 60 + Number(minutes);
}
