import type { contract, Job } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { ApiError, invalid } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import type { JobRow } from "../queue/queue.ts";

export const jobHandlers: Handlers<typeof contract.jobs> = {
  list: async ({ state, limit, cursor, ...input }, { read, deps, workspaceId }) => {
    const page = cursor === undefined ? input.page : decode(cursor);
    const { rows, total, isMinimum } = await deps.queue.list(read, { workspaceId, state, limit: limit + 1, offset: (page - 1) * limit });
    const hasMore = rows.length > limit;
    return {
      data: rows.slice(0, limit).map(show),
      pagination: {
        page,
        limit,
        total,
        totalPages: Math.ceil(total / limit),
        hasMore,
        nextCursor: hasMore ? encode(page + 1) : null,
        ...(isMinimum && { totalIsMinimum: true as const }),
      },
    };
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

// Jobs have no order of their own that both queues share, so their cursor is the number of the next page.
function encode(page: number): string {
  return Buffer.from(`page ${page}`).toString("base64url");
}

function decode(cursor: string): number {
  const page = /^page ([1-9]\d{0,6})$/.exec(Buffer.from(cursor, "base64url").toString())?.[1];
  if (page === undefined)
    throw invalid("cursor", "invalid_cursor", "This cursor does not belong to this list. Use pagination.nextCursor of the previous page.");
  return Number(page);
}
