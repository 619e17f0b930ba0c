import { expect, test } from "vitest";
import { addContacts, createCampaign } from "../../test/campaign.ts";
import { accepted, type ScriptedMailer, scriptedMailer } from "../../test/scripted-mailer.ts";
import { type Script, scriptedPeer } from "../../test/smtp-peer.ts";
import type { Reader } from "../db/db.ts";
import { StorageUnavailable } from "../db/errors.ts";
import { realTime } from "../lib/clock.ts";
import { MAX_AGE_MS } from "../lib/freshness.ts";
import type { Receipt } from "../mail/mailer.ts";
import { smtpMailer } from "../mail/smtp.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import type { DeliveryDeps } from "./deps.ts";
import type { MailTransform } from "./transform.ts";

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
  const letTimePass = shiftRealTime(world);
  const emails = await addContacts(world, PEOPLE);
  const { id: campaignId } = await createCampaign(world);
  await world.sdk.campaigns.send(campaignId);
  while (mailer.sent.length < SLOTS) await new Promise((turn) => setImmediate(turn));
  letTimePass();
  const sent = new Set(mailer.sent.map(({ envelopeTo }) => envelopeTo));
  const goOn = async (): Promise<void> => {
    slow = false;
    for (const answer of held.splice(0)) answer();
    await world.settle();
  };
  return { world, mailer, campaignId, left: emails.filter((email) => !sent.has(email)), goOn };
}

