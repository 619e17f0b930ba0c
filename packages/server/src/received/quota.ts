import { RECEIVED_LIMITS } from "@mailsvc/sdk/contract";
import { and, eq, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { DAY, KB } from "../lib/units.ts";
import type { ReceivedDeps } from "./received.ts";

/** A workspace has received as much mail as is stored for it in a day. */
export class DailyQuotaReached extends Error {
  override readonly name = "DailyQuotaReached";
}

// Rows of a workspace that add up, so that two mails at once rarely wait for the same one.
const PARTS = 8;

/** True if a workspace has received as much mail today (UTC) as is stored for it. */
export async function isQuotaReached(q: Tx | Reader, { clock }: Pick<ReceivedDeps, "clock">, workspaceId: string): Promise<boolean> {
  const { receivedQuotas: t } = q.t;
  const [today] = await q
    .select({ mails: sql<number>`sum(${t.mails})`, kilobytes: sql<number>`sum(${t.kilobytes})` })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.day, toDay(clock.now()))));
  return Number(today?.mails ?? 0) >= RECEIVED_LIMITS.mailsPerDay || Number(today?.kilobytes ?? 0) * KB >= RECEIVED_LIMITS.bytesPerDay;
}

/** Counts a mail of `size` bytes into the day. Throws DailyQuotaReached. */
export async function countIntoQuota(
  tx: Tx,
  deps: Pick<ReceivedDeps, "clock" | "random">,
  { workspaceId, size }: { readonly workspaceId: string; readonly size: number },
): Promise<void> {
  if (await isQuotaReached(tx, deps, workspaceId)) throw new DailyQuotaReached(`The daily quota of ${workspaceId} is used up.`);
  const { receivedQuotas: t } = tx.t;
  const part = Math.floor(deps.random.fraction() * PARTS);
  const row = { workspaceId, part, day: toDay(deps.clock.now()), mails: 1, kilobytes: Math.ceil(size / KB) };
  const isToday = sql`${t.day} = excluded.day`;
  await tx
    .insert(t)
    .values(row)
    .onConflictDoUpdate({
      target: [t.workspaceId, t.part],
      set: {
        day: row.day,
        mails: sql`case when ${isToday} then ${t.mails} + 1 else 1 end`,
        kilobytes: sql`case when ${isToday} then ${t.kilobytes} + excluded.kilobytes else excluded.kilobytes end`,
      },
    });
}

/** The number of a day (UTC). */
function toDay(at: number): number {
  return Math.floor(at / DAY);
}
