import { expect, test } from "vitest";
import { acceptingMailer } from "../../test/accepting-mailer.ts";
import { ADA, message, newest, start, write } from "../../test/receiving.ts";
import { readSentAs } from "../lib/message-id.ts";

const SES = "0102019bb0c1d2e3-1a2b3c4d-5e6f-7081-92a3-b4c5d6e7f809-000000";
const { replyTo: _auto, ...plain } = message;

/** A world whose next mail server replies so to each message, with a mailbox. */
async function startBehind(response: string) {
  const s = await start({ mailer: acceptingMailer(() => ({ outcome: "sent", response })), flags: { keep: "emails=30" } });
  await s.world.sdk.inboundDomains.create({ domain: "in.acme.test" });
  const { id } = await s.world.sdk.emails.send(plain);
  await s.world.settle();
  return { s, id };
}

test("a reply that names the Message-ID of Amazon SES belongs to the email", async () => {
  const { s, id } = await startBehind(`250 Ok ${SES}`);
  await using _ = s;
  for (const [i, host] of ["eu-west-1.amazonses.com", "email.amazonses.com", "eu-west-1.email.amazonses.com"].entries()) {
    await s.deliver("x@in.acme.test", write(`Fine ${i}`, { "Message-ID": `<${i}@x>`, "In-Reply-To": `<${SES}@${host}>` }));
    expect(await newest(s)).toMatchObject({ emailId: id, threadId: id });
  }
  await s.deliver(
    "x@in.acme.test",
    write("Other", { "Message-ID": "<9@x>", "In-Reply-To": `<${SES.replace("9b", "9c")}@eu-west-1.amazonses.com>` }),
  );
  expect((await newest(s)).emailId).toBeNull();
});

test("erasure and retention leave no name of an email behind", async () => {
  for (const end of ["erase", "keep"]) {
    const { s } = await startBehind(`250 Ok ${SES}`);
    await using _ = s;
    const { read } = s.world.app.deps.db;
    expect(await read.select().from(read.t.emailLabels)).toHaveLength(1);
    if (end === "erase") await s.world.sdk.people.erase(ADA);
    else await s.world.clock.advance("40d");
    expect([end, await read.select().from(read.t.emailLabels)]).toEqual([end, []]);
  }
});

test.each([
  [`250 Ok ${SES}`, `<${SES}@amazonses.com>`],
  [`250 2.0.0 Ok: queued as ${SES}`, `<${SES}@amazonses.com>`],
  ["250 2.0.0 OK: queued as <202601011000.12345678901@smtp-relay.mailin.fr>", "<202601011000.12345678901@smtp-relay.mailin.fr>"],
  ["250 2.6.0 <em_01jc3v2m9k8q4w6x0y5z7a1b2c@acme.test> [InternalId=1] Queued mail for delivery", null],
  ["250 2.0.0 Ok: queued as 4F8D21C0A3", null],
  ["250 2.0.0 OK  1767225600 a640c23a62f3a-9ad9a9aa9ad9a1si1234567a12.34 - gsmtp", null],
])("%s names %s", (response, name) => {
  expect(readSentAs(response)).toBe(name);
});
