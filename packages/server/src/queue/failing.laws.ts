import { describe, expect, test } from "vitest";
import { HOUR, type LawsContext, SECOND } from "../../test/queue-laws-context.ts";
import { StorageUnavailable } from "../db/errors.ts";
import { ATTEMPTS_OF_OWN_MAIL, type ClaimedJob, type JobHandler } from "./queue.ts";
import { backoff } from "./settling.ts";

/** Jobs that fail, are dead, hold a key, or run again by their plan. */
export function failingLaws(t: LawsContext): void {
  const { add, put, names, jobs, states, note, start, advance, work } = t;

  describe("jobs that fail", () => {
    const failing = note(async () => {
      throw new Error("the printer is on fire");
    });

    test("back off, longer each time, with jitter, and keep the reason", async () => {
      await start(failing);
      await add(work(0, { maxAttempts: 20 }));
      await t.queue.idle();
      const waits: number[] = [];
      for (let attempt = 1; attempt <= 6; attempt += 1) {
        const [job] = await jobs();
        expect(job).toMatchObject({ state: "ready", attempts: attempt, lastError: expect.stringContaining("the printer is on fire") });
        const wait = (job?.runAt ?? 0) - t.clock.now();
        waits.push(wait);
        expect(wait).toBeGreaterThanOrEqual(0.8 * SECOND * 2 ** (attempt - 1));
        expect(wait).toBeLessThanOrEqual(1.2 * SECOND * 2 ** (attempt - 1));
        await advance(wait);
      }
      expect(t.ran).toHaveLength(7);
      expect(new Set(waits.map((w, i) => w / 2 ** i)).size).toBeGreaterThan(1);
    });

    test("are kept as dead after their last attempt, with the reason, and run no more", async () => {
      await start(failing);
      await add(work("x", { maxAttempts: 3 }));
      await advance(HOUR);
      expect(t.ran.map((j) => j.attempt)).toEqual([1, 2, 3]);
      expect(await jobs()).toMatchObject([
        { state: "dead", attempts: 3, maxAttempts: 3, payload: { n: "x" }, lastError: "Error: the printer is on fire" },
      ]);
      await advance(100 * HOUR);
      expect(t.ran).toHaveLength(3);
    });

    test("have ten attempts unless they say otherwise", async () => {
      await start(failing);
      await add(work());
      await advance(10 * HOUR);
      expect(t.ran).toHaveLength(10);
      expect(await states()).toEqual(["dead"]);
    });

    test("because the database was away are not counted, however often, and run again within half a minute", async () => {
      const away = new StorageUnavailable("The disk is full.", { isAway: true });
      let isAway = true;
      await start(
        note(async () => {
          if (isAway) throw away;
          return {};
        }),
      );
      await add(work("x", { maxAttempts: 2 }));
      await advance(20 * SECOND);
      expect(t.ran.length).toBeGreaterThan(2);
      expect(await states()).toEqual(["ready"]);
      isAway = false;
      await advance(36 * SECOND);
      expect(await jobs()).toEqual([]);
    });

    test("do not hold up the others", async () => {
      await start(
        note(async ({ payload }) => {
          if (payload.n === "bad") throw new Error("bad");
          return {};
        }),
        1,
      );
      await add(work("bad"), work("good"));
      await t.queue.idle();
      expect(t.ran.map((j) => j.payload.n)).toEqual(["bad", "good"]);
      expect((await jobs()).map((j) => j.payload.n)).toEqual(["bad"]);
    });

    test("that throw no Error, or throw before they begin, are failures like any other", async () => {
      const odd = ((job: ClaimedJob) => {
        throw job.payload.n === 1 ? "a text" : undefined;
      }) as unknown as JobHandler;
      await start(odd);
      await add(work(1), work(2));
      await t.queue.idle();
      expect((await jobs()).map((j) => j.lastError).sort()).toEqual(["a text", "undefined"]);
    });

    test("a reason of any length is cut to something one can read", async () => {
      await start(async () => {
        throw new Error("x".repeat(100_000));
      });
      await add(work());
      await t.queue.idle();
      expect((await jobs())[0]?.lastError?.length).toBeLessThanOrEqual(1000);
    });

    test("the back-off is never longer than an hour and a bit", () => {
      expect(backoff(1, 0)).toBe(800);
      expect(backoff(1, 0.5)).toBe(1000);
      expect(backoff(500, 0.999_999)).toBeLessThanOrEqual(1.2 * HOUR);
    });

    test("mail of the service itself is tried for about a day", () => {
      const waits = Array.from({ length: ATTEMPTS_OF_OWN_MAIL - 1 }, (_, i) => backoff(i + 1, 0.5));
      const total = waits.reduce((sum, ms) => sum + ms, 0);
      expect(total).toBeGreaterThan(22 * HOUR);
      expect(total).toBeLessThan(24 * HOUR);
    });
  });

  describe("dead jobs", () => {
    const dead = async (): Promise<string> => {
      let broken = true;
      await start(
        note(async () => {
          if (broken) throw new Error("broken");
          return { commit: (tx) => put(tx, "done") };
        }),
      );
      await add(work(0, { maxAttempts: 2 }));
      await advance(HOUR);
      broken = false;
      return (await jobs())[0]?.id ?? "";
    };

    test("are run again with fresh attempts when somebody revives them", async () => {
      const id = await dead();
      const revived = await t.db.tx((tx) => t.queue.retry(tx, id));
      expect(revived).toMatchObject({ id, state: "ready", attempts: 0 });
      await t.queue.idle();
      expect(t.ran.map((j) => j.attempt)).toEqual([1, 2, 1]);
      expect(await names()).toEqual(["done"]);
      expect(await jobs()).toEqual([]);
    });

    test("are revived only if that transaction commits", async () => {
      const id = await dead();
      const failing = t.db.tx(async (tx) => {
        await t.queue.retry(tx, id);
        throw new Error("boom");
      });
      await expect(failing).rejects.toThrow("boom");
      await t.queue.idle();
      expect(await states()).toEqual(["dead"]);
    });

    test("only dead jobs can be revived: not waiting ones, not absent ones, not nonsense", async () => {
      await add(work());
      const [waiting] = await jobs();
      for (const id of [waiting?.id ?? "", "999999", "", "1 OR 1=1", "-1", "1e3", "9".repeat(40), "é"])
        expect(await t.db.tx((tx) => t.queue.retry(tx, id))).toBeNull();
      expect(await jobs()).toMatchObject([{ state: "ready" }]);
    });

    test("can be listed by their state, newest first, page by page", async () => {
      await start(async () => {
        throw new Error("no");
      });
      await add(...[1, 2, 3].map((n) => work(n, { maxAttempts: 1 })));
      await t.queue.idle();
      await add(work("waiting", { runAt: t.clock.now() + HOUR }));
      const all = await t.queue.list(t.db.read, { state: "dead", limit: 2, offset: 0 });
      expect([all.total, all.rows.map((r) => r.state)]).toEqual([3, ["dead", "dead"]]);
      const rest = await t.queue.list(t.db.read, { state: "dead", limit: 2, offset: 2 });
      expect(new Set([...all.rows, ...rest.rows].map((r) => r.payload.n))).toEqual(new Set([1, 2, 3]));
      expect((await t.queue.list(t.db.read, { state: "ready", limit: 10, offset: 0 })).rows.map((r) => r.payload.n)).toEqual(["waiting"]);
    });

    test("are counted by their state, and the earliest due time is known", async () => {
      expect(await t.queue.readStats(t.db.read)).toEqual({ jobs: { ready: 0, running: 0, dead: 0, unhandled: 0 }, oldestDueAt: null });
      await start(async () => {
        throw new Error("no");
      });
      await add(...[1, 2].map((n) => work(n, { maxAttempts: 1 })));
      await t.queue.idle();
      const soon = t.clock.now() + HOUR;
      await add(work("later", { runAt: soon + HOUR }), work("soon", { runAt: soon }));
      expect(await t.queue.readStats(t.db.read)).toEqual({ jobs: { ready: 2, running: 0, dead: 2, unhandled: 0 }, oldestDueAt: soon });
    });

    test("one job can be looked up by its id, and nonsense is nobody's id", async () => {
      await add(work("me"));
      const [job] = await jobs();
      expect(await t.queue.get(t.db.read, job?.id ?? "")).toMatchObject({ payload: { n: "me" } });
      for (const id of ["0", "", "abc", "1;--", "9".repeat(40)]) expect(await t.queue.get(t.db.read, id)).toBeNull();
    });
  });

  describe("dedupe keys", () => {
    test("while a job with a key waits, another one is not added", async () => {
      await add(work("first", { dedupeKey: "k" }));
      await add(work("second", { dedupeKey: "k" }));
      await add(work("other", { dedupeKey: "k2" }), work("none"), work("none"));
      expect((await jobs()).map((j) => j.payload.n).sort()).toEqual(["first", "none", "none", "other"]);
    });

    test("of many that arrive together one is added", async () => {
      await Promise.all(Array.from({ length: 30 }, (_, n) => add(work(n, { dedupeKey: "k" }))));
      expect(await jobs()).toHaveLength(1);
    });

    test("once it runs, another one may be added: it may have missed what happened since", async () => {
      await start(
        note(async ({ payload }) => {
          if (payload.n === "first") await add(work("second", { dedupeKey: "k" }));
          return {};
        }),
      );
      await add(work("first", { dedupeKey: "k" }));
      await t.queue.idle();
      expect(t.ran.map((j) => j.payload.n)).toEqual(["first", "second"]);
    });

    test("a job that failed and waits for its next attempt still holds its key", async () => {
      await start(
        note(async () => {
          throw new Error("no");
        }),
      );
      await add(work("first", { dedupeKey: "k" }));
      await t.queue.idle();
      await add(work("second", { dedupeKey: "k" }));
      expect((await jobs()).map((j) => j.payload.n)).toEqual(["first"]);
    });

    test("a job that is to run again by its plan still holds its key", async () => {
      await start(note(async () => ({ again: t.clock.now() + HOUR })));
      await add(work("first", { dedupeKey: "k" }));
      await t.queue.idle();
      await add(work("second", { dedupeKey: "k" }));
      expect((await jobs()).map((j) => j.payload.n)).toEqual(["first"]);
    });

    test("a failed job whose key was taken meanwhile is run all the same", async () => {
      let first = true;
      await start(
        note(async ({ payload }) => {
          if (payload.n !== "first" || !first) return {};
          first = false;
          await add(work("second", { dedupeKey: "k", runAt: t.clock.now() + HOUR }));
          throw new Error("no");
        }),
      );
      await add(work("first", { dedupeKey: "k" }));
      await advance(2 * HOUR);
      expect(t.ran.map((j) => j.payload.n)).toEqual(["first", "first", "second"]);
      expect(await jobs()).toEqual([]);
    });

    test("a dead job holds no key", async () => {
      await start(
        note(async () => {
          throw new Error("no");
        }),
      );
      await add(work("first", { dedupeKey: "k", maxAttempts: 1 }));
      await t.queue.idle();
      await add(work("second", { dedupeKey: "k", runAt: t.clock.now() + HOUR }));
      expect((await jobs()).map((j) => j.payload.n).sort()).toEqual(["first", "second"]);
    });
  });

  describe("jobs that are to run again", () => {
    test("run at the instant they name, as often as they like, and no failure is counted", async () => {
      const at: number[] = [];
      const begin = t.clock.now();
      await start(
        note(async () => {
          at.push(t.clock.now() - begin);
          return at.length < 15
            ? { again: t.clock.now() + HOUR, commit: (tx) => put(tx, `round-${String(at.length).padStart(2, "0")}`) }
            : {};
        }),
      );
      await add(work(0, { maxAttempts: 2 }));
      await advance(24 * HOUR);
      expect(at).toEqual(Array.from({ length: 15 }, (_, i) => i * HOUR));
      expect(await names()).toHaveLength(14);
      expect(await jobs()).toEqual([]);
    });

    test("still have all their attempts for real failures", async () => {
      let calls = 0;
      await start(
        note(async () => {
          calls += 1;
          if (calls <= 3) return { again: t.clock.now() + SECOND };
          throw new Error("now it fails");
        }),
      );
      await add(work(0, { maxAttempts: 2 }));
      await advance(HOUR);
      expect(calls).toBe(5);
      expect(await states()).toEqual(["dead"]);
    });

    test("back off after a failure as if they had never run before, and show the attempts that failed", async () => {
      let calls = 0;
      await start(
        note(async () => {
          calls += 1;
          if (calls <= 20) return { again: t.clock.now() + SECOND };
          throw new Error("now it fails");
        }),
      );
      await add(work());
      await advance(20 * SECOND);
      const [job] = await jobs();
      expect(job).toMatchObject({ state: "ready", attempts: 1, maxAttempts: 10 });
      expect((job?.runAt ?? 0) - t.clock.now()).toBeLessThan(2 * SECOND);
    });
  });
}
