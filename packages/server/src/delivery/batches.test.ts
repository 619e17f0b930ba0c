import { expect, test } from "vitest";
import { sendAsBulk } from "../../test/bulk-mail.ts";
import { accepted, busy, type Script, scriptedMailer } from "../../test/scripted-mailer.ts";
import type { Deps } from "../deps.ts";
import { findEmailRows, SINGLE, type StatusChange } from "../emails/emails.ts";
import { realTime } from "../lib/clock.ts";
import type { OutgoingMail, Receipt } from "../mail/mailer.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { holdDomain, releaseDomain } from "./holds.ts";
import { requeueDeferred } from "./requeue.ts";

const hello = { from: "Acme <hello@acme.test>", subject: "Hello", text: "It works." };

/** A world whose hooks of delivery a test replaces. */
const world = async (script?: Script, hooks: Partial<Pick<Deps, "mailTransforms" | "statusListeners">> = {}) => {
  const mailer = scriptedMailer(script);
  const w = await createWorld({ mailer });
  Object.assign(w.app.deps, hooks);
  return { w, mailer, [Symbol.asyncDispose]: () => w.dispose() };
};

const addresses = (n: number, name = "r"): string[] => Array.from({ length: n }, (_, i) => `${name}${i}@example.com`);

const send = async (w: TestWorld, to: string[]): Promise<string[]> =>
  ((await w.sdk.emails.send({ ...hello, to })) as { ids: string[] }).ids;

const count = async (w: TestWorld, status: "sent" | "failed" | "deferred" | "queued" | "sending" | "suppressed"): Promise<number> =>
  (await w.sdk.emails.list({ status })).pagination.total;

/** Waits until something is true, turn by turn of the event loop. */
const until = async (check: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await check())) await new Promise((turn) => setImmediate(turn));
};

/** A script in which mails to some addresses wait until they are let go. */
const holding = (isHeld: (to: string) => boolean) => {
  const held: (() => void)[] = [];
  const script: Script = ({ envelopeTo }) =>
    isHeld(envelopeTo) ? new Promise<Receipt>((resolve) => held.push(() => resolve(accepted))) : accepted;
  return { held, script };
};

test("bulk mail is sent once, each email with its events, and is no job", async () => {
  await using t = await world();
  const ids = await sendAsBulk(t.w, addresses(150));
  await t.w.settle();
  expect(t.mailer.sent.map(({ envelopeTo }) => envelopeTo).toSorted()).toEqual(addresses(150).toSorted());
  expect(await count(t.w, "sent")).toBe(150);
  const email = await t.w.sdk.emails.get(ids[100] ?? "");
  expect(email).toMatchObject({ status: "sent", attempts: 1, inDoubt: false });
  expect(email.events.map(({ type }) => type)).toEqual(["email.queued", "email.sent"]);
  expect((await t.w.sdk.jobs.list()).data.filter(({ kind }) => kind.startsWith("email."))).toEqual([]);
});

test("of bulk emails, one that failed, one that is deferred and one that is held are sent once, each in its time", async () => {
  const hanging: (() => void)[] = [];
  let failures = 0;
  await using t = await world(({ envelopeTo, attempt }) => {
    if (envelopeTo === "failed@one.example") {
      if (failures++ === 0) throw new Error("a bug");
      return accepted;
    }
    if (envelopeTo === "deferred@one.example" && attempt === 1) return busy;
    return new Promise<Receipt>((resolve) => hanging.push(() => resolve(accepted)));
  });
  const { deps } = t.w.app;
  await deps.db.tx((tx) => holdDomain(tx, deps, "slow.example", null));
  const ids = await sendAsBulk(t.w, ["deferred@one.example", "held@slow.example", "failed@one.example"]);
  await t.w.settle();
  const rows = await findEmailRows(deps.db.read, t.w.workspaceId, ids);
  expect(rows.map(({ status, lane, faults }) => [status, lane !== null, faults])).toEqual([
    ["deferred", true, 0],
    ["queued", false, 0],
    ["sending", true, 1],
  ]);
  await deps.db.tx(async (tx) => {
    await releaseDomain(tx, deps, "slow.example");
    await requeueDeferred(tx, deps, null);
  });
  await until(() => hanging.length === 2);
  t.w.clock.control.reset(deps.clock.now() + 3_600_000, "frozen");
  deps.queue.refresh();
  await until(() => t.mailer.sent.filter(({ envelopeTo }) => envelopeTo === "failed@one.example").length === 2);
  expect(hanging).toHaveLength(2);
  for (const go of hanging.splice(0)) go();
  await t.w.clock.advance("3d");
  expect(hanging).toEqual([]);
  const emails = await Promise.all(ids.map((id) => t.w.sdk.emails.get(id)));
  expect(emails.map(({ status, attempts, inDoubt }) => [status, attempts, inDoubt])).toEqual([
    ["sent", 2, false],
    ["sent", 1, false],
    ["sent", 2, true],
  ]);
});

