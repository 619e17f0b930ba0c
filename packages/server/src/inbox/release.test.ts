import { hash } from "node:crypto";
import { Mailsvc } from "@mailsvc/sdk";
import { PERMISSIONS } from "@mailsvc/sdk/contract";
import { describe, expect, onTestFinished, test } from "vitest";
import { type SmtpPeer, smtpPeer } from "../../test/smtp-peer.ts";
import { readConfig } from "../config.ts";
import { createWorld, type TestWorld, type WorldOptions } from "../testing.ts";

const HELLO = {
  from: "Acme <hello@acme.example>",
  to: "ada@customer.example",
  cc: ["grace@customer.example"],
  subject: "Grüße",
  html: "<p>Hi</p>",
  text: "Hi",
};

async function start(to: string, options: WorldOptions = {}): Promise<{ world: TestWorld; relay: SmtpPeer }> {
  const relay = await smtpPeer();
  onTestFinished(() => relay.close());
  const flags = {
    "release-relay": `smtp://127.0.0.1:${relay.port}?tls=off`,
    "release-to": to,
    "mail-from": "Dev <dev@acme.example>",
    "trust-sender": "acme.example",
  };
  const world = await createWorld({ ...options, flags });
  onTestFinished(() => world.dispose());
  return { world, relay };
}

const clientOf = (world: TestWorld, apiKey: string) => new Mailsvc({ apiKey, baseUrl: world.url, fetch: world.fetch, maxRetries: 0 });

async function capture(world: TestWorld): Promise<{ id: string; raw: string }> {
  await world.sdk.emails.send(HELLO);
  const { id } = await world.inbox.waitFor({ to: HELLO.to });
  return { id, raw: await (await world.fetch(`${world.url}/__dev/inbox/${id}/raw`)).text() };
}

test("the message goes on as it is, with Resent headers and a new envelope, to nobody else", async () => {
  const { world, relay } = await start("*@example.com");
  const { id, raw } = await capture(world);
  expect(await world.sdk.inbox.release(id, { to: "me@Example.com" })).toEqual({
    released: [{ to: "me@Example.com", response: expect.any(String) }],
    failed: [],
  });
  expect(relay.mails.map(({ from, to }) => [from, to])).toEqual([["dev@acme.example", "me@Example.com"]]);
  const message = Buffer.from(relay.mails[0]?.raw ?? "").toString("latin1");
  const [, resent = "", rest = ""] = /^((?:Resent-[\s\S]*?\r\n)+?)(?!Resent-| )([\s\S]*)$/.exec(message) ?? [];
  expect(resent.split("\r\n").map((line) => line.replace(/<.*@/, "<…@"))).toEqual([
    "Resent-Date: Thu, 01 Jan 2026 00:00:00 +0000",
    "Resent-From: <…@acme.example>",
    "Resent-To: <…@Example.com>",
    "Resent-Message-ID: <…@acme.example>",
    "",
  ]);
  // The mail server ends every message with a line break.
  expect(hash("sha256", rest.trimEnd())).toBe(hash("sha256", raw.trimEnd()));
});

test("several addresses get it, one refused by the mail server is named", async () => {
  const { world, relay } = await start("*@example.com, boss@acme.example");
  await relay.close();
  const strict = await smtpPeer({
    onRcptTo: ({ address }, _session, done) => done(address.startsWith("no") ? new Error("No such user") : undefined),
  });
  onTestFinished(() => strict.close());
  const other = await createWorld({
    flags: { "release-relay": `smtp://127.0.0.1:${strict.port}?tls=off`, "release-to": "*@example.com, boss@acme.example" },
  });
  onTestFinished(() => other.dispose());
  const { id } = await capture(other);
  const answer = await other.sdk.inbox.release(id, { to: ["a@example.com", "no@example.com", "Boss@acme.example"] });
  expect([answer.released.map(({ to }) => to), answer.failed]).toEqual([
    ["a@example.com", "Boss@acme.example"],
    [{ to: "no@example.com", message: expect.stringContaining("No such user") }],
  ]);
  // A mail server that is not there has taken nothing, so nothing is acknowledged.
  const mine = await capture(world);
  expect(await world.sdk.inbox.release(mine.id, { to: "a@example.com" })).toMatchObject({
    released: [],
    failed: [{ to: "a@example.com" }],
  });
});

