import { expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const hello = { from: "Acme <hello@acme.test>", to: "ada@example.com", subject: "Hello", text: "It works." };
const send = async (world: TestWorld, changes: Record<string, unknown> = {}): Promise<string> =>
  ((await world.sdk.emails.send({ ...hello, ...changes })) as { id: string }).id;
const list = async (world: TestWorld, query: Record<string, string>) => (await world.sdk.emails.list(query)).data.map(({ id }) => id);

test("emails are found by tag, sender, subject, template and time, and by all of them together", async () => {
  await using world = await createWorld();
  const { id: template } = await world.sdk.templates.create({ name: "Hi", slug: "hi", subject: "Hi {{ name }}", html: "<p>Hi</p>" });
  await world.sdk.templates.publish(template);
  const plain = await send(world);
  await world.clock.advance("1h");
  const report = await send(world, { subject: "Your REPORT of May", tags: { kind: "report", order: "1042" } });
  const other = await send(world, { from: "news@acme.test", subject: "Report", tags: { kind: "report" } });
  await world.clock.advance("1h");
  const from = "hello@acme.test";
  const { id: hi } = (await world.sdk.templates.send("hi", {
    to: "grace@example.com",
    from,
    variables: { name: "G" },
    tags: { kind: "x=y" },
  })) as {
    id: string;
  };
  expect(await list(world, { tag: "kind=report" })).toEqual([other, report]);
  expect(await list(world, { tag: "kind=report", from: "HELLO@acme.test" })).toEqual([report]);
  expect(await list(world, { tag: "order=1042" })).toEqual([report]);
  expect(await list(world, { tag: "order=104" })).toEqual([]);
  expect(await list(world, { tag: "kind=x=y" })).toEqual([hi]);
  expect(await list(world, { from })).toEqual([hi, report, plain]);
  expect(await list(world, { from: "acme@acme.test" })).toEqual([]);
  expect(await list(world, { subject: "your report" })).toEqual([report]);
  expect(await list(world, { subject: "report" })).toEqual([other]);
  expect(await list(world, { template: "hi" })).toEqual([hi]);
  expect(await list(world, { template: "h" })).toEqual([]);
  expect(await list(world, { since: "2026-01-01T01:00:00Z" })).toEqual([hi, other, report]);
  expect(await list(world, { since: "2026-01-01T00:30:00Z", until: "2026-01-01T02:00:00Z" })).toEqual([other, report]);
  expect(await list(world, { until: "2026-01-01T01:00:00Z", to: "ada@example.com" })).toEqual([plain]);
  expect(await list(world, { to: "ada@example.com", tag: "kind=report", subject: "r" })).toEqual([other]);
  await world.settle();
  expect(await list(world, { status: "bounced", tag: "kind=report" })).toEqual([]);
  expect(await list(world, { status: "delivered", tag: "kind=report" })).toEqual([other, report]);
});

test("emails are found by what their readers did, which machines do not count for", async () => {
  await using world = await createWorld();
  const tracking = { opens: true, clicks: true };
  const html = '<p><a href="https://acme.example/">Read on</a></p>';
  const [opened, clicked, silent] = [await send(world, { html, tracking }), await send(world, { html, tracking }), await send(world)];
  await world.settle();
  const mails = await world.inbox.all();
  const follow = async (id: string, link: RegExp): Promise<void> => {
    const mail = mails.find(({ emailId }) => emailId === id);
    const [, url = ""] = link.exec((await world.sdk.inbox.get(mail?.id ?? "")).html ?? "") ?? [];
    await world.fetch(url, {
      redirect: "manual",
      headers: { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0" },
    });
  };
  await world.clock.advance("1h");
  await follow(opened, /src="([^"]*\/t\/o\/[^"]*)"/);
  await follow(clicked, /href="([^"]*\/t\/c\/[^"]*)"/);
  await world.clock.advance("10s");
  await world.settle();
  expect(await list(world, { reaction: "opened" })).toContain(opened);
  expect(await list(world, { reaction: "clicked" })).toEqual([clicked]);
  for (const reaction of ["opened", "clicked"]) expect(await list(world, { reaction })).not.toContain(silent);
  expect(await list(world, { reaction: "clicked", status: "bounced" })).toEqual([]);
});

test("emails are found by their campaign, and by the automation that sent them", async () => {
  await using world = await createWorld();
  for (const name of ["ada", "grace", "edsger"]) await world.sdk.contacts.create({ email: `${name}@example.com` });
  const { id: templateId } = await world.sdk.templates.create({
    name: "Hi",
    slug: "hi",
    subject: "Hi",
    html: "<p>Hi</p>",
    from: hello.from,
  });
  await world.sdk.templates.publish(templateId);
  const campaign = await world.campaign({ name: "May", subjectLine: "News", fromEmail: "hello@acme.test", templateId });
  const { id: automation } = await world.sdk.automations.create({
    name: "Welcome",
    trigger: { type: "contact.created" },
    steps: [{ id: "mail", type: "send_email", templateId }],
    connections: [{ from: "trigger", to: "mail" }],
  });
  await world.sdk.automations.activate(automation);
  await world.sdk.contacts.create({ email: "alan@example.com" });
  await world.settle();
  const single = await send(world);
  const to = async (query: Record<string, string>) => (await world.sdk.emails.list(query)).data.map((email) => email.to).sort();
  const all = ["ada@example.com", "edsger@example.com", "grace@example.com"];
  expect(await to({ campaign: campaign.id })).toEqual(all);
  expect(await to({ campaign: campaign.id, status: "delivered" })).toEqual(all);
  expect(await to({ campaign: campaign.id, to: "ada@example.com" })).toEqual(["ada@example.com"]);
  expect(await to({ automation })).toEqual(["alan@example.com"]);
  expect(await to({ automation, template: "hi" })).toEqual(["alan@example.com"]);
  expect(await to({ campaign: "cmp_none" })).toEqual([]);
  expect(await list(world, { since: "2026-01-01T00:00:00Z", subject: "hello" })).toEqual([single]);
});

test("a mail to several recipients is listed once, and by the state of any of them", async () => {
  await using world = await createWorld();
  await world.sdk.emails.send({ ...hello, to: ["a@example.com", "bounced@simulator.mailsvc.test"], together: true, tags: { kind: "x" } });
  await world.settle();
  expect(await list(world, { tag: "kind=x" })).toHaveLength(1);
  expect(await list(world, { tag: "kind=x", status: "bounced" })).toHaveLength(1);
  expect(await list(world, { tag: "kind=x", status: "delivered" })).toHaveLength(1);
  expect(await list(world, { tag: "kind=x", to: "a@example.com" })).toHaveLength(1);
});

test("pages follow each other to the end, also where few of many emails match", async () => {
  await using world = await createWorld();
  const rare = [];
  for (let n = 0; n < 12; n += 1) {
    const emails = Array.from({ length: 100 }, (_, i) => ({ ...hello, to: `p${n}-${i}@example.com`, tags: { n: String(n) } }));
    await world.sdk.emails.sendBatch({ emails });
    if (n === 0 || n === 11) rare.push(await send(world, { subject: "Rare" }));
  }
  const seen: string[] = [];
  const pages: number[] = [];
  for (let cursor: string | undefined; ; ) {
    const { data, pagination } = await world.sdk.emails.list({ subject: "rare", ...(cursor !== undefined && { cursor }) });
    seen.push(...data.map(({ id }) => id));
    pages.push(data.length);
    if (pagination.nextCursor === null) break;
    expect(pagination.hasMore).toBe(true);
    cursor = pagination.nextCursor;
  }
  expect(seen).toEqual(rare.toReversed());
  // The page goes on looking until it is full.
  expect(pages).toEqual([2]);
  const { pagination } = await world.sdk.emails.list({ subject: "rare" });
  expect(pagination).toMatchObject({ total: 2, examined: 1202, hasMore: false });
  const part = await world.sdk.emails.list({ subject: "rare", limit: 1 });
  expect(part.pagination).toMatchObject({ total: 2, hasMore: true });
  const far = await world.sdk.emails.list({ page: 999 });
  expect([far.data, far.pagination.total, far.pagination.hasMore]).toEqual([[], 1202, false]);
  const tagged: string[] = [];
  for await (const email of world.sdk.emails.list({ tag: "n=3", limit: 30 })) tagged.push(email.to);
  expect(new Set(tagged).size).toBe(100);
});

test("an erased person leaves no tag, template or automation in the lists, and others keep theirs", async () => {
  await using world = await createWorld();
  const { id: templateId } = await world.sdk.templates.create({
    name: "Hi",
    slug: "hi",
    subject: "Hi",
    html: "<p>Hi</p>",
    from: hello.from,
  });
  await world.sdk.templates.publish(templateId);
  const { id: automation } = await world.sdk.automations.create({
    name: "Welcome",
    trigger: { type: "contact.created" },
    steps: [{ id: "mail", type: "send_email", templateId }],
    connections: [{ from: "trigger", to: "mail" }],
  });
  await world.sdk.automations.activate(automation);
  await world.sdk.contacts.create({ email: "ada@example.com" });
  const tags = { who: "ada", kind: "both" };
  await send(world, { tags });
  await world.sdk.emails.send({ ...hello, to: ["ada@example.com", "grace@example.com"], tags });
  await world.sdk.templates.send("hi", { to: "ada@example.com", from: hello.from });
  await world.settle();
  const { read } = world.app.deps.db;
  const labels = async () =>
    (await read.select({ label: read.t.emailLabels.label }).from(read.t.emailLabels)).map((row) => row.label).sort();
  const ofGrace = ["tag:kind=both", "tag:who=ada"];
  expect(await labels()).toEqual([
    ...[`automation:${automation}`, "tag:kind=both", "tag:kind=both", "tag:kind=both", "tag:who=ada", "tag:who=ada", "tag:who=ada"],
    ...["template:hi", "template:hi"],
  ]);
  await world.sdk.people.erase("ada@example.com");
  expect(await labels()).toEqual(ofGrace);
});

for (const [query, path] of [
  ["tag=report", "tag"],
  ["since=yesterday", "since"],
  ["from=nobody", "from"],
  ["subject=", "subject"],
] as const)
  test(`a filter that cannot be meant is refused: ${query}`, async () => {
    await using world = await createWorld();
    const response = await ask(world, { method: "GET", path: `/api/v1/emails?${query}` });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "validation_error", details: [{ path }] } });
  });

