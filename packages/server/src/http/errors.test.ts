import { contract } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { ApiError } from "../lib/api-error.ts";
import { jsonLog } from "../lib/log.ts";
import { toApiError } from "./errors.ts";
import { StorageHealth } from "./storage-health.ts";

test("the log tells the cause of a failure where there is one", () => {
  const lines: string[] = [];
  const log = jsonLog(
    (line) => void lines.push(line),
    () => 0,
  );
  const storage = new StorageHealth({ now: () => 0, date: () => 0, after: () => ({ cancel: () => {} }), sleep: async () => {} }, log);
  const cause = new Error("ENOSPC");
  for (const error of [new ApiError("storage_unavailable", "full"), new ApiError("storage_unavailable", "full", { cause })])
    expect(toApiError(error, contract.emails.list, "req_1", { log, storage })).toBe(error);
  const facts = { time: "1970-01-01T00:00:00.000Z", level: "error", message: "full", requestId: "req_1" };
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([facts, { ...facts, cause: "Error: ENOSPC" }]);
});
