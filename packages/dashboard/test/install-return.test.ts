import { expect, test } from "vitest";
import { buildReturn, leadsBack } from "../src/parts/agents/install-return.ts";

const REGISTERED = ["https://agent.example.com/installed?from=mail"];

test("an install link leads back to a registered address, with its state as it came", () => {
  const link = { redirect: REGISTERED[0] as string, state: "a&b=c#/../ é" };
  const back = new URL(buildReturn(link, REGISTERED, "act_1") ?? "");
  expect(back.origin + back.pathname).toBe("https://agent.example.com/installed");
  expect(Object.fromEntries(back.searchParams)).toEqual({ from: "mail", activationId: "act_1", state: "a&b=c#/../ é" });
  expect(buildReturn({ redirect: null, state: "x" }, REGISTERED, "act_1")).toBeNull();
});

test.each([
  "https://agent.example.com/installed",
  "https://agent.example.com/installed?from=mail&x=1",
  "https://agent.example.com/installed?from=mail#x",
  "https://AGENT.example.com/installed?from=mail",
  "https://agent.example.com.evil.example/installed?from=mail",
  "https://agent.example.com@evil.example/installed?from=mail",
  "http://agent.example.com/installed?from=mail",
  "//evil.example",
  "/dashboard/keys",
  "javascript:alert(1)",
  "",
])("an install link does not lead to %s", (redirect) => {
  expect(leadsBack({ redirect, state: null }, REGISTERED)).toBe(false);
  expect(buildReturn({ redirect, state: null }, REGISTERED, "act_1")).toBeNull();
});

test("no address of another scheme is followed, even a registered one", () => {
  expect(buildReturn({ redirect: "javascript:alert(1)", state: null }, ["javascript:alert(1)"], "act_1")).toBeNull();
});
