import { expect, test } from "vitest";
import { accepted, busy, scriptedMailer } from "../../test/scripted-mailer.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const hello = { from: "a@acme.test", subject: "Hello", text: "x" };

const send = async (w: TestWorld, body: object): Promise<string> =>
  ((await w.sdk.emails.send({ ...hello, ...body } as never)) as { id: string }).id;

/** A mail server that is busy at the first attempt for each recipient, and notes whom it was given. */
const busyAtFirst = () => scriptedMailer(({ attempt }) => (attempt === 1 ? busy : accepted));

const recipients = ({ sent }: ReturnType<typeof busyAtFirst>): string[] => sent.map(({ envelopeTo }) => envelopeTo);

test("a deferred email is tried at once, with its next attempt, and not again at its first instant", async () => {
  const mailer = busyAtFirst();
  await using w = await createWorld({ mailer });
  const id = await send(w, { to: "ada@one.example" });
  await w.settle();
  const deferred = await w.sdk.emails.get(id);
  expect(deferred).toMatchObject({ status: "deferred", attempts: 1 });
  const requeued = await w.sdk.emails.requeue(id);
  expect(requeued).toMatchObject({ status: "deferred", nextAttemptAt: new Date(w.clock.now()).toISOString() });
  await w.settle();
  expect(await w.sdk.emails.get(id)).toMatchObject({ status: "sent", attempts: 2 });
  await w.clock.advance("1h");
  expect(recipients(mailer)).toEqual(["ada@one.example", "ada@one.example"]);
});

test("of a mail to several recipients, one is tried again or all that are deferred; the others get nothing again", async () => {
  const mailer = scriptedMailer(({ attempt, envelopeTo }) => (attempt === 1 && !envelopeTo.startsWith("ok@") ? busy : accepted));
  await using w = await createWorld({ mailer });
  const id = await send(w, { to: "ada@one.example", cc: ["ok@two.example", "bob@three.example"], bcc: "eve@four.example" });
  await w.settle();
  mailer.sent.length = 0;
  await w.sdk.emails.requeue(id, { to: "Bob@Three.example" });
  await w.settle();
  expect(recipients(mailer)).toEqual(["bob@three.example"]);
  await w.sdk.emails.requeue(id);
  await w.settle();
  expect(recipients(mailer).toSorted()).toEqual(["ada@one.example", "bob@three.example", "eve@four.example"]);
  await w.clock.advance("1h");
  expect(mailer.sent).toHaveLength(3);
});

test("an email that is not deferred and an address that is not its recipient are refused in words", async () => {
  const mailer = scriptedMailer(({ envelopeTo }) => (envelopeTo.startsWith("busy") ? busy : accepted));
  await using w = await createWorld({ mailer });
  const sent = await send(w, { to: "ada@one.example" });
  const deferred = await send(w, { to: "busy@one.example" });
  await w.settle();
  await expect(w.sdk.emails.requeue(sent)).rejects.toMatchObject({ code: "invalid_state", message: expect.stringContaining("sent") });
  await expect(w.sdk.emails.requeue(deferred, { to: "ada@one.example" })).rejects.toMatchObject({
    code: "validation_error",
    message: expect.stringContaining("ada@one.example"),
  });
  await expect(w.sdk.emails.requeue("em_01kdvdna00bktj2mqmcfs0rmrb")).rejects.toMatchObject({ code: "not_found" });
  await w.clock.advance("3d");
  await expect(w.sdk.emails.requeue(deferred)).rejects.toMatchObject({
    code: "invalid_state",
    hint: expect.stringContaining("Send it again"),
  });
});

test("a workspace cannot requeue the mail of another one", async () => {
  const mailer = busyAtFirst();
  await using w = await createWorld({ mailer });
  const id = await send(w, { to: "ada@one.example" });
  await w.settle();
  const other = await w.createWorkspace("other");
  await expect(other.sdk.emails.requeue(id)).rejects.toMatchObject({ code: "not_found" });
  expect(recipients(mailer)).toEqual(["ada@one.example"]);
});
