import { expect, test } from "vitest";
import { createWorld, type TestWorld } from "../testing.ts";
import { compileVersion } from "./compiled-set.ts";
import { loadParser } from "./engine/parser.ts";
import { findTemplateBySlug } from "./store.ts";

const compiledOf = async (world: TestWorld, slug: string) => {
  const { db, compiledTemplates } = world.app.deps;
  const { read } = db;
  const row = await findTemplateBySlug(read, world.workspaceId, slug);
  if (!row?.version) throw new Error(`${slug} is not published.`);
  const { version, publishedHash, publishedUses } = row;
  return compileVersion(read, compiledTemplates, loadParser, row, { version, hash: publishedHash ?? "", uses: publishedUses ?? [] }, false);
};

test("a version is compiled once, and again when it or a part of it changes", async () => {
  await using world = await createWorld();
  const foot = await world.sdk.templates.create({ name: "Foot", type: "partial", html: "<i>1</i>", publish: true });
  const { id } = await world.sdk.templates.create({ name: "Mail", subject: "s", html: "<p>{{> foot}}</p>", publish: true });
  const first = await compiledOf(world, "mail");
  expect(await compiledOf(world, "mail")).toBe(first);
  await world.sdk.templates.update(foot.id, { html: "<i>2</i>" });
  expect(await compiledOf(world, "mail")).toBe(first);
  await world.sdk.templates.publish(foot.id, {});
  const second = await compiledOf(world, "mail");
  expect(second).not.toBe(first);
  await world.sdk.templates.update(id, { html: "<b>{{> foot}}</b>", publish: true });
  expect(await compiledOf(world, "mail")).not.toBe(second);
  await world.sdk.templates.rollback(id, { version: 1 });
  expect(await compiledOf(world, "mail")).toBe(second);
});

test("what is kept compiled is bounded: the least used is forgotten", async () => {
  await using world = await createWorld();
  const big = "x".repeat(1024 * 1024);
  const create = (i: number) => world.sdk.templates.create({ name: `Big ${i}`, subject: "s", html: `${i}${big.slice(10)}`, publish: true });
  await create(0);
  await create(1);
  const [zero, one] = [await compiledOf(world, "big-0"), await compiledOf(world, "big-1")];
  for (let i = 2; i < 8; i += 1) {
    await create(i);
    await compiledOf(world, `big-${i}`);
  }
  expect(await compiledOf(world, "big-0")).toBe(zero);
  await create(8);
  await compiledOf(world, "big-8");
  expect(await compiledOf(world, "big-0")).toBe(zero);
  expect(await compiledOf(world, "big-1")).not.toBe(one);
});

test("worlds that make the same ids do not see each other's templates", async () => {
  const send = async (html: string): Promise<string | null> => {
    await using world = await createWorld({ seed: 5 });
    await world.sdk.templates.create({ name: "Mail", subject: "s", from: "a@acme.test", html, publish: true });
    const { id } = (await world.sdk.templates.send("mail", { to: "a@x.test" })) as { id: string };
    return (await world.sdk.emails.get(id)).html;
  };
  expect([await send("<p>1</p>"), await send("<p>2</p>")]).toEqual(["<p>1</p>", "<p>2</p>"]);
});

test("going back to an earlier snapshot goes back to its templates", async () => {
  await using world = await createWorld();
  const { id } = await world.sdk.templates.create({ name: "Mail", subject: "s", from: "a@acme.test", html: "<p>1</p>", publish: true });
  await world.sdk.world.snapshot({ name: "before" });
  const html = async (): Promise<string | null> => {
    const sent = (await world.sdk.templates.send("mail", { to: "a@x.test" })) as { id: string };
    return (await world.sdk.emails.get(sent.id)).html;
  };
  await world.sdk.templates.update(id, { html: "<p>2</p>", publish: true });
  expect(await html()).toBe("<p>2</p>");
  await world.sdk.world.restore({ name: "before" });
  await world.sdk.templates.update(id, { html: "<p>3</p>", publish: true });
  expect(await html()).toBe("<p>3</p>");
  expect(await world.sdk.templates.get(id)).toMatchObject({ version: 2 });
});
