import { and, asc, eq, gt } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { type EmailRow, requeueRows } from "../emails/emails.ts";
import type { JobHandler } from "../queue/queue.ts";
import { findWorkspaceAfter } from "../workspaces/workspaces.ts";
import type { DeliveryDeps } from "./deps.ts";
import { domainOf } from "./holds.ts";

/** The job that tries deferred emails again. */
export const REQUEUE_JOB = "email.requeue";

// Deferred emails that one transaction looks at.
const CHUNK = 500;

/** Position of a job: after this email of this workspace; null for before the first one. */
interface Position {
  readonly workspaceId: string | null;
  readonly after: string | null;
}

/** Lets a job try deferred emails again at once: those to a domain, or all. */
export async function requeueDeferred(tx: Tx, { queue }: Pick<DeliveryDeps, "queue">, domain: string | null): Promise<void> {
  await queue.enqueue(tx, { kind: REQUEUE_JOB, payload: { domain, workspaceId: null, after: null } });
}

/** Walks through the deferred emails of all workspaces, some at a time: each run adds the next one. */
export function requeueEmails(deps: DeliveryDeps): JobHandler {
  return async ({ payload }) => ({
    commit: async (tx) => {
      const { domain, workspaceId, after } = payload as unknown as Position & { domain: string | null };
      const current = workspaceId ?? (await findWorkspaceAfter(tx, ""));
      if (current === null) return;
      const rows = await listDeferred(tx, current, after);
      await requeueRows(
        tx,
        deps,
        rows.filter(({ toKey }) => domain === null || domainOf(toKey) === domain),
      );
      const next: Position =
        rows.length === CHUNK
          ? { workspaceId: current, after: rows.at(-1)?.id ?? null }
          : { workspaceId: await findWorkspaceAfter(tx, current), after: null };
      if (next.workspaceId !== null) await deps.queue.enqueue(tx, { kind: REQUEUE_JOB, payload: { domain, ...next } });
    },
  });
}

function listDeferred(tx: Tx, workspaceId: string, after: string | null): Promise<EmailRow[]> {
  const { emails: e } = tx.t;
  const deferred = and(eq(e.workspaceId, workspaceId), eq(e.status, "deferred"));
  return Promise.resolve(
    tx
      .select()
      .from(e)
      .where(and(deferred, after === null ? undefined : gt(e.id, after)))
      .orderBy(asc(e.id))
      .limit(CHUNK),
  );
}
