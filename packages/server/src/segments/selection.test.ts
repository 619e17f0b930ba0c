import { asc } from "drizzle-orm";
import { expect, test } from "vitest";
import { createWorld } from "../testing.ts";
import { selectMatching } from "./selection.ts";

// More than one query compares.
const CONTACTS = 6000;
const LAST = 5990;
const TAGS: Readonly<Record<string, (n: number) => boolean>> = {
  all: () => true,
  third: (n) => n % 3 === 0,
  few: (n) => n % 997 === 0,
  late: (n) => n > 5900,
  nobody: () => false,
};

test("Contacts that match are found once each and in order, whether all match or few, and none after the last", async () => {
  await using world = await createWorld();
  for (let from = 0; from < CONTACTS; from += 1000) {
    const tagsOf = (n: number) => Object.keys(TAGS).filter((tag) => TAGS[tag]?.(n));
    await world.sdk.contacts.import({
      rows: Array.from({ length: 1000 }, (_, i) => ({ email: `p${from + i}@example.com`, tags: tagsOf(from + i) })),
    });
  }
  const { read } = world.app.deps.db;
  const { contacts: t } = read.t;
  const rows = await read.select({ seq: t.seq, workspaceId: t.workspaceId }).from(t).orderBy(asc(t.seq));
  expect(rows).toHaveLength(CONTACTS);
  const last = rows[LAST - 1]?.seq as number;
  const workspaceId = rows[0]?.workspaceId as string;
  for (const [tag, matches] of Object.entries(TAGS)) {
    const pinned = { workspaceId, rules: { field: "tags", operator: "contains", value: tag } as const, listSeqs: {}, now: 0 };
    const expected = rows.slice(0, LAST).flatMap(({ seq }, n) => (matches(n) ? [seq] : []));
    for (const limit of [100, 2500]) {
      const found: number[] = [];
      for (let after: number | null = 0, steps = 0; after !== null; steps += 1) {
        expect(steps).toBeLessThanOrEqual(2 + CONTACTS / 100);
        const chunk: Awaited<ReturnType<typeof selectMatching>> = await selectMatching(read, pinned, { after, last, limit });
        expect(chunk.seqs.length).toBeLessThanOrEqual(limit);
        if (chunk.next !== null) expect(chunk.next).toBeGreaterThan(after);
        found.push(...chunk.seqs);
        after = chunk.next;
      }
      expect(found, `${tag}, ${limit} at a time`).toEqual(expected);
    }
  }
});
