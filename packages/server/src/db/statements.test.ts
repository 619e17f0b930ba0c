import { getTableColumns } from "drizzle-orm";
import { expect, test } from "vitest";
import { postgresSchema } from "../schema.pg.ts";
import { setAllBut } from "./statements.ts";

test("an update that is derived from its table writes every column but the fixed ones", () => {
  const { contacts } = postgresSchema.tables;
  const fixed = ["seq", "id", "createdAt"] as const;
  expect([...Object.keys(setAllBut(contacts, fixed)), ...fixed].toSorted()).toEqual(Object.keys(getTableColumns(contacts)).toSorted());
});
