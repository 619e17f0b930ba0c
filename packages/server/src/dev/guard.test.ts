import { contract, DEV_ONLY, type Endpoint } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { ask, expectAnswer, type Scenario } from "../../test/scenario.ts";
import { guardDev } from "../http/public/dev-guard.ts";
import { createWorld } from "../testing.ts";

const devEndpoints = (Object.values(contract).flatMap((group) => Object.values(group)) as Endpoint[]).filter((e) => e.access === "dev");

test("without dev mode all under /__dev says that it is dev only, and what serves instead, with a key or without", async () => {
  await using world = await createWorld({ dev: false });
  for (const e of devEndpoints)
    for (const key of [undefined, null]) {
      const row: Scenario = {
        name: "",
        method: e.method,
        path: e.path.replace(/:\w+/g, "x"),
        ...(key === null && { key }),
        status: 404,
        code: "dev_only",
      };
      await expectAnswer(await ask(world, row), row, world.apiKey);
    }
  expect(devEndpoints.length).toBeGreaterThan(15);
  const nouns = Object.entries(contract).filter(([, verbs]) => Object.values(verbs).some(({ access }) => access === "dev"));
  expect(Object.keys(DEV_ONLY).sort()).toEqual(nouns.map(([noun]) => noun).sort());
  const hints = { hint: expect.stringContaining("mailsvc emails list") };
  await expect(world.sdk.inbox.list()).rejects.toMatchObject({ code: "dev_only", status: 404, ...hints });
  await expect(world.sdk.clock.advance({ by: "1h" })).rejects.toMatchObject({ message: expect.stringContaining("in dev mode only") });
  expect(await (await world.fetch(`${world.url}/__dev/nothing`)).json()).toMatchObject({ error: { code: "not_found" } });
});

const request = (headers: Record<string, string>): Request => new Request("http://x.test/__dev/clock", { headers });

describe("who may call /__dev", () => {
  test.each([
    ["127.0.0.1", { host: "127.0.0.1:2526" }],
    ["127.0.0.1", { host: "localhost:2526" }],
    ["127.0.0.1", { host: "mailsvc.localhost" }],
    ["::1", { host: "[::1]:2526" }],
    ["::ffff:127.0.0.1", { host: "LOCALHOST:2526" }],
    ["127.0.0.1", { host: "localhost:2526", origin: "http://localhost:2526" }],
  ])("%s with %o", (address, headers) => {
    expect(() => guardDev(request(headers), address)).not.toThrow();
  });

  test.each([
    ["another machine", "192.168.1.7", { host: "localhost:2526" }],
    ["another machine over IPv6", "fe80::1", { host: "localhost:2526" }],
    ["a name that was bent to this machine", "127.0.0.1", { host: "evil.example" }],
    ["a name that looks local", "127.0.0.1", { host: "localhost.evil.example" }],
    ["a name that begins local", "127.0.0.1", { host: "127.0.0.1.evil.example" }],
    ["an address that is not this machine's", "127.0.0.1", { host: "10.0.0.1:2526" }],
    ["no name at all", "127.0.0.1", {}],
    ["a page of another site", "127.0.0.1", { host: "localhost:2526", origin: "https://evil.example" }],
    ["a page of another port", "127.0.0.1", { host: "localhost:2526", origin: "http://localhost:3000" }],
    ["a page without an origin", "127.0.0.1", { host: "localhost:2526", origin: "null" }],
  ])("not %s", (_who, address, headers) => {
    expect(() => guardDev(request(headers as Record<string, string>), address)).toThrow("programs on this machine");
  });
});

test.each([
  ["a form", { "content-type": "text/plain" }, 415],
  ["a form with an upload", { "content-type": "multipart/form-data; boundary=x" }, 415],
  ["a page of another site", { "sec-fetch-site": "cross-site" }, 403],
  ["a page of another port", { "sec-fetch-site": "same-site" }, 403],
  ["its own page", { "sec-fetch-site": "same-origin", "content-type": "application/json" }, 200],
  ["a program without a body", {}, 200],
])("a reset by %s", async (_name, headers, status) => {
  await using world = await createWorld();
  await world.sdk.contacts.create({ email: "ada@example.com" });
  const response = await world.fetch(`${world.url}/__dev/reset`, { method: "POST", headers: headers as Record<string, string> });
  expect(response.status).toBe(status);
  expect((await world.sdk.contacts.list()).data).toHaveLength(status === 200 ? 0 : 1);
});
