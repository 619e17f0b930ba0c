import { RUN_LIMITS } from "@mailsvc/sdk/contract";
import { and, asc, desc, eq, gt, inArray, lt, or, sql } from "drizzle-orm";
import type { Db, Reader, Tx } from "../../db/db.ts";
import { StorageUnavailable } from "../../db/errors.ts";
import type { Clock, Timer } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";

/** How long a RUNNING run lives without a heartbeat (SPEC 8), ms. */
export const WINDOW_MS = RUN_LIMITS.windowMinutes * 60_000;

/**
 * Says which deadlines have passed. While nobody could reach us, or the machine's clock had jumped, no run could be
 * heard: after such an absence all of them get a whole window anew.
 */
export interface RunClock {
  /** Deadlines up to this instant (ms) have passed. */
  overdue(): number;
  /** Looks how long nobody was there, and keeps watch from now on. */
  start(): Promise<void>;
  /** Starts over after the data, and the clock with them, were put back. */
  reset(): void;
  stop(): Promise<void>;
}

/** Among the facts about an installation: when one of its servers was last alive, ms. */
const ALIVE_AT = "aliveAt";
// How often life is noted, on real time.
const HEARTBEAT_MS = 5000;
// Of this length and beyond our own absence counts; a restart is shorter.
const OUTAGE_MS = 30_000;
// What wall clock and monotonic clock may differ by between two looks: more is a jump.
const JUMP_MS = 1000;
const CHUNK = 1000;

/** When a server of this installation was last alive, ms; null when it never was. */
export async function lastAliveAt(q: Reader | Tx): Promise<number | null> {
  const { meta, runs } = q.t;
  const [noted] = await q.select({ value: meta.value }).from(meta).where(eq(meta.name, ALIVE_AT));
  // A heartbeat that came in proves as much.
  const [heard] = await q
    .select({ deadlineAt: runs.deadlineAt })
    .from(runs)
    .where(eq(runs.status, "RUNNING"))
    .orderBy(desc(runs.status), desc(runs.deadlineAt))
    .limit(1);
  const signs = [Number(noted?.value ?? 0), (heard?.deadlineAt ?? 0) - WINDOW_MS].filter((at) => at > 0);
  return signs.length === 0 ? null : Math.max(...signs);
}

export interface RunClockOptions {
  db: Db;
  clock: Clock;
  log: Log;
  /** True for a clock that its owner moves: it never jumps by accident. */
  controllable: boolean;
}

export function makeRunClock({ db, clock, log, controllable: bent }: RunClockOptions): RunClock {
  /** Since when runs can be heard without a break. */
  let floor = Number.NEGATIVE_INFINITY;
  let wall = 0;
  let real = 0;
  let beatAt = 0;
  /** A floor that is not in the rows yet. */
  let fresh: number | null = null;
  let timer: Timer | null = null;
  let work: Promise<void> = Promise.resolve();

  const settle = (): void => {
    wall = clock.now();
    real = clock.real.now();
  };

  const quietly = (run: () => Promise<void>): Promise<void> => {
    work = work.then(run).catch((error: unknown) => {
      // The next beat is five seconds away.
      if (!(error instanceof StorageUnavailable)) log.error("the watch over runs met trouble", { error: String(error) });
    });
    return work;
  };

  /** Notices a clock that was set, and a process that stood still. */
  const look = (): void => {
    if (bent) return;
    const now = clock.now();
    const instant = clock.real.now();
    const jump = now - wall - (instant - real);
    const stood = instant - beatAt > OUTAGE_MS;
    settle();
    if (Math.abs(jump) <= JUMP_MS && !stood) return;
    beatAt = instant;
    floor = now;
    // The rows follow with the next beat: this may be asked inside a transaction.
    fresh = now;
    log.warn("time was lost: every run has a whole window from now on", { jumpMs: Math.round(jump), stood });
  };

  const note = async (): Promise<void> => {
    const { runs } = db.read.t;
    const [one] = await db.read.select({ id: runs.id }).from(runs).where(eq(runs.status, "RUNNING")).limit(1);
    if (!one) return;
    const value = String(clock.now());
    await db.tx(async (tx) => {
      const { meta } = tx.t;
      await tx
        .insert(meta)
        .values({ name: ALIVE_AT, value })
        .onConflictDoUpdate({ target: meta.name, set: { value: sql`excluded.value` } });
    });
  };

  const beat = (): void => {
    look();
    beatAt = clock.real.now();
    const since = fresh;
    fresh = null;
    if (since !== null) void quietly(() => giveWindows(db, since));
    void quietly(note);
    timer = clock.real.after(HEARTBEAT_MS, beat);
  };

  return {
    overdue: () => {
      look();
      const now = clock.now();
      return now < floor + WINDOW_MS ? 0 : now;
    },
    start: async () => {
      timer?.cancel();
      settle();
      beatAt = real;
      const alive = await lastAliveAt(db.read);
      if (alive !== null && Math.abs(wall - alive) > OUTAGE_MS) {
        floor = wall;
        await giveWindows(db, floor);
      }
      beat();
      await work;
    },
    reset: () => {
      floor = Number.NEGATIVE_INFINITY;
      fresh = null;
      settle();
      beatAt = real;
    },
    stop: async () => {
      timer?.cancel();
      timer = null;
      await quietly(note);
    },
  };
}

/** Gives runs whose window began before `floor`, or lies far behind it, a whole one from there. */
async function giveWindows(db: Db, floor: number): Promise<void> {
  const deadlineAt = floor + WINDOW_MS;
  const { runs } = db.read.t;
  const stale = and(eq(runs.status, "RUNNING"), or(lt(runs.deadlineAt, deadlineAt), gt(runs.deadlineAt, deadlineAt + WINDOW_MS)));
  for (;;) {
    const rows = await db.read.select({ id: runs.id }).from(runs).where(stale).orderBy(asc(runs.deadlineAt)).limit(CHUNK);
    const ids = rows.map(({ id }) => id);
    if (ids.length > 0)
      await db.tx(
        async (tx) =>
          void (await tx
            .update(runs)
            .set({ deadlineAt })
            .where(and(inArray(runs.id, ids), stale))),
      );
    if (ids.length < CHUNK) return;
  }
}
