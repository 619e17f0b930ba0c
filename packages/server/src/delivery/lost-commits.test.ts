import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { acceptingMailer } from "../../test/accepting-mailer.ts";
import { sendAsBulk } from "../../test/bulk-mail.ts";
import { loseAnswer } from "../../test/lose-answer.ts";
import { createWorld, type TestWorld } from "../testing.ts";

/*
 * A connection to the database breaks after COMMIT and before its answer: what was stored is stored, and the server learns of a failure.
 */

const ADDRESSES = ["a@example.com", "b@example.com", "c@example.com"];

const loseAnswerOf = (world: TestWorld, status: "sending" | "sent") =>
  loseAnswer(world, async (q) => (await q.$count(q.t.emails, eq(q.t.emails.status, status))) > 0);

const ways: [string, (world: TestWorld) => Promise<unknown>][] = [
  ["single mails", (world) => world.sdk.emails.send({ from: "hello@acme.test", subject: "Hello", text: "It works.", to: ADDRESSES })],
  ["bulk mail", (world) => sendAsBulk(world, ADDRESSES)],
];

test.each(ways)(
  "when the answer to the commit of a mark is lost, %s leave all the same, once, and those that it marked are in doubt",
  async (_way, send) => {
    const mailer = acceptingMailer();
    await using world = await createWorld({ mailer });
    const lost = loseAnswerOf(world, "sending");
    await send(world);
    await world.settle();
    await world.clock.advance("10m");
    expect(lost.isLost).toBe(true);
    expect(mailer.mails.map(({ envelopeTo }) => envelopeTo).toSorted()).toEqual(ADDRESSES);
    const { data } = await world.sdk.emails.list();
    expect(data.flatMap(({ recipients }) => recipients.map(({ status }) => status))).toEqual(ADDRESSES.map(() => "sent"));
    expect((await world.sdk.emails.list({ inDoubt: true })).data).not.toEqual([]);
    expect((await world.sdk.jobs.list({ state: "dead" })).data).toEqual([]);
  },
);

test.each(ways)("when the answer to the commit of an outcome is lost, %s are not sent again", async (_way, send) => {
  const mailer = acceptingMailer();
  await using world = await createWorld({ mailer });
  const lost = loseAnswerOf(world, "sent");
  await send(world);
  await world.settle();
  await world.clock.advance("3d");
  expect(lost.isLost).toBe(true);
  expect(mailer.mails.map(({ envelopeTo }) => envelopeTo).toSorted()).toEqual(ADDRESSES);
  expect((await world.sdk.emails.list({ inDoubt: true })).data).toEqual([]);
  expect((await world.sdk.jobs.list({ state: "dead" })).data).toEqual([]);
});
