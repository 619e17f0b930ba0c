import type { Explanation } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { createTestAgent } from "../../test/agent.ts";
import { listAgent } from "../../test/marketplace.ts";
import { receiver } from "../../test/receiver.ts";
import { ask, scenarios } from "../../test/scenario.ts";
import { busy, cutOff, noSuchUser, scriptedMailer } from "../../test/scripted-mailer.ts";
import { keyFor, secondWorkspace } from "../../test/tenant.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const hello = { from: "a@acme.test", to: "ada@example.com", subject: "Hello", text: "x" };

async function send({ sdk }: TestWorld, changes: object = {}): Promise<string> {
  return ((await sdk.emails.send({ ...hello, ...changes })) as { id: string }).id;
}

const commandsOf = ({ actions }: Explanation): (string | null)[] => actions.map(({ command }) => command);
const wordsOf = ({ timeline }: Explanation): string[] => timeline.map(({ what }) => what);

scenarios("questions without an answer", [
  { name: "no key", method: "GET", path: "/api/v1/explain/em_x", key: null, status: 401 },
  { name: "an unknown email", method: "GET", path: "/api/v1/explain/em_x", status: 404, code: "not_found" },
  { name: "an unknown captured mail", method: "GET", path: "/api/v1/explain/mail_x", status: 404, code: "not_found" },
  { name: "an unknown contact", method: "GET", path: "/api/v1/explain/con_x", status: 404, code: "not_found" },
  { name: "an unknown address", method: "GET", path: "/api/v1/explain/who@example.com", status: 404, code: "not_found" },
  { name: "an unknown campaign", method: "GET", path: "/api/v1/explain/cmp_x", status: 404, code: "not_found" },
  { name: "an unknown entry", method: "GET", path: "/api/v1/explain/ent_x", status: 404, code: "not_found" },
  { name: "an unknown webhook", method: "GET", path: "/api/v1/explain/whk_x", status: 404, code: "not_found" },
  { name: "an unknown delivery", method: "GET", path: "/api/v1/explain/whd_x", status: 404, code: "not_found" },
  { name: "an unknown activation", method: "GET", path: "/api/v1/explain/act_x", status: 404, code: "not_found" },
  { name: "an unknown agent event", method: "GET", path: "/api/v1/explain/evt_x", status: 404, code: "not_found" },
  {
    name: "an id of nothing known, which is taken for that of a run",
    method: "GET",
    path: "/api/v1/explain/constructor",
    status: 404,
    code: "not_found",
  },
]);

test("a bounced email: what the code means, what follows from it, and what to do", async () => {
  await using world = await createWorld({ mailer: scriptedMailer(() => noSuchUser) });
  const id = await send(world);
  await world.settle();
  const explained = await world.sdk.explanations.get(id);
  expect(explained).toMatchObject({
    id,
    kind: "email",
    title: 'Email to ada@example.com: "Hello"',
    status: "bounced",
    next: null,
    explainedAt: "2026-01-01T00:00:00.000Z",
  });
  expect(explained.summary).toBe(
    'It was refused for good and is not tried again. The mailbox does not exist. The answer: "550 5.1.1 No such user here". The address is suppressed now and gets no more mail.',
  );
  expect(explained.timeline).toMatchObject([
    { what: "Accepted", why: null },
    { what: 'Refused for good at the relay default: "550 5.1.1 No such user here"', why: "The mailbox does not exist." },
    {
      what: "The address was suppressed",
      why: `An email to it was refused because the mailbox does not work. The email was ${id}. No mail goes to it.`,
    },
  ]);
  expect(commandsOf(explained)).toEqual([null, "mailsvc suppressions remove ada@example.com"]);
  // The second mail is refused by us, and leads back to the first.
  await expect(send(world)).rejects.toMatchObject({ code: "recipient_suppressed" });
  expect(await world.sdk.explanations.get("ADA@example.com")).toMatchObject({ kind: "contact", status: "suppressed", related: [id] });
});

test("an event is explained by what it is about, to keys that may read that", async () => {
  await using world = await createWorld();
  const id = await send(world);
  await world.settle();
  const [event] = (await world.sdk.events.list({ type: "email.delivered" })).data;
  expect(await world.sdk.explanations.get(event?.id ?? "")).toEqual(await world.sdk.explanations.get(id));
  const reader = world.sdk.withOptions({ apiKey: await keyFor(world, "events:read") });
  await expect(reader.explanations.get(event?.id ?? "")).rejects.toMatchObject({ code: "forbidden" });
  await expect(world.sdk.explanations.get("evt_0000000009z")).rejects.toMatchObject({ code: "not_found" });
});

