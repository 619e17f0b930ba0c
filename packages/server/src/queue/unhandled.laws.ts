import { describe, expect, test } from "vitest";
import { HOUR, type LawsContext } from "../../test/queue-laws-context.ts";
import type { JobHandlers, Queue } from "./queue.ts";

/** Jobs whose kind this build does not know: after a downgrade, or when a kind was renamed. */
export function unhandledLaws(t: LawsContext): void {
  const { add, jobs, states, note, start, work } = t;

  /** Another build takes over: it has other handlers. */
  const replaceBy = async (before: Queue, handlers: JobHandlers): Promise<Queue> => {
    await before.stop();
    const next = t.restarted();
    t.stopping.push(next);
    await next.start(handlers, 4);
    await next.idle();
    return next;
  };

  describe("jobs of a kind that no handler knows", () => {
    test("are kept as unhandled without using up an attempt, are counted by kind, and hold up no other job", async () => {
      await start();
      await add({ kind: "no.such.kind", payload: {}, maxAttempts: 1 }, work("known"));
      await t.queue.idle();
      expect(t.ran.map((j) => j.payload.n)).toEqual(["known"]);
      expect(await jobs()).toMatchObject([{ state: "unhandled", kind: "no.such.kind", attempts: 0, lastError: null }]);
      expect(await t.queue.countUnhandled(t.db.read)).toEqual({ "no.such.kind": 1 });
      expect(await t.queue.readStats(t.db.read)).toEqual({ jobs: { ready: 0, running: 0, dead: 0, unhandled: 1 }, oldestDueAt: null });
      const listed = await t.queue.list(t.db.read, { state: "unhandled", limit: 10, offset: 0 });
      expect([listed.total, listed.rows.map(({ kind }) => kind)]).toEqual([1, ["no.such.kind"]]);
    });

    test("a kind that was renamed shows as soon as the new build starts, and runs at its instant once a build knows it", async () => {
      const runAt = t.clock.now() + HOUR;
      await start();
      await add(work("later", { runAt }), work("due now", { runAt: t.clock.now() }));
      await t.queue.idle();
      const renamed = await replaceBy(t.queue, { "work.renamed": note() });
      expect(await jobs()).toMatchObject([{ state: "unhandled", kind: "work", runAt }]);
      await t.clock.advanceTo(runAt, renamed.idle);
      expect(t.ran.map((j) => j.payload.n)).toEqual(["due now"]);
      const both = await replaceBy(renamed, { "work.renamed": note(), work: note() });
      expect(t.ran.map((j) => [j.payload.n, j.attempt])).toEqual([
        ["due now", 1],
        ["later", 1],
      ]);
      expect([await jobs(), await both.countUnhandled(t.db.read)]).toEqual([[], {}]);
    });

    test("a job that ran when the process died waits for a build that knows it", async () => {
      let begun = (): void => {};
      const running = new Promise<void>((resolve) => {
        begun = resolve;
      });
      let comeBack = (): void => {};
      const dead = new Promise<void>((resolve) => {
        comeBack = resolve;
      });
      await add(work("x", { maxAttempts: 1 }));
      await start(async () => {
        begun();
        await dead;
        return {};
      });
      await running;
      const next = t.restarted();
      t.stopping.push(next);
      await next.start({ other: note() }, 1);
      await next.idle();
      expect(await jobs()).toMatchObject([{ state: "unhandled", attempts: 0 }]);
      comeBack();
      await t.queue.stop();
      await replaceBy(next, { work: note() });
      expect(t.ran).toMatchObject([{ attempt: 1, interruptions: 1 }]);
      expect(await states()).toEqual([]);
    });

    test("hold their key, and can be cancelled, as if they were ready", async () => {
      await t.queue.start({ other: note() }, 1);
      await add(work("first", { dedupeKey: "k" }));
      await t.queue.idle();
      await add(work("second", { dedupeKey: "k" }));
      await t.queue.idle();
      expect(await jobs()).toMatchObject([{ state: "unhandled", payload: { n: "first" } }]);
      await t.db.tx((tx) => t.queue.cancel(tx, "work", "k"));
      expect(await jobs()).toEqual([]);
    });
  });
}
