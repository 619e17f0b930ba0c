import { describe, expect, test } from "vitest";
import { AbortError, ApiError, ConnectionError, TimeoutError, UsageError } from "../errors.ts";
import { delayMs, isTransient, retryAfterMs } from "./retry.ts";

const answered = (status: number, code = "internal_error", wait: number | null = null): ApiError =>
  new ApiError({ message: "", code, status, requestId: null, headers: {}, retryAfterMs: wait });

describe("delayMs", () => {
  test("draws from all of a window that doubles from 250 ms and stops at 8 s", () => {
    const longest = [1, 2, 3, 4, 5, 6, 7, 40].map((attempt) => delayMs(answered(503), attempt, () => 1));
    expect(longest).toEqual([250, 500, 1000, 2000, 4000, 8000, 8000, 8000]);
    expect(delayMs(answered(503), 5, () => 0)).toBe(0);
  });

  test("is what the server asked for, zero included, whatever the dice say", () => {
    expect(delayMs(answered(429, "rate_limited", 12_345), 1, () => 1)).toBe(12_345);
    expect(delayMs(answered(429, "rate_limited", 0), 1, () => 1)).toBe(0);
  });
});

describe("retryAfterMs", () => {
  const now = Date.UTC(2030, 0, 1);
  test.each([
    ["120", 120_000],
    ["0", 0],
    ["1.5", 1500],
    [" 3 ", 3000],
    ["Tue, 01 Jan 2030 00:00:30 GMT", 30_000],
    ["Mon, 31 Dec 2029 23:59:00 GMT", 0],
    ["-5", null],
    ["soon", null],
    ["", null],
  ])("reads %j as %j", (text, expected) => {
    expect(retryAfterMs({ "retry-after": text }, now)).toBe(expected);
  });

  test("measures a date against the server's own clock when it tells", () => {
    const headers = { "retry-after": "Tue, 01 Jan 2030 00:00:30 GMT", date: "Tue, 01 Jan 2030 00:00:20 GMT" };
    expect(retryAfterMs(headers, now - 86_400_000)).toBe(10_000);
    expect(retryAfterMs({ ...headers, date: "nonsense" }, now)).toBe(30_000);
    expect(retryAfterMs({}, now)).toBeNull();
  });
});

describe("isTransient", () => {
  test("tells what may pass from what stays", () => {
    const passing = [408, 425, 429, 500, 502, 503, 504].map((status) => answered(status));
    const staying = [400, 401, 402, 403, 404, 405, 409, 413, 415, 501].map((status) => answered(status));
    expect(passing.map(isTransient)).not.toContain(false);
    expect(staying.map(isTransient)).not.toContain(true);
    expect(isTransient(answered(409, "idempotency_in_progress"))).toBe(true);
    expect(isTransient(new ConnectionError({ message: "", code: "ECONNRESET", transient: true }))).toBe(true);
    expect(isTransient(new TimeoutError({ message: "", scope: "attempt", timeoutMs: 1 }))).toBe(true);
    const ends = [
      new TimeoutError({ message: "", scope: "total", timeoutMs: 1 }),
      new ConnectionError({ message: "", code: "ENOTFOUND", transient: false }),
      new AbortError({ message: "" }),
      new UsageError({ message: "" }),
      new Error("x"),
      undefined,
    ];
    expect(ends.map(isTransient)).not.toContain(true);
  });
});
