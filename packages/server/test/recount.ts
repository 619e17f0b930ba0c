import { expect } from "vitest";
import { type Counted, recountContacts } from "./recount-contacts.ts";

/** Counts the contacts of a world by hand, and their entries in the index of tags, and compares that with what was kept. */
export async function expectCountsToBeTrue(world: Counted): Promise<void> {
  const { kept, counted } = await recountContacts(world);
  expect(kept).toEqual(counted);
}
