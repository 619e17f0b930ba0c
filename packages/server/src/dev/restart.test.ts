import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Mailsvc } from "@mailsvc/sdk";
import { expect, test } from "vitest";
import { hook } from "../../test/hook.ts";
import { activateAgent, listAgent } from "../../test/marketplace.ts";
import { readConfig } from "../config.ts";
import { silentLog } from "../lib/log.ts";
import { DAY } from "../lib/units.ts";
import { serve } from "../serve.ts";

test("a dev server that is started again goes on where its clock stood, and mail still arrives in order", async () => {
  const data = mkdtempSync(join(tmpdir(), "mailsvc-restart-"));
  const start = () => serve(readConfig({ flags: { data, port: "0" }, env: {}, dev: true }), silentLog);
  const mail = { from: "hello@acme.test", to: "ada@example.com", text: "It works." };

  const first = await start();
  const one = new Mailsvc({ baseUrl: first.url, apiKey: first.apiKey ?? "" });
  await one.clock.advance({ by: "30d" });
  await one.emails.send({ ...mail, subject: "before" });
  const before = await one.inbox.wait({ subject: "before" });
  await first.close();

  const second = await start();
  const two = new Mailsvc({ baseUrl: second.url, apiKey: second.apiKey ?? "" });
  expect(second.apiKey).toBe(first.apiKey);
  expect(Date.parse((await two.clock.show()).now)).toBeGreaterThanOrEqual(Date.parse(before.receivedAt));
  await two.emails.send({ ...mail, subject: "after" });
  expect(await two.inbox.wait({ after: before.id })).toMatchObject({ subject: "after" });
  await second.close();
  rmSync(data, { recursive: true });
});

test("a frozen clock stays frozen over a restart, and one that was moved stays as far ahead, without any record", async () => {
  const data = mkdtempSync(join(tmpdir(), "mailsvc-restart-"));
  const start = async () => {
    const server = await serve(readConfig({ flags: { data, port: "0" }, env: {}, dev: true }), silentLog);
    return { server, sdk: new Mailsvc({ baseUrl: server.url, apiKey: server.apiKey ?? "" }) };
  };
  const first = await start();
  // A month ahead: what is done each day is done on the way.
  const frozen = await first.sdk.clock.freeze({ at: new Date(Date.now() + 30 * DAY).toISOString() });
  await first.server.close();
  const second = await start();
  expect(await second.sdk.clock.show()).toMatchObject({ mode: "frozen", now: frozen.now });
  await second.sdk.clock.thaw();
  await second.server.close();
  const third = await start();
  const { mode, now } = await third.sdk.clock.show();
  expect(mode).toBe("running");
  expect(Date.parse(now) - Date.parse(frozen.now)).toBeGreaterThanOrEqual(0);
  expect(Date.parse(now) - Date.parse(frozen.now)).toBeLessThan(600_000);
  await third.server.close();
  rmSync(data, { recursive: true });
});

test("an event that was pending when a dev server stopped is delivered after its restart", async () => {
  const data = mkdtempSync(join(tmpdir(), "mailsvc-restart-"));
  const start = () => serve(readConfig({ flags: { data, port: "0" }, env: {}, dev: true }), silentLog);
  await using hooks = await hook(() => 500);

  const first = await start();
  const one = new Mailsvc({ baseUrl: first.url, apiKey: first.apiKey ?? "" });
  await one.clock.advance({ by: "30d" });
  await listAgent(one, hooks.url);
  const { createdAt } = await activateAgent(one);
  await expect.poll(() => hooks.calls.length, { timeout: 60_000, interval: 5 }).toBeGreaterThan(0);
  await first.close();

  hooks.script = () => 200;
  const second = await start();
  const two = new Mailsvc({ baseUrl: second.url, apiKey: second.apiKey ?? "" });
  expect(Date.parse((await two.clock.show()).now)).toBeGreaterThanOrEqual(Date.parse(createdAt));
  await expect
    .poll(async () => (await two.deliveries.list("writer")).data.map(({ state }) => state), { timeout: 60_000, interval: 20 })
    .toEqual(["delivered"]);
  await second.close();
  rmSync(data, { recursive: true });
});
