import type { Clock } from "./lib/clock.ts";
import type { Mailer } from "./mail/mailer.ts";
import type { Queue } from "./queue/queue.ts";

/** Time limit of the whole stop, ms: `docker stop` kills after ten seconds. */
export const STOP_MS = 9_500;

/** Part of that limit for requests, jobs and mails under way. Then their connections are cut, and their known state is stored. */
export const GRACE_MS = 7_000;

/**
 * Stops the workers and closes the mailer. Jobs under way may finish within the grace period; then the connections to the
 * mail server are cut, whose messages end as in doubt, because a job that waits for a reply would otherwise hold up the end.
 */
export async function stopWork({ queue, mailer, real }: { queue: Queue; mailer: Mailer; real: Clock["real"] }): Promise<void> {
  const late = real.after(GRACE_MS, () => void mailer.close(0));
  await queue.stop();
  late.cancel();
  await mailer.close(0);
}

/**
 * Does the steps of a stop, one after the other, and waits for them until the time is over. Work that remains is left to the end
 * of the process: everything acknowledged is stored already. False if it took too long.
 */
export async function stopInTime(steps: readonly (() => Promise<void> | void)[], real: Clock["real"], stopMs = STOP_MS): Promise<boolean> {
  const all = async (): Promise<boolean> => {
    for (const step of steps) await step();
    return true;
  };
  return new Promise((resolve, reject) => {
    const late = real.after(stopMs, () => resolve(false));
    all()
      .finally(() => late.cancel())
      .then(resolve, reject);
  });
}
