import { eq } from "drizzle-orm";
import { expect } from "vitest";
import { tagKeys } from "../src/contacts/normalize.ts";
import type { TestWorld } from "../src/testing.ts";

/** Counts the contacts of a world by hand, and their entries in the index of tags, and compares that with what was kept. */
export async function expectCountsToBeTrue({ app, workspaceId }: TestWorld): Promise<void> {
  const { read } = app.deps.db;
  const { contacts, contactCounts, contactTags } = read.t;
  const rows = await read.select().from(contacts).where(eq(contacts.workspaceId, workspaceId));
  const kept = await read.select().from(contactCounts).where(eq(contactCounts.workspaceId, workspaceId));
  expect(sum(kept.map((c) => [`${c.tagKey} ${c.status} ${c.block}`, c.delta]))).toEqual(
    sum(rows.flatMap((c) => ["", ...tagKeys(c.tags)].map((key) => [`${key} ${c.status} ${Math.floor(c.seq / 8192)}`, 1] as const))),
  );
  const index = await read.select().from(contactTags).where(eq(contactTags.workspaceId, workspaceId));
  expect(index.map((t) => `${t.tagKey} ${t.contactSeq} ${t.status}`).sort()).toEqual(
    rows.flatMap((c) => tagKeys(c.tags).map((key) => `${key} ${c.seq} ${c.status}`)).sort(),
  );
}

function sum(rows: readonly (readonly [key: string, by: number])[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [key, by] of rows) sums[key] = (sums[key] ?? 0) + by;
  return Object.fromEntries(
    Object.entries(sums)
      .filter(([, n]) => n !== 0)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
