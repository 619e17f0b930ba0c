import { describe, expect, test } from "vitest";
import { HOUR, type LawsContext, SECOND } from "../../test/queue-laws-context.ts";
import { realTime } from "../lib/clock.ts";
import type { JobHandler, Outcome } from "./queue.ts";

/** Laws on the existence of jobs, their time, their number of runs, and the rows that they leave. */
export function runningLaws(t: LawsContext): void {
  const { add, put, names, jobs, note, start, advance, work } = t;

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
          createdAt: t.clock.now(),
          runAt: t.clock.now(),
        },
      ]);
    });

    test("the job does not exist when the transaction rolls back, and nobody runs it", async () => {
      await start();
      const failing = t.db.tx(async (tx) => {
        await t.queue.enqueue(tx, work());
        throw new Error("boom");
      });
      await expect(failing).rejects.toThrow("boom");
      await t.queue.idle();
      expect(await jobs()).toEqual([]);
      expect(t.ran).toEqual([]);
    });

    test("the payload arrives as it was given", async () => {
      const payload = { text: "👩‍👩‍👧 ü \u0301 ' \" \\ \n", list: [1, null, { deep: true }], zero: 0, none: null };
      await start();
      await add({ kind: "work", payload });
      await t.queue.idle();
      expect(t.ran[0]).toMatchObject({ kind: "work", payload, attempt: 1 });
    });

    test("a job added before the start is run after it", async () => {
      await add(work("early"));
      await start();
      await t.queue.idle();
      expect(t.ran.map((j) => j.payload.n)).toEqual(["early"]);
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
      // A quiet machine needs 2 ms.
      expect(waits[7]).toBeLessThan(400);
    });
  });

  describe("when jobs run", () => {
    test("not before their instant, and exactly at it", async () => {
      const at: number[] = [];
      await start(async () => {
        at.push(t.clock.now());
        return {};
      });
      const due = t.clock.now() + HOUR;
      await add(work(0, { runAt: due }));
      await advance(HOUR - 1);
      expect(at).toEqual([]);
      await advance(1);
      expect(at).toEqual([due]);
    });

    test("in the order of their instants, however they were added", async () => {
      await start(note(), 1);
      const now = t.clock.now();
      await add(...[3, 1, 2].map((n) => work(n, { runAt: now + n * SECOND })));
      await advance(10 * SECOND);
      expect(t.ran.map((j) => j.payload.n)).toEqual([1, 2, 3]);
    });

    test("an earlier job that is added later is not missed", async () => {
      await start();
      await add(work("late", { runAt: t.clock.now() + HOUR }));
      await t.queue.idle();
      await add(work("soon", { runAt: t.clock.now() + SECOND }));
      await advance(SECOND);
      expect(t.ran.map((j) => j.payload.n)).toEqual(["soon"]);
    });

    test("a job whose instant has passed runs at once", async () => {
      await start();
      await add(work(0, { runAt: t.clock.now() - HOUR }));
      await t.queue.idle();
      expect(t.ran).toHaveLength(1);
    });

    test("a job far beyond what a timer can hold waits for its day", async () => {
      await start();
      await add(work(0, { runAt: t.clock.now() + 200 * 24 * HOUR }));
      await t.queue.idle();
      expect(t.ran).toEqual([]);
      await advance(200 * 24 * HOUR);
      expect(t.ran).toHaveLength(1);
    });
  });

  describe("a job that is cancelled", () => {
    test("is gone if it is ready and has that kind and key; with the transaction, or not at all", async () => {
      const runAt = t.clock.now() + HOUR;
      await add(work("a", { runAt, dedupeKey: "a" }), work("b", { runAt, dedupeKey: "b" }), work("plain", { runAt }));
      const failing = t.db.tx(async (tx) => {
        await t.queue.cancel(tx, "work", "a");
        throw new Error("boom");
      });
      await expect(failing).rejects.toThrow("boom");
      await t.db.tx(async (tx) => {
        await t.queue.cancel(tx, "other", "a");
        await t.queue.cancel(tx, "work", "b");
        await t.queue.cancel(tx, "work", "none");
      });
      expect((await jobs()).map(({ payload }) => payload["n"]).toSorted()).toEqual(["a", "plain"]);
      // The key is free again.
      await add(work("b again", { runAt, dedupeKey: "b" }));
      expect(await jobs()).toHaveLength(3);
    });
  });

  describe("how often jobs run", () => {
    test("each of many jobs once", async () => {
      await start(note(), 16);
      await Promise.all(Array.from({ length: 300 }, (_, n) => add(work(n))));
      await t.queue.idle();
      expect(t.ran.map((j) => j.payload.n).sort((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 300 }, (_, n) => n));
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
      await t.queue.idle();
      expect(most).toBe(3);
    });

    test("ten thousand jobs drain", async () => {
      let done = 0;
      await start(async () => {
        done += 1;
        return {};
      }, 32);
      await add(...Array.from({ length: 10_000 }, (_, n) => work(n)));
      await t.queue.idle();
      expect(done).toBe(10_000);
      expect(await jobs()).toEqual([]);
    });
  });

  describe("the effect of a job", () => {
    test("is written together with the job's end", async () => {
      await start(note(async () => ({ commit: (tx) => put(tx, "effect") })));
      await add(work());
      await t.queue.idle();
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
      await t.queue.idle();
      expect(await names()).toEqual([]);
      expect(await jobs()).toMatchObject([{ state: "ready", attempts: 1, lastError: expect.stringContaining("no second half") }]);
    });

    test("can be further jobs, which run too", async () => {
      const chain: JobHandler = async ({ payload }) => {
        const n = Number(payload.n);
        return n === 5 ? {} : { commit: async (tx) => t.queue.enqueue(tx, work(n + 1)) };
      };
      await start(note(chain), 1);
      await add(work(1));
      await t.queue.idle();
      expect(t.ran.map((j) => j.payload.n)).toEqual([1, 2, 3, 4, 5]);
    });

    test("further jobs of a commit that throws do not exist", async () => {
      const failing: Outcome = {
        commit: async (tx) => {
          await t.queue.enqueue(tx, work("child"));
          throw new Error("boom");
        },
      };
      await start(note(async () => failing));
      await add(work("parent"));
      await t.queue.idle();
      expect((await jobs()).map((j) => j.payload.n)).toEqual(["parent"]);
    });
  });
}
