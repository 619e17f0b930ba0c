import { Mailsvc } from "@mailsvc/sdk";
import { isNotNull } from "drizzle-orm";
import { expect, test } from "vitest";
import { accepted, busy, type ScriptedMailer, scriptedMailer } from "../../test/scripted-mailer.ts";
import type { OutgoingMail, Receipt } from "../mail/mailer.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { REQUEUE_JOB } from "./requeue.ts";

const hello = { from: "a@acme.test", subject: "Hello", text: "x" };

const send = async (w: TestWorld, to: string, more: object = {}): Promise<string> =>
  ((await w.sdk.emails.send({ ...hello, to, ...more })) as { id: string }).id;

const operator = (w: TestWorld) => new Mailsvc({ apiKey: w.operatorKey, baseUrl: w.url, fetch: w.fetch }).queue;

const recipients = ({ sent }: ScriptedMailer): string[] => sent.map(({ envelopeTo }) => envelopeTo);

/** The instants of the emails that wait in the queue, in order. */
const listInstants = async (w: TestWorld): Promise<number[]> => {
  const { emails: t } = w.app.deps.db.read.t;
  const rows = await w.app.deps.db.read.select({ at: t.nextAttemptAt }).from(t).where(isNotNull(t.lane)).orderBy(t.nextAttemptAt);
  return rows.map(({ at }) => at ?? Number.NaN);
};

/** Waits until a condition is true, while other work goes on. */
const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await new Promise((turn) => setImmediate(turn));
};

/** Moves the clock although mail hangs, and lets everything run that is due by then. */
const jump = async (w: TestWorld, mailer: ScriptedMailer, ms: number): Promise<void> => {
  const clock = w.clock.control;
  clock.reset(clock.now() + ms, "frozen");
  w.app.deps.queue.refresh();
  // Mail that was due before goes first.
  const to = `after-${clock.now()}@fence.example`;
  await send(w, to);
  await until(() => recipients(mailer).includes(to));
};

/** A mailer that is busy at the first attempts, then hangs until it is let go. */
const hangingMailer = (busyAttempts: number) => {
  const waiting: (() => void)[] = [];
  const mailer = scriptedMailer(({ attempt, envelopeTo }: OutgoingMail): Receipt | Promise<Receipt> => {
    if (envelopeTo.endsWith("@fence.example")) return accepted;
    if (attempt <= busyAttempts) return busy;
    return new Promise((done) => waiting.push(() => done(accepted)));
  });
  return {
    mailer,
    hanging: () => waiting.length,
    letGo: () => {
      for (const go of waiting.splice(0)) go();
    },
  };
};

test("deferred emails are tried at once, those of one domain or all, and not again at their first instant", async () => {
  const mailer = scriptedMailer(({ attempt }) => (attempt === 1 ? busy : accepted));
  await using w = await createWorld({ mailer });
  await send(w, "ada@one.example");
  await send(w, "bob@two.example");
  const later = await send(w, "eve@one.example", { scheduledAt: "2026-01-02T00:00:00Z" });
  await w.settle();
  expect(mailer.sent).toHaveLength(2);
  await operator(w).requeue({ domain: "one.example" });
  await w.settle();
  expect(recipients(mailer)).toEqual(["ada@one.example", "bob@two.example", "ada@one.example"]);
  await operator(w).requeue({});
  await w.settle();
  expect(mailer.sent).toHaveLength(4);
  expect(await listInstants(w)).toEqual([Date.parse("2026-01-02T00:00:00Z")]);
  await w.clock.advance("1h");
  expect(mailer.sent).toHaveLength(4);
  expect((await w.sdk.emails.get(later)).status).toBe("queued");
  expect((await w.sdk.emails.list({ status: "sent" })).pagination.total).toBe(2);
});

test("an email whose new attempt hangs past its first instant is handed over once, and is not in doubt", async () => {
  const { mailer, hanging, letGo } = hangingMailer(1);
  await using w = await createWorld({ mailer });
  const id = await send(w, "ada@one.example");
  const scheduled = await send(w, "bob@one.example", { scheduledAt: "2026-01-01T00:00:00.001Z" });
  await w.clock.advance("1s");
  await operator(w).requeue({});
  await until(() => hanging() === 2);
  await jump(w, mailer, 3_600_000);
  expect(hanging()).toBe(2);
  letGo();
  await w.clock.advance("3d");
  expect(recipients(mailer).filter((to) => to.endsWith("@one.example"))).toHaveLength(4);
  for (const one of [id, scheduled]) expect(await w.sdk.emails.get(one)).toMatchObject({ status: "sent", attempts: 2, inDoubt: false });
  expect(await listInstants(w)).toEqual([]);
});

