import type { Tx } from "../db/db.ts";
import type { ClaimedJob, Queue } from "../queue/queue.ts";

/** An email that may share its job with others. */
interface Sharing {
  readonly emailId: string;
  /** The job that delivers others too; absent if it has its own job. */
  readonly sharedJob: ClaimedJob | undefined;
}

/**
 * Takes emails that now wait for another job, or for a release, out of the jobs they share. If one of these runs again, for an email
 * that failed or after a crash, it would otherwise deliver them together with the other job. Returns the ids of those that were in them:
 * the others have left before, by a commit whose answer was lost, or their job was taken from this attempt.
 */
export async function leaveSharedJobs(
  tx: Tx,
  { queue }: { readonly queue: Pick<Queue, "omit"> },
  emails: readonly Sharing[],
): Promise<ReadonlySet<string>> {
  const left = new Set<string>();
  for (const [job, own] of Map.groupBy(emails, ({ sharedJob }) => sharedJob))
    if (job) {
      const emailIds = own.map(({ emailId }) => emailId);
      for (const emailId of await queue.omit(tx, job, "emailIds", emailIds)) left.add(emailId);
    }
  return left;
}
