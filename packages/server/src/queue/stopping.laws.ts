import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { HOUR, type LawsContext } from "../../test/queue-laws-context.ts";
import { realTime } from "../lib/clock.ts";
import { INTERRUPTED, type JobHandler, MAX_INTERRUPTIONS, type Queue } from "./queue.ts";

/** Stopping, idling, and what is left when a process dies. */
export function stoppingLaws(t: LawsContext): void {
  const { add, put, names, jobs, states, note, start, work } = t;

  /** Starts a queue whose process dies in an attempt, as far as others can tell, and waits until this has begun. */
  const begin = async (queue: Queue): Promise<{ comesBack: () => void }> => {
    let comesBack = (): void => {};
    const dead = new Promise<void>((resolve) => {
      comesBack = resolve;
    });
    let begun = (): void => {};
    const running = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const handler: JobHandler = async () => {
      begun();
      await dead;
      return { commit: (tx) => put(tx, "by the dead") };
    };
    await queue.start({ work: handler }, 1);
    await running;
    return { comesBack };
  };

  /** Lets processes die one after the other, each in an attempt that the one before had begun. */
  const killTimes = async (n: number): Promise<void> => {
    let before = async (): Promise<void> => {};
    for (let i = 0; i < n; i += 1) {
      const queue = t.restarted();
      const { comesBack } = await begin(queue);
      await before();
      before = () => {
        comesBack();
        return queue.stop();
      };
    }
    t.stopping.push({ ...t.queue, stop: before });
  };

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
      const stop = t.queue.stop().then(() => {
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
        await t.queue.start(
          {
            work: async () => {
              if (stopped) late += 1;
              return {};
            },
          },
          2,
        );
        await t.queue.idle();
        await add(work(), work(), work());
        for (let turn = 0; turn < round % 5; turn += 1) await Promise.resolve();
        await t.queue.stop();
        stopped = true;
        await realTime.sleep(1);
        expect(late).toBe(0);
        expect(await states()).not.toContain("running");
      }
    });

    test("a stopped queue can be started again and goes on where it was", async () => {
      await start();
      await t.queue.stop();
      await add(work("later"));
      expect(t.ran).toEqual([]);
      await start();
      await t.queue.idle();
      expect(t.ran.map((j) => j.payload.n)).toEqual(["later"]);
    });

    test("idle waits until nothing runs and nothing is due, further jobs included", async () => {
      await start(
        note(async ({ payload }) => {
          await realTime.sleep(3);
          return payload.n === 3 ? {} : { commit: async (tx) => t.queue.enqueue(tx, work(Number(payload.n) + 1)) };
        }),
      );
      await add(work(1), work("later", { runAt: t.clock.now() + HOUR }));
      await t.queue.idle();
      expect(t.ran.map((j) => j.payload.n)).toEqual([1, 2, 3]);
    });

    test("idle answers at once when there is nothing to do, or nobody to do it", async () => {
      await add(work());
      await t.queue.idle();
      expect(t.ran).toEqual([]);
      await start();
      await t.queue.idle();
      await t.queue.idle();
      expect(t.ran).toHaveLength(1);
    });

    test("a job that ran when the process died runs again, and the attempt is not counted", async () => {
      await add(work("x", { maxAttempts: 1 }));
      const dead = await begin(t.queue);
      const next = t.restarted();
      t.stopping.push(next);
      await next.start({ work: note(async () => ({ commit: (tx) => put(tx, "by the living") })) }, 1);
      await next.idle();
      expect(t.ran).toMatchObject([{ payload: { n: "x" }, attempt: 1, interruptions: 1 }]);
      // The first one comes back after all: its job is no longer its own, so its effect is not committed.
      dead.comesBack();
      await t.queue.stop();
      expect(await names()).toEqual(["by the living"]);
    });

    test("kills use up no attempts, and an attempt that fails uses up one", async () => {
      await add(work("x", { maxAttempts: 2 }));
      await killTimes(5);
      const next = t.restarted();
      t.stopping.push(next);
      let fails = true;
      await next.start(
        {
          work: note(async () => {
            if (fails) throw new Error("no");
            return { commit: (tx) => put(tx, "done") };
          }),
        },
        1,
      );
      await next.idle();
      expect(await jobs()).toMatchObject([{ state: "ready", attempts: 1, maxAttempts: 2 }]);
      fails = false;
      await t.clock.advanceTo(t.clock.now() + HOUR, next.idle);
      expect(t.ran).toMatchObject([
        { attempt: 1, interruptions: 5 },
        { attempt: 2, interruptions: 0 },
      ]);
      expect(await names()).toEqual(["done"]);
    });

    test("a job that runs again as planned, for years, is not counted out by the kills in between", async () => {
      await add(work());
      await killTimes(2);
      const next = t.restarted();
      t.stopping.push(next);
      await next.start({ work: note(async () => (t.ran.length === 1 ? { again: t.clock.now() + HOUR } : {})) }, 1);
      await next.idle();
      await t.clock.advanceTo(t.clock.now() + HOUR, next.idle);
      expect(t.ran.map(({ interruptions }) => interruptions)).toEqual([2, 0]);
    });

    test("a job that no process survives is dead after a hundred interruptions in a row, says why, and can be retried", async () => {
      await add(work("poison", { maxAttempts: 3 }));
      await killTimes(MAX_INTERRUPTIONS - 1);
      const last = t.restarted();
      const { comesBack } = await begin(last);
      expect(await jobs()).toMatchObject([{ state: "running", attempts: 1 }]);
      const next = t.restarted();
      t.stopping.push(next);
      await next.start({ work: note() }, 1);
      await next.idle();
      expect(t.ran).toEqual([]);
      expect(await jobs()).toMatchObject([{ state: "dead", attempts: 3, maxAttempts: 3, lastError: INTERRUPTED }]);
      comesBack();
      await last.stop();
      expect(await states()).toEqual(["dead"]);
      const [job] = await jobs();
      await t.db.tx((tx) => next.retry(tx, job?.id ?? ""));
      await next.idle();
      expect(t.ran).toMatchObject([{ attempt: 1, interruptions: 0 }]);
      expect(await jobs()).toEqual([]);
    });

    test("jobs that appear behind its back are found after a refresh", async () => {
      await start();
      const other = t.restarted();
      await t.db.tx((tx) => other.enqueue(tx, work("from elsewhere")));
      t.queue.refresh();
      await t.queue.idle();
      expect(t.ran.map((j) => j.payload.n)).toEqual(["from elsewhere"]);
    });

    test("a row that vanishes under a running job takes back that job's effect", async () => {
      const { meta } = t.db.read.t;
      await start(
        note(async () => ({
          commit: async (tx) => {
            await tx.delete(meta).where(eq(meta.name, "gone"));
            await put(tx, "effect");
          },
        })),
      );
      await add(work());
      await t.queue.idle();
      expect(await names()).toEqual(["effect"]);
    });
  });
}