test("a single email overtakes bulk mail that waits", async () => {
  const { held, script } = holding((to) => to.startsWith("bulk"));
  let singleIsReady = false;
  await using t = await world(script, {
    mailTransforms: [
      async (_read, mails) => {
        if (mails.some(({ email }) => email.to === "single@example.com")) singleIsReady = true;
      },
    ],
  });
  await sendAsBulk(t.w, addresses(100, "bulk"));
  await until(() => held.length === 8);
  await send(t.w, ["single@example.com"]);
  // It is transformed, so that from now on it waits for a slot as the bulk mail does.
  await until(() => singleIsReady);
  for (let next = held.shift(); next; next = held.shift()) {
    next();
    await until(() => held.length > 0 || t.mailer.sent.length === 101);
  }
  await t.w.settle();
  const position = t.mailer.sent.findIndex(({ envelopeTo }) => envelopeTo === "single@example.com");
  expect(position).toBeGreaterThanOrEqual(8);
  expect(position).toBeLessThanOrEqual(16);
  expect(await count(t.w, "sent")).toBe(101);
});

test("a mail server that hangs on one email holds up no other one", async () => {
  const { held, script } = holding((to) => to === "r5@example.com");
  await using t = await world(script);
  await send(t.w, addresses(40));
  await until(async () => (await count(t.w, "sent")) === 39);
  expect([held.length, await count(t.w, "sending")]).toEqual([1, 1]);
  for (const next of held) next();
  await t.w.settle();
  expect(await count(t.w, "sent")).toBe(40);
});

test("bulk emails that are put off are sent once", async () => {
  await using t = await world(({ envelopeTo, attempt }) => (attempt === 1 && envelopeTo < "r2" ? busy : accepted));
  await sendAsBulk(t.w, addresses(30));
  await t.w.settle();
  // r0, r1 and r10 to r19.
  expect([await count(t.w, "deferred"), await count(t.w, "sent")]).toEqual([12, 18]);
  await t.w.clock.advance("5m");
  expect([await count(t.w, "deferred"), await count(t.w, "sent")]).toEqual([0, 30]);
  expect(t.mailer.sent).toHaveLength(42);
});

test("an email that a transform cannot make, or fails, hurts only itself", async () => {
  await using t = await world(undefined, {
    mailTransforms: [
      async (_read, mails) => {
        for (const mail of mails) {
          if (mail.email.to === "r1@example.com") throw new Error("a bug in a transform");
          if (mail.email.to === "r2@example.com") mail.failure = "This email cannot be rendered.";
          mail.subject = `${mail.subject}, ${mail.email.to}`;
        }
      },
    ],
  });
  const ids = await send(t.w, addresses(20));
  await t.w.settle();
  expect(t.mailer.sent.map(({ subject }) => subject).toSorted()).toEqual(
    addresses(20)
      .filter((to) => !/^r[12]@/.test(to))
      .map((to) => `Hello, ${to}`)
      .toSorted(),
  );
  expect(await t.w.sdk.emails.get(ids[2] ?? "")).toMatchObject({
    status: "failed",
    attempts: 0,
    lastError: { message: "This email cannot be rendered." },
  });
  expect(await t.w.sdk.emails.get(ids[1] ?? "")).toMatchObject({ status: "queued", attempts: 0 });
  expect(await findEmailRows(t.w.app.deps.db.read, t.w.workspaceId, ids.slice(1, 2))).toMatchObject([{ faults: 1, lane: SINGLE }]);
});

