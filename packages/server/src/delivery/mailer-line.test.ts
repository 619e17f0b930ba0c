import { afterEach, beforeEach, expect, test } from "vitest";
import { manualTime, rest } from "../../test/manual-time.ts";
import { accepted, busy, type Script, scriptedMailer } from "../../test/scripted-mailer.ts";
import { BULK, type EmailRow, findEmailRows, SINGLE, toDeliveryJob } from "../emails/emails.ts";
import { MAX_AGE_MS } from "../lib/freshness.ts";
import { yieldToEventLoop } from "../lib/turn.ts";
import type { Mailer, Receipt } from "../mail/mailer.ts";
import type { BatchOutcome, LaneJob, Settle } from "../queue/queue.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import type { MailerBudget } from "./claim-budget.ts";
import { ClaimedMail } from "./claimed-mail.ts";
import type { DeliveryDeps } from "./deps.ts";
import type { Effect } from "./effects.ts";
import { loadMails } from "./load.ts";
import { MailerLine } from "./mailer-line.ts";
import type { Choice } from "./mailers.ts";
import type { MailTransform, PendingMail } from "./transform.ts";

let world: TestWorld;
beforeEach(async () => {
  world = await createWorld();
  await world.app.deps.queue.stop();
});
afterEach(() => world.dispose());

const until = async (check: () => boolean): Promise<void> => {
  // An event that never happens fails its own test, and does not go on behind the next one.
  const end = performance.now() + 60_000;
  while (!check()) {
    if (performance.now() > end) throw new Error(`It has not happened: ${check}`);
    await yieldToEventLoop();
  }
};
const STALE = MAX_AGE_MS + 1;
const withdraw: MailTransform = async (_read, mails) => {
  for (const mail of mails) mail.withdrawal = { to: "skipped", reason: "unsubscribed" };
};

interface Parts {
  script?: Script;
  /** Changes the mailer of the line, which takes one email at once. */
  mailer?: Partial<Mailer>;
  /** Other mailers that emails may get. */
  others?: Mailer[];
}

/** Result of storing a mark: it is stored, the email was changed meanwhile, or it cannot be stored. */
type Marking = "stored" | "changed" | "broken";

/** A line, with a queue that keeps what its emails leave to be stored, by their recipients. Time stands. */
const setUp = ({ script, mailer: changes, others = [] }: Parts = {}) => {
  const time = manualTime();
  const mailer = { ...scriptedMailer(script), concurrency: 1, ...changes };
  const choiceOf = (chosen: Mailer): Choice => ({
    mailer: chosen,
    relay: null,
    isOutOfService: () => t.isOutOfService && chosen === mailer,
    takeTurn: () => null,
  });
  const transforms: MailTransform[] = [];
  const deps: DeliveryDeps = {
    ...world.app.deps,
    clock: time,
    mailers: { main: mailer, all: [mailer, ...others], choose: async (_read, mails) => mails.map(() => choiceOf(t.chosen)) },
    mailTransforms: transforms,
  };
  const budget: MailerBudget = {
    isEmpty: false,
    hasRoom: () => true,
    assign: () => {},
    settle: () => void (t.settled += 1),
    release: () => void (t.released += 1),
    remove: () => {},
  };
  const line = new MailerLine({ deps, mailer, budget, move: (claimed, mail, at) => void t.moved.push([claimed.email.id, mail, at]) });

  const store =
    (to: string): Settle<Effect> =>
    async (_job, outcome) => {
      const effect = "error" in outcome ? undefined : outcome.effect;
      if (effect?.kind !== "mark") {
        await t.storing;
        t.ends.set(to, outcome);
        return;
      }
      await t.marking;
      const becomes = t.marks.get(to) ?? "stored";
      if (becomes === "broken") throw new Error("It cannot be marked.");
      t.marked.push(to);
      if (becomes === "stored") effect.marked = { ...effect.mail.email, status: "sending", attempts: effect.mail.attempt };
    };

  /** Lets emails wait that were read just now. */
  const wait = async (lane: LaneJob["lane"], ...recipients: string[]): Promise<void> => {
    for (const to of recipients) {
      const mail = { from: "hello@acme.test", to: `${to}@example.com`, subject: "Hello", text: "It works." };
      const { id } = (await world.sdk.emails.send(mail)) as { id: string };
      t.ids.set(id, to);
      const [email] = await findEmailRows(deps.db.read, world.workspaceId, [id]);
      const claimed = new ClaimedMail(toDeliveryJob({ ...(email as EmailRow), lane: lane === "bulk" ? BULK : SINGLE }), store(to));
      const [next] = await loadMails({ ...deps, clock: world.app.deps.clock, mailTransforms: [] }, [claimed]);
      if (next?.next !== "handOver") throw new Error(`The email to ${to} is not to be handed over.`);
      line.wait(claimed, next.mail, time.real.now());
    }
  };

  const t = {
    line,
    time,
    mailer,
    transforms,
    wait,
    /** Recipients of the emails that the mailer got, in order. */
    sent: () => mailer.sent.map(({ envelopeTo }) => envelopeTo.replace("@example.com", "")),
    patchOf: (to: string) => {
      const end = t.ends.get(to);
      const effect = end === undefined || "error" in end ? undefined : end.effect;
      return effect?.kind === "outcome" ? effect.move.patch : undefined;
    },
    chosen: mailer as Mailer,
    isOutOfService: false,
    marks: new Map<string, Marking>(),
    marking: Promise.resolve(),
    storing: Promise.resolve(),
    /** Recipients of the marked emails, in order. */
    marked: [] as string[],
    ends: new Map<string, BatchOutcome<Effect>>(),
    moved: [] as [string, PendingMail, number][],
    ids: new Map<string, string>(),
    settled: 0,
    released: 0,
  };
  return t;
};