test("a captured mail is explained by its email, to its recipient", async () => {
  await using world = await createWorld();
  const id = await send(world);
  const together = await send(world, { to: ["grace@example.com"], cc: "bob@example.com" });
  await world.settle();
  const mailTo = async (to: string): Promise<string> => (await world.sdk.inbox.list({ to })).data[0]?.id ?? "";
  const mail = await mailTo("ada@example.com");
  expect(await world.sdk.explanations.get(mail)).toEqual(await world.sdk.explanations.get(id));
  expect(await world.sdk.explanations.get(await mailTo("bob@example.com"))).toEqual(
    await world.sdk.explanations.get(together, { recipient: "bob@example.com" }),
  );
  const other = await secondWorkspace(world);
  await expect(world.sdk.withOptions({ apiKey: other.apiKey }).explanations.get(mail)).rejects.toMatchObject({ code: "not_found" });
  await world.sdk.senders.create({ email: "ceo@acme.test" });
  await world.settle();
  const confirmation = await mailTo("ceo@acme.test");
  if (confirmation !== "")
    await expect(world.sdk.explanations.get(confirmation)).rejects.toMatchObject({
      message: expect.stringContaining("of the server itself"),
    });
});

test("one mail to several recipients: for all of them, or for one by its address or id", async () => {
  await using world = await createWorld({
    mailer: scriptedMailer(({ envelopeTo }) => (envelopeTo.startsWith("gone") ? noSuchUser : { outcome: "sent", response: "250 OK" })),
  });
  const id = await send(world, { to: ["ada@example.com"], cc: "gone@example.com" });
  await world.settle();
  const both = await world.sdk.explanations.get(id);
  expect(both).toMatchObject({ id, status: "mixed", title: 'Email to 2 recipients: "Hello"' });
  expect(both.summary).toMatch(/^Of 2 recipients: 1 sent, 1 bounced\. gone@example\.com: It was refused for good/);
  expect(wordsOf(both)).toEqual([
    "Accepted",
    expect.stringMatching(/^ada@example\.com: The relay default took it/),
    expect.stringMatching(/^gone@example\.com: Refused for good/),
    "gone@example.com: The address was suppressed",
  ]);
  const other = both.related.find((one) => one.startsWith("em_")) ?? "";
  expect(commandsOf(both)).toEqual([`mailsvc why ${other} --recipient gone@example.com`]);
  expect(await world.sdk.explanations.get(other)).toMatchObject({ id: other, status: "bounced" });
  expect(await world.sdk.explanations.get(id, { recipient: "ADA@example.com" })).toMatchObject({ id, status: "sent" });
  await expect(world.sdk.explanations.get(id, { recipient: "who@example.com" })).rejects.toMatchObject({ code: "validation_error" });
});

test("a deferred email: each attempt, the next one, and how not to wait for it", async () => {
  await using world = await createWorld({ mailer: scriptedMailer((_mail, n) => (n === 0 ? cutOff : busy)) });
  const id = await send(world);
  await world.settle();
  await world.clock.advance("2m");
  const explained = await world.sdk.explanations.get(id);
  const { nextAttemptAt } = await world.sdk.emails.get(id);
  expect(explained).toMatchObject({ status: "deferred", next: { at: nextAttemptAt, what: expect.stringMatching(/^Attempt 3\./) } });
  expect(explained.summary).toMatch(/in 2 attempts\..*may have arrived too/);
  expect(wordsOf(explained)).toEqual([
    "Accepted",
    'Attempt 1 was not accepted at the relay default: "The connection was lost before the answer came."',
    'Attempt 2 was not accepted at the relay default: "451 4.7.1 Try again later"',
  ]);
  expect(explained.timeline[1]?.why).toMatch(/not known whether it arrived/);
  const [wait = ""] = commandsOf(explained).slice(-1);
  await world.clock.advance(`${wait?.split(" ").at(-1)}`);
  expect(await world.sdk.explanations.get(id)).toMatchObject({ next: { what: expect.stringMatching(/^Attempt 4\./) } });
  // Until the attempts are used up.
  await world.clock.advance("4d");
  expect(await world.sdk.explanations.get(id)).toMatchObject({
    status: "failed",
    next: null,
    summary: expect.stringMatching(/^It was given up after 10 attempts\./),
  });
});

