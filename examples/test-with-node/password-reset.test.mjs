import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { startLocal, toHaveSent } from "@mailsvc/sdk/testing";
import { PasswordResets } from "./password-reset.mjs";

let server;
before(async () => {
  server = await startLocal();
});
after(() => server.close());
beforeEach(() => server.reset());

test("a user gets a code and a link that work once", async () => {
  const resets = new PasswordResets(server.sdk);
  await resets.request("ada@example.com");
  const mail = await server.inbox.waitFor({ to: "ada@example.com", subject: "Reset your password" });
  assert.deepEqual(mail.links, [`https://acme.example/reset?code=${mail.code()}`]);
  assert.equal(resets.confirm("ada@example.com", mail.code()), true);
  assert.equal(resets.confirm("ada@example.com", mail.code()), false);
});

test("a stranger gets no mail", async () => {
  const resets = new PasswordResets(server.sdk);
  await resets.request("mallory@example.com");
  const sent = await toHaveSent(server, { to: "mallory@example.com" });
  assert.equal(sent.pass, false, sent.message());
});
