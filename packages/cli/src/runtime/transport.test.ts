import { contract } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { buildCall } from "./request.ts";
import { findLimit } from "./transport.ts";

test("a call lasts as long as its server may need, also with a shorter --timeout", () => {
  const relays = buildCall(contract.me.checkRelays, [], {}, undefined);
  expect(findLimit(relays, 1000)).toBe(30_000);
  expect(findLimit(relays, 45_000)).toBe(45_000);
  expect(findLimit(buildCall(contract.clock.advance, [], {}, { by: "30d" }), 30_000)).toBe(610_000);
  expect(findLimit({ ...relays, timeoutMs: 500 }, 30_000)).toBe(500);
  expect(findLimit(buildCall(contract.me.get, [], {}, undefined), 30_000)).toBeNull();
});