test("an email that waits says for what: a pause, a held domain, its hour, a job that gave up", async () => {
  let broken = false;
  const mailer = scriptedMailer(() => {
    if (broken) throw new Error("a bug in the mailer");
    return busy;
  });
  await using world = await createWorld({ mailer });
  const operator = (path: string, body: object) => ask(world, { path: `/api/v1/queue/${path}`, key: world.operatorKey, body });
  const scheduled = await send(world, { scheduledAt: "2026-01-01T01:00:00Z" });
  expect(await world.sdk.explanations.get(scheduled)).toMatchObject({
    summary: "It is scheduled for 2026-01-01 01:00:00 UTC.",
    next: { at: "2026-01-01T01:00:00.000Z" },
    actions: [{ command: `mailsvc emails cancel ${scheduled}` }, { command: "mailsvc clock advance 1h" }],
  });
  await operator("pause", { reason: "the relay moves" });
  const paused = await world.sdk.explanations.get(await send(world));
  expect(paused.summary).toBe('It waits: all sending is paused since 2026-01-01 00:00:00 UTC ("the relay moves").');
  expect(commandsOf(paused)).toEqual(["mailsvc queue resume"]);
  await operator("resume", {});
  await operator("hold", { domain: "slow.example" });
  const held = await send(world, { to: "a@slow.example" });
  await world.settle();
  expect(await world.sdk.explanations.get(held)).toMatchObject({
    summary: "It waits: mail to slow.example is held since 2026-01-01T00:00:00.000Z.",
    actions: [{ command: "mailsvc queue release --domain slow.example" }],
  });
  broken = true;
  const lost = await send(world, { to: "b@example.com" });
  await world.settle();
  expect(await world.sdk.explanations.get(lost)).toMatchObject({
    summary: expect.stringContaining("failed 1 time for a reason inside the server"),
    next: { what: expect.stringContaining("25 times at most") },
  });
  await world.clock.advance("20d");
  expect(await world.sdk.explanations.get(lost)).toMatchObject({ summary: expect.stringContaining("a reason of its own") });
});

test("a mailer whose breaker is open is named as the reason", async () => {
  const mailer = {
    ...scriptedMailer(() => busy),
    fault: () => "Delivery is paused: the mail server refused 12 of the last 12 recipients.",
  };
  await using world = await createWorld({ mailer });
  const id = await send(world);
  await world.settle();
  expect(await world.sdk.explanations.get(id)).toMatchObject({
    summary: "It waits. Delivery is paused: the mail server refused 12 of the last 12 recipients.",
    actions: [{ command: "mailsvc doctor" }],
  });
});

test("a suppressed address: since when, by what, and how to lift it", async () => {
  await using world = await createWorld();
  const contact = await world.sdk.contacts.create({ email: "ada@example.com" });
  const id = await send(world, { scheduledAt: "2026-01-02T00:00:00Z" });
  await world.sdk.suppressions.create({ email: "ada@example.com", reason: "complaint", note: "She called us" });
  await world.clock.advance("2d");
  const email = await world.sdk.explanations.get(id);
  expect(email).toMatchObject({ status: "suppressed", actions: [{ command: "mailsvc suppressions remove ada@example.com" }] });
  expect(email.summary).toContain(
    'The recipient reported an email as spam. That came through the API or the dashboard. No mail goes to it. Note: "She called us".',
  );
  const person = await world.sdk.explanations.get(contact.id);
  expect(person).toMatchObject({ id: contact.id, status: "COMPLAINED", related: [id] });
  expect(wordsOf(person)).toEqual([
    "Created",
    "Marked as having complained, was SUBSCRIBED",
    'Email "Hello": suppressed',
    "The address was suppressed",
  ]);
  expect(commandsOf(person)).toEqual([
    "mailsvc suppressions remove ada@example.com",
    `mailsvc contacts update ${contact.id} --status SUBSCRIBED`,
  ]);
  expect(await world.sdk.explanations.get("ada@example.com")).toMatchObject({ id: contact.id });
});

