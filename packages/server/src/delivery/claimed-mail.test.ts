import { expect, test } from "vitest";
import type { BatchOutcome, LaneJob } from "../queue/queue.ts";
import { listMails } from "./claimed-mail.ts";
import type { Effect } from "./effects.ts";
import { type EmailOutcome, suppressedOutcome } from "./outcome.ts";
import type { PendingMail } from "./transform.ts";

const email = { workspaceId: "ws_1", id: "em_1" } as PendingMail["email"];
const mail = { email } as PendingMail;
const outcome = suppressedOutcome(email, 0);
const job = (payload: Record<string, unknown>, lane: LaneJob["lane"]): LaneJob => ({
  id: "1",
  kind: "email.deliver",
  payload: { workspaceId: "ws_1", ...payload },
  attempt: 1,
  interruptions: 0,
  maxAttempts: 25,
  lane,
});
const single = job({ emailId: "em_1", bytes: 20_000 }, "mail");
const shared = job({ emailIds: ["em_1", "em_2", "em_3"] }, "bulk");

/** A queue that stores what it gets; `refuse` tells which effects it cannot store, and `mark` what becomes of a mark. */
const setUp = ({
  refuse = () => false,
  mark = () => email,
}: {
  refuse?: (effect: Effect) => boolean;
  mark?: () => typeof email | null;
}) => {
  const stored: BatchOutcome<Effect>[] = [];
  const settle = async (_job: unknown, settled: BatchOutcome<Effect>): Promise<void> => {
    stored.push(settled);
    if ("error" in settled || !settled.effect) return;
    if (refuse(settled.effect)) throw new Error("no");
    if (settled.effect.kind === "mark") settled.effect.marked = mark();
  };
  return { stored, settle };
};

test("the job of a single email ends with its attempt, or is repeated with it", async () => {
  const { stored, settle } = setUp({});
  const [one] = listMails(single, settle);
  expect(one).toMatchObject({ workspaceId: "ws_1", emailId: "em_1", lane: "single", bytes: 20_000 });
  const retry: EmailOutcome = { ...outcome, retryAt: 60_000 };
  await one?.end({ next: "settle", effect: retry });
  expect(stored).toEqual([{ effect: retry, again: 60_000, bytes: undefined }]);
  await one?.end({ next: "fail", error: "a bug" });
  expect(stored[1]).toEqual({ error: "a bug" });
});

test("a shared job ends when all of its emails are settled, and tells each outcome which job it shares", async () => {
  const { stored, settle } = setUp({});
  const [first, second, third] = listMails(shared, settle);
  await first?.end({ next: "settle", effect: outcome });
  await second?.end({ next: "settle" });
  expect(stored).toEqual([{ effect: { ...outcome, sharedJob: shared }, more: true, bytes: undefined }]);
  await third?.end({ next: "settle" });
  expect(stored.slice(1)).toEqual([{}]);
});

test.each([
  ["an email of it failed", () => false, { next: "fail", error: new Error("no") } as const],
  ["an outcome of it cannot be stored", () => true, { next: "settle", effect: outcome } as const],
])("a shared job runs again if %s, once the others are settled", async (_name, refuse, ended) => {
  const { stored, settle } = setUp({ refuse });
  const [first, second, third] = listMails(shared, settle);
  await first?.end(ended);
  await second?.end({ next: "settle" });
  expect(stored.some((one) => "error" in one)).toBe(false);
  await third?.end({ next: "settle" });
  expect(stored.at(-1)).toEqual({ error: new Error("no") });
});

test("a marked email is handed over as it was moved; one that was not moved is settled, and one that cannot be marked fails", async () => {
  const moved = { ...email, status: "sending" } as typeof email;
  const nextOf = (options: Parameters<typeof setUp>[0]) => listMails(single, setUp(options).settle)[0]?.mark(mail);
  expect(await nextOf({ mark: () => moved })).toEqual({ next: "handOver", mail: { email: moved } });
  expect(await nextOf({ mark: () => null })).toEqual({ next: "settle" });
  expect(await nextOf({ refuse: () => true })).toEqual({ next: "fail", error: new Error("no") });
});

test("a job without emails is settled at once", () => {
  const { stored, settle } = setUp({});
  expect(listMails(job({ emailIds: [] }, "bulk"), settle)).toEqual([]);
  expect(stored).toEqual([{}]);
});
