import { expect, test } from "vitest";
import { addContacts, createCampaign } from "../../test/campaign.ts";
import { accepted, type ScriptedMailer, scriptedMailer } from "../../test/scripted-mailer.ts";
import { MAX_AGE_MS } from "../lib/freshness.ts";
import type { Receipt } from "../mail/mailer.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const PEOPLE = 12;
const SLOTS = 4;

interface Waiting {
  readonly world: TestWorld;
  readonly mailer: ScriptedMailer;
  readonly campaignId: string;
  /** The addresses whose mail has not been handed over. */
  readonly left: readonly string[];
  /** Lets the mail server answer, and waits until all is sent. */
  goOn(): Promise<void>;
}

/** A campaign to twelve people behind a mail server that takes four mails and does not answer, while much real time passes. */
async function startBehindSlowServer(): Promise<Waiting> {
  const held: (() => void)[] = [];
  let slow = true;
  const script = () => (slow ? new Promise<Receipt>((answer) => held.push(() => answer(accepted))) : accepted);
  const mailer: ScriptedMailer = { ...scriptedMailer(script), concurrency: SLOTS };
  const world = await createWorld({ mailer });
  const { clock } = world.app.deps;
  let passed = 0;
  const real = { ...clock.real, now: () => clock.real.now() + passed };
  Object.assign(world.app.deps, { clock: Object.create(clock, { real: { value: real } }) });
  const emails = await addContacts(world, PEOPLE);
  const { id: campaignId } = await createCampaign(world);
  await world.sdk.campaigns.send(campaignId);
  while (mailer.sent.length < SLOTS) await new Promise((turn) => setImmediate(turn));
  passed = MAX_AGE_MS + 1;
  const sent = new Set(mailer.sent.map(({ envelopeTo }) => envelopeTo));
  const goOn = async (): Promise<void> => {
    slow = false;
    for (const answer of held.splice(0)) answer();
    await world.settle();
  };
  return { world, mailer, campaignId, left: emails.filter((email) => !sent.has(email)), goOn };
}

const findId = async ({ sdk }: TestWorld, email: string): Promise<string> =>
  (await sdk.contacts.list({ search: email }).toArray())[0]?.id ?? "";

test("behind a slow mail server, nobody is mailed who was deleted, erased or unsubscribed while their mail waited", async () => {
  const { world, mailer, campaignId, left, goOn } = await startBehindSlowServer();
  await using _ = world;
  const [deleted = "", erased = "", unsubscribed = ""] = left;
  await world.sdk.contacts.delete(await findId(world, deleted));
  await world.sdk.people.erase(erased);
  await world.sdk.contacts.update(await findId(world, unsubscribed), { status: "UNSUBSCRIBED" });
  await goOn();
  const reached = mailer.sent.map(({ envelopeTo }) => envelopeTo);
  expect(reached).toHaveLength(PEOPLE - 3);
  for (const email of [deleted, erased, unsubscribed]) expect(reached).not.toContain(email);
  const skipped = await world.sdk.campaigns.recipients(campaignId, { status: "skipped" }).toArray();
  expect(Object.fromEntries(skipped.map(({ to, skipReason, attempts, inDoubt }) => [to, { skipReason, attempts, inDoubt }]))).toEqual({
    [deleted]: { skipReason: "deleted", attempts: 0, inDoubt: false },
    [unsubscribed]: { skipReason: "unsubscribed", attempts: 0, inDoubt: false },
  });
  expect((await world.sdk.campaigns.verify(campaignId)).differences).toEqual([]);
});

test("behind a slow mail server, contacts that were changed while their mail waited get the new values", async () => {
  const { world, mailer, left, goOn } = await startBehindSlowServer();
  await using _ = world;
  for (const email of left) await world.sdk.contacts.update(await findId(world, email), { firstName: "New" });
  await goOn();
  const subjects = new Map(mailer.sent.map(({ envelopeTo, subject }) => [envelopeTo, subject]));
  expect(left.map((email) => subjects.get(email))).toEqual(left.map(() => "Hello New"));
});

test("a campaign that is paused while its mail waits for a slow mail server sends none of it", async () => {
  const { world, mailer, campaignId, goOn } = await startBehindSlowServer();
  await using _ = world;
  await world.sdk.campaigns.pause(campaignId);
  await goOn();
  expect(mailer.sent).toHaveLength(SLOTS);
  await world.sdk.campaigns.resume(campaignId);
  await world.settle();
  expect(mailer.sent).toHaveLength(PEOPLE);
});
