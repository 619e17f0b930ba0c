import { contract, type Endpoint, paramNames } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { createAgent } from "../../test/agent-at-work.ts";
import { buildCalls, listAgentEndpoints } from "../../test/agent-crawl.ts";
import { startReceiver } from "../../test/marketplace.ts";
import { ask, pathAtOnce } from "../../test/scenario.ts";
import { secondWorkspace } from "../../test/tenant.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const CANARY = "kanarienvogel";

/** Fills a workspace with contacts and emails that have the word in every field. Returns their ids. */
const plant = async (world: TestWorld, key: string, word: string): Promise<Record<string, string[]>> => {
  const made = async (path: string, body: object): Promise<string> => {
    const answer = await ask(world, { path, body, key });
    const read = (await answer.json()) as { id?: string; ids?: string[]; slug?: string };
    expect({ path, status: answer.status, read }).toMatchObject({ status: answer.status < 300 ? answer.status : 200 });
    return read.id ?? read.ids?.[0] ?? "";
  };
  const person = {
    email: `${word}@example.com`,
    firstName: word,
    lastName: word,
    phone: word,
    tags: [word],
    customFields: { [word]: word },
  };
  const contact = await made("/api/v1/contacts", person);
  const list = await made("/api/v1/lists", { name: "Newsletter" });
  await made(`/api/v1/lists/${list}/contacts`, { contacts: [contact] });
  const rules = { field: "tags", operator: "contains", value: word };
  const segment = await made("/api/v1/segments", { name: word, description: word, rules });
  const mail = { from: `${word} <${word}@sender.test>`, to: `${word}@example.com`, subject: word, text: word, html: `<p>${word}</p>` };
  const email = await made("/api/v1/send", { ...mail, tags: { [word]: word }, headers: { "X-Word": word } });
  await made("/api/v1/send", { ...mail, to: [`bounced+${word}@simulator.mailsvc.test`, `complained+${word}@simulator.mailsvc.test`] });
  await made("/api/v1/send", {
    ...mail,
    to: `${word} <to-${word}@example.com>`,
    cc: `cc-${word}@example.com`,
    bcc: `bcc-${word}@example.com`,
  });
  await made("/api/v1/suppressions", { email: `gone-${word}@example.com`, note: word });
  await made("/api/v1/senders", { email: `hello@${word}.example` });
  const template = await made("/api/v1/templates", { name: word, slug: word, subject: word, html: `<p>${word}</p>`, publish: true });
  const developer = await made("/api/v1/keys", { name: word, permissions: ["contacts:read"] });
  return { contact: [contact], list: [list], segment: [segment], email: [email], template: [template], key: [developer] };
};

test("nothing an agent's key or webhook can see contains a person, an email or another workspace", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld({ flags: { "rate-limit": "agent=10000/min,message=10000/min" } });
  const own = await plant(world, world.apiKey, `${CANARY}1`);
  const other = await secondWorkspace(world);
  const foreign = await plant(world, other.apiKey, `${CANARY}2`);
  const builders = await plant(world, world.builder.apiKey, `${CANARY}3`);
  await world.settle();
  await world.sdk.credits.grant({ amount: 10_000, description: "for all" });
  const agent = await createAgent(world, hooks);
  const { client, activationId, key } = agent;
  const foreignIds = [own, foreign, builders]
    .flatMap((made) => Object.values(made).flat())
    .filter((id) => id !== "" && !own.list?.includes(id));

  await world.sdk.emails.send({
    from: "a@acme.test",
    to: "ada@crawl.example",
    subject: "?",
    text: "?",
    replyTo: "auto",
  });
  const { id: answer } = await world.reply("ada@crawl.example", { text: "Yes" });
  await world.sdk.received.passOn(answer, { agent: "writer" });
  const seen: string[] = [];
  const succeeded = new Set<string>();
  let count = 0;
  const send = async (method: string, path: string, body?: unknown): Promise<number> => {
    count += 1;
    const headers = { "idempotency-key": `crawl-${count}` };
    const answer = await ask(world, { method, path, key, headers, ...(body !== undefined && { body }) });
    seen.push([...answer.headers].join("\n"), await answer.text());
    expect({ method, path, status: answer.status, text: seen.at(-1) }).toMatchObject({ status: Math.min(answer.status, 499) });
    return answer.status;
  };
  /** Creates things to name in requests, new ones for each endpoint. */
  const things = async () => {
    const { runId } = await client.runs.start();
    const message = await client.messages.create({ type: "APPROVAL_REQUEST", text: "?", approval: { title: "?" } });
    const wakeup = await client.wakeups.create({ delaySeconds: 60 + count, reason: "x" });
    const spent = await client.credits.consume({ amount: 5, action: "draft" });
    const page = await client.landingPages.create({ title: `Page ${count}`, html: "<p>x</p>", listId: own.list?.[0] });
    const upload = { title: "Guide", fileName: "a.pdf", contentBase64: Buffer.from("%PDF-1.7\nx\n%%EOF\n").toString("base64") };
    const magnet = await client.leadMagnets.create(upload);
    const names = { activationId, runId, messageId: message.id, wakeupId: wakeup.wakeupId, transactionId: spent.transactionId };
    return { names, ids: [page.id, magnet.id, activationId, ...(own.list ?? [])] };
  };

  for (const one of listAgentEndpoints()) {
    const takesId = one.endpoint.path.includes(":id");
    const { names, ids } = await things();
    for (const id of takesId ? ids : [""])
      for (const call of buildCalls(one, { ...names, id }))
        if ((await send(call.method, call.path, call.body)) < 300) succeeded.add(one.id);
    // Ids of others in every place for an id.
    for (const id of foreignIds) {
      const wrong = {
        activationId,
        runId: id,
        messageId: id,
        wakeupId: id,
        transactionId: id,
        id,
        listId: id,
        leadMagnetId: id,
        parentRunId: id,
      };
      if (!one.endpoint.path.endsWith(":activationId") && one.endpoint.path.replace(":activationId", "").includes(":"))
        for (const call of buildCalls(one, wrong)) expect(await send(call.method, call.path, call.body)).toBe(404);
    }
    await client.runs.cancel({ runId: names.runId }).catch(() => {});
  }
  expect(listAgentEndpoints().filter(({ id }) => !succeeded.has(id))).toEqual([]);

  // Paths that do not exist.
  const base = `/api/agents/activations/${activationId}`;
  for (const list of own.list ?? [])
    for (const rest of ["contacts", "members", "subscribers", "export"])
      expect(await send("GET", `${base}/lists/${list}/${rest}`)).toBe(404);
  for (const rest of ["contacts", "emails", "campaigns", "events", "segments", "senders", "suppressions", "templates", "keys", "members"])
    for (const prefix of [base, "/api/agents", "/api/v1", "/api/v1/v1"])
      expect([403, 404]).toContain(await send("GET", `${prefix}/${rest}?search=${CANARY}1`));

  await world.sdk.messages.create(activationId, { text: "A word" });
  for (const { id } of (await world.sdk.messages.list(activationId, { status: "PENDING", limit: 100 })).data) {
    const { proposal } = await world.sdk.approvals.get(id);
    await world.sdk.messages.answer(id, {
      decision: "approve",
      ...(proposal && { hash: proposal.hash, fromEmail: "hello@brand.example" }),
    });
  }
  await world.clock.advance("2h");
  await world.sdk.activations.pause(activationId);
  await world.sdk.activations.resume(activationId);
  await world.sdk.activations.deactivate(activationId);
  await world.settle();

  const { read } = world.app.deps.db;
  const rows = JSON.stringify([
    await read.select().from(read.t.webhookEvents),
    await read.select().from(read.t.webhookAttempts),
    await read.select().from(read.t.runs),
    await read.select().from(read.t.messages),
  ]);
  expect(seen.length).toBeGreaterThan(200);
  expect(hooks.bodies.length).toBeGreaterThan(5);
  const visible = [...seen, ...hooks.bodies, rows].join("\n");
  // An error may repeat the request's own path, nothing else.
  expect(visible.replaceAll(/search=kanarienvogel1/g, "")).not.toContain(CANARY);
  for (const { workspaceId } of [other, world.builder]) expect(visible).not.toContain(workspaceId);
});

