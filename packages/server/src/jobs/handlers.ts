import type { contract, Job } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { ApiError } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import type { JobRow } from "../queue/queue.ts";

const show = ({ runAt, createdAt, ...rest }: JobRow): Job => ({ ...rest, runAt: iso(runAt), createdAt: iso(createdAt) });

export const jobHandlers: Handlers<typeof contract.jobs> = {
  list: async ({ state, page, limit }, { read, deps }) => {
    const { rows, total } = await deps.queue.list(read, { state, limit, offset: (page - 1) * limit });
    const totalPages = Math.ceil(total / limit);
    return { data: rows.map(show), pagination: { page, limit, total, totalPages, hasMore: page < totalPages, nextCursor: null } };
  },
  retry: async ({ id }, { tx, deps }) => {
    const revived = await deps.queue.retry(tx, id);
    if (revived) return show(revived);
    throw new ApiError("not_found", `There is no dead job ${JSON.stringify(id.slice(0, 100))}.`);
  },
};
