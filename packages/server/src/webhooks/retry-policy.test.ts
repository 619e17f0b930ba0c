import { expect, test } from "vitest";
import { RETRIES } from "../marketplace/agent-webhooks/endpoint.ts";
import { planRetry } from "./attempt.ts";

const schedule = RETRIES;

const failed = { httpStatus: 500, retryAfter: null };

const plans = (answer: Parameters<typeof planRetry>[1], directOnly = false) => {
  const out: [string, number | null][] = [];
  let tries = 0;
  for (;;) {
    const plan = planRetry(schedule, answer, tries, directOnly);
    out.push([plan.state, plan.delay]);
    if (plan.delay === null) return out;
    tries = plan.tries;
  }
};

test("one attempt and three direct retries, then five from the queue, then the event is dead", () => {
  expect(plans(failed)).toEqual([
    ["pending", 1000],
    ["pending", 2000],
    ["pending", 4000],
    ["queued", 12_000],
    ["queued", 148_000],
    ["queued", 1_808_000],
    ["queued", 22_026_000],
    ["queued", 86_400_000],
    ["dead", null],
  ]);
});

test("the delays of the queue are e^(2.5 n) seconds, a day at most", () => {
  const waits = plans(failed).filter(([state]) => state === "queued");
  expect(waits.map(([, ms]) => Number(ms) / 1000)).toEqual([1, 2, 3, 4, 5].map((n) => Math.min(86_400, Math.floor(Math.exp(2.5 * n)))));
});

test("with directOnly an event is dead after the direct attempts", () => {
  expect(plans(failed, true)).toEqual([
    ["pending", 1000],
    ["pending", 2000],
    ["pending", 4000],
    ["dead", null],
  ]);
});

test("410 ends it at once", () => {
  expect(plans({ httpStatus: 410, retryAfter: null })).toEqual([["dead", null]]);
});

test.each([
  ["429", 429, 20_000, 20_000],
  ["503", 503, 20_000, 20_000],
  ["one that asks for less than planned", 429, 1000, 12_000],
  ["one that asks for very long", 503, 3_600_000, 24_000],
])("an overloaded receiver gets no more direct attempts: %s", (_name, httpStatus, retryAfter, delay) => {
  expect(planRetry(schedule, { httpStatus, retryAfter }, 0, false)).toEqual({ state: "queued", tries: 4, delay });
});

test("Retry-After with another status changes nothing", () => {
  expect(planRetry(schedule, { httpStatus: 500, retryAfter: 60_000 }, 0, false)).toEqual({ state: "pending", tries: 1, delay: 1000 });
});
