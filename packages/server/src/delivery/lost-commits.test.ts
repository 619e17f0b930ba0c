import { expect, test } from "vitest";
import { acceptingMailer } from "../../test/accepting-mailer.ts";
import { sendAsBulk } from "../../test/bulk-mail.ts";
import type { Db } from "../db/db.ts";
import { StorageUnavailable } from "../db/errors.ts";
import { createWorld, type TestWorld } from "../testing.ts";

/*
 * A connection to the database breaks after COMMIT and before its answer: what was stored is stored, and the server learns of a failure.
 */

const ADDRESSES = ["a@example.com", "b@example.com", "c@example.com"];

/** Loses the answer to the first commit after which an email has this status. */
function loseAnswer(world: TestWorld, status: "sending" | "sent"): { readonly isLost: boolean } {
  const { db } = world.app.deps;
  const lost = { isLost: false };
  const { tx } = db;
  const spoilt: Db["tx"] = async (work, options) => {
    const value = await tx(work, options);
    if (!lost.isLost) {
      const { total } = (await world.sdk.emails.list({ status })).pagination;
      if (total > 0 && !lost.isLost) {
        lost.isLost = true;
        throw new StorageUnavailable("The database cannot work at the moment (connection lost).");
      }
    }
    return value;
  };
  Object.assign(db, { tx: spoilt });
  return lost;
}

const ways: [string, (world: TestWorld) => Promise<unknown>][] = [
  ["single mails", (world) => world.sdk.emails.send({ from: "hello@acme.test", subject: "Hello", text: "It works.", to: ADDRESSES })],
  ["bulk mail", (world) => sendAsBulk(world, ADDRESSES)],
];

test.each(ways)(
  "when the answer to the commit of a mark is lost, %s leave all the same, once, and those that it marked are in doubt",
  async (_way, send) => {
    const mailer = acceptingMailer();
    await using world = await createWorld({ mailer });
    const lost = loseAnswer(world, "sending");
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
  const lost = loseAnswer(world, "sent");
  await send(world);
  await world.settle();
  await world.clock.advance("3d");
  expect(lost.isLost).toBe(true);
  expect(mailer.mails.map(({ envelopeTo }) => envelopeTo).toSorted()).toEqual(ADDRESSES);
  expect((await world.sdk.emails.list({ inDoubt: true })).data).toEqual([]);
  expect((await world.sdk.jobs.list({ state: "dead" })).data).toEqual([]);
});
