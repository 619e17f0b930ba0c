import type { ProviderConnection } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { acceptingMailer } from "../../../test/accepting-mailer.ts";
import {
  authorizePostmark,
  MAILGUN_KEY,
  makeSendgridKeys,
  POSTMARK_KEY,
  SENDGRID_KEY,
  signMailgun,
  signSendgrid,
  signSns,
  standInForAmazon,
  TOPIC,
} from "../../../test/provider-webhooks.ts";
import { ask } from "../../../test/scenario.ts";
import { createWorld, type TestWorld } from "../../testing.ts";

type Client = TestWorld["sdk"];

const FROM = "a@acme.test";
const NOW = Math.floor(Date.now() / 1000);

/** A world with two workspaces, and no flags of providers. */
async function start() {
  const mailer = acceptingMailer();
  const { fetchText, fetched } = standInForAmazon();
  const world = await createWorld({ flags: { "inbound-domain": "in.acme.test" }, mailer, fetchText });
  const other = await world.createWorkspace("Other");
  await other.sdk.senders.create({ email: FROM });
  const send = async (sdk: Client, to: string) => {
    const { id } = (await sdk.emails.send({ from: FROM, to, subject: "Hi", text: "Hi" })) as { id: string };
    await world.settle();
    const mail = mailer.mails.find(({ messageId }) => messageId.includes(id));
    return { id, messageId: mail?.messageId ?? "", returnPath: mail?.envelopeFrom ?? "", headers: mail?.headers ?? {} };
  };
  const post = async ({ url }: Pick<ProviderConnection, "url">, { body, headers = {} }: Webhook) => {
    const response = await world.fetch(url, { method: "POST", body, headers });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> & { error?: { code: string } } };
  };
  return { world, other, send, post, fetched };
}

interface Webhook {
  readonly body: string;
  readonly headers?: Record<string, string>;
}
type Sent = Awaited<ReturnType<Awaited<ReturnType<typeof start>>["send"]>>;

/** For each provider: a key, and the webhooks of a bounce, with this key and with another one. */
const ACCOUNTS = [
  {
    provider: "ses",
    key: TOPIC,
    bounce: ({ returnPath }: Sent): Webhook => ({ body: signSns(sesBounce(returnPath)) }),
    forged: ({ returnPath }: Sent): Webhook => ({
      body: signSns(sesBounce(returnPath), { TopicArn: "arn:aws:sns:eu-west-1:666666666666:bounces" }),
    }),
  },
  {
    provider: "postmark",
    key: POSTMARK_KEY,
    bounce: ({ id }: Sent): Webhook => ({ body: postmarkBounce(id), headers: authorizePostmark() }),
    forged: ({ id }: Sent): Webhook => ({ body: postmarkBounce(id), headers: authorizePostmark("hook:wrong-horse") }),
  },
  {
    provider: "sendgrid",
    key: SENDGRID_KEY,
    bounce: (mail: Sent): Webhook => ({ body: sendgridBounce(mail), headers: signSendgrid(sendgridBounce(mail)) }),
    forged: (mail: Sent): Webhook => ({
      body: sendgridBounce(mail),
      headers: signSendgrid(sendgridBounce(mail), makeSendgridKeys().privateKey),
    }),
  },
  {
    provider: "mailgun",
    key: MAILGUN_KEY,
    bounce: (mail: Sent): Webhook => ({ body: signMailgun(mailgunBounce(mail), NOW) }),
    forged: (mail: Sent): Webhook => ({ body: signMailgun(mailgunBounce(mail), NOW, "another-key") }),
  },
] as const;

