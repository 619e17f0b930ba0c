import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createWorld, type TestWorld } from "@mailsvc/server/testing";
import { expect, test } from "vitest";
import { sendIssue } from "./newsletter.ts";

const folder = fileURLToPath(new URL(".", import.meta.url));

async function createReaders(world: TestWorld): Promise<string> {
  await world.sdk.contacts.upsert({ email: "ada@example.com", firstName: "Ada" });
  await world.sdk.contacts.upsert({ email: "grace@example.com" });
  const { id } = await world.sdk.lists.create({ name: "Readers" });
  await world.sdk.lists.add(id, { contacts: ["ada@example.com", "grace@example.com"] });
  return id;
}

// Runs on each pull request: what would go out is checked before it is merged.
test.each(globSync("issues/*.html", { cwd: folder }))("%s reaches each reader once, with a way to unsubscribe", async (file) => {
  await using world = await createWorld();
  const list = await createReaders(world);
  const issue = { name: file, html: readFileSync(`${folder}${file}`, "utf8") };

  expect(await sendIssue(world.sdk, issue, list)).toMatchObject({ sent: true });
  await world.settle();
  const mails = await world.inbox.all();
  expect(mails.map(({ to }) => to).sort()).toEqual(["ada@example.com", "grace@example.com"]);
  for (const { id } of mails) {
    const { html } = await world.sdk.inbox.get(id);
    expect(html).toMatch(/Hello (Ada|there)/);
    expect(html).toMatch(/<a [^>]*href="http[^"]+"[^>]*>Unsubscribe/);
    expect(html).not.toContain("{{");
  }

  // The job runs again, for example because a later step failed.
  expect(await sendIssue(world.sdk, issue, list)).toMatchObject({ sent: false });
  await world.settle();
  expect(await world.inbox.all()).toHaveLength(2);
});

test("two jobs at the same time send an issue once", async () => {
  await using world = await createWorld();
  const list = await createReaders(world);
  const issue = { name: "twice.html", html: "<title>Twice?</title><p>Once.</p>" };
  await Promise.all([sendIssue(world.sdk, issue, list), sendIssue(world.sdk, issue, list)]);
  await world.settle();
  expect(await world.inbox.all()).toHaveLength(2);
  expect(await world.sdk.campaigns.list().toArray()).toHaveLength(1);
});

test("an issue without a title is refused before anything is created", async () => {
  await using world = await createWorld();
  await expect(sendIssue(world.sdk, { name: "bare.html", html: "<p>Hi</p>" }, "list_1")).rejects.toThrow("bare.html needs a <title>");
  expect(await world.sdk.campaigns.list().toArray()).toEqual([]);
});
