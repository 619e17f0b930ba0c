import type { Reader, Tx } from "../db/db.ts";
import { deleteFact, findFact, writeMissingFact } from "../db/facts.ts";
import { HOUR, MINUTE } from "../lib/units.ts";

/** Start of the time in which months cannot be dropped because others use the tables, and the latest report of that. */
export interface Delay {
  readonly since: number;
  readonly reportedAt: number | null;
}

// A backup has the tables for minutes, and nobody has to know. Each attempt holds others up for a moment, so later ones are rarer.
const PATIENCE = 10 * MINUTE;
const REPORTED_EVERY = HOUR;

// The fact that tells operators of a delay: since when, ms.
const DELAY_FACT = "retention.delayed";

/** The delay after another attempt in vain. */
export function prolongDelay(before: Delay | null, now: number): Delay {
  const { since, reportedAt } = before ?? { since: now, reportedAt: null };
  const isDue = now - since >= PATIENCE && (reportedAt === null || now - reportedAt >= REPORTED_EVERY);
  return { since, reportedAt: isDue ? now : reportedAt };
}

/** Returns the time of the next attempt. */
export function findRetry({ since }: Delay, now: number): number {
  return now + (now - since < PATIENCE ? MINUTE : PATIENCE);
}

/** Stores a delay that was reported, so that operators see it; null when there is none any more. */
export async function storeDelay(tx: Tx, delay: Delay | null): Promise<void> {
  if (delay === null) await deleteFact(tx, DELAY_FACT);
  else if (delay.reportedAt !== null) await writeMissingFact(tx, DELAY_FACT, String(delay.since));
}

/** Returns the time (ms) since which old mail or events cannot be dropped; null if they can. */
export async function findRetentionDelay(read: Reader): Promise<number | null> {
  const since = await findFact(read, DELAY_FACT);
  return since === null ? null : Number(since);
}
