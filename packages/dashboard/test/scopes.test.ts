import { AGENT_SCOPE_GRANTS } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { SCOPE_GRANTS } from "../src/parts/agents/scopes.ts";

test("a builder reads what a scope allows in the words that brands read", () => {
  expect(SCOPE_GRANTS).toEqual(AGENT_SCOPE_GRANTS);
});
