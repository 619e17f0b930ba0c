import { LIST_LIMITS } from "@mailsvc/sdk/contract";
import { count } from "drizzle-orm";
import { expect, test } from "vitest";
import { createWorld, type TestWorld } from "../../testing.ts";

const LIMIT = 1_200_000;

/** A world with a form that asks to confirm. */
async function start() {
  const world = await createWorld();
  const list = await world.sdk.lists.create({ name: "Newsletter" });
  const form = await world.sdk.forms.create({ name: "Newsletter of Acme", listId: list.id });
  return { world, list, form };
}

let networks = 0;

/** Enters an address as somebody from a network that nobody came from before. Returns the status of the answer. */
async function enter(world: TestWorld, url: string, email: string): Promise<number> {
  networks += 1;
  const from = `10.${Math.floor(networks / 65_536)}.${Math.floor(networks / 256) % 256}.${networks % 256}`;
  const response = await world.fetch(url, {
    redirect: "manual",
    method: "POST",
    body: new URLSearchParams({ email }).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded", "x-forwarded-for": from },
  });
  await response.arrayBuffer();
  return response.status;
}

/** Kinds of the jobs that wait, or were given up. */
async function listJobs(world: TestWorld): Promise<string[]> {
  const { read } = world.app.deps.db;
  return (await read.select({ kind: read.t.jobs.kind }).from(read.t.jobs)).map(({ kind }) => kind).sort();
}

/** Rows that sign-ups leave, by table. */
async function countRows(world: TestWorld): Promise<Record<string, number>> {
  const { read } = world.app.deps.db;
  const { contacts, listMembers, emails, inbox, landingPageSubmissions, landingPageDays } = read.t;
  const tables = { contacts, listMembers, emails, inbox, landingPageSubmissions, landingPageDays };
  const rows: Record<string, number> = {};
  for (const [name, table] of Object.entries(tables)) rows[name] = (await read.select({ n: count() }).from(table))[0]?.n ?? 0;
  return rows;
}

test("10,000 sign-ups of other people's addresses are one mail to each of them, and one row of each kind", { timeout: LIMIT }, async () => {
  const { world, form, list } = await start();
  await using _ = world;
  await world.settle();
  const before = await countRows(world);
  const people = Array.from({ length: 2000 }, (_person, i) => `victim${i}@example.com`);
  // Each person five times, mixed. The form takes 50 a second, so that 500 at a time need ten seconds.
  const attempts = Array.from({ length: 10_000 }, (_attempt, i) => people[(i * 7) % people.length] as string);
  const statuses = new Set<number>();
  for (let at = 0; at < attempts.length; at += 250) {
    for (const status of await Promise.all(attempts.slice(at, at + 250).map((email) => enter(world, form.url, email))))
      statuses.add(status);
    await world.clock.advance("5s");
  }
  expect([...statuses]).toEqual([303]);
  await world.settle();
  const after = await countRows(world);
  const added = Object.fromEntries(Object.entries(after).map(([name, rows]) => [name, rows - (before[name] ?? 0)]));
  expect(added).toEqual({
    ...{ contacts: 2000, listMembers: 2000, emails: 2000, inbox: 2000 },
    // The consent of each of them, each time, and one row for the day.
    ...{ landingPageSubmissions: 10_000, landingPageDays: 1 },
  });
  // Nothing waits but what waits once, however much happened.
  const jobs = await listJobs(world);
  expect(jobs).toEqual([...new Set(jobs)]);
  const mails = await world.inbox.all();
  expect(new Set(mails.map(({ to }) => to)).size).toBe(2000);
  expect(mails).toHaveLength(2000);
  expect((await world.sdk.forms.stats(form.id)).submissions).toBe(10_000);
  expect(await world.sdk.lists.get(list.id)).toMatchObject({ memberCount: 0, pendingCount: 2000 });
});

test("an address that is entered from everywhere at once gets one mail", { timeout: LIMIT }, async () => {
  const { world, form } = await start();
  await using _ = world;
  await world.settle();
  const before = await countRows(world);
  const statuses = await Promise.all(Array.from({ length: 400 }, () => enter(world, form.url, "victim@example.com")));
  expect([...new Set(statuses)]).toEqual([303]);
  await world.settle();
  const after = await countRows(world);
  expect(await world.inbox.all({ to: "victim@example.com" })).toHaveLength(1);
  for (const name of ["contacts", "listMembers", "emails"]) expect([name, (after[name] ?? 0) - (before[name] ?? 0)]).toEqual([name, 1]);
  const jobs = await listJobs(world);
  expect(jobs).toEqual([...new Set(jobs)]);
});

test("an address that is entered again and again for a week gets as many mails as documented, ever further apart", {
  timeout: LIMIT,
}, async () => {
  const { world, form } = await start();
  await using _ = world;
  const spellings = ["victim@example.com", "Victim@Example.com", " victim@example.COM "];
  const started = world.clock.now();
  for (let i = 0; world.clock.now() - started < LIST_LIMITS.confirmDays * 86_400_000 - 1; i += 1) {
    expect(await enter(world, form.url, spellings[i % spellings.length] as string)).toBe(303);
    await world.clock.advance("15m");
  }
  const at = (await world.inbox.all()).map(({ receivedAt }) => Date.parse(receivedAt) - started);
  expect(at.length).toBeLessThanOrEqual(11);
  expect(at.length).toBeGreaterThan(5);
  for (const [i, time] of at.entries()) {
    const last = at[i - 1];
    if (last !== undefined) expect(time - last).toBeGreaterThanOrEqual(Math.max(LIST_LIMITS.askAgainMinutes * 60_000, last) - 1000);
  }
});

test("a form takes so many sign-ups a second and no more, whatever networks they come from", async () => {
  const { world, form } = await start();
  await using _ = world;
  const statuses = await Promise.all(Array.from({ length: 600 }, (_one, i) => enter(world, form.url, `many${i}@example.com`)));
  const refused = statuses.filter((status) => status === 429).length;
  expect([statuses.filter((status) => status === 303).length + refused, refused]).toEqual([600, 100]);
  await world.clock.advance("1s");
  expect(await enter(world, form.url, "later@example.com")).toBe(303);
});
