import type { contract, Job } from "@mailsvc/sdk/contract";
import { paginateBySeq, type Total } from "../db/pagination.ts";
import type { Handlers } from "../http/handler.ts";
import { ApiError } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import type { JobRow } from "../queue/queue.ts";
import type { JobDeps } from "./deps.ts";

export const jobHandlers: Handlers<typeof contract.jobs, JobDeps> = {
  list: async ({ state, ...page }, { read, deps, workspaceId }) => {
    let total: Total = { total: 0, isMinimum: false };
    return paginateBySeq(
      page,
      async (slice) => {
        const { rows, ...counted } = await deps.queue.list(read, { workspaceId, state, ...slice });
        total = counted;
        return rows.map((row) => ({ seq: Number(row.id), row }));
      },
      async () => total,
      ({ row }) => show(row),
    );
  },
  retry: async ({ id }, { tx, deps, workspaceId }) => {
    const revived = await deps.queue.retry(tx, id);
    // Thrown for a job of another workspace too: what was just done is rolled back.
    if (revived?.payload.workspaceId === workspaceId) return show(revived);
    throw new ApiError("not_found", `There is no dead job ${JSON.stringify(id.slice(0, 100))}.`);
  },
};

function show({ runAt, createdAt, ...rest }: JobRow): Job {
  return { ...rest, runAt: iso(runAt), createdAt: iso(createdAt) };
}