test.each(ACCOUNTS)("$provider: a report counts once, for mail of its workspace only", async ({ provider, key, bounce, forged }) => {
  const { world, other, send, post } = await start();
  await using _ = world;
  const mine = await world.sdk.providers.add({ provider, key });
  const theirs = await other.sdk.providers.add({ provider, key });
  const mail = await send(world.sdk, "ada@example.com");
  const status = async () => (await world.sdk.emails.get(mail.id)).status;
  expect(await post(mine, forged(mail))).toMatchObject({ status: 401, body: { error: { code: "invalid_signature" } } });
  const report = bounce(mail);
  // A report from the other workspace's account changes nothing about this mail, and does not use up the report either.
  expect(await post(theirs, report)).toEqual({ status: 200, body: { received: true, applied: 0 } });
  expect(await status()).toBe("sent");
  expect((await world.sdk.suppressions.list()).data).toEqual([]);
  expect((await other.sdk.suppressions.list()).data).toEqual([]);
  expect(await post(mine, report)).toEqual({ status: 200, body: { received: true, applied: 1 } });
  expect(await post(mine, report)).toEqual({ status: 200, body: { received: true, applied: 0 } });
  expect(await status()).toBe("bounced");
  expect((await world.sdk.suppressions.list()).data).toMatchObject([{ email: "ada@example.com", reason: "bounce" }]);
  expect((await other.sdk.suppressions.list()).data).toEqual([]);
  expect(await world.sdk.providers.remove(mine.id)).toEqual(mine);
  expect(await post(mine, report)).toMatchObject({ status: 404, body: { error: { code: "not_found" } } });
  expect((await post(theirs, report)).status).toBe(200);
});

test("the key of one workspace opens the URL of no other one", async () => {
  const { world, other, send, post } = await start();
  await using _ = world;
  const mine = await world.sdk.providers.add({ provider: "mailgun", key: "key-of-the-first" });
  await other.sdk.providers.add({ provider: "mailgun", key: "key-of-the-second" });
  const mail = await send(world.sdk, "ada@example.com");
  expect((await post(mine, { body: signMailgun(mailgunBounce(mail), NOW, "key-of-the-second") })).status).toBe(401);
  expect((await post({ url: `${world.url}/api/v1/inbound/mailgun` }, { body: signMailgun(mailgunBounce(mail), NOW) })).status).toBe(404);
  expect((await world.sdk.emails.get(mail.id)).status).toBe("sent");
});

test("a delay that is reported again, also at another connection of the workspace, is one event", async () => {
  const { world, send, post } = await start();
  await using _ = world;
  const old = await world.sdk.providers.add({ provider: "mailgun", key: MAILGUN_KEY });
  const replacement = await world.sdk.providers.add({ provider: "mailgun", key: MAILGUN_KEY });
  const mail = await send(world.sdk, "ada@example.com");
  const delay = { body: signMailgun({ ...mailgunBounce(mail), severity: "temporary" }, NOW) };
  const applied = [await post(old, delay), await post(old, delay), await post(replacement, delay)].map(({ body }) => body["applied"]);
  expect(applied).toEqual([1, 0, 0]);
  const { status, events } = await world.sdk.emails.get(mail.id);
  expect([status, events.filter(({ type }) => type === "email.deferred").length]).toEqual(["sent", 1]);
});

test("a report about another workspace's mail that is still being sent does not show that it exists", async () => {
  const { world, other, post } = await start();
  await using _ = world;
  const scheduled = { from: FROM, to: "ada@example.com", subject: "Hi", text: "Hi", scheduledAt: "2026-01-02T00:00:00Z" };
  const { id } = (await world.sdk.emails.send(scheduled)) as { id: string };
  const report = { body: postmarkBounce(id), headers: authorizePostmark() };
  expect((await post(await world.sdk.providers.add({ provider: "postmark", key: POSTMARK_KEY }), report)).status).toBe(503);
  expect(await post(await other.sdk.providers.add({ provider: "postmark", key: POSTMARK_KEY }), report)).toMatchObject({
    status: 200,
    body: { applied: 0 },
  });
});

test("mail carries the header of Postmark where its workspace has a connection to it", async () => {
  const { world, other, send } = await start();
  await using _ = world;
  await world.sdk.providers.add({ provider: "postmark", key: POSTMARK_KEY });
  await other.sdk.providers.add({ provider: "mailgun", key: MAILGUN_KEY });
  const mine = await send(world.sdk, "ada@example.com");
  expect(mine.headers["X-PM-Metadata-mailsvc-id"]).toBe(mine.id);
  expect(Object.keys((await send(other.sdk, "ada@example.com")).headers)).not.toContain("X-PM-Metadata-mailsvc-id");
});

test("a subscription is confirmed for the topic of the connection only", async () => {
  const { world, post, fetched } = await start();
  await using _ = world;
  const connection = await world.sdk.providers.add({ provider: "ses", key: TOPIC });
  const url = "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=t";
  const confirm = (TopicArn: string): Webhook => ({
    body: signSns("Subscribe?", { Type: "SubscriptionConfirmation", Token: "t", SubscribeURL: url, TopicArn }),
  });
  expect((await post(connection, confirm("arn:aws:sns:eu-west-1:666666666666:bounces"))).status).toBe(401);
  expect(fetched).not.toContain(url);
  expect((await post(connection, confirm(TOPIC))).status).toBe(200);
  expect(fetched).toContain(url);
});

