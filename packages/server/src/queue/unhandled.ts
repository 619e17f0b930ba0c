import type { Reader, Tx } from "../db/db.ts";
import type { Queue } from "./queue.ts";

/** Counts the jobs that wait for a build that knows their kind, up to 10,000. */
export async function countUnhandledJobs(queue: Pick<Queue, "countUnhandled">, read: Reader | Tx): Promise<number> {
  const byKind = await queue.countUnhandled(read);
  return Object.values(byKind).reduce((sum, n) => sum + n, 0);
}
