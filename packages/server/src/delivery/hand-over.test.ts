import { expect, test } from "vitest";
import { accepted, busy, type Script, scriptedMailer } from "../../test/scripted-mailer.ts";
import type { Receipt } from "../mail/mailer.ts";
import type { DeliveryDeps } from "./deps.ts";
import { handOver } from "./hand-over.ts";
import type { Choice } from "./mailers.ts";
import type { Ended, Next } from "./next.ts";
import { withdrawnOutcome } from "./outcome.ts";
import type { PendingMail } from "./transform.ts";

const AT = 10_000;

const email = {
  workspaceId: "ws_1",
  id: "em_1",
  mailId: null,
  to: "ada@example.com",
  name: "Ada",
  attempts: 0,
  inDoubt: false,
  createdAt: 1000,
  scheduledAt: null,
} as PendingMail["email"];
const contents = {
  from: "Acme <hello@acme.test>",
  attachments: 0,
  asIs: false,
  addressees: null,
  traceparent: null,
} as PendingMail["contents"];
const mailOf = (changes: Partial<PendingMail> = {}): PendingMail => ({
  email,
  contents,
  attempt: 1,
  choice: null,
  envelopeFrom: "bounces@acme.test",
  messageId: "<em_1@acme.test>",
  replyTo: null,
  subject: "Hello",
  html: "<p>It works.</p>",
  text: "It works.",
  headers: { "X-Campaign": "1" },
  failure: null,
  withdrawal: null,
  ...changes,
});

/** A main mailer and a relay's, which answer by scripts, and the choice of the relay. */
const setUp = (script?: Script) => {
  const main = scriptedMailer(script);
  const relay = scriptedMailer(script);
  const state = { isOutOfService: false };
  const choice: Choice = { mailer: relay, relay: "a", isOutOfService: () => state.isOutOfService, takeTurn: () => null };
  const deps = {
    mailers: { main },
    db: {
      read: {
        get t() {
          throw new Error("The database is away.");
        },
      },
    },
    clock: { now: () => AT },
    random: { fraction: () => 0.5 },
  } as unknown as DeliveryDeps;
  return { main, relay, state, choice, deps };
};

const notAsked = (): Promise<Next | undefined> => Promise.reject(new Error("It is not asked."));
const patchOf = (ended: Ended) => (ended.next === "settle" && ended.effect?.kind === "outcome" ? ended.effect.move.patch : undefined);
const unavailable = { ...busy, unavailable: true } as const;

test("the mailer gets the email as it was transformed, dated when it was accepted", async () => {
  const { main, deps } = setUp();
  const ended = await handOver(deps, mailOf({ subject: "Hello Ada" }), notAsked);
  expect(patchOf(ended)).toMatchObject({ status: "sent", attempts: 1, sentAt: AT });
  expect(main.sent).toEqual([
    {
      envelopeFrom: "bounces@acme.test",
      envelopeTo: "ada@example.com",
      messageId: "<em_1@acme.test>",
      from: "Acme <hello@acme.test>",
      to: [{ name: "Ada", address: "ada@example.com" }],
      cc: [],
      replyTo: null,
      subject: "Hello Ada",
      html: "<p>It works.</p>",
      text: "It works.",
      headers: { "X-Campaign": "1" },
      attachments: [],
      date: 1000,
      attempt: 1,
      origin: { workspaceId: "ws_1", emailId: "em_1" },
      traceparent: null,
      isStillWanted: expect.any(Function),
    },
  ]);
});

test("each attempt at a scheduled email of a mail to several people has the same date and addressees", async () => {
  const { main, deps } = setUp();
  const addressees = { to: ["Ada <ada@example.com>", "bob@example.com"], cc: ["Carol <carol@example.com>"] };
  const shared = mailOf({
    email: { ...email, mailId: "em_0", name: null, scheduledAt: 5000 },
    contents: { ...contents, addressees },
    attempt: 3,
  });
  expect(patchOf(await handOver(deps, shared, notAsked))).toMatchObject({ status: "sent", attempts: 3 });
  expect(main.sent).toMatchObject([
    {
      to: [
        { name: "Ada", address: "ada@example.com" },
        { name: "", address: "bob@example.com" },
      ],
      cc: [{ name: "Carol", address: "carol@example.com" }],
      date: 5000,
      attempt: 3,
      origin: { workspaceId: "ws_1", emailId: "em_0" },
    },
  ]);
});