test("a sender is found in each spelling of its address", async () => {
  await using world = await createWorld();
  const given = [
    "Acme <hello@bücher.example>",
    "Acme <hello@xn--bcher-kva.example>",
    " <hello@bücher.example> ",
    '"hello"@BÜCHER.example',
    '"Acme, Inc." < hello@bücher.example >',
  ];
  const quoted = await send(world, { from: '"a<b"@acme.test' });
  expect(await list(world, { from: '"a<b"@acme.test' })).toEqual([quoted]);
  await world.settle();
  expect(await world.sdk.emails.get(quoted)).toMatchObject({ from: '"a<b"@acme.test', status: "delivered" });
  const ids: string[] = [];
  for (const from of given) ids.unshift(await send(world, { from }));
  expect(await list(world, { from: "hello@bücher.example" })).toEqual(ids);
  expect(await list(world, { from: "hello@xn--bcher-kva.example" })).toEqual(ids);
  expect((await world.sdk.emails.get(ids.at(-1) ?? "")).from).toBe(given[0]);
  expect((await world.sdk.emails.get(ids[0] ?? "")).from).toBe('"Acme, Inc." <hello@bücher.example>');
});

test("the campaign of another workspace tells nothing, as one that does not exist", async () => {
  await using world = await createWorld();
  await world.sdk.contacts.import({ rows: Array.from({ length: 1000 }, (_, i) => ({ email: `p${i}@example.com` })) });
  await world.sdk.contacts.import({ rows: Array.from({ length: 5 }, (_, i) => ({ email: `q${i}@example.com` })) });
  const { id } = await world.sdk.campaigns.create({ name: "C", subjectLine: "C", fromEmail: "hello@acme.test", html: "<p>C</p>" });
  await world.sdk.campaigns.send(id);
  await world.settle();
  const other = await world.createWorkspace("Other");
  expect((await world.sdk.emails.list({ campaign: id, subject: "C" })).pagination.hasMore).toBe(true);
  const foreign = await other.sdk.emails.list({ campaign: id, subject: "C" });
  expect(foreign).toEqual(await other.sdk.emails.list({ campaign: "cmp_nobody", subject: "C" }));
});
