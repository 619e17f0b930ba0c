import { EMAIL_STATES, EMAIL_STATUSES, type EmailStatus } from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import { afterEach, beforeEach, expect, test } from "vitest";
import { accepted, busy, cutOff, noSuchUser, scriptedMailer } from "../../test/scripted-mailer.ts";
import { type EmailRow, findEmail, OPEN, WAITING } from "../emails/emails.ts";
import { applyReports } from "../inbound/apply.ts";
import type { ReportOutcome } from "../inbound/report.ts";
import type { Receipt } from "../mail/mailer.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { type Effect, storeEffects } from "./effects.ts";
import { toPendingMail } from "./load.ts";
import { failedOutcome, outcomeOfReceipt, RETRY_DELAYS, suppressedOutcome, withdrawnOutcome } from "./outcome.ts";
import { renewMails } from "./renew.ts";
import type { Withdrawal } from "./transform.ts";

const WITHDRAWALS: readonly Withdrawal[] = [{ to: "hold" }, { to: "skipped", reason: "unsubscribed" }, { to: "cancelled" }];
const captured: Receipt = { outcome: "delivered", response: "captured" };
const LAST_ATTEMPT = RETRY_DELAYS.length + 1;

let world: TestWorld;
const changes = new Set<string>();
const show = (from: EmailStatus, to: EmailStatus): string => `${from} → ${to}`;

beforeEach(async () => {
  world = await createWorld({ mailer: scriptedMailer() });
  const { deps } = world.app;
  await deps.queue.stop();
  changes.clear();
  Object.assign(deps, {
    statusListeners: [
      async (_tx: unknown, all: readonly { from: EmailStatus; to: EmailStatus }[]) => {
        for (const { from, to } of all) changes.add(show(from, to));
      },
    ],
  });
});
afterEach(() => world.dispose());

let recipients = 0;

/** An email in a state, as it is stored, to its own address: some outcomes suppress it. */
const inState = async (status: EmailStatus): Promise<EmailRow> => {
  const { deps } = world.app;
  const to = `r${recipients++}@example.com`;
  const { id } = (await world.sdk.emails.send({ from: "hello@acme.test", to, subject: "Hello", text: "It works." })) as { id: string };
  const { emails: t } = deps.db.read.t;
  await deps.db.tx((tx) => tx.update(t).set({ status }).where(eq(t.id, id)));
  return (await load(id)).email;
};

const load = async (id: string) => {
  const found = await findEmail(world.app.deps.db.read, world.workspaceId, id);
  if (!found) throw new Error(`There is no ${id}.`);
  return found;
};

const store = (effect: Effect): Promise<void> => {
  const { deps } = world.app;
  return deps.db.tx((tx) => storeEffects(tx, deps, [effect]));
};

/** Each receipt, at the first attempt and at the last one. */
const receive = async (status: EmailStatus, receipts: readonly Receipt[]): Promise<void> => {
  for (const receipt of receipts)
    for (const attempt of [1, LAST_ATTEMPT])
      await store(outcomeOfReceipt(receipt, { email: await inState(status), attempt, relay: null, at: 0, random: { fraction: () => 0 } }));
};

/** Renews a marked email that a transform withdraws, and stores its outcome. `loadedAs` is its state before the mark. */
const renew = async (loadedAs: EmailStatus, withdrawal: Withdrawal): Promise<void> => {
  const { deps } = world.app;
  const loaded = await inState(loadedAs);
  const { contents } = await load(loaded.id);
  const mark = { kind: "mark" as const, mail: toPendingMail(loaded, contents), marked: null };
  await store(mark);
  const { email } = await load(loaded.id);
  const withdraw = async (_read: unknown, mails: readonly { withdrawal: Withdrawal | null }[]) => {
    for (const mail of mails) mail.withdrawal = withdrawal;
  };
  const waiting = [{ loaded, mail: { ...toPendingMail(loaded, contents), email } }];
  const [next] = await renewMails({ ...deps, mailTransforms: [withdraw] }, waiting);
  if (next?.next !== "settle" || !next.effect) throw new Error("It is not withdrawn.");
  await store(next.effect);
};

test("emails go from state to state as EMAIL_STATES says, and each way that it lists is taken", async () => {
  for (const status of OPEN) {
    await store(suppressedOutcome(await inState(status), 0));
    await store(failedOutcome(await inState(status), "It cannot be composed.", 0));
    for (const withdrawal of WITHDRAWALS) await store(withdrawnOutcome(await inState(status), withdrawal, 0));
    const email = await inState(status);
    await store({ kind: "held", email, domain: "example.com" });
  }
  for (const status of WAITING) {
    await receive(status, [captured, busy, noSuchUser]);
    for (const withdrawal of WITHDRAWALS) await renew(status, withdrawal);
    await world.sdk.emails.cancel((await inState(status)).id);
  }
  await receive("sending", [accepted, captured, busy, cutOff, noSuchUser]);
  const error = { message: "550 5.1.1 No such user here", smtpCode: 550, enhancedCode: "5.1.1" };
  const outcomes: readonly ReportOutcome[] = [
    { kind: "delivered" },
    { kind: "deferred", error },
    { kind: "bounced", error, type: "PERMANENT", invalidRecipient: false },
    { kind: "complained", feedbackType: "abuse" },
  ];
  const { deps } = world.app;
  for (const status of EMAIL_STATUSES)
    for (const outcome of outcomes) {
      const { id: emailId } = await inState(status);
      const report = { emailId, source: "dsn" as const, key: `${emailId} ${outcome.kind}`, outcome };
      await deps.db.tx((tx) => applyReports(tx, deps, [report], null));
    }
  const listed = EMAIL_STATUSES.flatMap((from) => EMAIL_STATES[from].next.map((to) => show(from, to)));
  expect([...changes].toSorted()).toEqual(listed.toSorted());
});
