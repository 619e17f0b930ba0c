import { describe, expect, test } from "vitest";
import { ADA, newest, start, write } from "../../test/receiving.ts";

describe("an inbound domain", () => {
  test("takes mail at every address of it, begins conversations and finds them by In-Reply-To and References", async () => {
    await using s = await start();
    const contact = await s.world.sdk.contacts.create({ email: ADA });
    expect(await s.deliver("sales@in.acme.test", write("Hello?"))).toBe(550);
    await s.world.sdk.inboundDomains.create({ domain: "in.acme.test" });
    expect(await s.deliver("Sales@In.Acme.Test", write("Hello?", { Subject: "A question" }))).toBe(250);
    const first = await newest(s);
    expect(first).toMatchObject({
      to: "Sales@in.acme.test",
      emailId: null,
      contactId: contact.id,
      threadId: first.id,
      subject: "A question",
    });
    expect(await s.world.events.all({ type: "email.received" })).toMatchObject([{ emailId: null, contactId: contact.id }]);
    await s.deliver("sales@in.acme.test", write("Still there?", { "Message-ID": "<2@x>", References: "<0@x> <1@mail.example.com>" }));
    expect(await newest(s)).toMatchObject({ threadId: first.id, references: ["<0@x>", "<1@mail.example.com>"] });
    const { id } = await s.world.sdk.received.reply(first.id, { text: "Yes" });
    expect(await s.world.sdk.emails.get(id)).toMatchObject({ from: "Sales@in.acme.test", subject: "Re: A question", threadId: first.id });
  });

  test("finds the email that a mail answers by its Message-ID, and not that of another workspace", async () => {
    await using s = await start();
    const { id, messageId } = await s.send({ replyTo: "hello@in.acme.test" });
    await s.world.sdk.inboundDomains.create({ domain: "in.acme.test" });
    await s.deliver("hello@in.acme.test", write("Fine", { "In-Reply-To": messageId }));
    expect(await newest(s)).toMatchObject({ emailId: id, threadId: id });
    const other = await s.world.createWorkspace("Other");
    await other.sdk.inboundDomains.create({ domain: "other.test" });
    await s.deliver("x@other.test", write("Fine", { "In-Reply-To": messageId }));
    const [foreign] = (await other.sdk.received.list()).data;
    expect(foreign).toMatchObject({ emailId: null, contactId: null, threadId: foreign?.id });
    await expect(s.world.sdk.received.get(foreign?.id ?? "")).rejects.toMatchObject({ code: "not_found" });
  });

  test("takes who only names an email into the conversation, but not for its recipient", async () => {
    await using s = await start();
    const contact = await s.world.sdk.contacts.create({ email: ADA });
    const { id, messageId } = await s.send({ replyTo: "hello@in.acme.test" });
    await s.world.sdk.inboundDomains.create({ domain: "in.acme.test" });
    const to = { "In-Reply-To": messageId };
    await s.deliver("hello@in.acme.test", write("Stop writing to me", { ...to, From: "mallory@example.net" }), "mallory@example.net");
    expect(await newest(s)).toMatchObject({ emailId: null, contactId: null, threadId: id, campaignId: null });
    await s.deliver("hello@in.acme.test", write("Fine", { ...to, From: "ADA@example.com", "Message-ID": "<2@x>" }));
    expect(await newest(s)).toMatchObject({ emailId: id, contactId: contact.id, threadId: id });
    const events = await s.world.events.all({ type: "email.received" });
    expect(events.map(({ emailId, contactId }) => [emailId, contactId])).toEqual([
      [null, null],
      [id, contact.id],
    ]);
  });

  test("is verified by a TXT record, belongs to one workspace, and is no longer taken once removed", async () => {
    const records: string[] = [];
    const flags = { "inbound-domain": "bounces.acme.test" };
    await using s = await start({ dev: false, flags, dns: { txt: async (name) => (name === "_mailsvc.in.acme.test" ? records : []) } });
    const { inboundDomains } = s.world.sdk;
    const domain = await inboundDomains.create({ domain: "In.Acme.test" });
    expect(domain).toMatchObject({
      domain: "in.acme.test",
      status: "PENDING",
      dnsRecords: [
        { type: "TXT", name: "_mailsvc.in.acme.test", value: expect.stringMatching(/^mailsvc-verify=[0-9a-f]{48}$/) },
        { type: "MX", name: "in.acme.test", value: "bounces.acme.test", priority: 10 },
      ],
    });
    await expect(inboundDomains.create({ domain: "in.acme.test" })).rejects.toMatchObject({ code: "conflict" });
    await expect(inboundDomains.create({ domain: "bounces.acme.test" })).rejects.toMatchObject({ code: "conflict" });
    expect(await inboundDomains.verify(domain.id, {})).toMatchObject({
      status: "PENDING",
      lastError: expect.stringContaining("no TXT record"),
    });
    expect(await s.deliver("x@in.acme.test", write("Early"))).toBe(550);
    records.push(domain.dnsRecords[0]?.value ?? "");
    await s.world.clock.advance("10m");
    expect(await inboundDomains.get(domain.id)).toMatchObject({ status: "VERIFIED", lastError: null });
    expect(await s.deliver("x@in.acme.test", write("Now"))).toBe(250);
    const other = await s.world.createWorkspace("Other");
    const theirs = await other.sdk.inboundDomains.create({ domain: "in.acme.test" });
    records.push(theirs.dnsRecords[0]?.value ?? "");
    await expect(other.sdk.inboundDomains.verify(theirs.id, {})).rejects.toMatchObject({ code: "conflict" });
    await s.world.clock.advance("10m");
    expect(await other.sdk.inboundDomains.get(theirs.id)).toMatchObject({
      status: "PENDING",
      lastError: expect.stringContaining("Another workspace"),
    });
    await inboundDomains.delete(domain.id);
    expect(await s.deliver("x@in.acme.test", write("Late"))).toBe(550);
    await s.world.clock.advance("10m");
    expect(await other.sdk.inboundDomains.get(theirs.id)).toMatchObject({ status: "VERIFIED" });
    expect((await s.world.sdk.received.list()).pagination.total).toBe(1);
  });
});

