import type { MailAuthentication } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { ACME_IP, acme, OTHER_IP, signedMail } from "../../test/authenticated-mail.ts";
import { findRecipient, receiveMail } from "../inbound/receive.ts";
import type { DomainRecords } from "../lib/domain-records.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { isSenderCredible } from "./incoming.ts";

const SUPPORT = "support@in.example";

/** A world that receives the mail of in.example. */
async function start(dns: DomainRecords): Promise<TestWorld> {
  const world = await createWorld({ dns });
  await world.sdk.inboundDomains.create({ domain: "in.example" });
  return world;
}

/** Receives a mail from an address of the internet, and answers it as the API shows it. */
async function receive(world: TestWorld, raw: Buffer, ip: string | null = ACME_IP) {
  const { deps } = world.app;
  const recipient = await findRecipient(deps, SUPPORT);
  const peer = { ip, helo: "mx.acme.example" };
  const message = { recipients: recipient ? [recipient] : [], envelopeFrom: "hello@acme.example", raw: new Uint8Array(raw), peer };
  expect(await receiveMail(deps, message)).toBe("applied");
  const [newest] = (await world.sdk.received.list()).data;
  return world.sdk.received.get(newest?.id ?? "");
}

describe("what SPF, DKIM and DMARC say about a received mail", () => {
  test("is in the API, in lists, and in words, and the mail is stored as it came", async () => {
    await using world = await start(acme());
    const raw = await signedMail();
    const mail = await receive(world, raw);
    const authentication = { spf: "pass", dkim: "pass", dmarc: "pass", signers: ["acme.example"], policy: "reject", reason: null };
    expect(mail).toMatchObject({ authentication, text: "How are you?\n", size: raw.length });
    expect((await world.sdk.received.list()).data[0]?.authentication).toEqual(authentication);
    expect(Buffer.from(await world.sdk.received.raw(mail.id)).equals(raw)).toBe(true);
    expect((await world.sdk.explanations.get(mail.id)).summary).toContain(
      "Its sender is proven: DMARC passes (SPF pass, DKIM pass by acme.example).",
    );
  });

  test("is fail for a mail that somebody else wrote, which is stored all the same", async () => {
    await using world = await start(acme());
    const mail = await receive(world, await signedMail(null), OTHER_IP);
    expect(mail.authentication).toMatchObject({ spf: "fail", dkim: "none", dmarc: "fail", policy: "reject" });
    expect((await world.sdk.explanations.get(mail.id)).summary).toContain(
      "Its sender is not proven: DMARC fails (SPF fail, DKIM none). The domain in From asks to reject such mail.",
    );
  });

  test("is temperror when the DNS does not answer, whose name the reason tells", async () => {
    const refuse = async () => Promise.reject(Object.assign(new Error("no"), { code: "ECONNREFUSED" }));
    await using world = await start({ txt: refuse, mx: refuse, addresses: refuse, names: refuse });
    const mail = await receive(world, await signedMail());
    expect(mail.authentication).toMatchObject({ spf: "temperror", dkim: "temperror", dmarc: "temperror", signers: [] });
    expect((await world.sdk.explanations.get(mail.id)).summary).toMatch(
      /Whether its sender is who it says is not known \(.*\)\. No name server answered for \S+ \(ECONNREFUSED\)\./,
    );
  });

  test("does not depend on what the mail says of itself", async () => {
    await using world = await start(acme());
    const claims =
      "Authentication-Results: in.example; spf=pass smtp.mailfrom=acme.example; dkim=pass header.d=acme.example; dmarc=pass\r\nReceived-SPF: pass\r\n";
    const mail = await receive(world, Buffer.concat([Buffer.from(claims), await signedMail(null)]), OTHER_IP);
    expect(mail.authentication).toMatchObject({ spf: "fail", dkim: "none", dmarc: "fail", signers: [] });
    // A server of the own network could have written them: who reads the headers decides.
    const inside = await receive(world, Buffer.concat([Buffer.from(claims), await signedMail(null, { text: "Again" })]), null);
    expect(inside.authentication).toMatchObject({ spf: null, dkim: "none", dmarc: null });
    expect(inside.headers).toContainEqual({ name: "Authentication-Results", value: expect.stringContaining("dmarc=pass") });
  });

  test.each([
    ["passes", acme(), true, true],
    ["is unknown to DMARC, and signed", acme("no record"), true, true],
    ["fails", acme(), false, false],
    ["is unknown to DMARC, and not signed", acme("no record"), false, false],
  ])("decides whether a mail that only names an email is its answer: one that %s", async (_, dns, isSigned, isAnswer) => {
    await using world = await start(dns);
    const contact = await world.sdk.contacts.create({ email: "hello@acme.example" });
    const automation = await world.sdk.automations.create({
      name: "Series",
      trigger: { type: "tag.added", tag: "reader" },
      goal: { type: "replied" },
      steps: [{ id: "wait", type: "delay", for: "9d" }],
      connections: [{ from: "trigger", to: "wait" }],
    });
    await world.sdk.automations.activate(automation.id);
    await world.sdk.contacts.update(contact.id, { tags: ["reader"] });
    const { id } = await world.sdk.emails.send({ from: "Us <us@in.example>", to: "hello@acme.example", subject: "Hi", text: "Hi" });
    await world.settle();
    const sent = await world.inbox.waitFor({ to: "hello@acme.example" });
    const messageId = sent.headers.find(({ name }) => name === "Message-ID")?.value ?? "";
    const written = await signedMail(isSigned ? "acme.example" : null, { headers: { "In-Reply-To": messageId } });
    const mail = await receive(world, written, OTHER_IP);
    expect(mail).toMatchObject({ threadId: id, emailId: isAnswer ? id : null, contactId: contact.id });
    await world.settle();
    const stats = await world.sdk.automations.stats(automation.id);
    expect(stats).toMatchObject({ exited: isAnswer ? 1 : 0 });
    const { summary } = await world.sdk.explanations.get(mail.id);
    expect(summary).toContain(isAnswer ? `It answers ${id}` : "who sent it is not proven, so it does not count as an answer.");
  });

  test("is null for a reply that was made here", async () => {
    await using world = await createWorld();
    await world.sdk.emails.send({ from: "Acme <hello@acme.test>", to: "ada@example.com", subject: "Hi", text: "Hi", replyTo: "auto" });
    const reply = await world.reply("ada@example.com", { text: "Yes" });
    expect(reply.authentication).toBeNull();
    expect((await world.sdk.explanations.get(reply.id)).summary).toContain("Its sender was not checked: it did not come over SMTP.");
  });
});

test("a mail with several senders in From proves none, also from a trusted server", () => {
  const trusted: MailAuthentication = { spf: null, dkim: "none", dmarc: null, signers: [], policy: null, reason: null };
  expect(isSenderCredible(trusted, "ada@peer.example")).toBe(true);
  expect(isSenderCredible({ ...trusted, dmarc: "permerror" }, "ada@peer.example")).toBe(false);
});
