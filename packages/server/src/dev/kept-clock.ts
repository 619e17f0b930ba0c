import { eq } from "drizzle-orm";
import type { Db, Reader } from "../db/db.ts";
import type { ControllableClock } from "../lib/controllable-clock.ts";
import { CLOCK_FACT, type StoredClock } from "./snapshots.ts";

/** Returns the state of a clock, to be stored with the data. */
export function markClock(clock: ControllableClock): StoredClock {
  return { now: clock.now(), mode: clock.mode, date: clock.real.date() };
}

/** Stores where a developer has moved the clock, so that the next start goes on from there. */
export async function keepClock(db: Db, clock: ControllableClock): Promise<void> {
  const value = JSON.stringify(markClock(clock));
  await db.tx(async (tx) => {
    const { meta } = tx.t;
    await tx.insert(meta).values({ name: CLOCK_FACT, value }).onConflictDoUpdate({ target: meta.name, set: { value } });
  });
}

/**
 * Sets a clock to where it was kept: a frozen one to the same instant, a running one as far from the real time as it was. Does nothing if
 * it was never moved.
 */
export async function restoreClock(read: Reader, clock: ControllableClock): Promise<void> {
  const { meta } = read.t;
  const [row] = await read.select().from(meta).where(eq(meta.name, CLOCK_FACT));
  if (!row) return;
  const { now, mode, date } = JSON.parse(row.value) as StoredClock;
  clock.reset(mode === "frozen" ? now : now + clock.real.date() - date, mode);
}
