import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sources } from "../../../../test/support/sources.ts";
import { createDatabase } from "../../test/postgres.ts";
import { readConfig } from "../config.ts";
import { realTime } from "../lib/clock.ts";
import { silentLog } from "../lib/log.ts";
import { formatKeys, KeyRing, type MasterKeys, parseKeys, singleKey } from "../lib/master-keys.ts";
import { secureRandom } from "../lib/random.ts";
import { makeRingSeal } from "../lib/seal.ts";
import { isKeyRotated, rotateMasterKey } from "../maintenance.ts";
import { serve } from "../serve.ts";
import { makeUnsubscribeUrl } from "../unsubscribe/link.ts";
import { beginForgetting, beginRotation, isRotating, KeyRotation } from "./key-rotation.ts";

const random = secureRandom();
const key = (): Uint8Array => random.bytes(32);
const read = (text: string): MasterKeys => parseKeys(text) as MasterKeys;

test("a rotation that is killed at any step goes on, and at every step all that is stored can be opened", async () => {
  for (let kill = 0; kill < 12; kill += 1) {
    let text = formatKeys(singleKey(key()));
    const before = new KeyRing(read(text));
    const rows = new Map(["a", "b", "c"].map((id) => [id, makeRingSeal(before, random).seal(`secret ${id}`, id)]));
    text = beginRotation(text, key(), realTime.date());
    let steps = 0;
    const step = (): void => {
      if (steps++ === kill) throw new Error("killed");
    };
    const begin = (): KeyRotation => {
      const ring = new KeyRing(read(text));
      const seal = makeRingSeal(ring, random);
      for (const [id, bytes] of rows) expect(seal.open(bytes, id)).toBe(`secret ${id}`);
      return new KeyRotation({
        ring,
        spreadMs: 0,
        real: realTime,
        log: silentLog,
        sealAnew: async () => {
          let renewed = 0;
          for (const [id, bytes] of rows) {
            step();
            const anew = seal.renew(bytes, id);
            if (anew === null) continue;
            rows.set(id, anew);
            renewed += 1;
          }
          return renewed;
        },
        store: {
          read: async () => text,
          replace: async (old, anew) => {
            step();
            if (old !== text) return false;
            text = anew;
            step();
            return true;
          },
        },
      });
    };
    let rotation = begin();
    while (isRotating(text)) await rotation.look().catch(() => (rotation = begin()));
    const { current, old } = read(text);
    expect(old.map((one) => one.key)).toEqual([before.all[0]]);
    const only = makeRingSeal(new KeyRing(singleKey(current)), random);
    for (const [id, bytes] of rows) expect(only.open(bytes, id)).toBe(`secret ${id}`);
  }
});

test("a second rotation waits for the first, and old keys are given up a day after they were used", () => {
  const now = Date.parse("2026-05-01T00:00:00Z");
  const text = beginRotation(formatKeys(singleKey(key())), key(), now);
  expect(() => beginRotation(text, key(), now)).toThrow("A rotation is under way.");
  const { next, current, ...rest } = read(text);
  const rotated = formatKeys({ ...rest, current: next?.key ?? current, next: null, old: [{ key: current, since: now }] });
  expect(() => beginForgetting(rotated, now + 1000)).toThrow("was in use until 2026-05-01T00:00:00.000Z. Give it up a day later");
  expect(read(beginForgetting(rotated, now + 86_400_000)).forgetting).toBe(true);
  expect(() => beginForgetting(formatKeys(singleKey(key())), now)).toThrow("There are no old keys.");
});