/** Answers a function that lets as much real time pass as what was read may be old. */
function shiftRealTime({ app: { deps } }: TestWorld): () => void {
  const { clock } = deps;
  let passed = 0;
  const real = { ...clock.real, now: () => clock.real.now() + passed };
  Object.assign(deps, { clock: Object.create(clock, { real: { value: real } }) });
  return () => {
    passed += MAX_AGE_MS + 1;
  };
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

test.each<[string, (after: () => Promise<void>) => Script]>([
  ["its greeting", (after) => ({ greeting: { reply: "220 peer ESMTP", after } })],
  ["MAIL", (after) => ({ MAIL: { reply: "250 ok", after } })],
  ["RCPT", (after) => ({ RCPT: { reply: "250 ok", after } })],
])("a mail server that is slow with %s gets no mail of who was deleted meanwhile", async (_, script) => {
  let reached = (): void => {};
  let answer = (): void => {};
  const waits = new Promise<void>((resolve) => (reached = resolve));
  const answers = new Promise<void>((resolve) => (answer = resolve));
  const after = (): Promise<void> => {
    reached();
    return answers;
  };
  const peer = await scriptedPeer(script(after));
  try {
    await using world = await createWorld({ mailer: smtpMailer({ url: `smtp://127.0.0.1:${peer.port}?pool=1`, time: realTime }) });
    const letTimePass = shiftRealTime(world);
    const [first = ""] = await addContacts(world, 1);
    const { id } = await createCampaign(world);
    await world.sdk.campaigns.send(id);
    await waits;
    letTimePass();
    await world.sdk.contacts.delete(await findId(world, first));
    answer();
    await world.settle();
    expect(peer.messages).toBe(0);
    expect(await world.sdk.campaigns.recipients(id).toArray()).toMatchObject([
      { to: first, status: "skipped", skipReason: "deleted", attempts: 0, inDoubt: false },
    ]);
    // The next one gets a connection that works.
    await world.sdk.emails.send({ from: "news@acme.example", to: "next@example.com", subject: "Hi", text: "Hello." });
    await world.settle();
    expect(peer.recipients).toEqual(["next@example.com"]);
  } finally {
    await peer.close();
  }
});

test("behind a slow mail server, the headers of a mail to several people do not name a person who was erased while it waited", async () => {
  const held: (() => void)[] = [];
  let slow = true;
  const script = () => (slow ? new Promise<Receipt>((answer) => held.push(() => answer(accepted))) : accepted);
  const mailer: ScriptedMailer = { ...scriptedMailer(script), concurrency: 1 };
  await using world = await createWorld({ mailer });
  const letTimePass = shiftRealTime(world);
  const people = ["one", "two", "three"].map((name) => `${name}@example.com`);
  await world.sdk.emails.send({ from: "news@acme.example", to: people, together: true, subject: "Hi", text: "Hello." });
  while (mailer.sent.length === 0) await new Promise((turn) => setImmediate(turn));
  letTimePass();
  const erased = people.find((address) => address !== mailer.sent[0]?.envelopeTo) ?? "";
  await world.sdk.people.erase(erased);
  slow = false;
  for (const answer of held.splice(0)) answer();
  await world.settle();
  expect(mailer.sent).toHaveLength(2);
  expect(mailer.sent[1]?.to.map(({ address }) => address)).toEqual(people.filter((address) => address !== erased));
});

interface ReadAgain {
  readonly world: TestWorld;
  readonly peer: Awaited<ReturnType<typeof scriptedPeer>>;
  readonly id: string;
  /** Takes back what was spoilt. */
  mend(): void;
}

/** An email whose mail server has taken the recipient late: it is read again before its first byte, after `spoil` was called. */
async function sendReadAgain(spoil: (deps: DeliveryDeps) => void, judge: (sent: ReadAgain) => Promise<void>): Promise<void> {
  const reached = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const after = (): Promise<void> => {
    reached.resolve();
    return answer.promise;
  };
  const peer = await scriptedPeer({ RCPT: { reply: "250 ok", after } }, {});
  try {
    await using world = await createWorld({ mailer: smtpMailer({ url: `smtp://127.0.0.1:${peer.port}?pool=1`, time: realTime }) });
    const letTimePass = shiftRealTime(world);
    const { deps } = world.app;
    const usual = { db: deps.db, mailTransforms: deps.mailTransforms };
    const sent = await world.sdk.emails.send({ from: "news@acme.example", to: "ada@example.com", subject: "Hi", text: "Hello." });
    await reached.promise;
    letTimePass();
    spoil(deps);
    answer.resolve();
    await world.settle();
    await judge({ world, peer, id: (sent as { id: string }).id, mend: () => Object.assign(deps, usual) });
  } finally {
    await peer.close();
  }
}

test("an email that cannot be read again right before its first byte is sent later, and is not in doubt", async () => {
  const broken = (): Promise<never> => Promise.reject(new Error("It cannot be read."));
  const spoil = (deps: DeliveryDeps): void => void Object.assign(deps, { mailTransforms: [broken] });
  await sendReadAgain(spoil, async ({ world, peer, id, mend }) => {
    expect(peer.messages).toBe(0);
    expect(await world.sdk.emails.get(id)).toMatchObject({ status: "deferred", attempts: 0, inDoubt: false });
    mend();
    await world.clock.advance("10m");
    expect(peer.recipients).toEqual(["ada@example.com"]);
    expect(await world.sdk.emails.get(id)).toMatchObject({ status: "sent", attempts: 1, inDoubt: false });
  });
});

const AWAY = new StorageUnavailable("The database cannot work at the moment (ECONNREFUSED).");

/** Queries made while an email is read again, each with a function that makes it fail while `isAway`. */
const QUESTIONS: Readonly<Record<string, (deps: DeliveryDeps, isAway: () => boolean) => void>> = {
  "for what a transform needs": (deps, isAway) => {
    const away: MailTransform = async () => {
      if (isAway()) throw AWAY;
    };
    Object.assign(deps, { mailTransforms: [away, ...deps.mailTransforms] });
  },
  "whether its address is suppressed": (deps, isAway) => {
    const { db } = deps;
    const lookUp: Reader["lookUp"] = async (table, keys) => {
      if ((table as unknown) === db.read.t.suppressions && isAway()) throw AWAY;
      return db.read.lookUp(table, keys);
    };
    Object.assign(deps, { db: Object.create(db, { read: { value: Object.create(db.read, { lookUp: { value: lookUp } }) } }) });
  },
};

test.each(Object.entries(QUESTIONS))(
  "an email waits for a database that restarts when it is asked %s, and is sent in the same session",
  async (_, spoil) => {
    let restarts = 2;
    const isAway = (): boolean => {
      restarts -= 1;
      return restarts >= 0;
    };
    await sendReadAgain(
      (deps) => spoil(deps, isAway),
      async ({ world, peer, id, mend }) => {
        mend();
        expect(restarts).toBeLessThan(0);
        expect(peer.recipients).toEqual(["ada@example.com"]);
        expect(await world.sdk.emails.get(id)).toMatchObject({ status: "sent", attempts: 1, inDoubt: false });
        const events = await world.sdk.events.list({ email: id }).toArray();
        expect(events.map(({ type }) => type)).not.toContain("email.deferred");
      },
    );
  },
);

test("an email does not wait for a database that is away once the server stops", async () => {
  let asked = 0;
  const stopWhenAsked = (deps: DeliveryDeps): void =>
    QUESTIONS["for what a transform needs"]?.(deps, () => {
      asked += 1;
      void deps.queue.stop();
      return true;
    });
  await sendReadAgain(stopWhenAsked, async ({ world, peer, id }) => {
    await world.app.deps.queue.stop();
    // Once with what else is transformed, once alone.
    expect(asked).toBe(2);
    expect(peer.messages).toBe(0);
    expect(await world.sdk.emails.get(id)).toMatchObject({ status: "deferred", attempts: 0, inDoubt: false });
  });
});
