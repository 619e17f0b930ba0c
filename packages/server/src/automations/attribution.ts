import { and, eq, inArray, sql } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import type { ReadEvent } from "../events/events.ts";
import { listEntriesInside } from "./entries.ts";
import { listKeys, passesFilter } from "./triggers.ts";

// As with counters: on Postgres, writers of the same row run one after the other.
const PARTS = 16;

/**
 * Adds the values of tracked events to the active automations their contacts are inside, if the currency is theirs. The value of the
 * event that reaches the goal is goal revenue, too; so this comes before goals are marked.
 */
export async function addRevenue(tx: Tx, events: readonly ReadEvent[]): Promise<void> {
  for (const event of events) {
    const { contactId, data } = event;
    if (event.type !== "contact.tracked" || !contactId || typeof data?.value !== "number") continue;
    const amount = Math.round(data.value * 100);
    const inside = await listEntriesInside(tx, [event]);
    if (inside.length === 0) continue;
    const { automations: a, automationEntries: e, automationRevenue: r } = tx.t;
    const counting = await tx
      .select({ id: a.id, goal: a.goal, goalKey: a.goalKey })
      .from(a)
      .where(
        and(
          inArray(
            a.id,
            inside.map(({ automationId }) => automationId),
          ),
          eq(a.status, "ACTIVE"),
          eq(a.currency, String(data.currency)),
        ),
      );
    const goals = new Map(counting.map(({ id, goal, goalKey }) => [id, { goal, goalKey }]));
    for (const { id, automationId, contactSeq, goalReachedAt } of inside) {
      const aim = goals.get(automationId);
      if (aim === undefined) continue;
      const { goal, goalKey } = aim;
      const reaches = goal !== null && listKeys(event).includes(goalKey ?? "") && passesFilter(goal, event);
      const goalAmount = goalReachedAt === null && reaches ? amount : 0;
      await tx
        .update(e)
        .set({
          revenue: sql`coalesce(${e.revenue}, 0) + ${amount}`,
          ...(goalAmount > 0 && { goalRevenue: goalAmount }),
        })
        .where(eq(e.id, id));
      await tx
        .insert(r)
        .values({ automationId, part: contactSeq % PARTS, revenue: amount, goalRevenue: goalAmount })
        .onConflictDoUpdate({
          target: [r.automationId, r.part],
          set: { revenue: sql`${r.revenue} + excluded.revenue`, goalRevenue: sql`${r.goalRevenue} + excluded.goal_revenue` },
        });
    }
  }
}
