import { asc } from "drizzle-orm";
import { expect, test } from "vitest";
import { describeDb } from "../../../test/describe-db.ts";
import { runRow } from "../../../test/run-row.ts";
import type { Db } from "../../db/db.ts";
import type { Clock } from "../../lib/clock.ts";
import { silentLog } from "../../lib/log.ts";
import { makeRunClock, WINDOW_MS } from "./clock.ts";

const T = Date.parse("2026-01-01T00:00:00Z");
const MINUTE = 60_000;

/** A machine with a wall clock and a monotonic clock that the test moves. */
const machine = () => {
  let wall = T;
  let real = 1_000_000;
  let timers: { at: number; fire: () => void }[] = [];
  const clock: Clock = {
    now: () => wall,
    after: () => ({ cancel: () => {} }),
    real: {
      now: () => real,
      date: () => wall,
      after: (ms, fire) => {
        const timer = { at: real + ms, fire };
        timers.push(timer);
        return { cancel: () => void (timers = timers.filter((t) => t !== timer)) };
      },
      sleep: async () => {},
    },
  };
  return {
    clock,
    /** Sets the wall clock. */
    set: (ms: number) => void (wall += ms),
    /** Time passes while the process is suspended. */
    stand: (ms: number) => {
      wall += ms;
      real += ms;
    },
    /** Time passes, and timers fire. */
    pass: (ms: number) => {
      const end = real + ms;
      for (;;) {
        const next = timers.filter((t) => t.at <= end).sort((a, b) => a.at - b.at)[0];
        const to = next?.at ?? end;
        wall += to - real;
        real = to;
        if (!next) return;
        timers = timers.filter((t) => t !== next);
        next.fire();
      }
    },
  };
};

const deadlines = async (db: Db): Promise<(number | null)[]> => {
  const { runs } = db.read.t;
  const rows = await db.read.select({ deadlineAt: runs.deadlineAt }).from(runs).orderBy(asc(runs.id));
  return rows.map(({ deadlineAt }) => (deadlineAt === null ? null : (deadlineAt - T) / MINUTE));
};

const alive = async (db: Db): Promise<number | undefined> => {
  const rows = await db.read.select().from(db.read.t.meta);
  const value = rows.find(({ name }) => name === "aliveAt")?.value;
  return value === undefined ? undefined : (Number(value) - T) / MINUTE;
};

describeDb("the watch over runs", (t) => {
  const begin = async (...ages: number[]) => {
    const { clock, ...time } = machine();
    await t.db.tx((tx) =>
      tx.insertAll(
        tx.t.runs,
        ages.map((minutes, n) => runRow(n, T - minutes * MINUTE)),
      ),
    );
    const watch = makeRunClock({ db: t.db, clock, log: silentLog, controllable: false });
    await watch.start();
    return { watch, ...time };
  };

  test("while time passes evenly, a deadline passes at its instant", async () => {
    const { watch, pass } = await begin(0);
    expect(watch.overdue()).toBe(T);
    for (let n = 0; n < 900; n += 1) pass(1000);
    expect(watch.overdue()).toBe(T + WINDOW_MS);
    await watch.stop();
    expect(await deadlines(t.db)).toEqual([15]);
  });

  test("a clock set forward by an hour fails no run: every run gets a new window", async () => {
    const { watch, set, pass } = await begin(10, 0);
    pass(MINUTE);
    set(60 * MINUTE);
    expect(watch.overdue()).toBe(0);
    pass(15 * MINUTE - 1);
    expect(watch.overdue()).toBe(0);
    pass(1);
    expect(watch.overdue()).toBe(T + 76 * MINUTE);
    await watch.stop();
    expect(await deadlines(t.db)).toEqual([76, 76]);
  });

  test("a clock set back by an hour does not extend runs by an hour", async () => {
    const { watch, set, pass } = await begin(10, 0);
    set(-60 * MINUTE);
    expect(watch.overdue()).toBe(0);
    pass(5000);
    await watch.stop();
    expect(await deadlines(t.db)).toEqual([-45, -45]);
  });

  test("a clock that is slewed, a tenth of a second at a time, is no jump", async () => {
    const { watch, set, pass } = await begin(0);
    for (let n = 0; n < 60; n += 1) {
      set(100);
      pass(5000);
    }
    expect(watch.overdue()).toBe(T + 5 * MINUTE + 6000);
    await watch.stop();
    expect(await deadlines(t.db)).toEqual([15]);
  });

  test("after a process was suspended for half a minute every run gets a new window", async () => {
    const { watch, stand, pass } = await begin(14, 0);
    stand(MINUTE + 1);
    expect(watch.overdue()).toBe(0);
    pass(5000);
    await watch.stop();
    expect(await deadlines(t.db)).toEqual([16 + 1 / MINUTE, 16 + 1 / MINUTE]);
  });

  test("runs that wait or have ended are unchanged", async () => {
    const { watch, set, pass } = await begin();
    const at = T - 10 * MINUTE;
    await t.db.tx((tx) =>
      tx.insertAll(tx.t.runs, [
        runRow(1, at, { status: "WAITING" }),
        runRow(2, at, { status: "COMPLETED", deadlineAt: null }),
        runRow(3, at),
      ]),
    );
    set(60 * MINUTE);
    watch.overdue();
    pass(5000);
    await watch.stop();
    expect(await deadlines(t.db)).toEqual([5, null, 75]);
  });

  test("a server stores that it is alive every five seconds while a run is active, and at its stop", async () => {
    const { watch, pass } = await begin();
    pass(MINUTE);
    await watch.stop();
    expect(await alive(t.db)).toBeUndefined();
    await t.db.tx((tx) => tx.insertAll(tx.t.runs, [runRow(1, T)]));
    pass(MINUTE);
    await watch.stop();
    expect(await alive(t.db)).toBe(2);
  });

  test.each([
    ["29 seconds away is a restart", 29_000, [5, 15]],
    ["31 seconds away is an absence", 31_000, [15 + 31 / 60, 15 + 31 / 60]],
    ["a night away is an absence", 8 * 60 * MINUTE, [495, 495]],
  ])("%s", async (_name, away, expected) => {
    const first = await begin(10, 0);
    await first.watch.stop();
    const { clock, stand } = machine();
    stand(away);
    const second = makeRunClock({ db: t.db, clock, log: silentLog, controllable: false });
    await second.start();
    expect(second.overdue()).toBe(away < 30_000 ? T + away : 0);
    await second.stop();
    expect(await deadlines(t.db)).toEqual(expected);
  });

  test("a controllable clock never counts as having jumped", async () => {
    const { clock, set, stand } = machine();
    await t.db.tx((tx) => tx.insertAll(tx.t.runs, [runRow(1, T)]));
    const watch = makeRunClock({ db: t.db, clock, log: silentLog, controllable: true });
    await watch.start();
    set(60 * MINUTE);
    stand(MINUTE);
    expect(watch.overdue()).toBe(T + 61 * MINUTE);
    await watch.stop();
    expect(await deadlines(t.db)).toEqual([15]);
  });

  test("ten thousand runs get new windows in chunks", async () => {
    const { watch, set, pass } = await begin();
    await t.db.tx((tx) =>
      tx.insertAll(
        tx.t.runs,
        Array.from({ length: 10_000 }, (_, n) => runRow(n, T)),
      ),
    );
    set(60 * MINUTE);
    watch.overdue();
    pass(5000);
    await watch.stop();
    expect(new Set(await deadlines(t.db))).toEqual(new Set([75]));
  });
});