test("the chosen mailer gets it, and no other one", async () => {
  const { main, relay, choice, deps } = setUp();
  await handOver(deps, mailOf({ choice }), notAsked);
  expect([main.sent.length, relay.sent.length]).toEqual([0, 1]);
});

test("a relay that is out of service gets nothing: another one takes over at once, and it is no attempt", async () => {
  const { relay, state, choice, deps } = setUp();
  state.isOutOfService = true;
  const ended = await handOver(deps, mailOf({ choice }), notAsked);
  expect(relay.sent).toEqual([]);
  expect(ended).toMatchObject({ next: "settle", effect: { retryAt: AT } });
  expect(patchOf(ended)).toMatchObject({ status: "deferred", attempts: 0, inDoubt: false });
});

test.each<[string, Receipt, boolean, object, number]>([
  ["that goes out of service with it", unavailable, true, { attempts: 0, inDoubt: false }, AT],
  ["that stays in service", unavailable, false, { attempts: 1, inDoubt: false }, AT + 60_000],
  ["that refuses this email only, and goes out of service", busy, true, { attempts: 1, inDoubt: false }, AT + 60_000],
  [
    "that may have got it, and goes out of service",
    { ...unavailable, outcome: "unknown" },
    true,
    { attempts: 1, inDoubt: true },
    AT + 60_000,
  ],
])("after an attempt at a relay %s, the next one is due at its time", async (_relay, receipt, goes, patch, retryAt) => {
  const { state, choice, deps } = setUp(() => {
    state.isOutOfService = goes;
    return receipt;
  });
  const ended = await handOver(deps, mailOf({ choice }), notAsked);
  expect(ended).toMatchObject({ next: "settle", effect: { retryAt } });
  expect(patchOf(ended)).toMatchObject({ status: "deferred", ...patch });
});

test.each<[string, Next | undefined]>([
  ["was read a moment ago", undefined],
  ["is read again, and is still to go", { next: "handOver", mail: mailOf() }],
])("an email that %s is wanted right before its first byte", async (_email, next) => {
  const wanted: unknown[] = [];
  const { deps } = setUp(async ({ isStillWanted }) => {
    wanted.push(await isStillWanted?.());
    return accepted;
  });
  const ended = await handOver(deps, mailOf(), async () => next);
  expect(wanted).toEqual([true]);
  expect(patchOf(ended)).toMatchObject({ status: "sent" });
});

const skipped: Ended = { next: "settle", effect: withdrawnOutcome(email, { to: "skipped", reason: "unsubscribed" }, AT) };

test.each<[string, Ended]>([
  ["is withdrawn", skipped],
  ["fails", { next: "fail", error: new Error("It cannot be read.") }],
])("an email that %s right before its first byte ends so, and stays unwanted", async (_email, next) => {
  const answers: (Next | undefined)[] = [undefined, next, { next: "handOver", mail: mailOf() }];
  const wanted: unknown[] = [];
  const { deps } = setUp(async ({ isStillWanted }) => {
    for (let n = 0; n < 3; n += 1) wanted.push(await isStillWanted?.());
    return busy;
  });
  expect(await handOver(deps, mailOf(), async () => answers.shift())).toBe(next);
  expect(wanted).toEqual([true, false, false]);
});

test.each<[string, Receipt, object]>([
  ["took", accepted, { status: "sent", inDoubt: false }],
  ["may have taken", { ...busy, outcome: "unknown" }, { status: "deferred", inDoubt: true }],
])("an email that was withdrawn too late, because the mailer %s it, has the outcome of its receipt", async (_mailer, receipt, patch) => {
  const { deps } = setUp(async ({ isStillWanted }) => {
    await isStillWanted?.();
    return receipt;
  });
  expect(patchOf(await handOver(deps, mailOf(), async () => skipped))).toMatchObject(patch);
});

test("a mailer that throws, for a bug of ours, fails the attempt", async () => {
  const error = new Error("a bug");
  const throwing = setUp(() => {
    throw error;
  });
  expect(await handOver(throwing.deps, mailOf(), notAsked)).toEqual({ next: "fail", error });
  expect(await handOver(setUp(() => Promise.reject(error)).deps, mailOf(), notAsked)).toEqual({ next: "fail", error });
});

test("an email whose files cannot be read fails, and no mailer gets it", async () => {
  const { main, deps } = setUp();
  const ended = await handOver(deps, mailOf({ contents: { ...contents, attachments: 1 } }), notAsked);
  expect(ended).toEqual({ next: "fail", error: new Error("The database is away.") });
  expect(main.sent).toEqual([]);
});
