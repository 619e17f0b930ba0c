import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";

/** The revenue of an automation, in its currency. */
export interface Revenue {
  readonly revenue: number;
  readonly goalRevenue: number;
}

/** The revenue of automations, by their ids; those without any are absent. */
export async function readRevenue(q: Tx | Reader, ids: readonly string[]): Promise<Map<string, Revenue>> {
  const rows = await findRows(q, q.t.automationRevenue, { automationId: ids });
  const parts = Map.groupBy(rows, ({ automationId }) => automationId);
  const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0) / 100;
  return new Map(
    [...parts].map(([id, own]) => [id, { revenue: sum(own.map((p) => p.revenue)), goalRevenue: sum(own.map((p) => p.goalRevenue)) }]),
  );
}