test("a listener is told each change once; one email that it cannot take hurts only itself", async () => {
  const changes: StatusChange[] = [];
  await using t = await world(undefined, {
    statusListeners: [
      async (tx, all) => {
        if (all.some(({ email, to }) => email.to === "r3@example.com" && to === "sent")) throw new Error("a bug in a listener");
        tx.afterCommit(() => void changes.push(...all));
      },
    ],
  });
  await send(t.w, addresses(20));
  await t.w.settle();
  const of = (to: string) => changes.filter(({ email }) => email.to === to).map((change) => `${change.from} ${change.to}`);
  for (const to of addresses(20)) expect(of(to)).toEqual(to.startsWith("r3@") ? ["queued sending"] : ["queued sending", "sending sent"]);
  expect([await count(t.w, "sent"), await count(t.w, "sending")]).toEqual([19, 1]);
});

test("emails that leave quickly are marked ahead of their hand-over, 64 of them at most", async () => {
  let sending = 0;
  let most = 0;
  let underWay = 0;
  let mostUnderWay = 0;
  const script: Script = async () => {
    underWay += 1;
    mostUnderWay = Math.max(mostUnderWay, underWay);
    await new Promise((turn) => setImmediate(turn));
    underWay -= 1;
    return accepted;
  };
  await using t = await world(script, {
    statusListeners: [
      async (tx, changes) => {
        for (const { from, to } of changes) sending += Number(to === "sending") - Number(from === "sending");
        tx.afterCommit(() => {
          most = Math.max(most, sending);
        });
      },
    ],
  });
  await send(t.w, addresses(50));
  await sendAsBulk(t.w, addresses(400, "bulk"));
  await t.w.settle();
  expect([t.mailer.sent.length, await count(t.w, "sent"), sending]).toEqual([450, 450, 0]);
  expect(mostUnderWay).toBe(8);
  expect(most).toBeGreaterThanOrEqual(8);
  expect(most).toBeLessThanOrEqual(8 + 64);
});

test("while no email leaves, none is marked ahead of its hand-over", async () => {
  const { held, script } = holding((to) => to.startsWith("bulk"));
  await using t = await world(script);
  await sendAsBulk(t.w, addresses(100, "bulk"));
  await until(() => held.length === 8);
  expect(await count(t.w, "sending")).toBe(8);
  for (let next = held.shift(); next; next = held.shift()) {
    next();
    await until(() => held.length > 0 || t.mailer.sent.length === 100);
  }
  await t.w.settle();
  expect(await count(t.w, "sent")).toBe(100);
});

test("an address that is suppressed while its email waits for a slot gets nothing", async () => {
  const { held, script } = holding((to) => to.startsWith("first"));
  await using t = await world(script);
  await send(t.w, addresses(8, "first"));
  await until(() => held.length === 8);
  await send(t.w, ["last@example.com"]);
  await t.w.sdk.suppressions.create({ email: "last@example.com" });
  for (const next of held) next();
  await t.w.settle();
  expect([await count(t.w, "sent"), await count(t.w, "suppressed")]).toEqual([8, 1]);
  expect(t.mailer.sent).toHaveLength(8);
});

test("three large emails are in memory at a time, and small ones overtake them", async () => {
  const waiting: (() => void)[] = [];
  let most = 0;
  const isLarge = ({ text }: OutgoingMail): boolean => (text?.length ?? 0) > 1000;
  await using t = await world((mail) => {
    if (!isLarge(mail)) return accepted;
    return new Promise<Receipt>((resolve) => {
      most = Math.max(
        most,
        waiting.push(() => resolve(accepted)),
      );
    });
  });
  const to = Array.from({ length: 7 }, (_, n) => `user${n}@example.com`);
  await t.w.sdk.emails.send({ ...hello, to, text: "x".repeat(5_000_000) });
  const [small = ""] = await send(t.w, ["small@example.com"]);
  while ((await t.w.sdk.emails.get(small)).status !== "sent") await realTime.sleep(1);
  while (t.mailer.sent.length < 8) {
    if (waiting.length === 0) await realTime.sleep(1);
    for (const next of waiting.splice(0)) next();
  }
  for (const next of waiting.splice(0)) next();
  await t.w.settle();
  expect(most).toBeLessThanOrEqual(3);
  expect((await t.w.sdk.emails.list({ status: "sent" })).pagination.total).toBe(8);
});
