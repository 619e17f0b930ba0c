import { eq } from "drizzle-orm";
import { tagKeys } from "../src/contacts/normalize.ts";
import type { TestWorld } from "../src/testing.ts";

/** The workspace that is counted. */
export type Counted = Pick<TestWorld, "app" | "workspaceId">;

/** The numbers of contacts by tag and status, and the index of tags: as they are kept, and as counting the contacts gives them. */
export async function recountContacts({ app, workspaceId }: Counted): Promise<{ readonly kept: object; readonly counted: object }> {
  const { read } = app.deps.db;
  const { contacts, contactCounts, contactTags } = read.t;
  const rows = await read.select().from(contacts).where(eq(contacts.workspaceId, workspaceId));
  const counts = await read.select().from(contactCounts).where(eq(contactCounts.workspaceId, workspaceId));
  const index = await read.select().from(contactTags).where(eq(contactTags.workspaceId, workspaceId));
  return {
    kept: {
      counts: sum(counts.map((c) => [`${c.tagKey} ${c.status} ${c.block}`, c.delta])),
      index: index.map((t) => `${t.tagKey} ${t.contactSeq} ${t.status}`).sort(),
    },
    counted: {
      counts: sum(
        rows.flatMap((c) => ["", ...tagKeys(c.tags)].map((key) => [`${key} ${c.status} ${Math.floor(c.seq / 8192)}`, 1] as const)),
      ),
      index: rows.flatMap((c) => tagKeys(c.tags).map((key) => `${key} ${c.seq} ${c.status}`)).sort(),
    },
  };
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