test("an email that was held between its attempts waits once after its release, and a requeue moves it", async () => {
  const { mailer, hanging, letGo } = hangingMailer(2);
  await using w = await createWorld({ mailer });
  const id = await send(w, "ada@one.example");
  await w.settle();
  await operator(w).hold({ domain: "one.example" });
  await w.clock.advance("10m");
  expect(await listInstants(w)).toEqual([]);
  // It is left to the release.
  await operator(w).requeue({});
  await w.settle();
  expect(await listInstants(w)).toEqual([]);
  await Promise.all([operator(w).release({ domain: "one.example" }), operator(w).release({ domain: "one.example" })]);
  await w.settle();
  expect(await w.sdk.emails.get(id)).toMatchObject({ status: "deferred", attempts: 2 });
  expect(await listInstants(w)).toHaveLength(1);
  await operator(w).requeue({ domain: "one.example" });
  await until(() => hanging() === 1);
  await jump(w, mailer, 3_600_000);
  expect(hanging()).toBe(1);
  letGo();
  await w.clock.advance("3d");
  expect(await w.sdk.emails.get(id)).toMatchObject({ status: "sent", attempts: 3, inDoubt: false });
  expect(recipients(mailer).filter((to) => to === "ada@one.example")).toHaveLength(3);
});

test("an email that waits for a delivery slot stays as it is", async () => {
  const { mailer: many, hanging, letGo } = hangingMailer(1);
  const mailer = { ...many, concurrency: 1 };
  await using w = await createWorld({ mailer });
  for (const name of ["ada", "bob"]) await send(w, `${name}@one.example`);
  await w.settle();
  const clock = w.clock.control;
  clock.reset(clock.now() + 3_600_000, "frozen");
  w.app.deps.queue.refresh();
  await until(() => hanging() === 1);
  const before = await listInstants(w);
  await operator(w).requeue({});
  const isDone = async () => (await w.sdk.jobs.list()).data.every(({ kind }) => kind !== REQUEUE_JOB);
  while (!(await isDone()));
  expect(await listInstants(w)).toEqual(before);
  letGo();
  await until(() => hanging() === 1);
  letGo();
  await w.clock.advance("3d");
  expect(mailer.sent).toHaveLength(4);
  expect((await w.sdk.emails.list({ status: "sent", inDoubt: false })).pagination.total).toBe(2);
});

test("several requeues at once try each email once; what was cancelled or sent stays alone", async () => {
  const mailer = scriptedMailer(({ attempt, envelopeTo }) => (attempt === 1 && envelopeTo !== "sent@one.example" ? busy : accepted));
  await using w = await createWorld({ mailer });
  await send(w, "sent@one.example");
  const cancelled = await send(w, "cancelled@one.example");
  const to = Array.from({ length: 40 }, (_, i) => `r${i}@one.example`);
  for (let i = 0; i < 13; i += 1) await w.sdk.emails.send({ ...hello, to });
  await w.settle();
  await w.sdk.emails.cancel(cancelled);
  expect(mailer.sent).toHaveLength(522);
  await Promise.all([1, 2, 3].map(() => operator(w).requeue({})));
  await w.settle();
  expect(mailer.sent).toHaveLength(1042);
  await w.clock.advance("3d");
  expect(mailer.sent).toHaveLength(1042);
  expect((await w.sdk.emails.list({ status: "sent", inDoubt: false })).pagination.total).toBe(521);
  expect((await w.sdk.emails.get(cancelled)).status).toBe("cancelled");
});

test("a requeue that dies changes nothing, and succeeds the next time", async () => {
  const mailer = scriptedMailer(({ attempt }) => (attempt === 1 ? busy : accepted));
  await using w = await createWorld({ mailer });
  const id = await send(w, "ada@one.example");
  await w.settle();
  const { nextAttemptAt } = await w.sdk.emails.get(id);
  const { queue } = w.app.deps;
  const { announce } = queue;
  queue.announce = async (tx, work) => {
    await announce(tx, work);
    throw new Error("The process died.");
  };
  await operator(w).requeue({});
  await w.settle();
  expect(await w.sdk.emails.get(id)).toMatchObject({ status: "deferred", nextAttemptAt });
  expect(await listInstants(w)).toContain(Date.parse(nextAttemptAt ?? ""));
  queue.announce = announce;
  await w.clock.advance("5s");
  expect(await w.sdk.emails.get(id)).toMatchObject({ status: "sent", attempts: 2, inDoubt: false });
  await w.clock.advance("3d");
  expect(mailer.sent).toHaveLength(2);
});
