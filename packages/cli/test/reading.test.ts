import { contract } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { checkEnds } from "../src/commands/doctor.ts";
import { cli } from "./harness.ts";

test("an operation that will be gone is named beside its answer, and by doctor", async () => {
  const headers = { "content-type": "application/json", deprecation: "@1803859200", sunset: "Wed, 01 Mar 2028 00:00:00 GMT" };
  const { code, json, stderr } = await cli(["health", "live"], { fetch: async () => new Response('{"status":"ok"}', { headers }) });
  expect([code, json]).toEqual([0, { status: "ok" }]);
  expect(stderr).toContain("GET /healthz is deprecated and gone from Wed, 01 Mar 2028 00:00:00 GMT.");
  const deprecated = { since: "2027-03-01", sunset: "2028-03-01", instead: "Use emails.find." } as const;
  const found = checkEnds({ emails: { list: { ...contract.emails.list, deprecated }, get: contract.emails.get } });
  expect(found.map(({ check }) => check)).toEqual([
    { name: "api", status: "warn", detail: "emails.list is gone from 2028-03-01", hint: "Use emails.find." },
  ]);
  expect(checkEnds({ emails: { get: contract.emails.get } })).toEqual([]);
});

test("docs answers questions, shows pages and lists them", async () => {
  const answer = await cli(["docs", "how", "do", "I", "verify", "a", "webhook", "signature"]);
  expect([answer.code, answer.stdout]).toEqual([0, expect.stringMatching(/^# Webhooks: Verifying\n/)]);
  expect(answer.stdout).toContain("The whole page: mailsvc docs webhooks");
  expect((await cli(["docs", "start/server"])).stdout).toMatch(/^# Run a server\n/);
  expect((await cli(["docs"])).stdout).toMatch(/^start\/terminal +Send from a terminal$/m);
  expect((await cli(["docs", "simulate a bounce", "--json"])).json.results[0]).toMatchObject({
    page: "emails",
    section: "Simulated recipients",
  });
  const nothing = await cli(["docs", "xyzzy"]);
  expect([nothing.code, nothing.stderr]).toEqual([6, expect.stringContaining('No page has "xyzzy".')]);
});
