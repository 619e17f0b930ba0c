import fc from "fast-check";
import { expect, test } from "vitest";
import * as z from "zod";
import { makeIds } from "./ids.ts";
import { fromUuid, toPartUuid, toUuid } from "./uuids.ts";

const instants = fc.nat({ max: 2 ** 43 - 1 });
const chance = fc.uint8Array({ minLength: 15, maxLength: 15 });

test("an id becomes a UUID, and the UUID the same id", () => {
  fc.assert(
    fc.property(instants, chance, (now, bytes) => {
      const ids = makeIds({ now: () => now }, { bytes: () => Buffer.from(bytes), fraction: () => 0 });
      for (const id of [ids("em"), ids("em")]) {
        const uuid = toUuid(id);
        z.uuidv4().parse(uuid);
        expect(fromUuid("em", uuid)).toBe(id);
        expect(fromUuid("em", uuid.toUpperCase())).toBe(id);
      }
    }),
  );
});

test("a UUID of any program becomes an id, and the id the same UUID", () => {
  fc.assert(
    fc.property(fc.uuid({ version: 4 }), (uuid) => {
      expect(toUuid(fromUuid("con", uuid))).toBe(uuid);
    }),
  );
});

test("UUIDs of ids are in the order in which these were made", () => {
  let now = 1_700_000_000_000;
  const ids = makeIds({ now: () => now }, { bytes: (n) => Buffer.alloc(n, 0xa5), fraction: () => 0 });
  const uuids = Array.from({ length: 50 }, (_, i) => {
    if (i % 10 === 0) now += 7;
    return toUuid(ids("em"));
  });
  expect(uuids.toSorted()).toEqual(uuids);
});

test("what is no id and no UUID of that kind stays as it is", () => {
  const nil = "00000000-0000-0000-0000-000000000000";
  for (const text of ["", "em_1", "ada@example.com", nil, "em_7zzzzzzzzzzzzzzzzzzzzzzzzz", "whd_00000000001m28smy492fnmdzw"])
    expect([toUuid(text), fromUuid("em", text)]).toEqual([text, text]);
});

test("the parts of an object have UUIDs of their own", () => {
  const parts = ["em_1", "em_2"].flatMap((id) => [1, 2].map((n) => toPartUuid(id, n)));
  for (const uuid of parts) z.uuidv4().parse(uuid);
  expect(new Set(parts).size).toBe(4);
  expect(toPartUuid("em_1", 1)).toBe(parts[0]);
});
