import { expect, test } from "vitest";
import { ClaimBudget } from "./claim-budget.ts";
import type { MailLane } from "./slots.ts";

const setUp = (slots = 10) => {
  let now = 0;
  const budget = new ClaimBudget(() => now);
  const mailer = budget.addMailer(slots);
  const repeat = (n: number, act: (lane: MailLane) => void, lane: MailLane): void => {
    for (let i = 0; i < n; i += 1) act(lane);
  };
  return {
    budget,
    mailer,
    /** Claims emails that nobody has read yet. */
    claimUnread: (n: number, lane: MailLane = "single") => repeat(n, (one) => budget.claim(one), lane),
    claim: (n: number, lane: MailLane = "single", by = mailer) => {
      repeat(n, (one) => budget.claim(one), lane);
      repeat(n, (one) => by.assign(one), lane);
    },
    settle: (n: number, lane: MailLane = "single") => repeat(n, (one) => mailer.settle(one), lane),
    pass: (ms: number) => {
      now += ms;
    },
  };
};

test("while nothing is settled, one more email is claimed than there are slots", () => {
  const { budget, claim } = setUp();
  expect(budget.freeSlots("mail")).toBe(11);
  claim(11);
  expect(budget.freeSlots("mail")).toBe(0);
});

test("as many emails are claimed ahead as were settled a moment ago, 192 at most", () => {
  const { budget, claim, settle, pass } = setUp();
  claim(30);
  settle(30);
  expect(budget.freeSlots("mail")).toBe(10 + 30);
  claim(1000);
  settle(1000);
  expect(budget.freeSlots("mail")).toBe(10 + 192);
  pass(200);
  expect(budget.freeSlots("mail")).toBe(11);
});

test("emails are claimed many at a time: none while less than half of those ahead are used up", () => {
  const { budget, claim, settle } = setUp();
  claim(40);
  settle(20);
  // 10 slots and 20 ahead, of which 20 are claimed.
  expect(budget.freeSlots("mail")).toBe(10);
  claim(1);
  expect(budget.freeSlots("mail")).toBe(0);
});

test("bulk mail is not claimed ahead while single mail comes in", () => {
  const { budget, claim, settle, pass } = setUp(100);
  expect(budget.freeSlots("bulk")).toBe(101);
  claim(128, "bulk");
  settle(128, "bulk");
  expect(budget.freeSlots("bulk")).toBe(100 + 128);
  claim(1);
  expect(budget.freeSlots("bulk")).toBe(100);
  pass(200);
  claim(101, "bulk");
  expect(budget.freeSlots("bulk")).toBe(0);
});

test("other jobs are none of its business", () => {
  expect(setUp().budget.freeSlots("default")).toBe(0);
});

test("an email counts while it is loaded, and whichever mailer gets it", () => {
  const { budget, mailer, claimUnread } = setUp();
  claimUnread(4);
  expect(budget.freeSlots("mail")).toBe(7);
  mailer.assign("single");
  expect(budget.freeSlots("mail")).toBe(7);
  budget.settle("single");
  expect(budget.freeSlots("mail")).toBe(8);
});

test("a mailer that is full does not keep emails of another one from being claimed", () => {
  const { budget, mailer, claim } = setUp();
  const other = budget.addMailer(5);
  claim(11);
  expect(budget.freeSlots("mail")).toBe(6);
  claim(6, "single", other);
  expect(budget.freeSlots("mail")).toBe(0);
  expect([mailer.hasRoom("single"), other.hasRoom("single")]).toEqual([true, true]);
  claim(300);
  expect([mailer.hasRoom("single"), other.hasRoom("single")]).toEqual([false, true]);
});

test("an email that goes to another mailer makes room at the first one", () => {
  const { budget, mailer, claim } = setUp();
  const other = budget.addMailer(10);
  claim(1);
  mailer.release("single");
  other.assign("single");
  claim(10);
  expect(budget.freeSlots("mail")).toBe(10);
});
