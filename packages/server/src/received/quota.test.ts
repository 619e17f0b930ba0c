import { RECEIVED_LIMITS } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { ADA, start, write } from "../../test/receiving.ts";
import { talkSmtp } from "../../test/smtp-client.ts";

describe("mail is refused with 452 before it is taken", () => {
  test.each([
    ["number", { mails: RECEIVED_LIMITS.mailsPerDay - 1, kilobytes: 0 }],
    ["bytes", { mails: 0, kilobytes: RECEIVED_LIMITS.bytesPerDay / 1024 - 1 }],
  ])("beyond the quota of a day by %s, and only for that workspace", async (_name, used) => {
    await using s = await start();
    const { replyTo } = await s.send();
    await s.world.sdk.inboundDomains.create({ domain: "in.acme.test" });
    const { db, clock } = s.world.app.deps;
    const { workspaceId } = (await db.read.select().from(db.read.t.inboundDomains))[0] ?? {};
    const day = Math.floor(clock.now() / 86_400_000);
    await db.tx(
      async (tx) => void (await tx.insert(tx.t.receivedQuotas).values({ workspaceId: workspaceId ?? "", part: 0, day, ...used })),
    );
    expect(await s.deliver(replyTo, write("The last one"))).toBe(250);
    const greeting = ["EHLO x", `MAIL FROM:<${ADA}>`, `RCPT TO:<${replyTo}>`];
    expect((await talkSmtp(s.server.port, greeting)).at(-1)).toMatch(/^452 4\.2\.2/);
    await expect(s.world.reply(ADA, { text: "One more" })).rejects.toMatchObject({ code: "limit_reached" });
    expect((await s.world.sdk.received.list()).pagination.total).toBe(1);
    const other = await s.world.createWorkspace("Other");
    await other.sdk.inboundDomains.create({ domain: "other.test" });
    expect(await s.deliver("x@other.test", write("Elsewhere"))).toBe(250);
    await s.world.clock.advance("1d");
    expect(await s.deliver(replyTo, write("Tomorrow", { "Message-ID": "<2@x>" }))).toBe(250);
  });

  test("while the disk is nearly full, and taken again afterwards", async () => {
    await using s = await start();
    const { replyTo } = await s.send();
    const { storage } = s.world.app.deps;
    storage.lowDisk = "The disk is nearly full.";
    expect(await s.deliver(replyTo, write("x"))).toBe(452);
    storage.lowDisk = null;
    expect(await s.deliver(replyTo, write("x"))).toBe(250);
  });
});
