import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { startLocal, toHaveSent } from "@mailsvc/sdk/testing";
import { PasswordResets } from "./password-reset.mjs";

expect.extend({ toHaveSent });

let server;
beforeAll(async () => {
  server = await startLocal();
});
afterAll(() => server.close());
beforeEach(() => server.reset());

test("a user gets a code and a link that work once", async () => {
  const resets = new PasswordResets(server.sdk);
  await resets.request("ada@example.com");
  const mail = await server.inbox.waitFor({ to: "ada@example.com", subject: "Reset your password" });
  expect(mail.links).toEqual([`https://acme.example/reset?code=${mail.code()}`]);
  expect(resets.confirm("ada@example.com", mail.code())).toBe(true);
  expect(resets.confirm("ada@example.com", mail.code())).toBe(false);
});

test("a stranger gets no mail", async () => {
  const resets = new PasswordResets(server.sdk);
  await resets.request("mallory@example.com");
  await expect(server).not.toHaveSent({ to: "mallory@example.com" });
});
