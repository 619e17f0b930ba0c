import { expect, test } from "vitest";
import type { Reader } from "../db/db.ts";
import { type MailTransform, type PendingMail, transformMails } from "./transform.ts";

const read = {} as Reader;
const mails = (n: number): PendingMail[] => Array.from({ length: n }, (_, i) => ({ subject: `mail ${i}`, text: "" }) as PendingMail);
const transform = (of: readonly PendingMail[], ...mailTransforms: MailTransform[]) =>
  transformMails({ db: { read } as Parameters<typeof transformMails>[0]["db"], mailTransforms }, of);
const append =
  (word: string): MailTransform =>
  async (_read, all) => {
    for (const mail of all) mail.subject += word;
  };

test("transforms get all emails together, one after the other, as copies", async () => {
  const given = mails(2);
  const calls: unknown[] = [];
  const note: MailTransform = async (...call) => void calls.push([call[0], call[1].map(({ subject }) => subject)]);
  expect(await transform(given, append(" a"), note, append(" b"))).toEqual([
    { mail: { subject: "mail 0 a b", text: "" } },
    { mail: { subject: "mail 1 a b", text: "" } },
  ]);
  expect(calls).toEqual([[read, ["mail 0 a", "mail 1 a"]]]);
  expect(given).toEqual(mails(2));
});

test("without transforms, emails are answered as they are", async () => {
  expect(await transform(mails(1))).toEqual([{ mail: mails(1)[0] }]);
  expect(await transform([], append(" a"))).toEqual([]);
});

test.each([
  ["rejects", async () => Promise.reject(new Error("a bug"))],
  [
    "throws at once",
    () => {
      throw new Error("a bug");
    },
  ],
] as const)("an email for which a transform %s gets the error, and each other one is transformed once", async (_way, fail) => {
  const fails: MailTransform = async (_read, all) => {
    if (all.some(({ subject }) => subject.startsWith("mail 1"))) await fail();
  };
  // The first call, for all of them together, has changed copies that are thrown away.
  expect(await transform(mails(3), append(" a"), fails, append(" b"))).toEqual([
    { mail: { subject: "mail 0 a b", text: "" } },
    { error: new Error("a bug") },
    { mail: { subject: "mail 2 a b", text: "" } },
  ]);
});

test("what a transform withdraws or fails goes through the others all the same", async () => {
  const withdraw: MailTransform = async (_read, [first, second]) => {
    if (first) first.withdrawal = { to: "hold" };
    if (second) second.failure = "It cannot be made.";
  };
  expect(await transform(mails(2), withdraw, append(" a"))).toEqual([
    { mail: { subject: "mail 0 a", text: "", withdrawal: { to: "hold" } } },
    { mail: { subject: "mail 1 a", text: "", failure: "It cannot be made." } },
  ]);
});

test.each([
  [16, 0],
  [17, 2],
])("of %i emails, %i transforms wait for a turn of the event loop of their own", async (n, turns) => {
  let turn = 0;
  let running = true;
  const count = (): void => {
    turn += 1;
    if (running) setImmediate(count);
  };
  setImmediate(count);
  const seen: number[] = [];
  const note: MailTransform = async () => void seen.push(turn);
  await transform(mails(n), note, note);
  running = false;
  expect(new Set([0, ...seen]).size - 1).toBe(turns);
});
