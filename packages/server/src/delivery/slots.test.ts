import { expect, test } from "vitest";
import { Slots } from "./slots.ts";

const setUp = (count: number, markedAhead = 0) => {
  let ahead = markedAhead;
  const slots = new Slots<string>(count, () => ahead);
  return {
    slots,
    wait: (lane: "single" | "bulk", ...mails: string[]) => {
      for (const mail of mails) slots.wait(lane, mail);
    },
    setAhead: (n: number) => {
      ahead = n;
    },
  };
};

test("no more emails have a slot than there are slots, and the others wait for one to be free", () => {
  const { slots, wait } = setUp(2);
  wait("bulk", "a", "b", "c");
  expect(slots.take()).toEqual(["a", "b"]);
  expect([slots.busy, slots.take()]).toEqual([true, []]);
  slots.free();
  expect([slots.busy, slots.take()]).toEqual([false, ["c"]]);
});

test("single mail goes before bulk mail that has waited longer", () => {
  const { slots, wait } = setUp(3);
  wait("bulk", "bulk 1", "bulk 2");
  wait("single", "single 1", "single 2");
  expect(slots.take()).toEqual(["single 1", "single 2", "bulk 1"]);
});

test("emails that may be marked ahead have slots too, and are taken many at a time", () => {
  const { slots, wait, setAhead } = setUp(2, 4);
  wait("bulk", ..."abcdefgh");
  expect(slots.take()).toEqual([..."abcdef"]);
  slots.free();
  slots.free();
  // Four of six are taken: half of those ahead are left.
  expect(slots.take()).toEqual([]);
  slots.free();
  expect(slots.take()).toEqual(["g", "h"]);
  setAhead(0);
  for (let i = 0; i < 3; i += 1) slots.free();
  wait("bulk", "i");
  expect(slots.take()).toEqual([]);
  slots.free();
  expect(slots.take()).toEqual(["i"]);
});
