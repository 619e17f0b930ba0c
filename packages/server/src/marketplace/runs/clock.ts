import { RUN_LIMITS } from "@mailsvc/sdk/contract";
import { and, asc, desc, eq, gt, inArray, lt, or } from "drizzle-orm";
import type { Db, Reader, Tx } from "../../db/db.ts";
import { StorageUnavailable } from "../../db/errors.ts";
import { findFact, writeFact } from "../../db/facts.ts";
import type { Clock, Timer } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { MINUTE } from "../../lib/units.ts";
import type { AgentDeps, AgentTx } from "../agent-access.ts";

/** A RUNNING run fails this long after its last heartbeat, ms. */
export const WINDOW_MS = RUN_LIMITS.windowMinutes * MINUTE;

/** Fails runs whose deadline has passed. */
export const SWEEP_JOB = "agent.runs.sweep";

/**
 * Schedules a sweep of the runs at an instant (ms). All deadlines within one second share a job, and each sweep schedules
 * the next. So every RUNNING run has a job at or before its end, and a heartbeat, which only moves the deadline to later,
 * needs none.
 */
export async function scheduleSweep(tx: AgentTx, deps: AgentDeps, at: number): Promise<void> {
  await deps.queue.enqueue(tx, { kind: SWEEP_JOB, payload: {}, runAt: at, dedupeKey: `${SWEEP_JOB}:${Math.floor(at / 1000)}` });
}

/**
 * Says which deadlines of runs have passed. While no server was reachable, or when the machine's clock jumped, heartbeats
 * could not arrive: after such an outage every run gets a whole new window.
 */
export interface RunClock {
  /** Deadlines up to this instant (ms) have passed; 0 while every run is within a new window. */
  overdue(): number;
  /** Detects an outage before this start, then watches for lost time until `stop`. */
  start(): Promise<void>;
  /** Forgets what it knows after the data and the clock were restored. */
  reset(): void;
  stop(): Promise<void>;
}

/** Name of the fact: when a server of this installation last ran, ms. */
const ALIVE_AT = "aliveAt";
// Interval at which a server stores that it is alive, in real time.
const HEARTBEAT_MS = 5000;
// The shortest gap that counts as an outage; a restart is shorter.
const OUTAGE_MS = 30_000;
// The difference between wall clock and monotonic clock that counts as a jump.
const JUMP_MS = 1000;
const CHUNK = 1000;

/** Returns the time at which a server of this installation last ran, ms; null if none has. */
export async function lastAliveAt(q: Reader | Tx): Promise<number | null> {
  const { runs } = q.t;
  const stored = await findFact(q, ALIVE_AT);
  // A run's heartbeat proves that a server was running.
  const [latest] = await q
    .select({ deadlineAt: runs.deadlineAt })
    .from(runs)
    .where(eq(runs.status, "RUNNING"))
    .orderBy(desc(runs.status), desc(runs.deadlineAt))
    .limit(1);
  const signs = [Number(stored ?? 0), (latest?.deadlineAt ?? 0) - WINDOW_MS].filter((at) => at > 0);
  return signs.length === 0 ? null : Math.max(...signs);
}

interface RunClockOptions {
  db: Db;
  clock: Clock;
  log: Log;
  /** True for a clock that tests and dev mode move: its jumps are intended. */
  controllable: boolean;
}

export function makeRunClock({ db, clock, log, controllable }: RunClockOptions): RunClock {
  /** Time from which heartbeats could arrive without interruption, ms. */
  let floor = Number.NEGATIVE_INFINITY;
  let wall = 0;
  let real = 0;
  let heartbeatAt = 0;
  /** Value of `floor` whose new deadlines are not stored yet. */
  let unstored: number | null = null;
  let timer: Timer | null = null;
  let work: Promise<void> = Promise.resolve();

  const readClocks = (): void => {
    wall = clock.now();
    real = clock.real.now();
  };

  const inOrder = (run: () => Promise<void>): Promise<void> => {
    work = work.then(run).catch((error: unknown) => {
      // Not worth a log line while the storage is unavailable: the next heartbeat is five seconds away.
      if (!(error instanceof StorageUnavailable)) log.error("run clock failed", { error: String(error) });
    });
    return work;
  };

  /** Detects a clock that was set, and a process that was suspended. */
  const detectLostTime = (): void => {
    if (controllable) return;
    const now = clock.now();
    const instant = clock.real.now();
    const jump = now - wall - (instant - real);
    const suspended = instant - heartbeatAt > OUTAGE_MS;
    readClocks();
    if (Math.abs(jump) <= JUMP_MS && !suspended) return;
    heartbeatAt = instant;
    floor = now;
    // The next heartbeat stores the deadlines; this may run inside a transaction.
    unstored = now;
    log.warn("time was lost: every run gets a new window", { jumpMs: Math.round(jump), suspended });
  };

  const storeAlive = async (): Promise<void> => {
    const { runs } = db.read.t;
    const [one] = await db.read.select({ id: runs.id }).from(runs).where(eq(runs.status, "RUNNING")).limit(1);
    if (!one) return;
    const value = String(clock.now());
    await db.tx((tx) => writeFact(tx, ALIVE_AT, value));
  };

  const heartbeat = (): void => {
    detectLostTime();
    heartbeatAt = clock.real.now();
    const since = unstored;
    unstored = null;
    if (since !== null) void inOrder(() => renewWindows(db, since));
    void inOrder(storeAlive);
    timer = clock.real.after(HEARTBEAT_MS, heartbeat);
  };

  return {
    overdue: () => {
      detectLostTime();
      const now = clock.now();
      return now < floor + WINDOW_MS ? 0 : now;
    },
    start: async () => {
      timer?.cancel();
      readClocks();
      heartbeatAt = real;
      const alive = await lastAliveAt(db.read);
      if (alive !== null && Math.abs(wall - alive) > OUTAGE_MS) {
        floor = wall;
        await renewWindows(db, floor);
      }
      heartbeat();
      await work;
    },
    reset: () => {
      floor = Number.NEGATIVE_INFINITY;
      unstored = null;
      readClocks();
      heartbeatAt = real;
    },
    stop: async () => {
      timer?.cancel();
      timer = null;
      await inOrder(storeAlive);
    },
  };
}

/** Moves the deadline of runs whose window began before `floor`, or lies too far after it, to one window after `floor`. */
async function renewWindows(db: Db, floor: number): Promise<void> {
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
