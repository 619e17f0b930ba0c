import { describe, expect, test, vi } from "vitest";
import { createWorld, type MailMatchers, toHaveSent } from "../testing.ts";
import { assertNodeVersion } from "../version.ts";

declare module "vitest" {
  interface Matchers<R extends void | Promise<void>, T> extends MailMatchers {}
}
expect.extend({ toHaveSent });

test("an email goes from the API to the inbox", async () => {
  await using world = await createWorld();
  const sent = await world.sdk.emails.send({ from: "Acme <hi@acme.test>", to: "ada@example.com", subject: "Hello", text: "It works." });
  expect(sent).toEqual({ id: expect.stringMatching(/^em_/), status: "queued" });
  expect(await world.inbox.all()).toMatchObject([{ to: "ada@example.com", subject: "Hello" }]);
});

test("the same seed gives the same world", async () => {
  const story = async () => {
    await using world = await createWorld({ seed: 42 });
    await world.sdk.emails.send({
      from: "a@acme.test",
      to: ["b@example.com", "softbounced@simulator.mailsvc.test"],
      subject: "x",
      text: "y",
    });
    await world.clock.advance("30d");
    const emails = await world.sdk.emails.list().toArray();
    const told = await Promise.all(emails.map((e) => world.sdk.emails.get(e.id)));
    if (world.app.deps.db.engine === "sqlite") return told;
    // Over several connections, what happens at one instant is noted in no set order: the numbers of events may differ.
    return told.map((email) => ({ ...email, events: email.events.map(({ type, at, data }) => ({ type, at, data })) }));
  };
  const [one, two] = [await story(), await story()];
  expect(one).toHaveLength(2);
  expect(one).toEqual(two);
});

const signIn = {
  from: "Acme <hi@acme.test>",
  to: "ada@example.com",
  subject: "Your code",
  text: "Your code is 471123. Or open https://acme.test/in?token=12345678 now.",
  html: '<p>Code <b>471123</b></p><a href="https://acme.test/in?a=1&amp;b=2">Sign in</a><a href="https://acme.test/in?a=1&amp;b=2">again</a>',
};

