import { expect, test } from "vitest";
import { TERMINAL } from "./harness.ts";
import { startCliWithServer } from "./world.ts";

const hello = { from: "a@acme.example", to: "ada@example.com", subject: "Reminder", text: "x" };

test("it knows that nothing came, and what is planned next", async () => {
  const { mailsvc, world } = await startCliWithServer();
  const none = await mailsvc(["inbox", "expect-none", "--to", "ada@example.com"]);
  expect([none.code, none.json]).toMatchObject([0, { none: true, now: "2026-01-01T00:00:00.000Z", mails: [] }]);
  await world.sdk.emails.send({ ...hello, scheduledAt: "2026-01-03T00:00:00Z" });
  const waiting = await mailsvc(["inbox", "expect-none", "--within", "1d"]);
  expect([waiting.code, waiting.json.now]).toEqual([0, "2026-01-02T00:00:00.000Z"]);
  expect(waiting.json.next).not.toBeNull();
});

test("mail that is under way counts: it is sent before the answer", async () => {
  const { mailsvc, world } = await startCliWithServer();
  await world.sdk.emails.send(hello);
  const came = await mailsvc(["inbox", "expect-none", "--subject", "Remind"], { tty: TERMINAL, env: { NO_COLOR: "1" } });
  expect([came.code, came.stdout]).toEqual([1, expect.stringMatching(/^mail was sent\n {2}mail_\w+ {2}to ada@example\.com: Reminder\n$/)]);
  expect((await mailsvc(["inbox", "expect-none", "--to", "grace@example.com"])).code).toBe(0);
});

test("where mail leaves through a relay it says nothing and moves no clock", async () => {
  const { mailsvc, world } = await startCliWithServer({ flags: { "smtp-url": "smtp://127.0.0.1:9" } });
  const { now } = await world.sdk.clock.show();
  const refused = await mailsvc(["inbox", "expect-none", "--within", "30d"]);
  expect([refused.code, refused.stderr]).toEqual([7, expect.stringContaining("Mail leaves this server through a relay")]);
  expect((await world.sdk.clock.show()).now).toBe(now);
});

test("mail of the next thirty days is found by moving the clock", async () => {
  const { mailsvc, world } = await startCliWithServer();
  await world.sdk.emails.send({ ...hello, scheduledAt: "2026-01-20T00:00:00Z" });
  expect((await mailsvc(["inbox", "expect-none"])).code).toBe(0);
  expect((await mailsvc(["inbox", "expect-none", "--within", "30d"])).json).toMatchObject({
    none: false,
    mails: [{ subject: "Reminder" }],
  });
  expect((await mailsvc(["inbox", "expect-none", "--within", "soon"])).code).toBe(2);
});
