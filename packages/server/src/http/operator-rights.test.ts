import { contract, type Endpoint, takesOperatorKey } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { scriptedMailer } from "../../test/scripted-mailer.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const good = { slug: "writer", name: "Writer", webhookUrl: "https://hooks.example.com/agent", permissions: [] };

/** A server in production, with what its first workspace decides on: a sender and a payment. */
async function serve() {
  const world = await createWorld({ dev: false });
  const sender = await world.sdk.senders.create({ domain: "acme.com" });
  await world.sdk.listings.create(good);
  const payment = await world.sdk.listings.checkout("writer");
  /** Every decision of the operator; with `workspaceId`, those that name no object name it. */
  const decide = (key: string, workspaceId?: string) =>
    Promise.all(
      [
        { path: `/api/v1/senders/${sender.id}/verify`, body: { force: true } },
        { path: `/api/v1/marketplace/payments/${payment.id}/confirm`, body: {} },
        { path: "/api/v1/marketplace/credits", body: { amount: 10, ...(workspaceId && { workspaceId }) } },
        { path: "/api/v1/marketplace/plan", body: { plan: "starter", ...(workspaceId && { workspaceId }) } },
      ].map(async (call) => statusOf(await ask(world, { ...call, key }))),
    );
  return { world, decide, [Symbol.asyncDispose]: () => world.dispose() };
}

async function statusOf(response: Response): Promise<string> {
  const body = (await response.json()) as { error?: { code: string; details: { code: string }[] } };
  return [response.status, body.error?.code, body.error?.details[0]?.code].filter(Boolean).join(" ");
}

const REFUSED = "403 forbidden operator_only";

describe("while a server has one workspace", () => {
  test("its owner decides without a second key", async () => {
    await using one = await serve();
    expect(await one.decide(one.world.apiKey)).toEqual(["200", "200", "201", "200"]);
  });

  test("the operator key decides too, and need not name the workspace", async () => {
    await using one = await serve();
    expect(await one.decide(one.world.operatorKey)).toEqual(["200", "200", "201", "200"]);
    expect(await one.world.sdk.credits.get()).toEqual({ balance: 10 });
  });
});

describe("once a server has a second workspace", () => {
  test("no owner decides, neither for another workspace nor for the own one", async () => {
    await using one = await serve();
    const other = await one.world.createWorkspace("Other");
    expect(await one.decide(one.world.apiKey)).toEqual(Array.from({ length: 4 }, () => REFUSED));
    expect(await one.decide(other.apiKey, one.world.workspaceId)).toEqual(Array.from({ length: 4 }, () => REFUSED));
    expect(await one.world.sdk.senders.list()).toMatchObject({ data: [{ status: "PENDING" }] });
    expect(await one.world.sdk.credits.get()).toEqual({ balance: 0 });
    // Operations that affect nobody else still work.
    expect(await one.world.sdk.plans.get()).toMatchObject({ plan: "scale" });
  });

  test("the operator key decides, in the workspace of the object or in the one that it names", async () => {
    await using one = await serve();
    const other = await one.world.createWorkspace("Other");
    const { operatorKey, workspaceId } = one.world;
    expect(await one.decide(operatorKey)).toEqual(["200", "200", "400 validation_error required", "400 validation_error required"]);
    expect((await one.decide(operatorKey, workspaceId)).slice(2)).toEqual(["201", "200"]);
    expect((await one.decide(operatorKey, "ws_nobody")).slice(2)).toEqual(["404 not_found", "404 not_found"]);
    expect(await one.world.sdk.credits.get()).toEqual({ balance: 10 });
    expect(await other.sdk.credits.get()).toEqual({ balance: 0 });
    expect((await one.world.sdk.listings.get("writer")).state).toBe("LISTED");
  });

  test("the operator key is no key of a workspace: what it need not decide is refused", async () => {
    await using one = await serve();
    await one.world.createWorkspace("Other");
    const { operatorKey: key } = one.world;
    const [sender] = (await one.world.sdk.senders.list()).data;
    expect(await statusOf(await ask(one.world, { path: `/api/v1/senders/${sender?.id}/verify`, body: {}, key }))).toBe("403 forbidden");
    expect(await statusOf(await ask(one.world, { path: "/api/v1/senders/snd_nobody/verify", body: { force: true }, key }))).toBe(
      "404 not_found",
    );
    expect(await statusOf(await ask(one.world, { path: "/api/v1/contacts", body: { email: "a@example.com" }, key }))).toBe("403 forbidden");
    expect(await statusOf(await ask(one.world, { path: "/resend/emails", body: {}, key }))).toMatch(/^40[13]/);
  });

  test("only the operator is told more by /readyz than that the server is ready", async () => {
    await using one = await serve();
    const ready = async (key: string | null) => (await ask(one.world, { method: "GET", path: "/readyz", key })).json();
    expect(await ready(null)).toEqual({ status: "ready" });
    expect(await ready(one.world.apiKey)).toMatchObject({ status: "ready", smtp: [], inboundPeers: { public: 0, private: 0 } });
    await one.world.createWorkspace("Other");
    expect(await ready(one.world.apiKey)).toEqual({ status: "ready" });
    expect(await ready(one.world.operatorKey)).toMatchObject({ status: "ready", version: expect.any(String), relays: {} });
    expect(await statusOf(await ask(one.world, { method: "GET", path: "/readyz", key: "ms_live_wrong" }))).toBe("401 unauthorized");
    expect(await (await ask(one.world, { method: "GET", path: "/healthz", key: null })).json()).toEqual({ status: "ok" });
  });

  test("only the operator is told where relays are", async () => {
    const mailer = {
      ...scriptedMailer(() => ({ outcome: "sent", response: "250 ok" })),
      check: async () => "connect ECONNREFUSED 10.0.0.5:25",
    };
    await using world: TestWorld = await createWorld({ dev: false, mailer });
    const reason = async () => (await world.sdk.me.checkRelays()).data[0]?.reason;
    expect(await reason()).toBe("connect ECONNREFUSED 10.0.0.5:25");
    await world.createWorkspace("Other");
    expect(await reason()).toBe("connect ECONNREFUSED");
  });
});

