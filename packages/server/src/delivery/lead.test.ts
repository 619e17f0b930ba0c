import { expect, test } from "vitest";
import { createLead } from "./lead.ts";

test("as many emails lead as left a moment ago, 64 at most, and none while nothing leaves", () => {
  let now = 0;
  const lead = createLead(() => now);
  const leave = (n: number): void => {
    for (let i = 0; i < n; i += 1) lead.left();
  };
  expect(lead.size()).toBe(0);
  leave(10);
  expect(lead.size()).toBe(10);
  now = 60;
  leave(3);
  expect(lead.size()).toBe(10);
  now = 120;
  expect(lead.size()).toBe(3);
  leave(1000);
  expect(lead.size()).toBe(64);
  now = 230;
  expect(lead.size()).toBe(0);
});
