import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Postfix, postfixMissing, startPostfix } from "../../test/postfix.ts";
import { realTime } from "../lib/clock.ts";
import { mailerLaws, sampleMail } from "./mailer.laws.ts";
import type { Mailer } from "./mailer.ts";
import { composeMime } from "./mime.ts";
import { smtpMailer } from "./smtp.ts";

const missing = postfixMissing();

const tests = (): void => {
  vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
  let postfix: Postfix;
  beforeAll(async () => {
    postfix = await startPostfix();
  });
  afterAll(() => postfix.stop());

  const mailerTo = ({ port }: Postfix): Mailer => smtpMailer({ url: `smtp://127.0.0.1:${port}`, time: realTime });

  mailerLaws("the SMTP mailer", async () => {
    const mailer = mailerTo(postfix);
    let accepted = 0;
    return {
      mailer,
      accept: async () => {
        accepted += 1;
      },
      received: () => postfix.delivered(accepted),
      close: async () => {
        await mailer.close();
        await postfix.empty();
      },
    };
  });

  test("the bytes in the mailbox are the bytes that were signed", async () => {
    const mailer = mailerTo(postfix);
    const mail = sampleMail({
      text: ".dots\n.\n\n",
      html: `<p>${"ü".repeat(5000)}</p>\n`,
      attachments: [{ filename: "ü.bin", contentType: "application/pdf", contentId: null, content: new Uint8Array(70_000) }],
    });
    expect(await mailer.send(mail)).toMatchObject({ outcome: "sent", response: expect.stringMatching(/^250 2\.0\.0 Ok: queued as /) });
    const [got] = await postfix.delivered(1);
    expect(Buffer.from(got?.raw ?? []).toString("latin1")).toBe((await composeMime(mail)).toString("latin1"));
    await mailer.close();
    await postfix.empty();
  });

  test.each([
    ["an unknown mailbox", "nobody@example.com", { outcome: "bounced", error: { smtpCode: 550, enhancedCode: "5.1.1" } }],
    ["a mailbox of somebody else", "ada@elsewhere.example", { outcome: "bounced", error: { smtpCode: 554, enhancedCode: "5.7.1" } }],
    ["a mailbox that is busy", "later@example.com", { outcome: "deferred", error: { smtpCode: 450, enhancedCode: "4.2.0" } }],
    ["an address beyond ASCII", "jürgen@example.com", { outcome: "sent" }],
    ["a quoted local part", '"ada lovelace"@example.com', { outcome: "sent" }],
  ])("mail to %s ends as it must", async (_, envelopeTo, receipt) => {
    const mailer = mailerTo(postfix);
    expect(await mailer.send(sampleMail({ envelopeTo, to: [{ name: "", address: envelopeTo }] }))).toMatchObject(receipt);
    if (receipt.outcome === "sent") expect((await postfix.delivered(1))[0]?.to.replaceAll('"', "")).toBe(envelopeTo.replaceAll('"', ""));
    await mailer.close();
    await postfix.empty();
  });
};

if (missing === null) describe("Against a real Postfix", tests);
else {
  test(`The SMTP mailer is NOT tried against Postfix here: ${missing}`, () => {
    expect(process.env.CI, "CI must have Postfix, and root to run it").toBeUndefined();
  });
}
