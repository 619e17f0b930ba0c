import { contract } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { ApiError } from "../lib/api-error.ts";
import { jsonLog } from "../lib/log.ts";
import { toApiError } from "./errors.ts";
import { StorageHealth } from "./storage-health.ts";

function setUp() {
  const lines: string[] = [];
  const log = jsonLog(
    (line) => void lines.push(line),
    () => 0,
  );
  let at = 0;
  const storage = new StorageHealth({ now: () => at, date: () => at, after: () => ({ cancel: () => {} }), sleep: async () => {} }, log);
  const answer = (error: ApiError): ApiError => toApiError(error, contract.emails.list, "req_1", { log, storage });
  const wait = (ms: number): void => void (at += ms);
  return { answer, wait, list: () => lines.map((line) => JSON.parse(line) as unknown) };
}

const facts = { time: "1970-01-01T00:00:00.000Z", level: "error", message: "full", requestId: "req_1" };

test.each(["internal_error", "storage_unavailable"] as const)("the log tells the cause of %s where there is one", (code) => {
  const { answer, wait, list } = setUp();
  for (const error of [new ApiError(code, "full"), new ApiError(code, "full", { cause: new Error("ENOSPC") })]) {
    expect(answer(error)).toBe(error);
    wait(10_000);
  }
  expect(list()).toEqual([facts, { ...facts, cause: "Error: ENOSPC" }]);
});

test("what a foreign API asks for and is not here is no fault of the server, and not logged", () => {
  const { answer, list } = setUp();
  expect(answer(new ApiError("not_implemented", "asm is not here.")).status).toBe(501);
  expect(list()).toEqual([]);
});

test("requests that the storage refuses are logged at most every 10 s, with how many there were", () => {
  const { answer, wait, list } = setUp();
  for (let i = 0; i < 5; i += 1) answer(new ApiError("storage_unavailable", "full"));
  wait(10_000);
  answer(new ApiError("storage_unavailable", "full"));
  expect(list()).toEqual([facts, { ...facts, further: 4 }]);
});