/** Every GET that a developer key may call, from the contract; the stream of events has its own test. */
const reads = Object.entries(contract).flatMap(([noun, verbs]) =>
  Object.entries(verbs as Record<string, Endpoint>)
    .filter(([, { method, access, stream }]) => method === "GET" && !stream && typeof access === "object" && "permission" in access)
    .map(([verb, endpoint]) => ({ id: `${noun}.${verb}`, path: pathAtOnce(endpoint) })),
);

test("a brand and the builder of its agent see nothing of each other but the agent and the names", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld();
  const { builder } = world;
  const words = { brand: `${CANARY}1`, builder: `${CANARY}2` };
  const brandIds = Object.values(await plant(world, world.apiKey, words.brand)).flat();
  const builderIds = Object.values(await plant(world, builder.apiKey, words.builder)).flat();
  await world.sdk.credits.grant({ amount: 4711, description: words.brand });
  const agent = await createAgent(world, hooks);
  const { runId } = await agent.client.runs.start({ title: "Draft" });
  await agent.client.messages.create({ type: "APPROVAL_REQUEST", text: "?", runId, approval: { title: "?" } });
  const listing = await builder.sdk.listings.get("writer");
  const [payment] = (await builder.sdk.payments.list()).data;
  await world.settle();
  const events = (await builder.sdk.deliveries.list("writer")).data.map(({ id }) => id);
  expect(events.length).toBeGreaterThan(0);
  const names = ["writer", words.brand, words.builder, agent.activationId, runId, listing.id, payment?.id ?? "", ...events];
  const values = [...brandIds, ...builderIds, ...names];
  const sides = [
    // Hidden from a brand: the builder's workspace, webhook, payments and deliveries.
    { key: world.apiKey, hidden: [words.builder, builder.workspaceId, hooks.url, listing.id, payment?.id ?? "", ...events, ...builderIds] },
    // Hidden from a builder: the brand's workspace, people, mail, credits and keys.
    { key: builder.apiKey, hidden: [words.brand, world.workspaceId, "4711", runId, ...brandIds] },
  ];
  let asked = 0;
  for (const { id, path } of reads) {
    // Each sees its own requests there, which have asked for what is the other one's.
    if (id === "requests.list") continue;
    const params = paramNames(path);
    for (const value of params.length === 0 ? [""] : values)
      for (const { key, hidden } of sides) {
        const url = params.reduce(
          (text, name) => text.replace(`:${name}`, name === "slug" && params.length > 1 ? "writer" : value),
          path as string,
        );
        const answer = await ask(world, { method: "GET", path: url, key });
        const text = (await answer.text()).replaceAll(value === "" ? "\0" : value, "");
        const leaks = hidden.filter((secret) => secret !== "" && !value.includes(secret) && text.includes(secret));
        expect({ id, url, leaks }).toEqual({ id, url, leaks: [] });
        asked += 1;
      }
  }
  expect(asked).toBeGreaterThan(200);
  // Each sees the other's name, and the activation both share.
  expect((await world.sdk.catalog.get("writer")).builder).toEqual({ name: "builder" });
  expect((await builder.sdk.listings.activations("writer")).data).toMatchObject([{ id: agent.activationId, organizationName: "brand" }]);
});