test("a campaign: why it is held, who did not get it, what its recipients wait for", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await sdk.contacts.create({ email: "ada@example.com" });
  await sdk.contacts.create({ email: "gone@example.com" });
  await sdk.suppressions.create({ email: "gone@example.com", reason: "bounce" });
  const fields = { name: "Launch", subjectLine: "We are live", fromEmail: "news@acme.test", html: "<p>Hi</p>" };
  const list = await sdk.lists.create({ name: "Readers" });
  const held = await sdk.campaigns.create({ ...fields, recipientType: "list", listId: list.id, scheduledAt: "2026-01-01T10:00:00Z" });
  expect(await sdk.explanations.get(held.id)).toMatchObject({
    status: "SCHEDULED",
    next: { at: "2026-01-01T10:00:00.000Z", what: "Sending starts." },
  });
  await sdk.lists.delete(list.id);
  await world.clock.advance("11h");
  const explained = await sdk.explanations.get(held.id);
  expect(explained).toMatchObject({ status: "PAUSED", actions: [{ command: `mailsvc campaigns resume ${held.id}` }] });
  expect(explained.summary).toMatch(/^It is held, and no email has gone out\. .*list/);
  expect(explained.timeline.at(-1)).toMatchObject({ what: "Could not start, so it was paused", why: expect.stringMatching(/list/) });

  const sent = await world.campaign(fields);
  const over = await sdk.explanations.get(sent.id);
  expect(over.summary).toBe("Every recipient had an attempt. 1 of 2 were accepted; skipped: 1 bounced before.");
  expect(commandsOf(over)).toEqual([`mailsvc campaigns recipients ${sent.id} --status skipped`]);
  const [skipped] = (await sdk.campaigns.recipients(sent.id, { status: "skipped" })).data;
  expect(await sdk.explanations.get(skipped?.emailId ?? "")).toMatchObject({
    summary: "It was not sent. An earlier email to the contact bounced.",
    related: [sent.id, expect.stringMatching(/^con_/)],
  });

  await sdk.people.erase("ada@example.com");
  expect((await sdk.explanations.get(sent.id)).summary).toMatch(/0 of 2 were accepted; skipped: 1 bounced before; 1 erased\.$/);

  const again = await sdk.campaigns.resend(sent.id, { to: "failed" });
  const readers = await sdk.lists.create({ name: "Not these" });
  await sdk.campaigns.update(again.id, { exclude: [readers.id], localTime: { at: "2026-03-01T09:00" } });
  await sdk.campaigns.send(again.id);
  await sdk.contacts.create({ email: "local@example.com" });
  const local = await sdk.campaigns.create({ ...fields, localTime: { at: "2026-03-01T09:00" } });
  await sdk.campaigns.send(local.id);
  await world.settle();
  expect(await sdk.explanations.get(again.id)).toMatchObject({ related: [readers.id, sent.id] });
  expect(await sdk.explanations.get(local.id)).toMatchObject({
    status: "SENDING",
    next: { at: null, what: "Each reader gets it when their own clock shows 2026-03-01 09:00." },
  });

  const tested = await sdk.campaigns.create({
    ...fields,
    abTest: { variants: [{}, { subjectLine: "B" }], samplePercent: 50, winner: "manual" },
  });
  await sdk.campaigns.send(tested.id);
  await world.clock.advance("30d");
  expect(await sdk.explanations.get(tested.id)).toMatchObject({
    status: "SENDING",
    next: { at: null, what: "All other recipients get the variant that you pick." },
    actions: expect.arrayContaining([{ what: "Pick the winner", command: `mailsvc campaigns winner ${tested.id} --variant A` }]),
  });

  const slow = await sdk.campaigns.create({ ...fields, throttle: { perSecond: 0.01 } });
  await sdk.contacts.create({ email: "grace@example.com" });
  await sdk.campaigns.send(slow.id);
  await world.settle();
  expect(await sdk.explanations.get(slow.id)).toMatchObject({
    status: "SENDING",
    next: { what: "Its throttle releases the next emails." },
  });
  await sdk.campaigns.pause(slow.id);
  const [waiting] = (await sdk.campaigns.recipients(slow.id, { status: "queued" })).data;
  expect(await sdk.explanations.get(waiting?.emailId ?? "")).toMatchObject({
    summary: "It waits: its campaign is paused.",
    actions: [{ command: `mailsvc campaigns resume ${slow.id}` }],
  });
});