test.each(["a folder", "Postgres"])(
  "while a server runs on %s its key is replaced: secrets are sealed anew, links stay valid",
  async (place) => {
    const data = mkdtempSync(join(tmpdir(), "mailsvc-rotation-"));
    onTestFinished(() => rmSync(data, { recursive: true, force: true }));
    const database = place === "Postgres" ? await createDatabase("empty") : null;
    if (database) onTestFinished(database.drop);
    const location = { data, databaseUrl: database?.url ?? null };
    const start = async (flags: Record<string, string> = {}) => {
      const place = database === null ? {} : { "database-url": database.url };
      const server = await serve(readConfig({ flags: { port: "0", data, ...place, ...flags }, env: {}, dev: false }), silentLog);
      let open = true;
      const close = async (): Promise<void> => {
        if (open) await server.close();
        open = false;
      };
      onTestFinished(close);
      return { ...server, close };
    };
    // On Postgres a second process, which learns the key from the database.
    const servers = [await start(), ...(database === null ? [] : [await start()])];
    const [server] = servers as [(typeof servers)[number]];
    const headers = { authorization: `Bearer ${server.apiKey}`, "content-type": "application/json" };
    const body = JSON.stringify({ url: "https://hooks.example.com/mail", events: ["email.sent"] });
    const created = await fetch(`${server.url}/api/v1/webhooks`, { method: "POST", headers, body });
    expect(created.status).toBe(201);
    const { db, seal } = server.app.deps;
    const readSecret = async (): Promise<{ id: string; secret: Uint8Array }> => {
      const [row] = await db.read.select().from(db.read.t.developerWebhooks);
      return { id: row?.id ?? "", secret: row?.secret ?? new Uint8Array() };
    };
    const before = await readSecret();
    const link = makeUnsubscribeUrl(server.app.deps, { workspaceId: server.workspaceId, email: "ada@example.com" });
    const oldKey = seal.seal("x", "y");
    const [ofQuestions = new Uint8Array()] = server.app.deps.macs.listSecrets("mcp");

    await rotateMasterKey({ ...location, forget: false });
    while (!(await isKeyRotated(location))) {
      const answers = await Promise.all(servers.map(({ url }) => fetch(`${url}/api/v1/webhooks`, { headers })));
      expect(answers.map(({ status }) => status)).toEqual(servers.map(() => 200));
      await realTime.sleep(50);
    }
    const after = await readSecret();
    expect(Buffer.from(after.secret).equals(Buffer.from(before.secret))).toBe(false);
    const place_ = `listing:${after.id}`;
    for (const { app } of servers) expect(app.deps.seal.open(after.secret, place_)).toBe(app.deps.seal.open(before.secret, place_));
    expect(seal.open(oldKey, "y")).toBe("x");
    for (const { app } of servers) {
      const [current, ...others] = app.deps.macs.listSecrets("mcp").map((secret) => Buffer.from(secret));
      expect([current?.equals(ofQuestions), others.some((other) => other.equals(ofQuestions))]).toEqual([false, true]);
    }
    for (const { app, url } of servers) {
      const path = new URL(link).pathname;
      expect([app.deps.baseUrl(), (await fetch(`${url}${path}`)).status]).toEqual([url, 200]);
    }
    await expect(rotateMasterKey({ ...location, forget: true })).rejects.toThrow("Give it up a day later");
    const text = database === null ? readFileSync(join(data, "secret.key"), "utf8") : null;
    for (const one of servers) await one.close();
    // Nothing but links and answers of the last day needs the old key.
    if (text !== null) await start({ "secret-key": text.split("\n")[0] ?? "" });
    else await start();
  },
);

test("all that seals what is stored is in the list of what a rotation seals anew", () => {
  const files = [...sources].filter(
    ([path, text]) => /^packages\/server\/src\//.test(path) && !/test\.ts$/.test(path) && /\bseal\.seal\(/.test(text),
  );
  expect(files.map(([path]) => path.replace("packages/server/src/", "")).toSorted()).toEqual([
    // A browser keeps a sign-in that is under way for ten minutes.
    "dashboard/provider.ts",
    // Answers are kept for a day, as is the old key.
    "http/idempotency.ts",
    "inbound/providers/connections.ts",
    // The check of the key.
    "installation/installation.ts",
    // Links.
    "marketplace/files/library.ts",
    "relays/admin.ts",
    "relays/token-store.ts",
    "webhooks/outbox.ts",
    "webhooks/secrets.ts",
  ]);
});