test("an address that --release-to does not allow is refused, and none of the others gets it", async () => {
  const { world, relay } = await start("*@example.com");
  const { id } = await capture(world);
  for (const to of ["me@sub.example.com", "me@example.org", "ada@customer.example"])
    await expect(world.sdk.inbox.release(id, { to: ["me@example.com", to] })).rejects.toMatchObject({
      status: 400,
      message: `--release-to does not allow ${to}.`,
      details: [{ path: "to[1]", code: "not_allowed" }],
    });
  await expect(world.sdk.inbox.release("mail_none", { to: "me@example.com" })).rejects.toMatchObject({ code: "not_found" });
  await expect(world.sdk.inbox.release(id, { to: Array(6).fill("me@example.com") })).rejects.toMatchObject({ code: "validation_error" });
  expect(relay.mails).toEqual([]);
});

test("without the flags nothing is released", async () => {
  await using world = await createWorld();
  const { id } = await capture(world);
  await expect(world.sdk.inbox.release(id, { to: "me@example.com" })).rejects.toMatchObject({
    code: "invalid_state",
    hint: expect.stringContaining("--release-relay"),
  });
});

test("thirty a minute are sent on, and the next one is told when", async () => {
  const { world, relay } = await start("me@example.com");
  const { id } = await capture(world);
  const client = clientOf(world, world.apiKey);
  for (let i = 0; i < 6; i += 1) await client.inbox.release(id, { to: Array(5).fill("me@example.com") });
  await expect(client.inbox.release(id, { to: "me@example.com" })).rejects.toMatchObject({ code: "rate_limited" });
  expect(relay.mails).toHaveLength(30);
});

describe("in production", () => {
  test("mail of test keys is released by a live key, where the operator allows it, and never by a test key", async () => {
    const { world, relay } = await start("*@example.com", { dev: false });
    const { key } = await world.sdk.keys.create({ name: "Test", permissions: [...PERMISSIONS], test: true });
    const staging = clientOf(world, key);
    await staging.emails.send(HELLO);
    await world.settle();
    const { data } = await world.sdk.testInbox.list();
    const id = data[0]?.id ?? "";
    await expect(staging.testInbox.release(id, { to: "me@example.com" })).rejects.toMatchObject({ status: 403 });
    expect(relay.mails).toEqual([]);
    expect((await world.sdk.testInbox.release(id, { to: "me@example.com" })).released).toHaveLength(1);
    expect(relay.mails.map(({ to }) => to)).toEqual(["me@example.com"]);
    const stranger = await world.createWorkspace("Other");
    await expect(stranger.sdk.testInbox.release(id, { to: "me@example.com" })).rejects.toMatchObject({ code: "not_found" });
  });
});

test.each([
  [{ "release-relay": "smtp://127.0.0.1" }, /--release-to/],
  [{ "release-to": "me@example.com" }, /--release-relay/],
  [{ "release-relay": "http://127.0.0.1", "release-to": "me@example.com" }, /--release-relay/],
  [{ "release-relay": "smtp://127.0.0.1", "release-to": "example.com" }, /--release-to takes addresses/],
  [{ "release-relay": "smtp://127.0.0.1", "release-to": "*@*" }, /--release-to takes addresses/],
  [{ "release-relay": "smtp://127.0.0.1", "release-to": "*" }, /--release-to takes addresses/],
])("flags that allow too much or nothing are refused: %j", (flags, message) => {
  expect(() => readConfig({ flags, env: {}, dev: true })).toThrow(message);
});
