import { describe, expect, test } from "vitest";
import { HOUR, type LawsContext } from "../../test/queue-laws-context.ts";
import { realTime } from "../lib/clock.ts";
import type { BatchHandler, LaneJob, Settle } from "./queue.ts";

/** Handlers that take many jobs, what settles together, and lanes. */
export function batchLaws(t: LawsContext): void {
  const { add, put, names, jobs, work } = t;

  /** A handler whose effects are rows; those named `bad` cannot be written. */
  const collect = (run: BatchHandler<string>["run"], slots = 100) => {
    const commits: string[][] = [];
    const handler: BatchHandler<string> = {
      freeSlots: () => slots,
      run,
      commit: async (tx, effects) => {
        for (const effect of effects) {
          await put(tx, effect);
          if (effect.startsWith("bad")) throw new Error(`${effect} cannot be written`);
        }
        commits.push([...effects]);
      },
    };
    return { handler, commits };
  };
  const nameOf = (job: LaneJob): string => String(job.payload.n);

  describe("a batch handler", () => {
    test("gets many jobs at a time, and what settles in one turn is committed together", async () => {
      const sizes: number[] = [];
      const { handler, commits } = collect((batch, settle) => {
        sizes.push(batch.length);
        for (const job of batch) void settle(job, { effect: nameOf(job) });
      });
      const all = Array.from({ length: 16 }, (_, n) => String(n).padStart(2, "0"));
      await add(...all.map((n) => work(n)));
      await t.queue.start({ work: handler }, 4);
      await t.queue.idle();
      expect(await names()).toEqual(all);
      expect(await jobs()).toEqual([]);
      expect(sizes.length).toBeLessThan(16);
      expect(commits.flat()).toHaveLength(16);
      expect(commits.length).toBeLessThan(16);
    });

    test("of jobs that settle together, one whose effect cannot be written hurts only itself", async () => {
      const { handler } = collect((batch, settle) => {
        for (const job of batch) void settle(job, { effect: nameOf(job) });
      });
      await add(...["a", "bad", "c"].map((n) => work(n)));
      await t.queue.start({ work: handler }, 4);
      await t.queue.idle();
      expect(await names()).toEqual(["a", "c"]);
      expect(await jobs()).toMatchObject([
        { payload: { n: "bad" }, state: "ready", attempts: 1, lastError: "Error: bad cannot be written" },
      ]);
    });

    test("a job that hangs holds up no other job of its batch", async () => {
      let release = (): void => {};
      const { handler } = collect((batch, settle) => {
        for (const job of batch)
          if (nameOf(job) === "hangs") release = () => void settle(job, { effect: "hangs" });
          else void settle(job, { effect: nameOf(job) });
      });
      await t.queue.start({ work: handler }, 1);
      await add(work("a"));
      while ((await names()).length < 1) await realTime.sleep(1);
      // Claimed together, because one has begun a moment ago.
      await add(...["hangs", "b"].map((n) => work(n)));
      while ((await names()).length < 2) await realTime.sleep(1);
      await add(work("later"), work("bulk", { lane: "background" }));
      while ((await names()).length < 4) await realTime.sleep(1);
      expect(await jobs()).toMatchObject([{ payload: { n: "hangs" }, state: "running" }]);
      release();
      await t.queue.idle();
      expect(await names()).toEqual(["a", "b", "bulk", "hangs", "later"]);
    });

    test("parts of a job are stored while it goes on, and a part that cannot be written leaves it running", async () => {
      const seen: unknown[] = [];
      const inParts = async (job: LaneJob, settle: Settle<string>): Promise<void> => {
        await settle(job, { effect: "part 1", more: true });
        seen.push(
          await names(),
          (await jobs()).map(({ state }) => state),
        );
        await settle(job, { effect: "bad part", more: true }).catch((error: Error) => seen.push(error.message));
        await settle(job, { effect: "end" });
      };
      const { handler } = collect((batch, settle) => void batch.map((job) => inParts(job, settle)));
      await add(work("x", { lane: "background" }));
      await t.queue.start({ work: handler }, 1);
      await t.queue.idle();
      expect(seen).toEqual([["part 1"], ["running"], "bad part cannot be written"]);
      expect(await names()).toEqual(["end", "part 1"]);
      expect(await jobs()).toEqual([]);
    });

    test("a job may fail, or run again by its plan", async () => {
      const { handler } = collect((batch, settle) => {
        for (const job of batch) {
          if (nameOf(job) === "fails") void settle(job, { error: new Error("no") });
          else void settle(job, { effect: "once", again: t.clock.now() + HOUR });
        }
      });
      await add(work("fails", { maxAttempts: 1 }), work("again"));
      await t.queue.start({ work: handler }, 1);
      await t.queue.idle();
      expect((await jobs()).map(({ payload, state }) => [payload.n, state]).sort()).toEqual([
        ["again", "ready"],
        ["fails", "dead"],
      ]);
      expect(await names()).toEqual(["once"]);
    });

    test("attempts that have lost their jobs write nothing", async () => {
      const settleLate: (() => void)[] = [];
      const dying = collect((batch, settle) => {
        settleLate.push(...batch.map((job) => () => void settle(job, { effect: `${nameOf(job)} by the dead` })));
      });
      await add(work("a"), work("b"));
      // Both are claimed at once: a process that is dead claims no more.
      await t.queue.start({ work: dying.handler }, 4);
      while ((await jobs()).some(({ state }) => state !== "running")) await realTime.sleep(1);
      const next = t.restarted();
      t.stopping.push(next);
      const living = collect((batch, settle) => {
        for (const job of batch) void settle(job, { effect: nameOf(job) });
      });
      await next.start({ work: living.handler }, 1);
      await next.idle();
      for (const late of settleLate) late();
      await t.queue.stop();
      expect(await names()).toEqual(["a", "b"]);
    });
  });
}