/** A mailer's script that answers when it is told, each email in turn. */
const holdReceipts = () => {
  const held: ((receipt: Receipt) => void)[] = [];
  return {
    held,
    script: (): Promise<Receipt> => new Promise((answer) => held.push(answer)),
    /** Answers the first email that waits for it. */
    answer: (receipt: Receipt = accepted): void => held.shift()?.(receipt),
  };
};

test("as many emails go as the mailer takes at once, single mail first, and a receipt lets the next ones go", async () => {
  const { script, held, answer } = holdReceipts();
  const t = setUp({ script });
  await t.wait("bulk", "ada", "bob");
  await t.wait("mail", "carol");
  expect([t.marked, t.sent()]).toEqual([[], []]);
  t.line.fillSlots();
  await until(() => held.length === 1);
  t.line.fillSlots();
  await rest();
  expect([t.marked, t.sent(), t.settled]).toEqual([["carol"], ["carol"], 0]);
  answer();
  await until(() => t.marked.length === 3);
  await rest();
  // Bob's is marked ahead, because an email left just now; it is not handed over yet.
  expect([t.marked, t.sent()]).toEqual([
    ["carol", "ada", "bob"],
    ["carol", "ada"],
  ]);
  answer();
  await until(() => held.length === 1);
  answer(busy);
  await until(() => t.ends.size === 3);
  expect(["carol", "ada", "bob"].map((to) => t.patchOf(to)?.status)).toEqual(["sent", "sent", "deferred"]);
  expect([t.sent(), t.settled, t.released]).toEqual([["carol", "ada", "bob"], 3, 0]);
});

test("no email is handed over before its mark is stored", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const t = setUp();
  t.marking = promise;
  await t.wait("mail", "ada");
  t.line.fillSlots();
  await rest();
  expect(t.sent()).toEqual([]);
  resolve();
  await until(() => t.ends.size === 1);
  expect([t.marked, t.sent(), t.patchOf("ada")?.status]).toEqual([["ada"], ["ada"], "sent"]);
});

test.each<[string, Marking, BatchOutcome<Effect>]>([
  ["was changed before it was marked is settled", "changed", { effect: { kind: "left", email: expect.anything() } }],
  ["cannot be marked fails", "broken", { error: new Error("It cannot be marked.") }],
])("an email that %s, and the next one gets its slot", async (_email, becomes, end) => {
  const t = setUp();
  t.marks.set("ada", becomes);
  await t.wait("mail", "ada", "bob");
  t.line.fillSlots();
  await until(() => t.ends.size === 2);
  expect(t.ends.get("ada")).toEqual(end);
  expect([t.sent(), t.settled]).toEqual([["bob"], 2]);
});

