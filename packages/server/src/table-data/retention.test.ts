import type { Table } from "drizzle-orm";
import { expect, test } from "vitest";
import { DEFAULT_RETENTION } from "../retention/policy.ts";
import { listExpiring } from "../retention/retention.ts";
import { createWorld } from "../testing.ts";
import { RETENTION } from "./table-data.ts";

test("every option of --keep has records, and every table says how long it keeps its rows", async () => {
  const options = listExpiring(RETENTION).flatMap(({ policy }) => (typeof policy === "string" ? [policy] : []));
  expect(new Set(options)).toEqual(new Set(Object.keys(DEFAULT_RETENTION)));
  await using world = await createWorld();
  const tables = world.app.deps.db.read.t as unknown as Readonly<Record<string, Table>>;
  expect(Object.keys(RETENTION).sort()).toEqual(Object.keys(tables).sort());
});

test("a table that goes with another one leads to one that expires", () => {
  const following = Object.values(RETENTION).flatMap((one) => (typeof one === "object" && "with" in one ? [one.with] : []));
  expect(following.length).toBeGreaterThan(10);
  const findEnd = (name: keyof typeof RETENTION): string => {
    const one = RETENTION[name];
    return typeof one === "object" && "with" in one ? findEnd(one.with) : typeof one === "object" && "policy" in one ? "expires" : name;
  };
  expect(following.map(findEnd).filter((end) => end !== "expires")).toEqual([]);
});
