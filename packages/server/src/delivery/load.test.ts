import { eq } from "drizzle-orm";
import { afterEach, beforeEach, expect, test } from "vitest";
import { scriptedMailer } from "../../test/scripted-mailer.ts";
import { findEmailRows } from "../emails/emails.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import type { DeliveryDeps } from "./deps.ts";
import { holdDomain } from "./holds.ts";
import { loadMails } from "./load.ts";
import { checkSuppressed } from "./suppressed.ts";
import type { MailTransform } from "./transform.ts";

let world: TestWorld;
let deps: DeliveryDeps;
beforeEach(async () => {
  world = await createWorld({ mailer: scriptedMailer() });
  await world.app.deps.queue.stop();
  deps = { ...world.app.deps, mailTransforms: [] };
});
afterEach(() => world.dispose());

const send = async (to: string): Promise<string> =>
  ((await world.sdk.emails.send({ from: "hello@acme.test", to, subject: "Hello", text: "It works." })) as { id: string }).id;

const load = async (ids: string[], transform?: MailTransform) => {
  const emails = await findEmailRows(world.app.deps.db.read, world.workspaceId, ids);
  return loadMails(
    transform ? { ...deps, mailTransforms: [transform] } : deps,
    emails.map((email) => ({ email })),
  );
};

test("emails are answered in the order of the claim: to be handed over, held, or settled if their contents are gone", async () => {
  const due = await send("due@one.example");
  const held = await send("held@two.example");
  const empty = await send("empty@one.example");
  const [row] = await findEmailRows(deps.db.read, world.workspaceId, [empty]);
  await deps.db.tx(async (tx) => {
    await holdDomain(tx, deps, "two.example", null);
    await tx.delete(tx.t.contents).where(eq(tx.t.contents.id, row?.contentsId ?? 0));
  });
  const loaded = await load([held, empty, due]);
  expect(loaded).toMatchObject([
    { next: "settle", effect: { kind: "held", domain: "two.example", email: { id: held } } },
    { next: "settle" },
    { next: "handOver", mail: { email: { id: due }, attempt: 1, messageId: `<${due}@acme.test>`, envelopeFrom: "hello@acme.test" } },
  ]);
  expect(loaded[1]).not.toHaveProperty("effect");
});

test("what a transform withdraws or fails is settled, and only the email for which it throws fails", async () => {
  const ids = [
    await send("withdrawn@one.example"),
    await send("failed@one.example"),
    await send("bug@one.example"),
    await send("good@one.example"),
  ];
  const loaded = await load(ids, async (_read, mails) => {
    for (const mail of mails) {
      if (mail.email.to.startsWith("bug")) throw new Error("a bug");
      if (mail.email.to.startsWith("withdrawn")) mail.withdrawal = { to: "cancelled" };
      if (mail.email.to.startsWith("failed")) mail.failure = "It cannot be made.";
      mail.subject += "!";
    }
  });
  expect(loaded).toMatchObject([
    { next: "settle", effect: { kind: "outcome", move: { patch: { status: "cancelled" } } } },
    { next: "settle", effect: { kind: "outcome", move: { patch: { status: "failed", lastError: { message: "It cannot be made." } } } } },
    { next: "fail", error: new Error("a bug") },
    // Once: the transform that threw had changed a copy.
    { next: "handOver", mail: { subject: "Hello!" } },
  ]);
});

test("when the database cannot be read, all emails fail", async () => {
  const away = new Error("away");
  const read = new Proxy(deps.db.read, {
    get: () => {
      throw away;
    },
  });
  deps = { ...deps, db: { ...deps.db, read } };
  const ids = [await send("a@one.example"), await send("b@one.example")];
  expect(await load(ids)).toEqual([
    { next: "fail", error: away },
    { next: "fail", error: away },
  ]);
});

test("an email whose address was suppressed since it was accepted is settled as suppressed", async () => {
  const ids = [await send("a@one.example"), await send("b@one.example")];
  await world.sdk.suppressions.create({ email: "a@one.example" });
  const mails = (await load(ids)).flatMap((one) => (one.next === "handOver" ? one.mail : []));
  expect(await checkSuppressed(deps, mails)).toMatchObject([
    { next: "settle", effect: { move: { patch: { status: "suppressed" } } } },
    { next: "handOver", mail: { email: { id: ids[1] } } },
  ]);
});
