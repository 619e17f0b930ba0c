import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { acceptingMailer } from "../../test/accepting-mailer.ts";
import { arf, postfixDsn } from "../../test/bounce-samples.ts";
import { addContacts, createCampaign } from "../../test/campaign.ts";
import { deliverSmtp } from "../../test/smtp-client.ts";
import { serveInboundSmtp } from "../inbound/inbound.ts";
import { createWorld } from "../testing.ts";
import { findDifferences } from "./recount.ts";

const PERSON = "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0";
const MAILGUN = "key-of-the-webhook";

test("the numbers add up after scanners, one-click posts, bounces, complaints, repeated and forged reports", async () => {
  const mailer = acceptingMailer();
  await using world = await createWorld({ flags: { "inbound-domain": "in.acme.test" }, mailer });
  const { sdk, clock } = world;
  const [opener, clicker, leaver, gone, angry, reported, scanned, worded] = (await addContacts(world, 8)) as [string, ...string[]];
  const { id } = await createCampaign(world, { text: "Hello" });
  await sdk.campaigns.send(id);
  await sdk.campaigns.pause(id);
  await sdk.campaigns.resume(id);
  await world.settle();
  const smtp = await serveInboundSmtp(world.app.deps, { host: "127.0.0.1", port: 0 });
  const mailTo = (to = "") => mailer.mails.find(({ envelopeTo }) => envelopeTo === to) as (typeof mailer.mails)[number];
  const linksTo = (to = ""): string[] => [...(mailTo(to).html ?? "").matchAll(/(?:href|src)="(http[^"]+)"/g)].map(([, url]) => url ?? "");
  const get = (url = "", agent = PERSON): Promise<Response> =>
    world.fetch(url.replaceAll("&amp;", "&"), { redirect: "manual", headers: { "user-agent": agent } });
  const oneClick = /<(https?:[^>]+)>/.exec(mailTo(leaver).headers["List-Unsubscribe"] ?? "")?.[1] ?? "";
  await clock.advance("1h");

  // People: one opens, one clicks, and one unsubscribes by Gmail's button, which may come again.
  await get(linksTo(opener).find((url) => url.includes("/t/o/")));
  await get(linksTo(clicker).find((url) => url.includes("/t/c/")));
  const body = new FormData();
  body.set("List-Unsubscribe", "One-Click");
  for (let i = 0; i < 2; i += 1) expect((await world.fetch(oneClick, { method: "POST", body })).status).toBe(200);
  // A scanner gets every link of a mail at once, also that of the header.
  const unsubscribe = /<(https?:[^>]+)>/.exec(mailTo(scanned).headers["List-Unsubscribe"] ?? "")?.[1] ?? "";
  await Promise.all([...linksTo(scanned), unsubscribe].map((url) => get(url, "python-requests/2.32")));

  // A bounce and a complaint by mail, three times each, between mails that are neither.
  const { port } = smtp;
  const bounce = Buffer.from(postfixDsn({ messageId: mailTo(gone).messageId, to: gone ?? "" }));
  const complaint = Buffer.from(arf({ messageId: mailTo(angry).messageId, to: angry ?? "" }));
  // A report without its status still says in words what happened. Half a report says nothing, and so does other mail, however large.
  const torn = Buffer.from(bounce.toString("latin1").replaceAll("Status:", "Stat us:"), "latin1");
  const large = Buffer.from(`Subject: Hello\r\n\r\n${`${"x".repeat(76)}\r\n`.repeat(40_000)}`);
  const nothing = [bounce.subarray(0, bounce.length / 2), large];
  for (let i = 0; i < 3; i += 1) {
    expect(await deliverSmtp(port, mailTo(gone).envelopeFrom, bounce)).toBe(250);
    expect(await deliverSmtp(port, mailTo(angry).envelopeFrom, complaint)).toBe(250);
    expect(await deliverSmtp(port, mailTo(worded).envelopeFrom, torn)).toBe(250);
    for (const raw of nothing) expect(await deliverSmtp(port, mailTo(opener).envelopeFrom, raw)).toBe(250);
  }
  expect(await deliverSmtp(port, mailTo(opener).envelopeFrom.replace("b-", "b-0"), bounce)).toBe(550);
  // A webhook of a provider, sent again, and one whose signature is of another time.
  const report = (timestamp: number, signed = timestamp) => ({
    signature: { timestamp: String(timestamp), token: "t", signature: createHmac("sha256", MAILGUN).update(`${signed}t`).digest("hex") },
    "event-data": {
      event: "failed",
      severity: "permanent",
      id: "m1",
      message: { headers: { "message-id": mailTo(reported).messageId.slice(1, -1) } },
    },
  });
  const now = Math.floor(Date.now() / 1000);
  const { url } = await sdk.providers.add({ provider: "mailgun", key: MAILGUN });
  const statuses: number[] = [];
  for (const sent of [report(now), report(now), report(now + 1, now)]) {
    const response = await world.fetch(url, { method: "POST", body: JSON.stringify(sent) });
    statuses.push(response.status);
  }
  expect(statuses).toEqual([200, 200, 401]);
  await clock.advance("1h");

  const stats = await sdk.campaigns.stats(id);
  expect(stats.recipients).toMatchObject({ total: 8, sent: 4, bounced: 3, complained: 1 });
  expect(stats.opens).toMatchObject({ unique: 1, machine: 1 });
  expect(stats.clicks.unique).toBe(1);
  expect(stats.clicks.machine).toBeGreaterThanOrEqual(1);
  expect(stats.rates).toMatchObject({ unsubscribe: { count: 1 }, complaint: { count: 1 }, bounce: { count: 3 } });
  const suppressed = (await sdk.suppressions.list()).data.map(({ email }) => email);
  expect(suppressed).toEqual(expect.arrayContaining([leaver, gone, angry]));
  expect([opener, clicker, scanned].filter((to) => suppressed.includes(to ?? ""))).toEqual([]);
  expect(await findDifferences(world.app.deps.db.read, { workspaceId: world.workspaceId, id })).toEqual([]);
  await smtp.close();
});