test("connections are listed without their keys, by the workspace that has them, and the keys are stored encrypted", async () => {
  const { world, other } = await start();
  await using _ = world;
  const first = await world.sdk.providers.add({ provider: "mailgun", key: MAILGUN_KEY, description: "Receipts" });
  const second = await world.sdk.providers.add({ provider: "postmark", key: POSTMARK_KEY });
  expect(first).toEqual({
    id: expect.stringMatching(/^prv_/),
    provider: "mailgun",
    url: expect.stringMatching(/\/api\/v1\/inbound\/connections\/[0-9a-f]{48}$/),
    description: "Receipts",
    createdAt: "2026-01-01T00:00:00.000Z",
  });
  expect((await world.sdk.providers.list()).data).toEqual([second, first]);
  expect((await world.sdk.providers.list({ provider: "mailgun" })).data).toEqual([first]);
  expect(await (await ask(world, { method: "GET", path: "/api/v1/providers" })).text()).not.toMatch(/mailgun-key|correct-horse/);
  expect((await other.sdk.providers.list()).data).toEqual([]);
  await expect(other.sdk.providers.remove(first.id)).rejects.toMatchObject({ code: "not_found" });
  const { read } = world.app.deps.db;
  for (const { key } of await read.select().from(read.t.providerConnections))
    expect(Buffer.from(key).toString("latin1")).not.toMatch(/mailgun-key|correct-horse/);
});

test.each([
  ["ses", "bounces"],
  // Amazon's host is made of the region, and this one would be a bucket.
  ["ses", "arn:aws:sns:s3:123456789012:bounces"],
  ["ses", "arn:aws:sns:eu-west-1.evil.example/:123456789012:bounces"],
  ["postmark", "hook:short"],
  ["postmark", "no-password"],
  ["sendgrid", "bm8ga2V5"],
  ["mailgun", "with a space"],
  ["mailgun", "line\nbreak-line"],
] as const)("%s: %j is refused as a key", async (provider, key) => {
  const { world } = await start();
  await using _ = world;
  const error = await world.sdk.providers.add({ provider, key }).catch((e: unknown) => e);
  expect(error).toMatchObject({ code: "validation_error", details: [{ path: "key" }] });
  expect((await world.sdk.providers.list()).data).toEqual([]);
});

test("a workspace has 20 connections at most", async () => {
  const { world, other } = await start();
  await using _ = world;
  for (let i = 0; i < 20; i += 1) await world.sdk.providers.add({ provider: "mailgun", key: `mailgun-key-${i}` });
  await expect(world.sdk.providers.add({ provider: "mailgun", key: MAILGUN_KEY })).rejects.toMatchObject({ code: "limit_reached" });
  expect(await other.sdk.providers.add({ provider: "mailgun", key: MAILGUN_KEY })).toMatchObject({ provider: "mailgun" });
});

function sesBounce(source: string) {
  return {
    notificationType: "Bounce",
    bounce: {
      bounceType: "Permanent",
      bounceSubType: "General",
      feedbackId: "0100-bounce",
      bouncedRecipients: [{ status: "5.1.1", diagnosticCode: "smtp; 550 5.1.1 user unknown" }],
    },
    mail: { source },
  };
}

function postmarkBounce(id: string): string {
  const Details = "smtp;550 5.1.1 The email account does not exist";
  return JSON.stringify({ RecordType: "Bounce", ID: 42, Type: "HardBounce", Details, Metadata: { "mailsvc-id": id } });
}

function sendgridBounce({ messageId }: Sent): string {
  return JSON.stringify([
    { event: "bounce", "smtp-id": messageId, sg_event_id: "e1", type: "bounce", status: "5.1.1", reason: "550 5.1.1 user unknown" },
  ]);
}

function mailgunBounce({ messageId }: Sent): object {
  return {
    id: "1",
    event: "failed",
    severity: "permanent",
    message: { headers: { "message-id": messageId.slice(1, -1) } },
    "delivery-status": { code: 550, message: "5.1.1 user unknown" },
  };
}
