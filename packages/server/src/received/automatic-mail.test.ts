import { describe, expect, test } from "vitest";
import { newest, start, write } from "../../test/receiving.ts";

describe("automatic mail is marked", () => {
  test.each([
    ["auto_submitted", { "Auto-Submitted": "auto-replied" }],
    ["auto_submitted", { "X-Autoreply": "yes" }],
    ["auto_submitted", { "X-Autorespond": "" }],
    ["auto_submitted", { "X-Mail-Autoreply": "yes" }],
    ["auto_submitted", { "X-FC-MachineGenerated": "true" }],
    ["auto_submitted", { "Delivered-To": "Autoresponder" }],
    ["auto_submitted", { "X-POST-MessageClass": "9; Autoresponder" }],
    ["auto_submitted", { "X-Autoreply-Domain": "example.com" }],
    ["auto_submitted", { "X-MS-Exchange-Generated-Message-Source": "Mailbox Rules Agent" }],
    [null, { "X-Auto-Response-Suppress": "All" }],
    ["precedence", { Precedence: "bulk" }],
    ["mailing_list", { "List-Id": "<talk.example.com>" }],
    ["program_address", { From: "MAILER-DAEMON@example.com" }],
    [null, { "Auto-Submitted": "no" }],
  ])("%s by %j", async (autoReply, headers) => {
    await using s = await start();
    const { replyTo } = await s.send();
    expect(await s.deliver(replyTo, write("x", headers as Record<string, string>))).toBe(250);
    expect((await newest(s)).autoReply).toBe(autoReply);
    expect((await s.world.sdk.received.list({ autoReply: false })).pagination.total).toBe(autoReply === null ? 1 : 0);
  });

  test("but not an answer with the List-Unsubscribe of a tool for outreach or the X-Loop of a forwarder", async () => {
    await using s = await start();
    const { messageId } = await s.send();
    await s.world.sdk.inboundDomains.create({ domain: "in.acme.test" });
    const judge = async (headers: Record<string, string>): Promise<string | null> => {
      expect(await s.deliver("x@in.acme.test", write("x", { "Message-ID": `<${JSON.stringify(headers).length}@x>`, ...headers }))).toBe(
        250,
      );
      return (await newest(s)).autoReply;
    };
    const answer = { "In-Reply-To": messageId };
    expect(await judge({ "List-Unsubscribe": "<https://x.example>" })).toBe("mailing_list");
    expect(await judge({ "List-Unsubscribe": "<https://x.example>", ...answer })).toBeNull();
    expect(await judge({ "X-Loop": "hello@acme.test" })).toBe("loop");
    expect(await judge({ "X-Loop": "hello@acme.test", ...answer })).toBeNull();
    expect(await judge({ "List-Id": "<talk.example.com>", ...answer })).toBe("mailing_list");
  });

  test("not by how many people write through one contact form; and who wrote too many gets an answer of a person", async () => {
    await using s = await start();
    await s.world.sdk.inboundDomains.create({ domain: "in.acme.test" });
    const form = (i: number, visitor: string) =>
      write("x", { From: "Contact form <forms@site.example>", "Reply-To": visitor, "Message-ID": `<f${i}@x>` });
    for (let i = 0; i < 22; i += 1) await s.deliver("x@in.acme.test", form(i, `visitor${i}@people.example`));
    expect((await newest(s)).autoReply).toBeNull();
    for (let i = 22; i < 43; i += 1) await s.deliver("x@in.acme.test", form(i, "same@people.example"));
    const last = await newest(s);
    expect(last.autoReply).toBe("too_many");
    await s.world.sdk.senders.create({ email: "hello@acme.test" }).catch(() => undefined);
    expect(await s.world.sdk.received.reply(last.id, { from: "Acme <hello@acme.test>", text: "Yes" })).toMatchObject({ status: "queued" });
  });

  test("when its sender is empty, when it is our own, and when one sender writes twenty within an hour", async () => {
    await using s = await start();
    const { replyTo, messageId } = await s.send();
    await s.deliver(replyTo, write("x"), "");
    expect((await newest(s)).autoReply).toBe("null_sender");
    await s.deliver(replyTo, write("x", { "Message-ID": messageId }));
    expect((await newest(s)).autoReply).toBe("loop");
    const reasons: (string | null)[] = [];
    for (let i = 0; i < 20; i += 1) {
      await s.deliver(replyTo, write("x", { "Message-ID": `<m${i}@x>` }));
      reasons.push((await newest(s)).autoReply);
    }
    expect(reasons).toEqual([...Array(18).fill(null), "too_many", "too_many"]);
    await s.world.clock.advance("1h");
    await s.deliver(replyTo, write("x", { "Message-ID": "<later@x>" }));
    expect((await newest(s)).autoReply).toBeNull();
  });
});