describe("the inbox of a world", () => {
  test("gives a mail with its links and its code", async () => {
    await using world = await createWorld();
    await world.sdk.emails.send(signIn);
    const mail = await world.inbox.waitFor({ to: "ada@example.com", subject: "code" });
    expect(mail.text).toContain("471123");
    expect(mail.links).toEqual(["https://acme.test/in?a=1&b=2", "https://acme.test/in?token=12345678"]);
    expect(mail.code()).toBe("471123");
    expect(mail.code(/is (\d)/g)).toBe("4");
    expect(() => mail.code(/[A-Z]{9}/)).toThrow('The mail "Your code" to ada@example.com has nothing that matches /[A-Z]{9}/.');
    expect((await world.inbox.get(mail.id)).code()).toBe("471123");
  });

  test("gives the next mail after one, and says what came when none matches", async () => {
    await using world = await createWorld();
    await world.sdk.emails.send(signIn);
    const first = await world.inbox.waitFor();
    await world.sdk.emails.send({ ...signIn, subject: "Second" });
    const second = await world.inbox.waitFor({ after: first.id });
    expect(second.subject).toBe("Second");
    await expect(world.inbox.waitFor({ to: "bob@example.com", timeout: 0 })).rejects.toThrow(
      'No mail matches {"to":"bob@example.com"}. These were sent:\n  to ada@example.com: Your code\n  to ada@example.com: Second',
    );
  });

  test("knows whom a mail names in Cc, and who got it without being named", async () => {
    await using world = await createWorld();
    await world.sdk.emails.send({ ...signIn, cc: ["Boss@example.com", "bob@example.com"], bcc: "audit@example.com" });
    await expect(world).toHaveSent({ to: "ada@example.com", cc: "boss@example.com", bcc: "Audit@example.com", subject: "code" });
    await expect(world).toHaveSent({ to: "bob@example.com", cc: "bob@example.com" });
    await expect(world).not.toHaveSent({ cc: "audit@example.com" });
    await expect(world).not.toHaveSent({ cc: "ada@example.com" });
    for (const bcc of ["ada@example.com", "boss@example.com", "eve@example.com"]) await expect(world).not.toHaveSent({ bcc });
    await world.sdk.emails.send({ ...signIn, to: "audit@example.com", subject: "Another" });
    await expect(world).not.toHaveSent({ bcc: "audit@example.com", subject: "Another" });
  });

  test("knows that a mail cannot come while the clock is frozen, and waits for requests under way", async () => {
    await using world = await createWorld();
    const scheduled = world.sdk.emails.send({ ...signIn, scheduledAt: "2026-01-03T00:00:00Z" });
    using waited = vi.spyOn(world.app.deps.clock.real, "after");
    await expect(world.inbox.waitFor({ to: "ada@example.com" })).rejects.toThrow(
      "No mail was sent at all.\nThe clock stands at 2026-01-01T00:00:00.000Z, and nothing is due before 2026-01-0",
    );
    await scheduled;
    const first = world.inbox.waitFor();
    void world.sdk.emails.send({ ...signIn, to: "grace@example.com" });
    expect((await first).to).toBe("grace@example.com");
    await world.clock.advance("3d");
    expect((await world.inbox.waitFor({ to: "ada@example.com" })).code()).toBe("471123");
    await expect(world.events.waitFor({ type: "email.opened" })).rejects.toThrow("world.clock.advance() moves it");
    // Nothing has waited for seconds of real time: the look for mail of other processes, each second, keeps nobody waiting.
    expect(waited.mock.calls.filter(([ms, { name }]) => ms > 1000 && ms <= 5000 && name !== "heartbeat")).toEqual([]);
  });

  test("waits in real time for code that sends by itself", async () => {
    await using world = await createWorld();
    const mail = world.inbox.waitFor({ timeout: 60 });
    setTimeout(() => void world.sdk.emails.send(signIn), 20);
    expect((await mail).subject).toBe("Your code");
  });

  test("is asked by a matcher", async () => {
    await using world = await createWorld();
    expect((await toHaveSent(world, { subject: "code" })).message()).toBe(
      'No mail with subject: "code" was sent. No mail was sent at all.',
    );
    await world.sdk.emails.send(signIn);
    await expect(world).toHaveSent({ to: "ada@example.com", subject: "code", text: /\d{6}/, html: "Sign in" });
    await expect(world).not.toHaveSent({ to: "bob@example.com" });
    await expect(world).not.toHaveSent({ to: "ada@example.com", subject: /^code/ });
    await expect(world).not.toHaveSent({ to: "ada@example.com", cc: "ada@example.com" });
    await expect(world).not.toHaveSent({ bcc: "ada@example.com" });
    await expect(expect(world).toHaveSent({ subject: "Welcome" })).rejects.toThrow("to ada@example.com: Your code");
    await expect(expect(world).not.toHaveSent({ subject: /code/ })).rejects.toThrow("A mail with subject: /code/ was sent.");
  });
});

describe("the events of a world", () => {
  test("are waited for by what they are about, and typed", async () => {
    await using world = await createWorld();
    const { id } = await world.sdk.emails.send(signIn);
    const event = await world.events.waitFor({ type: "email.delivered", email: id });
    expect(event).toMatchObject({ type: "email.delivered", to: "ada@example.com" });
    expect((await world.events.all({ to: "ada@example.com" })).map(({ type }) => type)).toEqual([
      "email.queued",
      "email.sent",
      "email.delivered",
    ]);
    const bounced = world.events.waitFor({ type: "email.bounced", after: event.sequence });
    await world.sdk.emails.send({ ...signIn, to: "bounced@simulator.mailsvc.test" });
    // The type tells what the data holds.
    expect((await bounced).data.diagnostic).toEqual(expect.any(String));
    await world.sdk.contacts.create({ email: "ada@example.com" });
    const created = await world.events.waitFor({ type: "contact.created" });
    expect(created.contactId).toMatch(/^con_/);
  });

  test("that do not come are told apart from those that did", async () => {
    await using world = await createWorld();
    await world.sdk.contacts.create({ email: "ada@example.com" });
    const none = world.events.waitFor({ type: "email.opened", timeout: 0 });
    await expect(none).rejects.toThrow(/^No event matches \{"type":"email.opened"\}\. These happened:\n {2}1 contact\.created con_/);
  });
});

test("an old Node is named", () => {
  for (const version of ["20.20.2", "22.18.0"])
    expect(() => assertNodeVersion(version)).toThrow(`mailsvc needs Node 22.19 or newer; this is ${version}.`);
  for (const version of ["22.19.0", "24.0.0"]) assertNodeVersion(version);
});
