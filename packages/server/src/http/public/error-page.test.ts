import { afterAll, beforeAll, expect, test } from "vitest";
import { createWorld, type TestWorld } from "../../testing.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.dispose());

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const get = (path: string, accept?: string): Promise<Response> =>
  world.fetch(world.url + path, { headers: accept === undefined ? {} : { accept } });

test.each([
  ["an unknown path", "/no/such/page"],
  ["a confirmation link that has expired", "/senders/confirm/expired"],
])("%s is a page for a browser, and JSON for a program", async (_name, path) => {
  const page = await get(path, BROWSER);
  expect([page.status, page.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(page.headers.get("x-request-id")).toMatch(/^req_/);
  expect(await page.text()).toMatch(/<main>.*<h1>Page not found<\/h1><p>[^<{]+<\/p>.*<\/main>/s);
  for (const accept of [undefined, "*/*", "application/json", "application/json, text/html"]) {
    const answer = await get(path, accept);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "application/json"]);
    expect(await answer.json()).toMatchObject({ error: { code: "not_found" } });
  }
});

test("an endpoint that needs a key answers JSON to anyone", async () => {
  const answer = await get("/api/v1/me", BROWSER);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([401, "application/json"]);
});
