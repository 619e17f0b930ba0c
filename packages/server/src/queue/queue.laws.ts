import { eq } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Db, Tx } from "../db/db.ts";
import type { BendableClock } from "../lib/bendable-clock.ts";
import { realTime } from "../lib/clock.ts";
import { backoff, type ClaimedJob, type JobHandler, type NewJob, type Outcome, type Queue } from "./queue.ts";

export interface QueueHarness {
  readonly db: Db;
  /** Frozen at the start. */
  readonly clock: BendableClock;
  readonly queue: Queue;
  /** A queue as another process would have it after this one was killed: on the same database, knowing nothing. */
  reborn(): Queue;
  close(): Promise<void>;
}

const SECOND = 1000;
const HOUR = 3_600_000;

/** What every queue keeps, whatever it is made of. */
export const queueLaws = (title: string, open: () => Promise<QueueHarness>): void => {
  describe(title, () => {
    let h: QueueHarness;
    let ran: ClaimedJob[];
    const stopping: Queue[] = [];

    beforeEach(async () => {
      h = await open();
      ran = [];
    });
    afterEach(async () => {
      await Promise.all([h.queue, ...stopping.splice(0)].map((q) => q.stop()));
      await h.close();
    });

    const add = (...jobs: NewJob[]): Promise<void> =>
      h.db.tx(async (tx) => {
        for (const job of jobs) await h.queue.enqueue(tx, job);
      });
    const put = async (tx: Tx, name: string, value = "1"): Promise<void> => void (await tx.insert(tx.t.meta).values({ name, value }));
    const names = async (): Promise<string[]> =>
      (await h.db.read.select().from(h.db.read.t.meta).orderBy(h.db.read.t.meta.name)).map((r) => r.name);
    const jobs = async () => (await h.queue.list(h.db.read, { limit: 100, offset: 0 })).rows;
    const states = async () => (await jobs()).map((j) => j.state);
    /** Runs a job by writing it down. */
    const note =
      (handle: JobHandler = async () => ({})): JobHandler =>
      (job) => {
        ran.push(job);
        return handle(job);
      };
    const start = (handler: JobHandler = note(), concurrency = 4): Promise<void> => h.queue.start({ work: handler }, concurrency);
    const advance = (ms: number) => h.clock.advanceTo(h.clock.now() + ms, h.queue.idle);
    const work = (n: number | string = 0, rest: Partial<NewJob> = {}): NewJob => ({ kind: "work", payload: { n }, ...rest });

    describe("a job and the transaction that adds it", () => {
      test("the job exists once the transaction has committed", async () => {
        await add(work("a"));
        expect(await jobs()).toMatchObject([
          {
            kind: "work",
            payload: { n: "a" },
            state: "ready",
            attempts: 0,
            lastError: null,
            createdAt: h.clock.now(),
            runAt: h.clock.now(),
          },
        ]);
      });

      test("the job does not exist when the transaction rolls back, and nobody runs it", async () => {
        await start();
        const failing = h.db.tx(async (tx) => {
          await h.queue.enqueue(tx, work());
          throw new Error("boom");
        });
        await expect(failing).rejects.toThrow("boom");
        await h.queue.idle();
        expect(await jobs()).toEqual([]);
        expect(ran).toEqual([]);
      });

      test("the payload arrives as it was given", async () => {
        const payload = { text: "👩‍👩‍👧 ü \u0301 ' \" \\ \n", list: [1, null, { deep: true }], zero: 0, none: null };
        await start();
        await add({ kind: "work", payload });
        await h.queue.idle();
        expect(ran[0]).toMatchObject({ kind: "work", payload, attempt: 1 });
      });

      test("a job added before the start is run after it", async () => {
        await add(work("early"));
        await start();
        await h.queue.idle();
        expect(ran.map((j) => j.payload.n)).toEqual(["early"]);
        expect(await jobs()).toEqual([]);
      });

      test("a job is woken at once, not at the next look", async () => {
        let seen = (): void => {};
        await start(async () => {
          seen();
          return {};
        });
        const waits: number[] = [];
        for (let i = 0; i < 15; i += 1) {
          const running = new Promise<void>((resolve) => {
            seen = resolve;
          });
          const since = realTime.now();
          await add(work(i));
          await running;
          waits.push(realTime.now() - since);
        }
        waits.sort((a, b) => a - b);
        expect(waits[7]).toBeLessThan(50);
      });
    });

    describe("when jobs run", () => {
      test("not before their instant, and exactly at it", async () => {
        const at: number[] = [];
        await start(async () => {
          at.push(h.clock.now());
          return {};
        });
        const due = h.clock.now() + HOUR;
        await add(work(0, { runAt: due }));
        await advance(HOUR - 1);
        expect(at).toEqual([]);
        await advance(1);
        expect(at).toEqual([due]);
      });

      test("in the order of their instants, however they were added", async () => {
        await start(note(), 1);
        const now = h.clock.now();
        await add(...[3, 1, 2].map((n) => work(n, { runAt: now + n * SECOND })));
        await advance(10 * SECOND);
        expect(ran.map((j) => j.payload.n)).toEqual([1, 2, 3]);
      });

      test("an earlier job that is added later is not missed", async () => {
        await start();
        await add(work("late", { runAt: h.clock.now() + HOUR }));
        await h.queue.idle();
        await add(work("soon", { runAt: h.clock.now() + SECOND }));
        await advance(SECOND);
        expect(ran.map((j) => j.payload.n)).toEqual(["soon"]);
      });

      test("a job whose instant has passed runs at once", async () => {
        await start();
        await add(work(0, { runAt: h.clock.now() - HOUR }));
        await h.queue.idle();
        expect(ran).toHaveLength(1);
      });

      test("a job far beyond what a timer can hold waits for its day", async () => {
        await start();
        await add(work(0, { runAt: h.clock.now() + 200 * 24 * HOUR }));
        await h.queue.idle();
        expect(ran).toEqual([]);
        await advance(200 * 24 * HOUR);
        expect(ran).toHaveLength(1);
      });
    });

    describe("how often jobs run", () => {
      test("each of many jobs once", async () => {
        await start(note(), 16);
        await Promise.all(Array.from({ length: 300 }, (_, n) => add(work(n))));
        await h.queue.idle();
        expect(ran.map((j) => j.payload.n).sort((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 300 }, (_, n) => n));
        expect(await jobs()).toEqual([]);
      });

      test("never more at a time than allowed, and as many as allowed", async () => {
        let now = 0;
        let most = 0;
        await start(async () => {
          now += 1;
          most = Math.max(most, now);
          await realTime.sleep(2);
          now -= 1;
          return {};
        }, 3);
        await add(...Array.from({ length: 20 }, (_, n) => work(n)));
        await h.queue.idle();
        expect(most).toBe(3);
      });

      test("ten thousand jobs drain", async () => {
        let done = 0;
        await start(async () => {
          done += 1;
          return {};
        }, 32);
        await add(...Array.from({ length: 10_000 }, (_, n) => work(n)));
        await h.queue.idle();
        expect(done).toBe(10_000);
        expect(await jobs()).toEqual([]);
      }, 30_000);
    });

    describe("the effect of a job", () => {
      test("is written together with the job's end", async () => {
        await start(note(async () => ({ commit: (tx) => put(tx, "effect") })));
        await add(work());
        await h.queue.idle();
        expect(await names()).toEqual(["effect"]);
        expect(await jobs()).toEqual([]);
      });

      test("is taken back when its commit throws, and the job is kept", async () => {
        await start(
          note(async () => ({
            commit: async (tx) => {
              await put(tx, "half");
              throw new Error("no second half");
            },
          })),
        );
        await add(work());
        await h.queue.idle();
        expect(await names()).toEqual([]);
        expect(await jobs()).toMatchObject([{ state: "ready", attempts: 1, lastError: expect.stringContaining("no second half") }]);
      });

      test("can be further jobs, which run too", async () => {
        const chain: JobHandler = async ({ payload }) => {
          const n = Number(payload.n);
          return n === 5 ? {} : { commit: (tx) => h.queue.enqueue(tx, work(n + 1)) };
        };
        await start(note(chain), 1);
        await add(work(1));
        await h.queue.idle();
        expect(ran.map((j) => j.payload.n)).toEqual([1, 2, 3, 4, 5]);
      });

      test("further jobs of a commit that throws do not exist", async () => {
        const failing: Outcome = {
          commit: async (tx) => {
            await h.queue.enqueue(tx, work("child"));
            throw new Error("boom");
          },
        };
        await start(note(async () => failing));
        await add(work("parent"));
        await h.queue.idle();
        expect((await jobs()).map((j) => j.payload.n)).toEqual(["parent"]);
      });
    });

    describe("jobs that fail", () => {
      const failing = note(async () => {
        throw new Error("the printer is on fire");
      });

      test("back off, longer each time, with jitter, and keep the reason", async () => {
        await start(failing);
        await add(work(0, { maxAttempts: 20 }));
        await h.queue.idle();
        const waits: number[] = [];
        for (let attempt = 1; attempt <= 6; attempt += 1) {
          const [job] = await jobs();
          expect(job).toMatchObject({ state: "ready", attempts: attempt, lastError: expect.stringContaining("the printer is on fire") });
          const wait = (job?.runAt ?? 0) - h.clock.now();
          waits.push(wait);
          expect(wait).toBeGreaterThanOrEqual(0.8 * SECOND * 2 ** (attempt - 1));
          expect(wait).toBeLessThanOrEqual(1.2 * SECOND * 2 ** (attempt - 1));
          await advance(wait);
        }
        expect(ran).toHaveLength(7);
        expect(new Set(waits.map((w, i) => w / 2 ** i)).size).toBeGreaterThan(1);
      });

      test("are kept as dead after their last attempt, with the reason, and run no more", async () => {
        await start(failing);
        await add(work("x", { maxAttempts: 3 }));
        await advance(HOUR);
        expect(ran.map((j) => j.attempt)).toEqual([1, 2, 3]);
        expect(await jobs()).toMatchObject([
          { state: "dead", attempts: 3, maxAttempts: 3, payload: { n: "x" }, lastError: "Error: the printer is on fire" },
        ]);
        await advance(100 * HOUR);
        expect(ran).toHaveLength(3);
      });

      test("have ten attempts unless they say otherwise", async () => {
        await start(failing);
        await add(work());
        await advance(10 * HOUR);
        expect(ran).toHaveLength(10);
        expect(await states()).toEqual(["dead"]);
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
        await h.queue.idle();
        expect(ran.map((j) => j.payload.n)).toEqual(["bad", "good"]);
        expect((await jobs()).map((j) => j.payload.n)).toEqual(["bad"]);
      });

      test("that throw no Error, or throw before they begin, are failures like any other", async () => {
        const odd = ((job: ClaimedJob) => {
          throw job.payload.n === 1 ? "a text" : undefined;
        }) as unknown as JobHandler;
        await start(odd);
        await add(work(1), work(2));
        await h.queue.idle();
        expect((await jobs()).map((j) => j.lastError).sort()).toEqual(["a text", "undefined"]);
      });

      test("of a kind nobody knows say so, and are kept", async () => {
        await start();
        await add({ kind: "no.such.kind", payload: {}, maxAttempts: 1 });
        await h.queue.idle();
        expect(await jobs()).toMatchObject([
          { state: "dead", kind: "no.such.kind", lastError: expect.stringContaining("no handler for jobs of kind no.such.kind") },
        ]);
      });

      test("a reason of any length is cut to something one can read", async () => {
        await start(async () => {
          throw new Error("x".repeat(100_000));
        });
        await add(work());
        await h.queue.idle();
        expect((await jobs())[0]?.lastError?.length).toBeLessThanOrEqual(1000);
      });

      test("the back-off is never longer than an hour and a bit", () => {
        expect(backoff(1, 0)).toBe(800);
        expect(backoff(1, 0.5)).toBe(1000);
        expect(backoff(500, 0.999_999)).toBeLessThanOrEqual(1.2 * HOUR);
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
        const revived = await h.db.tx((tx) => h.queue.retry(tx, id));
        expect(revived).toMatchObject({ id, state: "ready", attempts: 0 });
        await h.queue.idle();
        expect(ran.map((j) => j.attempt)).toEqual([1, 2, 1]);
        expect(await names()).toEqual(["done"]);
        expect(await jobs()).toEqual([]);
      });

      test("are revived only if that transaction commits", async () => {
        const id = await dead();
        const failing = h.db.tx(async (tx) => {
          await h.queue.retry(tx, id);
          throw new Error("boom");
        });
        await expect(failing).rejects.toThrow("boom");
        await h.queue.idle();
        expect(await states()).toEqual(["dead"]);
      });

      test("only dead jobs can be revived: not waiting ones, not absent ones, not nonsense", async () => {
        await add(work());
        const [waiting] = await jobs();
        for (const id of [waiting?.id ?? "", "999999", "", "1 OR 1=1", "-1", "1e3", "9".repeat(40), "é"])
          expect(await h.db.tx((tx) => h.queue.retry(tx, id))).toBeNull();
        expect(await jobs()).toMatchObject([{ state: "ready" }]);
      });

      test("can be listed by their state, newest first, page by page", async () => {
        await start(async () => {
          throw new Error("no");
        });
        await add(...[1, 2, 3].map((n) => work(n, { maxAttempts: 1 })));
        await h.queue.idle();
        await add(work("waiting", { runAt: h.clock.now() + HOUR }));
        const all = await h.queue.list(h.db.read, { state: "dead", limit: 2, offset: 0 });
        expect([all.total, all.rows.map((r) => r.state)]).toEqual([3, ["dead", "dead"]]);
        const rest = await h.queue.list(h.db.read, { state: "dead", limit: 2, offset: 2 });
        expect(new Set([...all.rows, ...rest.rows].map((r) => r.payload.n))).toEqual(new Set([1, 2, 3]));
        expect((await h.queue.list(h.db.read, { state: "ready", limit: 10, offset: 0 })).rows.map((r) => r.payload.n)).toEqual(["waiting"]);
      });

      test("one job can be looked up by its id, and nonsense is nobody's id", async () => {
        await add(work("me"));
        const [job] = await jobs();
        expect(await h.queue.get(h.db.read, job?.id ?? "")).toMatchObject({ payload: { n: "me" } });
        for (const id of ["0", "", "abc", "1;--", "9".repeat(40)]) expect(await h.queue.get(h.db.read, id)).toBeNull();
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
        await h.queue.idle();
        expect(ran.map((j) => j.payload.n)).toEqual(["first", "second"]);
      });

      test("a job that failed and waits for its next attempt still holds its key", async () => {
        await start(
          note(async () => {
            throw new Error("no");
          }),
        );
        await add(work("first", { dedupeKey: "k" }));
        await h.queue.idle();
        await add(work("second", { dedupeKey: "k" }));
        expect((await jobs()).map((j) => j.payload.n)).toEqual(["first"]);
      });

      test("a job that is to run again by its plan still holds its key", async () => {
        await start(note(async () => ({ again: h.clock.now() + HOUR })));
        await add(work("first", { dedupeKey: "k" }));
        await h.queue.idle();
        await add(work("second", { dedupeKey: "k" }));
        expect((await jobs()).map((j) => j.payload.n)).toEqual(["first"]);
      });

      test("a failed job whose key was taken meanwhile is run all the same", async () => {
        let first = true;
        await start(
          note(async ({ payload }) => {
            if (payload.n !== "first" || !first) return {};
            first = false;
            await add(work("second", { dedupeKey: "k", runAt: h.clock.now() + HOUR }));
            throw new Error("no");
          }),
        );
        await add(work("first", { dedupeKey: "k" }));
        await advance(2 * HOUR);
        expect(ran.map((j) => j.payload.n)).toEqual(["first", "first", "second"]);
        expect(await jobs()).toEqual([]);
      });

      test("a dead job holds no key", async () => {
        await start(
          note(async () => {
            throw new Error("no");
          }),
        );
        await add(work("first", { dedupeKey: "k", maxAttempts: 1 }));
        await h.queue.idle();
        await add(work("second", { dedupeKey: "k", runAt: h.clock.now() + HOUR }));
        expect((await jobs()).map((j) => j.payload.n).sort()).toEqual(["first", "second"]);
      });
    });

    describe("jobs that are to run again", () => {
      test("run at the instant they name, as often as they like, and no failure is counted", async () => {
        const at: number[] = [];
        const begin = h.clock.now();
        await start(
          note(async () => {
            at.push(h.clock.now() - begin);
            return at.length < 15
              ? { again: h.clock.now() + HOUR, commit: (tx) => put(tx, `round-${String(at.length).padStart(2, "0")}`) }
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
            if (calls <= 3) return { again: h.clock.now() + SECOND };
            throw new Error("now it fails");
          }),
        );
        await add(work(0, { maxAttempts: 2 }));
        await advance(HOUR);
        expect(calls).toBe(5);
        expect(await states()).toEqual(["dead"]);
      });
    });

    describe("stopping, idling and dying", () => {
      test("stop waits for those that run, and takes no further ones", async () => {
        let release = (): void => {};
        const held = new Promise<void>((resolve) => {
          release = resolve;
        });
        let begun = (): void => {};
        const running = new Promise<void>((resolve) => {
          begun = resolve;
        });
        await start(
          note(async () => {
            begun();
            await held;
            return { commit: (tx) => put(tx, "finished") };
          }),
          1,
        );
        await add(work(1), work(2));
        await running;
        let stopped = false;
        const stop = h.queue.stop().then(() => {
          stopped = true;
        });
        await realTime.sleep(10);
        expect(stopped).toBe(false);
        release();
        await stop;
        expect(await names()).toEqual(["finished"]);
        expect((await jobs()).map((j) => [j.payload.n, j.state])).toEqual([[2, "ready"]]);
      });

      test("nothing begins after stop has answered, wherever it came", async () => {
        for (let round = 0; round < 20; round += 1) {
          let stopped = false;
          let late = 0;
          await h.queue.start(
            {
              work: async () => {
                if (stopped) late += 1;
                return {};
              },
            },
            2,
          );
          await h.queue.idle();
          await add(work(), work(), work());
          for (let turn = 0; turn < round % 5; turn += 1) await Promise.resolve();
          await h.queue.stop();
          stopped = true;
          await realTime.sleep(1);
          expect(late).toBe(0);
          expect(await states()).not.toContain("running");
        }
      });

      test("a stopped queue can be started again and goes on where it was", async () => {
        await start();
        await h.queue.stop();
        await add(work("later"));
        expect(ran).toEqual([]);
        await start();
        await h.queue.idle();
        expect(ran.map((j) => j.payload.n)).toEqual(["later"]);
      });

      test("idle waits until nothing runs and nothing is due, further jobs included", async () => {
        await start(
          note(async ({ payload }) => {
            await realTime.sleep(3);
            return payload.n === 3 ? {} : { commit: (tx) => h.queue.enqueue(tx, work(Number(payload.n) + 1)) };
          }),
        );
        await add(work(1), work("later", { runAt: h.clock.now() + HOUR }));
        await h.queue.idle();
        expect(ran.map((j) => j.payload.n)).toEqual([1, 2, 3]);
      });

      test("idle answers at once when there is nothing to do, or nobody to do it", async () => {
        await add(work());
        await h.queue.idle();
        expect(ran).toEqual([]);
        await start();
        await h.queue.idle();
        await h.queue.idle();
        expect(ran).toHaveLength(1);
      });

      test("what was running when the process died is run again, as a further attempt", async () => {
        let began = (): void => {};
        const running = new Promise<void>((resolve) => {
          began = resolve;
        });
        let die = (): void => {};
        const dying = new Promise<void>((resolve) => {
          die = resolve;
        });
        await start(async () => {
          began();
          await dying;
          return { commit: (tx) => put(tx, "by the dead") };
        });
        await add(work("x"));
        await running;
        const next = h.reborn();
        stopping.push(next);
        await next.start({ work: note(async () => ({ commit: (tx) => put(tx, "by the living") })) }, 1);
        await next.idle();
        expect(ran).toMatchObject([{ payload: { n: "x" }, attempt: 2 }]);
        // The first one comes back after all: its job is no longer its own, so its effect is not committed.
        die();
        await h.queue.stop();
        expect(await names()).toEqual(["by the living"]);
      });

      test("a job whose last attempt the process did not survive is dead, and says why", async () => {
        let began = (): void => {};
        const running = new Promise<void>((resolve) => {
          began = resolve;
        });
        let die = (): void => {};
        const dying = new Promise<void>((resolve) => {
          die = resolve;
        });
        await start(async () => {
          began();
          await dying;
          return {};
        });
        await add(work("poison", { maxAttempts: 1 }));
        await running;
        const next = h.reborn();
        stopping.push(next);
        await next.start({ work: note() }, 1);
        await next.idle();
        expect(ran).toEqual([]);
        expect(await jobs()).toMatchObject([{ state: "dead", lastError: expect.stringContaining("died") }]);
        die();
        await h.queue.stop();
      });

      test("jobs that appear behind its back are found after a refresh", async () => {
        await start();
        const other = h.reborn();
        await h.db.tx((tx) => other.enqueue(tx, work("from elsewhere")));
        h.queue.refresh();
        await h.queue.idle();
        expect(ran.map((j) => j.payload.n)).toEqual(["from elsewhere"]);
      });

      test("a row that vanishes under a running job takes back that job's effect", async () => {
        const { meta } = h.db.read.t;
        await start(
          note(async () => ({
            commit: async (tx) => {
              await tx.delete(meta).where(eq(meta.name, "gone"));
              await put(tx, "effect");
            },
          })),
        );
        await add(work());
        await h.queue.idle();
        expect(await names()).toEqual(["effect"]);
      });
    });
  });
};