test("in dev mode, where nothing is real, both sides of the marketplace decide for themselves", async () => {
  await using world = await createWorld();
  await world.builder.sdk.listings.create({ ...good, webhookUrl: "http://127.0.0.1:9/hook" });
  const { id } = await world.builder.sdk.listings.checkout("writer");
  expect(await world.builder.sdk.payments.confirm(id)).toMatchObject({ state: "PAID" });
});

test("each decision of the operator may be refused, and says so", () => {
  const decisions = Object.values(contract).flatMap((verbs) => Object.values<Endpoint>(verbs).filter(takesOperatorKey));
  expect(decisions.map(({ method, path }) => `${method} ${path}`)).toHaveLength(4);
  for (const { errors = [] } of decisions) expect(errors).toContain("forbidden");
});

describe("a domain", () => {
  const refused = { status: 409, code: "conflict", message: "acme.com is verified in another workspace of this server." };

  test("is verified in one workspace only, by whichever proof, and in whichever spelling", async () => {
    const records: string[][] = [];
    await using world = await createWorld({ dev: false, dns: { txt: async () => records.flat() } });
    const mine = await world.sdk.senders.create({ domain: "acme.com" });
    await world.sdk.senders.verify(mine.id, { force: true });
    const other = await world.createWorkspace("Other");
    const theirs = await other.sdk.senders.create({ domain: "ACME.com" });
    const address = await other.sdk.senders.create({ email: "CEO@Acme.com" });
    records.push([theirs.dnsRecord?.value ?? ""]);
    await expect(other.sdk.senders.verify(theirs.id, {})).rejects.toMatchObject(refused);
    const force = async (id: string) =>
      statusOf(await ask(world, { path: `/api/v1/senders/${id}/verify`, body: { force: true }, key: world.operatorKey }));
    expect([await force(theirs.id), await force(address.id)]).toEqual(["409 conflict", "409 conflict"]);
    await world.settle();
    expect((await other.sdk.senders.list()).data.map(({ status }) => status)).toEqual(["PENDING", "PENDING"]);
    // It is free again once the first workspace gave it up.
    await world.sdk.senders.delete(mine.id);
    expect(await other.sdk.senders.verify(theirs.id, {})).toMatchObject({ status: "VERIFIED" });
  });

  test("of another workspace can have a subdomain elsewhere, whose DNS records prove it", async () => {
    const records: string[] = [];
    await using world = await createWorld({ dev: false, dns: { txt: async () => records } });
    await world.sdk.senders.verify((await world.sdk.senders.create({ domain: "acme.com" })).id, { force: true });
    const other = await world.createWorkspace("Other");
    const sub = await other.sdk.senders.create({ domain: "shop.acme.com" });
    records.push(sub.dnsRecord?.value ?? "");
    expect(await other.sdk.senders.verify(sub.id, {})).toMatchObject({ status: "VERIFIED" });
  });
});
