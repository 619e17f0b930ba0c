import { expect, test } from "vitest";
import { BULK, type EmailRow, SINGLE, toDeliveryJob } from "../emails/emails.ts";
import type { BatchOutcome } from "../queue/queue.ts";
import { ClaimedMail } from "./claimed-mail.ts";
import type { Effect } from "./effects.ts";
import { type EmailOutcome, suppressedOutcome } from "./outcome.ts";
import type { PendingMail } from "./transform.ts";

const email = { workspaceId: "ws_1", id: "em_1", lane: SINGLE, bytes: 0, faults: 2 } as EmailRow;
const mail = { email } as PendingMail;
const outcome = suppressedOutcome(email, 0);

/** A claimed email, and what the queue stores of it; `refuse` tells which effects cannot be stored, and `mark` what becomes of a mark. */
const setUp = ({
  refuse = () => false,
  mark = () => email,
  changes = {},
}: {
  refuse?: (effect: Effect) => boolean;
  mark?: () => EmailRow | null;
  changes?: Partial<EmailRow>;
} = {}) => {
  const stored: BatchOutcome<Effect>[] = [];
  const settle = async (_job: unknown, settled: BatchOutcome<Effect>): Promise<void> => {
    stored.push(settled);
    if ("error" in settled || !settled.effect) return;
    if (refuse(settled.effect)) throw new Error("no");
    if (settled.effect.kind === "mark") settled.effect.marked = mark();
  };
  const job = toDeliveryJob({ ...email, ...changes });
  return { job, stored, claimed: new ClaimedMail(job, settle) };
};

test("an email is a job whose attempts are those that failed by a fault of ours", () => {
  const { job, claimed } = setUp({ changes: { lane: BULK, bytes: 20_000 } });
  expect(job).toMatchObject({ id: "em_1", lane: "bulk", attempt: 3, maxAttempts: 25 });
  expect([claimed.lane, claimed.bytes, setUp().claimed.lane, setUp().claimed.bytes]).toEqual(["bulk", 20_000, "single", undefined]);
});

test("it ends with its attempt, is repeated with it, or leaves the queue if nothing is to be stored of it", async () => {
  const { stored, claimed } = setUp();
  const retry: EmailOutcome = { ...outcome, retryAt: 60_000 };
  let ended = 0;
  claimed.whenEnded(() => {
    ended += 1;
  });
  await claimed.end({ next: "settle", effect: retry });
  await claimed.end({ next: "fail", error: "a bug" });
  await claimed.end({ next: "settle", effect: { kind: "postponed", email, runAt: 5 } });
  await claimed.end({ next: "settle" });
  expect(stored).toEqual([
    { effect: retry, again: 60_000, bytes: undefined },
    { error: "a bug" },
    { effect: { kind: "postponed", email, runAt: 5 }, again: 5, bytes: undefined },
    { effect: { kind: "left", email }, again: undefined, bytes: undefined },
  ]);
  expect(ended).toBe(4);
});

test("a marked email is handed over as it was moved; one that was not moved is settled, and one that cannot be marked fails", async () => {
  const moved = { ...email, status: "sending" } as EmailRow;
  const { claimed } = setUp({ mark: () => moved });
  expect(await claimed.mark(mail)).toEqual({ next: "handOver", mail: { email: moved } });
  // The row as it was marked decides what becomes of it from now on.
  expect(claimed.email).toBe(moved);
  expect(await setUp({ mark: () => null }).claimed.mark(mail)).toEqual({ next: "settle" });
  expect(await setUp({ refuse: () => true }).claimed.mark(mail)).toEqual({ next: "fail", error: new Error("no") });
});