test("an email that has waited for longer than half a second is read again before it is marked; a fresh one is not", async () => {
  const { script, held, answer } = holdReceipts();
  const t = setUp({ script });
  const read: string[] = [];
  t.transforms.push(async (_read, mails) => {
    for (const mail of mails) {
      read.push(mail.email.to.replace("@example.com", ""));
      mail.subject = "Hello again";
    }
  });
  await t.wait("mail", "ada", "bob", "carol");
  t.line.fillSlots();
  await until(() => held.length === 1);
  await t.time.advance(STALE);
  await world.sdk.suppressions.create({ email: "carol@example.com" });
  await t.wait("bulk", "dan");
  answer();
  await until(() => held.length === 1);
  answer();
  await until(() => held.length === 1);
  answer();
  await until(() => t.ends.size === 4);
  expect(read).toEqual(["bob", "carol"]);
  expect(t.mailer.sent.map(({ envelopeTo, subject }) => [envelopeTo, subject])).toEqual([
    ["ada@example.com", "Hello"],
    ["bob@example.com", "Hello again"],
    ["dan@example.com", "Hello"],
  ]);
  expect(t.patchOf("carol")?.status).toBe("suppressed");
});

test("when a transform throws for an email that is read again, this one fails and the others go", async () => {
  const { script, held, answer } = holdReceipts();
  const t = setUp({ script });
  t.transforms.push(async (_read, mails) => {
    if (mails.some(({ email }) => email.to === "bob@example.com")) throw new Error("a bug");
  });
  await t.wait("mail", "ada", "bob", "carol");
  t.line.fillSlots();
  await until(() => held.length === 1);
  await t.time.advance(STALE);
  answer();
  await until(() => held.length === 1);
  answer();
  await until(() => t.ends.size === 3);
  expect(t.sent()).toEqual(["ada", "carol"]);
  expect(t.ends.get("bob")).toEqual({ error: new Error("a bug") });
});

test("an email that another mailer is to take after it was read again moves there, and the next email gets its slot", async () => {
  const other = scriptedMailer();
  const { script, held, answer } = holdReceipts();
  const t = setUp({ script, others: [other] });
  await t.wait("mail", "ada", "bob", "carol");
  t.line.fillSlots();
  await until(() => held.length === 1);
  await t.time.advance(STALE);
  t.chosen = other;
  answer();
  await until(() => t.moved.length === 2);
  expect(t.moved.map(([id, mail, at]) => [t.ids.get(id), mail.choice?.mailer === other, at])).toEqual([
    ["bob", true, STALE],
    ["carol", true, STALE],
  ]);
  // Ada's is settled; the others still are to be, by the other mailer.
  expect([t.settled, t.released]).toEqual([1, 2]);
  t.chosen = t.mailer;
  await t.wait("mail", "dan");
  t.line.fillSlots();
  await until(() => held.length === 1);
  expect(t.sent()).toEqual(["ada", "dan"]);
});

test("when the mailer goes out of service, what waits moves to another one, and what is marked gets another attempt at once", async () => {
  const other = scriptedMailer();
  const { script, held, answer } = holdReceipts();
  const t = setUp({ script, others: [other] });
  await t.wait("mail", "ada", "bob", "carol", "dan");
  t.line.fillSlots();
  await until(() => held.length === 1);
  answer();
  await until(() => t.marked.length === 3);
  await t.time.advance(1000);
  // It is in service, so they go on waiting.
  expect([t.sent(), t.moved]).toEqual([["ada", "bob"], []]);
  t.isOutOfService = true;
  t.chosen = other;
  await t.time.advance(1000);
  await until(() => t.moved.length === 1 && t.ends.has("carol"));
  expect(t.moved.map(([id, mail, at]) => [t.ids.get(id), mail.choice?.mailer === other, at])).toEqual([["dan", true, 2000]]);
  expect(t.ends.get("carol")).toMatchObject({ again: 2000 });
  expect(t.patchOf("carol")).toMatchObject({ status: "deferred", attempts: 0, inDoubt: false });
  // Bob's is with the mailer, which may take it.
  expect(t.ends.has("bob")).toBe(false);
  answer({ ...busy, unavailable: true });
  await until(() => t.ends.has("bob"));
  expect(t.ends.get("bob")).toMatchObject({ again: 2000 });
  expect([t.sent(), t.released]).toEqual([["ada", "bob"], 1]);
});

