import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Mailsvc } from "@mailsvc/sdk";
import { eq } from "drizzle-orm";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ConfigError, readConfig } from "../../config.ts";
import { silentLog } from "../../lib/log.ts";
import { type RunningServer, serve } from "../../serve.ts";
import { getSigningSecrets } from "../../webhooks/secrets.ts";
import { listingById } from "./store.ts";

let data = "";
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "mailsvc-sealed-"));
});
afterEach(() => rmSync(data, { recursive: true }));

const start = (flags: Record<string, string> = {}) =>
  serve(readConfig({ flags: { data, port: "0", ...flags }, env: {}, dev: true }), silentLog);

const secretOf = async ({ app: { deps } }: RunningServer, id: string): Promise<string | undefined> => {
  const row = await listingById(deps.db.read, id);
  return row && getSigningSecrets(deps, row, deps.clock.now()).current;
};

test("a webhook secret is readable after a restart, by the key next to the data or by one that is given", async () => {
  const first = await start();
  const sdk = new Mailsvc({ baseUrl: first.url, apiKey: first.apiKey ?? "" });
  const made = await sdk.listings.create({ slug: "writer", name: "Writer", webhookUrl: "http://127.0.0.1:9/", permissions: [] });
  await first.close();
  const second = await start();
  expect(await secretOf(second, made.id)).toBe(made.webhookSecret);
  await second.close();
  const key = readFileSync(join(data, "secret.key"), "utf8");
  rmSync(join(data, "secret.key"));
  const third = await start({ "secret-key": key });
  expect(await secretOf(third, made.id)).toBe(made.webhookSecret);
  await third.close();
});

test("with another key than before the server does not start, and says why", async () => {
  await (await start()).close();
  await expect(start({ "secret-key": "00".repeat(32) })).rejects.toThrow(ConfigError);
  await expect(start({ "secret-key": "00".repeat(32) })).rejects.toThrow("--secret-key");
  writeFileSync(join(data, "secret.key"), Buffer.alloc(32, 1).toString("base64"));
  await expect(start()).rejects.toThrow(ConfigError);
});

test("a server in dev mode does not take itself for a webhook, neither when the URL is saved nor when it is called", async () => {
  const server = await start();
  const sdk = new Mailsvc({ baseUrl: server.url, apiKey: server.apiKey ?? "" });
  const own = `http://127.0.0.1:${new URL(server.url).port}/__dev/reset`;
  const listing = { slug: "writer", name: "Writer", webhookUrl: own, permissions: [] };
  await expect(sdk.listings.create(listing)).rejects.toMatchObject({
    code: "validation_error",
    details: [{ path: "webhookUrl", code: "forbidden_url" }],
  });
  // As if the URL had been saved while the server listened on another port.
  const { id } = await sdk.listings.create({ ...listing, webhookUrl: "http://127.0.0.1:9/" });
  const { db } = server.app.deps;
  await db.tx(async (tx) => void (await tx.update(tx.t.listings).set({ webhookUrl: own }).where(eq(tx.t.listings.id, id))));
  expect(await sdk.deliveries.test("writer")).toMatchObject({ ok: false, class: "blocked_address", httpStatus: null });
  await server.close();
});
