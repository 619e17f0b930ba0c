import type { SegmentRule } from "@mailsvc/sdk/contract";
import { asc } from "drizzle-orm";
import { expect, test } from "vitest";
import { createWorld } from "../testing.ts";
import { listMatching } from "./selection.ts";

// More than one query compares.
const CONTACTS = 6000;
const TAGS: Readonly<Record<string, (n: number) => boolean>> = {
  all: () => true,
  third: (n) => n % 3 === 0,
  few: (n) => n % 997 === 0,
  late: (n) => n > 5900,
  nobody: () => false,
};

test("contacts that match are found once each and in order, whether all match or few", async () => {
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
  const workspaceId = rows[0]?.workspaceId as string;
  const context = { q: read, workspaceId, now: 0, listSeqs: new Map<string, number>() };
  const find = async (rule: SegmentRule | null): Promise<number[]> => {
    const found: number[] = [];
    for await (const seqs of listMatching(context, rule)) found.push(...seqs.toSorted((a, b) => a - b));
    return found;
  };
  for (const [tag, matches] of Object.entries(TAGS)) {
    const expected = rows.flatMap(({ seq }, n) => (matches(n) ? [seq] : []));
    const tagged = { field: "tags", operator: "contains", value: tag } as const;
    // The first is read from the index of tags, the second from all contacts.
    for (const rule of [tagged, { not: { not: tagged } }]) expect(await find(rule), tag).toEqual(expected);
  }
  expect(await find(null)).toEqual(rows.map(({ seq }) => seq));
  const one = { field: "email", operator: "equals", value: "p7@example.com" } as const;
  expect(await find(one)).toEqual([rows[7]?.seq]);
});