test("without another mailer, nothing looks whether the mailer is in service", async () => {
  const t = setUp();
  await t.wait("mail", "ada");
  expect(t.time.timers).toBe(0);
});

test("an email that is withdrawn while its mark is stored is not handed over, and it was no attempt", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const t = setUp();
  t.marking = promise;
  await t.wait("mail", "ada");
  t.line.fillSlots();
  await t.time.advance(STALE);
  t.transforms.push(withdraw);
  resolve();
  await until(() => t.ends.size === 1);
  expect([t.marked, t.sent()]).toEqual([["ada"], []]);
  expect(t.ends.get("ada")).toMatchObject({ effect: { move: { email: { status: "sending" } } } });
  expect(t.patchOf("ada")).toMatchObject({ status: "skipped", skipReason: "unsubscribed", attempts: 0, inDoubt: false });
});

test("right before its first byte an email is read again if it was read too long ago, and is not sent if it was withdrawn", async () => {
  const wanted: unknown[] = [];
  const t = setUp({
    script: async ({ isStillWanted }) => {
      t.transforms.push(withdraw);
      wanted.push(await isStillWanted?.());
      await t.time.advance(STALE);
      wanted.push(await isStillWanted?.());
      return busy;
    },
  });
  await t.wait("mail", "ada");
  t.line.fillSlots();
  await until(() => t.ends.size === 1);
  expect(wanted).toEqual([true, false]);
  expect(t.patchOf("ada")).toMatchObject({ status: "skipped", attempts: 0 });
});

test("when the mailer throws, for a bug of ours, the email's job fails, and the next one gets its slot", async () => {
  const t = setUp({
    script: (_mail, n) => {
      if (n === 0) throw new Error("a bug");
      return accepted;
    },
  });
  await t.wait("mail", "ada", "bob");
  t.line.fillSlots();
  await until(() => t.ends.size === 2);
  expect(t.ends.get("ada")).toEqual({ error: new Error("a bug") });
  expect([t.sent(), t.patchOf("bob")?.status, t.settled]).toEqual([["ada", "bob"], "sent", 2]);
});

test("a mailer that captures needs no marks, and a slot is free when the outcome is stored", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const t = setUp({ mailer: { transactional: true }, script: () => ({ outcome: "delivered", response: "captured" }) });
  t.storing = promise;
  await t.wait("mail", "ada", "bob", "carol");
  await world.sdk.suppressions.create({ email: "carol@example.com" });
  t.line.fillSlots();
  await until(() => t.sent().length === 1);
  await rest();
  expect([t.sent(), t.ends.size]).toEqual([["ada"], 0]);
  resolve();
  await until(() => t.ends.size === 3);
  expect([t.marked, t.sent()]).toEqual([[], ["ada", "bob"]]);
  expect(["ada", "bob", "carol"].map((to) => t.patchOf(to)?.status)).toEqual(["delivered", "delivered", "suppressed"]);
});

test("emails for which there is no room ask again one after the other, as quickly as others leave, within a minute", async () => {
  const t = setUp();
  expect([t.line.nextTurn(), t.line.nextTurn()]).toEqual([2000, 3000]);
  await t.wait("mail", "ada");
  t.line.fillSlots();
  await until(() => t.ends.size === 1);
  expect([t.line.nextTurn(), t.line.nextTurn()]).toEqual([3100, 3200]);
  for (let n = 0; n < 1000; n += 1) t.line.nextTurn();
  expect(t.line.nextTurn()).toBe(60_000);
});