test("an automation entry: its way, what it waits for, and that a paused automation holds it", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const automation = await sdk.automations.create({
    name: "Carts",
    trigger: { type: "event", name: "cart" },
    steps: [
      { id: "wait", type: "delay", for: "3d" },
      { id: "leave", type: "exit", reason: "bought elsewhere" },
    ],
    connections: [
      { from: "trigger", to: "wait" },
      { from: "wait", to: "leave" },
    ],
  });
  await sdk.automations.activate(automation.id);
  await sdk.contacts.create({ email: "ada@example.com" });
  await sdk.events.track({ contact: "ada@example.com", name: "cart" });
  await world.settle();
  const [entry] = (await sdk.automations.entries(automation.id)).data;
  const id = entry?.id ?? "";
  const waiting = await sdk.explanations.get(id);
  expect(waiting).toMatchObject({ kind: "automation_entry", status: "ACTIVE", next: { at: "2026-01-04T00:00:00.000Z" } });
  expect(waiting.summary).toMatch(/^It waits in delay/);
  expect(wordsOf(waiting)).toEqual(['Entered by the event "cart"', expect.stringMatching(/^Took delay/)]);
  await sdk.automations.pause(automation.id);
  expect(await sdk.explanations.get(id)).toMatchObject({
    summary: expect.stringMatching(/^It stands still, because the automation is paused\./),
    actions: [{ command: `mailsvc automations activate ${automation.id}` }],
  });
  await sdk.automations.activate(automation.id);
  await world.clock.advance("4d");
  expect(await sdk.explanations.get(id)).toMatchObject({
    status: "EXITED",
    summary: 'It left before the end. Reason: "bought elsewhere".',
    next: null,
  });
});

test("a webhook that fails and its deliveries: each attempt with its hint, and when it is disabled", async () => {
  await using hook = await receiver(() => 500);
  await using world = await createWorld();
  const webhook = await world.sdk.webhooks.create({ url: hook.url, events: ["email.queued"] });
  expect(await world.sdk.explanations.get(webhook.id)).toMatchObject({ status: "enabled", next: null });
  await send(world);
  await world.settle();
  await world.clock.advance("10s");
  const [delivery] = (await world.sdk.webhooks.deliveries(webhook.id)).data;
  const explained = await world.sdk.explanations.get(delivery?.id ?? "");
  expect(explained).toMatchObject({
    kind: "webhook_delivery",
    status: "queued",
    next: { at: delivery?.nextAttemptAt, what: "Attempt 3." },
    related: [webhook.id],
  });
  expect(explained.timeline.at(-1)).toMatchObject({
    what: expect.stringMatching(/^Attempt 2 failed after \d+ ms: The webhook answered 500\.$/),
    why: expect.stringContaining("Answer 2xx as soon as the event is stored"),
  });
  const failing = await world.sdk.explanations.get(webhook.id);
  expect(failing).toMatchObject({ next: { at: "2026-01-06T00:00:00.000Z" }, related: [delivery?.id] });
  await send(world, { scheduledAt: "2026-01-07T00:00:00Z" });
  await world.sdk.webhooks.pause(webhook.id);
  expect((await world.sdk.explanations.get(delivery?.id ?? "")).summary).toContain("The webhook is paused.");
});

test("a webhook that failed and had no attempt since its time is disabled by the next failure, at no time in the past", async () => {
  await using hook = await receiver(() => 500);
  await using world = await createWorld();
  const webhook = await world.sdk.webhooks.create({ url: hook.url, events: ["email.queued"] });
  await send(world);
  await world.clock.advance("20d");
  expect(await world.sdk.explanations.get(webhook.id)).toMatchObject({
    status: "enabled",
    next: { at: null, what: "It is disabled if the next attempt fails too." },
  });
});