test("the TXT record of a verified inbound domain is looked for every day; its mail is received while it is missing", async () => {
  const records: string[] = [];
  const flags = { "inbound-domain": "bounces.acme.test" };
  const mx = async () => [{ priority: 10, exchange: "bounces.acme.test" }];
  await using s = await start({ dev: false, flags, dns: { txt: async (name) => (name === "_mailsvc.in.acme.test" ? records : []), mx } });
  const { sdk } = s.world;
  const made = await sdk.inboundDomains.create({ domain: "in.acme.test" });
  records.push(made.dnsRecords[0]?.value ?? "");
  await s.world.clock.advance("10m");
  const verified = await sdk.inboundDomains.get(made.id);
  expect(verified).toMatchObject({ status: "VERIFIED", failingSince: null });
  records.length = 0;
  await s.world.clock.advance("1d");
  const failing = await sdk.inboundDomains.get(made.id);
  expect(failing).toMatchObject({
    status: "VERIFIED",
    failingSince: expect.any(String),
    lastError: "There is no TXT record at _mailsvc.in.acme.test.",
  });
  expect(await s.deliver("sales@in.acme.test", write("Hello?"))).toBe(250);
  records.push(made.dnsRecords[0]?.value ?? "");
  expect(await sdk.inboundDomains.verify(made.id)).toEqual(verified);
});

test("so is its MX record, with an event once it has been missing for a day, and one when it is back", async () => {
  const records: string[] = [];
  const exchanges = [{ priority: 10, exchange: "Bounces.Acme.test." }];
  const addresses = async (name: string) => (name === "elsewhere.test" ? ["192.0.2.7"] : ["192.0.2.1"]);
  const flags = { "inbound-domain": "bounces.acme.test" };
  await using s = await start({ dev: false, flags, dns: { txt: async () => records, mx: async () => exchanges, addresses } });
  const { sdk } = s.world;
  const { id, dnsRecords } = await sdk.inboundDomains.create({ domain: "in.acme.test" });
  records.push(dnsRecords[0]?.value ?? "");
  await s.world.clock.advance("10m");
  const verified = await sdk.inboundDomains.get(id);
  // Another name that leads to the same address does as well.
  exchanges.splice(0, 1, { priority: 10, exchange: "mx.acme.test" });
  await s.world.clock.advance("1d");
  expect(await sdk.inboundDomains.get(id)).toEqual(verified);
  exchanges.splice(0, 1, { priority: 10, exchange: "elsewhere.test" });
  await s.world.clock.advance("3d");
  const failing = await sdk.inboundDomains.get(id);
  const reason = "The MX record at in.acme.test names elsewhere.test, not bounces.acme.test, so its mail does not come here.";
  expect(failing).toMatchObject({ status: "VERIFIED", failingSince: expect.any(String), lastError: reason });
  exchanges.splice(0);
  expect((await sdk.inboundDomains.verify(id, {})).lastError).toBe(
    "There is no MX record at in.acme.test, so its mail does not come here.",
  );
  exchanges.push({ priority: 10, exchange: "bounces.acme.test" });
  expect(await sdk.inboundDomains.verify(id, {})).toEqual(verified);
  await s.world.settle();
  const about = { inboundDomainId: id, domain: "in.acme.test", failingSince: failing.failingSince };
  expect((await s.world.events.all()).flatMap(({ type, data }) => (type.startsWith("domain.") ? [{ type, data }] : []))).toEqual([
    { type: "domain.record_missing", data: { ...about, reason } },
    { type: "domain.record_restored", data: about },
  ]);
});

test("of two workspaces that verify an inbound domain at once, one gets it and the other a conflict", async () => {
  const records: string[] = [];
  await using s = await start({ dev: false, flags: { "inbound-domain": "bounces.acme.test" }, dns: { txt: async () => records } });
  const other = await s.world.createWorkspace("Other");
  for (let round = 0; round < 5; round += 1) {
    const sdks = [s.world.sdk, other.sdk];
    const domains = await Promise.all(sdks.map((sdk) => sdk.inboundDomains.create({ domain: `in${round}.acme.test` })));
    records.push(...domains.map(({ dnsRecords }) => dnsRecords[0]?.value ?? ""));
    const results = await Promise.allSettled(sdks.map((sdk, i) => sdk.inboundDomains.verify(domains[i]?.id ?? "", {})));
    expect(results.map((one) => (one.status === "fulfilled" ? one.value.status : one.reason.code)).sort()).toEqual([
      "VERIFIED",
      "conflict",
    ]);
  }
});
