import { inArray } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";

/** The revenue of an automation, in its currency. */
export interface Revenue {
  readonly revenue: number;
  readonly goalRevenue: number;
}

/** The revenue of automations, by their ids; those without any are absent. */
export async function readRevenue(q: Tx | Reader, ids: readonly string[]): Promise<Map<string, Revenue>> {
  if (ids.length === 0) return new Map();
  const { automationRevenue: t } = q.t;
  const rows = await q
    .select()
    .from(t)
    .where(inArray(t.automationId, [...ids]));
  const parts = Map.groupBy(rows, ({ automationId }) => automationId);
  const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0) / 100;
  return new Map(
    [...parts].map(([id, own]) => [id, { revenue: sum(own.map((p) => p.revenue)), goalRevenue: sum(own.map((p) => p.goalRevenue)) }]),
  );
}