test("an activation, for its brand, its builder and its agent; and a run that sent no heartbeat", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  const { activationId } = agent;
  const brand = await world.sdk.explanations.get(activationId);
  expect(brand).toMatchObject({ kind: "activation", status: "active", summary: expect.stringMatching(/^It is active/) });
  expect(JSON.stringify(await world.builder.sdk.explanations.get(activationId))).toContain("mailsvc deliveries test writer");
  expect(JSON.stringify(brand)).not.toContain("deliveries test");

  await agent.call("POST", "/runs/start", { runId: "run-of-mine", title: "Write" });
  expect(await world.sdk.explanations.get("run-of-mine")).toMatchObject({ status: "RUNNING", next: { at: "2026-01-01T00:15:00.000Z" } });
  await world.clock.advance("16m");
  const run = await world.sdk.explanations.get("run-of-mine", { activation: activationId });
  expect(run).toMatchObject({ kind: "run", status: "FAILED", related: [activationId] });
  expect(run.summary).toMatch(/no heartbeat for 15 minutes/);
  expect((await agent.call("GET", "/explain/run-of-mine")).body).toMatchObject({ status: "FAILED", actions: [] });
  expect((await agent.call("GET", `/explain/${activationId}`)).body).toMatchObject({ status: "active", actions: [] });

  await world.clock.advance("3d");
  const paused = await world.sdk.explanations.get(activationId);
  expect(paused).toMatchObject({ status: "paused", actions: [{ command: `mailsvc activations resume ${activationId}` }] });
  expect(paused.summary).toMatch(/could not be delivered to the agent's webhook.*The builder of the agent has to repair it\./);
  const seen = await world.builder.sdk.explanations.get(activationId);
  expect(commandsOf(seen)).toContain(`mailsvc listings resume writer ${activationId}`);
  const [event = ""] = seen.related;
  const dead = await world.builder.sdk.explanations.get(event);
  expect(dead).toMatchObject({ kind: "agent_event", related: expect.arrayContaining([activationId]) });
  expect(commandsOf(dead)).toContain(`mailsvc deliveries redeliver writer ${event}`);
  // Neither the brand nor the agent sees what the builder's webhook answered.
  await expect(world.sdk.explanations.get(event)).rejects.toMatchObject({ code: "not_found" });
});

test("an agent learns nothing beyond its own activation", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  const contact = await world.sdk.contacts.create({ email: "ada@example.com" });
  const email = await send(world);
  for (const id of [contact.id, email, "ada@example.com", "act_other", "whk_x"]) {
    const answer = await agent.call("GET", `/explain/${encodeURIComponent(id)}`);
    expect([answer.status, answer.body.error.code]).toEqual([404, "not_found"]);
  }
  expect((await ask(world, { method: "GET", path: `/api/v1/explain/${email}`, key: agent.key })).status).toBe(403);
});

test("an agent that may not read runs has none explained, its activation yes", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world, { permissions: ["agent:write_runs"] });
  await agent.call("POST", "/runs/start", { runId: "run-of-mine", title: "Write" });
  for (const id of ["run-of-mine", "run-of-nobody"]) {
    const answer = await agent.call("GET", `/explain/${id}`);
    expect([answer.status, answer.body.error]).toMatchObject([403, { code: "forbidden", details: [{ message: "agent:read_runs" }] }]);
  }
  expect((await agent.call("GET", `/explain/${agent.activationId}`)).status).toBe(200);
});

test("an object that has no explanation is not said to be absent", async () => {
  await using world = await createWorld();
  const { id } = await world.sdk.lists.create({ name: "News" });
  await expect(world.sdk.explanations.get(id)).rejects.toMatchObject({
    code: "not_found",
    message: `Nothing that can be explained has the id "${id}" in this workspace.`,
    hint: expect.stringContaining("email, captured mail"),
  });
});

test("a key needs the permission to read what is explained, and sees its own workspace only", async () => {
  await using world = await createWorld();
  const id = await send(world);
  const activation = (await createTestAgent(world)).activationId;
  const get = async (of: string, key: string) => {
    const answer = await ask(world, { method: "GET", path: `/api/v1/explain/${of}`, key });
    return [answer.status, ((await answer.json()) as { error?: { details: { message: string }[] } }).error?.details[0]?.message];
  };
  const reader = await keyFor(world, "contacts:read");
  expect(await get(id, reader)).toEqual([403, "transactional:read"]);
  expect(await get(activation, reader)).toEqual([403, "marketplace:read"]);
  expect((await get(id, await keyFor(world, "transactional:read")))[0]).toBe(200);
  expect((await get(id, (await secondWorkspace(world)).apiKey))[0]).toBe(404);
  // The activation of another builder's agent.
  await using hooks = await receiver();
  const other = await secondWorkspace(world);
  await listAgent(other.sdk, hooks.url, { slug: "other" });
  expect((await get(activation, other.apiKey))[0]).toBe(404);
});
