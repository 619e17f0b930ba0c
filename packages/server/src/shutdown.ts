import type { Clock } from "./lib/clock.ts";
import type { Mailer } from "./mail/mailer.ts";
import type { Queue } from "./queue/queue.ts";

/** How long work under way may take after the call to stop, ms. */
export const GRACE_MS = 10_000;

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
