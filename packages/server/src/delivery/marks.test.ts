import { expect, test } from "vitest";
import { MAX_MARKED_AHEAD, Marks } from "./marks.ts";

const setUp = (slots: number, maxAhead = MAX_MARKED_AHEAD) => {
  let now = 0;
  const marks = new Marks<string>(slots, maxAhead, () => now);
  return {
    marks,
    pass: (ms: number) => {
      now += ms;
    },
    leave: (n: number) => {
      for (let i = 0; i < n; i += 1) {
        marks.add("mail");
        marks.next();
        marks.received();
      }
    },
  };
};

test("no more marked emails are under way than the mailer takes at once; the others follow in order", () => {
  const { marks } = setUp(2);
  for (const mail of ["a", "b", "c"]) marks.add(mail);
  expect([marks.next(), marks.next(), marks.next()]).toEqual(["a", "b", undefined]);
  marks.received();
  expect([marks.next(), marks.next(), marks.anyUnderWay]).toEqual(["c", undefined, true]);
  marks.received();
  marks.received();
  expect([marks.next(), marks.anyUnderWay]).toEqual([undefined, false]);
});

test("as many emails are marked ahead as left a moment ago, 64 at most, and none while nothing leaves", () => {
  const { marks, leave, pass } = setUp(8);
  expect(marks.ahead).toBe(0);
  leave(10);
  expect(marks.ahead).toBe(10);
  pass(60);
  leave(3);
  expect(marks.ahead).toBe(10);
  pass(60);
  expect(marks.ahead).toBe(3);
  leave(1000);
  expect(marks.ahead).toBe(64);
  pass(110);
  expect(marks.ahead).toBe(0);
});

test("a transactional mailer needs no marks, so none is ahead", () => {
  const { marks, leave } = setUp(8, 0);
  leave(100);
  expect(marks.ahead).toBe(0);
});
