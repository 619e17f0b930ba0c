import { expect, test } from "vitest";
import { busy, cutOff, noSuchUser, relayDenied } from "../../test/scripted-mailer.ts";
import type { Receipt } from "../mail/mailer.ts";
import { type Attempt, outcomeOfReceipt, RETRY_DELAYS, withdrawnOutcome } from "./outcome.ts";

const email = {
  workspaceId: "ws_1",
  id: "em_1",
  to: "ada@example.com",
  toKey: "ada@example.com",
  inDoubt: false,
  createdAt: 0,
  scheduledAt: null,
} as Attempt["email"];
const attempt = (changes: Partial<Attempt> = {}): Attempt => ({
  ...{ email, attempt: 1, relay: null, at: 1000, random: { fraction: () => 0.5 } },
  ...changes,
});
const last = attempt({ attempt: RETRY_DELAYS.length + 1 });
const doubted = attempt({ email: { ...email, inDoubt: true } });

const sent: Receipt = { outcome: "sent", response: "250 OK" };
const delivered: Receipt = { outcome: "delivered", response: "captured" };

test.each([
  ["an accepted email is sent", sent, attempt(), { status: "sent", inDoubt: false, sentAt: 1000 }, ["email.sent"]],
  ["a captured email is delivered", delivered, attempt(), { status: "delivered", sentAt: 1000 }, ["email.sent", "email.delivered"]],
  ["an email in doubt stays in doubt when it is accepted", sent, doubted, { status: "sent", inDoubt: true }, ["email.sent"]],
  ["a refused email is bounced", relayDenied, attempt(), { status: "bounced", nextAttemptAt: null }, ["email.bounced"]],
  ["an email is deferred for a minute", busy, attempt(), { status: "deferred", inDoubt: false, nextAttemptAt: 61_000 }, ["email.deferred"]],
  ["an email whose connection was lost is in doubt", cutOff, attempt(), { status: "deferred", inDoubt: true }, ["email.deferred"]],
  ["an email fails with its last attempt", busy, last, { status: "failed", inDoubt: false, nextAttemptAt: null }, ["email.failed"]],
  ["the same, in doubt", cutOff, last, { status: "failed", inDoubt: true }, ["email.failed"]],
])("%s", (_name, receipt, tried, patch, events) => {
  const { move } = outcomeOfReceipt(receipt, tried);
  expect(move.patch).toMatchObject({ ...patch, attempts: tried.attempt, updatedAt: 1000 });
  expect(move.events?.map(({ type }) => type)).toEqual(events);
});

test("only a mailbox that does not exist makes its address invalid, and only a deferred email is tried again", () => {
  expect(outcomeOfReceipt(noSuchUser, attempt())).toMatchObject({ invalidRecipient: true });
  expect(outcomeOfReceipt(relayDenied, attempt()).invalidRecipient).toBeUndefined();
  expect(outcomeOfReceipt(busy, attempt()).retryAt).toBe(61_000);
  for (const end of [outcomeOfReceipt(busy, last), outcomeOfReceipt(sent, attempt())]) expect(end.retryAt).toBeUndefined();
});

test("an email that is withdrawn after a crash left it sending stays in doubt", () => {
  const sending = { ...email, status: "sending" } as const;
  const queued = { ...email, status: "queued" } as const;
  expect(withdrawnOutcome(queued, { to: "hold" }, 0).move.patch).toMatchObject({ status: "queued", inDoubt: false });
  expect(withdrawnOutcome(sending, { to: "hold" }, 0).move.patch).toMatchObject({ status: "deferred", inDoubt: true });
  expect(withdrawnOutcome(sending, { to: "cancelled" }, 0).move.patch).toMatchObject({ status: "cancelled", inDoubt: true });
  expect(withdrawnOutcome(queued, { to: "skipped", reason: "unsubscribed" }, 0).move.patch).toMatchObject({
    status: "skipped",
    skipReason: "unsubscribed",
  });
});

test("an email that another relay takes over is due at once and has used up no attempt, for two days", () => {
  const gone: Receipt = { outcome: "deferred", error: { message: "421 outage", smtpCode: 421, enhancedCode: null }, unavailable: true };
  const outcome = outcomeOfReceipt(gone, attempt({ takenOver: true }));
  expect(outcome).toMatchObject({ retryAt: 1000, move: { patch: { status: "deferred", attempts: 0 } } });
  const tenth = { takenOver: true, attempt: RETRY_DELAYS.length + 1 };
  expect(outcomeOfReceipt(gone, attempt(tenth)).move.patch).toMatchObject({ status: "deferred", attempts: RETRY_DELAYS.length });
  const late = email.createdAt + 2 * 24 * 3_600_000;
  expect(outcomeOfReceipt(gone, attempt({ takenOver: true, at: late })).move.patch).toMatchObject({ status: "deferred", attempts: 1 });
  expect(outcomeOfReceipt(gone, attempt({ ...tenth, at: late })).move.patch).toMatchObject({ status: "failed" });
});
