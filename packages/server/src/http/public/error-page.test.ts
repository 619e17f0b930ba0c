import { afterAll, beforeAll, expect, test } from "vitest";
import { ApiError } from "../../lib/api-error.ts";
import { createWorld, type TestWorld } from "../../testing.ts";
import { errorPage } from "./error-page.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.dispose());

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const get = (path: string, accept?: string): Promise<Response> =>
  world.fetch(world.url + path, { headers: accept === undefined ? {} : { accept } });

test.each([
  ["an unknown path", "/no/such/page", "Page not found"],
  ["a confirmation link that has expired", "/senders/confirm/expired", "This link does not work"],
])("%s is a page for a browser, and JSON for a program", async (_name, path, title) => {
  const page = await get(path, BROWSER);
  expect([page.status, page.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(page.headers.get("x-request-id")).toMatch(/^req_/);
  const text = await page.text();
  expect(text).toMatch(/<main>.*<h1>[^<]+<\/h1><p>[^<{]+<\/p><\/div>.*<\/main>/s);
  expect(text).toContain(`<h1>${title}</h1>`);
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

test("a page says what is wrong in the words of a person, with a reference only for faults of the server", async () => {
  const render = (error: ApiError): string => errorPage(error, "req_1", [], { menu: null, browser: "en" }).body as string;
  expect(render(new ApiError("payload_too_large", "The form is too large."))).toMatch(
    /<h1>That is too large<\/h1><p>Please shorten what you entered\.<\/p><\/div>/,
  );
  expect(render(new ApiError("storage_unavailable", "Please try again."))).toMatch(
    /<h1>Unavailable at the moment<\/h1><p>Please try again shortly\.<\/p><p class="muted">Reference: req_1<\/p>/,
  );
  expect(render(new ApiError("conflict", "No."))).toMatch(/<h1>Something went wrong<\/h1><p>Please try again\.<\/p><\/div>/);
});

test("a page is in the reader's language, and the dashboard shows the message itself", () => {
  const error = new ApiError("not_found", "There is no such file.");
  const shown = errorPage(error, "req_1", [], { menu: null, browser: "sv, de-CH;q=0.8, en;q=0.5" });
  expect(shown.body).toContain('<html lang="de-CH" dir="ltr">');
  expect(shown.body).toContain("<h1>Seite nicht gefunden</h1>");
  expect(shown.headers).toContainEqual(["content-language", "de-CH"]);
  expect(errorPage(error, "req_1", [], { menu: "ar", browser: "de" }).body).toContain('<html lang="ar" dir="rtl">');
  expect(errorPage(error, "req_1", [], "developer").body).toContain("<p>There is no such file.</p>");
});
