import { expect, onTestFinished, test } from "vitest";
import { smtpPeer } from "../../server/test/smtp-peer.ts";
import { TERMINAL } from "./harness.ts";
import { startCliWithServer } from "./world.ts";

test("a captured mail is sent on, and who may not get it is refused", async () => {
  const relay = await smtpPeer({
    onRcptTo: ({ address }, _session, done) => done(address.startsWith("no") ? new Error("No such user") : undefined),
  });
  onTestFinished(() => relay.close());
  const flags = { "release-relay": `smtp://127.0.0.1:${relay.port}?tls=off`, "release-to": "*@example.com" };
  const { mailsvc, world } = await startCliWithServer({ flags });
  await world.sdk.emails.send({ from: "a@acme.example", to: "ada@customer.example", subject: "Hello", text: "x" });
  const { id } = await world.inbox.waitFor({ to: "ada@customer.example" });
  const sent = await mailsvc(["inbox", "release", id, "--to", "me@example.com", "--jq", ".released[].to"]);
  expect([sent.code, sent.stdout]).toEqual([0, "me@example.com\n"]);
  const partly = await mailsvc(["inbox", "release", id, "--to", "me@example.com", "--to", "no@example.com"], {
    tty: TERMINAL,
    env: { NO_COLOR: "1" },
  });
  expect(partly.code).toBe(11);
  expect(partly.stderr).toMatch(/partial failure 1 failed:\n {2}no@example\.com {2}.*No such user/);
  const refused = await mailsvc(["inbox", "release", id, "--to", "ada@customer.example"]);
  expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining("--release-to does not allow ada@customer.example")]);
  expect(relay.mails.map(({ to }) => to)).toEqual(["me@example.com", "me@example.com"]);
});
