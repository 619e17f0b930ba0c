import { describe, expect, test } from "vitest";
import { createWorld } from "../src/testing.ts";
import { ask } from "./scenario.ts";

const hello = { from: "hi@acme.test", to: "ada@example.com", subject: "Hello", text: "It works." };

// Characters that one of the databases cannot hold are refused on both.
describe("characters no text may hold", () => {
  test.each([
    ["U+0000 in the text", "/api/v1/send", { ...hello, text: "a\0b" }, "text"],
    ["U+0000 in the HTML", "/api/v1/send", { ...hello, html: "a\0b" }, "html"],
    ["a lone surrogate in the HTML", "/api/v1/send", { ...hello, html: "a\ud800b" }, "html"],
    ["a lone surrogate in the subject", "/api/v1/send", { ...hello, subject: "a\ud800b" }, "subject"],
    ["a lone surrogate in a header", "/api/v1/send", { ...hello, headers: { "X-A": "a\ud800b" } }, "headers.X-A"],
    ["U+0000 in the subject", "/api/v1/send", { ...hello, subject: "a\0b" }, "subject"],
    ["U+0000 in a header", "/api/v1/send", { ...hello, headers: { "X-A": "a\0b" } }, "headers.X-A"],
    ["U+0000 in a tag", "/api/v1/send", { ...hello, tags: { a: "\0" } }, "tags.a"],
    ["U+0000 in the name of a key", "/api/v1/keys", { name: "a\0b", permissions: ["transactional:send"] }, "name"],
    ["a lone surrogate in the name of a key", "/api/v1/keys", { name: "a\udc00b", permissions: ["transactional:send"] }, "name"],
  ])("%s is a 400 that names the field, and nothing is stored", async (what, path, body, field) => {
    await using world = await createWorld();
    const answer = await ask(world, { path, body: JSON.stringify(body) });
    expect([answer.status, await answer.json()]).toEqual([400, { error: expect.objectContaining({ code: "validation_error" }) }]);
    const again = (await (await ask(world, { path, body: JSON.stringify(body) })).json()) as {
      error: { details: { path: string; code: string; message: string }[] };
    };
    expect(again.error.details.map((d) => [d.path, d.code])).toEqual([[field, "invalid_characters"]]);
    expect(/surrogate/.test(again.error.details[0]?.message ?? "")).toBe(what.startsWith("a lone surrogate"));
    expect((await world.sdk.emails.list()).pagination.total).toBe(0);
  });

  test.each(["/__dev/inbox?subject=%00", "/__dev/inbox?from=a%00", "/__dev/inbox?workspace=%00", "/api/v1/emails?to=%00"])(
    "U+0000 in a filter is a 400: %s",
    async (path) => {
      await using world = await createWorld();
      expect((await ask(world, { method: "GET", path })).status).toBe(400);
    },
  );
});

test("custom headers keep their order, and texts every other character", async () => {
  await using world = await createWorld();
  const headers = { "X-Zulu": "1", "X-Alpha": "2", "X-Mike": "3" };
  const text = "tab\t bell\u0007 joiner \u200d 👩‍👩‍👧 𝒜 e\u0301 \u202E \uFFFD \uFFFE";
  const { id } = (await world.sdk.emails.send({ ...hello, headers, text })) as { id: string };
  const email = await world.sdk.emails.get(id);
  expect(Object.keys(email.headers)).toEqual(Object.keys(headers));
  expect(email.text).toBe(text);
});
