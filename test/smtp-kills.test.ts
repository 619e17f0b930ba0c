import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import nodemailer from "nodemailer";
import { expect, test } from "vitest";
import { type Api, all } from "./support/api.ts";
import { KILLED_STORES } from "./support/killed-store.ts";
import { countKills, recordKills } from "./support/kills.ts";
import { type ServerProcess, startServer } from "./support/server.ts";

/** Kills on each database. */
const KILLS = countKills(2);
const CONNECTIONS = 10;
/** Mails that are acknowledged before each kill. */
const ACKNOWLEDGED = 150;

interface Load {
  /** Settles when so many mails were acknowledged. */
  readonly enough: Promise<void>;
  /** Settles when every connection has failed. */
  readonly over: Promise<unknown>;
}

/** Sends mail on several connections until each of them fails; the ids of what was acknowledged go to `taken`, by the number of the mail. */
function sendUntilKilled(smtpUrl: string, name: string, taken: Map<string, string>): Load {
  let left = ACKNOWLEDGED;
  let enough = (): void => {};
  const reached = new Promise<void>((resolve) => {
    enough = resolve;
  });
  const { hostname, port } = new URL(smtpUrl);
  const worker = async (n: number): Promise<void> => {
    const transport = nodemailer.createTransport({ host: hostname, port: Number(port), ignoreTLS: true, pool: true, maxConnections: 1 });
    for (let i = 0; ; i += 1) {
      const key = `${name}-${n}-${i}`;
      const mail = {
        from: "hello@acme.example",
        to: `${key}@reader.example`,
        subject: key,
        text: "Hi",
        headers: { "Idempotency-Key": key },
      };
      try {
        const { response } = await transport.sendMail(mail);
        taken.set(key, /queued as (em_\w+)/.exec(response)?.[1] ?? response);
        left -= 1;
        if (left === 0) enough();
      } catch {
        transport.close();
        return;
      }
    }
  };
  return { enough: reached, over: Promise.all(Array.from({ length: CONNECTIONS }, (_, n) => worker(n))) };
}

test.each(KILLED_STORES)(
  "%s: a server killed while mail is submitted loses none that it answered with 250, and stores none twice under its key",
  { timeout: 120_000 + KILLS * 40_000 },
  async (database, open) => {
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-smtp-kills-"));
    const store = await open(join(folder, "data"));
    const taken = new Map<string, string>();
    let running: ServerProcess | undefined;
    const start = async (): Promise<Api & { smtpUrl: string }> => {
      const flags = ["--dev", "--smtp-port", "0", "--rate-limit", "send=1000000", ...store.flags];
      running = startServer({ data: join(folder, "data"), flags });
      const ready = await running.ready();
      if (!ready?.apiKey || ready.smtpUrl === null) throw new Error(`The server did not start:\n${running.stderr()}`);
      return { url: ready.url, apiKey: ready.apiKey, smtpUrl: ready.smtpUrl };
    };
    try {
      for (let kill = 0; kill < KILLS; kill += 1) {
        const { smtpUrl } = await start();
        const load = sendUntilKilled(smtpUrl, `k${kill}`, taken);
        await load.enough;
        expect(await running?.kill("SIGKILL")).toEqual({ code: null, signal: "SIGKILL" });
        await load.over;
      }
      const api = await start();
      // A message that lost its 250 is sent again; the others are answered with their first id.
      const [key = "", id] = [...taken][0] ?? [];
      const { hostname, port } = new URL(api.smtpUrl);
      const transport = nodemailer.createTransport({ host: hostname, port: Number(port), ignoreTLS: true });
      const raw = (name: string): string =>
        `From: hello@acme.example\r\nTo: ${name}@reader.example\r\nIdempotency-Key: again-${name}\r\nSubject: again-${name}\r\n\r\nHi\r\n`;
      const envelope = { from: "hello@acme.example", to: `${key}@reader.example` };
      const first = await transport.sendMail({ envelope, raw: raw(key) });
      const second = await transport.sendMail({ envelope, raw: raw(key) });
      expect(second.response).toBe(first.response);
      transport.close();
      const stored = await all<{ id: string; subject: string }>(api, "/api/v1/emails");
      const ids = new Set(stored.map((mail) => mail.id));
      expect(ids.has(id ?? "")).toBe(true);
      expect([...taken.values()].filter((one) => !ids.has(one))).toEqual([]);
      expect(new Set(stored.map(({ subject }) => subject)).size).toBe(stored.length);
      const counts = { acknowledged: taken.size, missing: 0, repeated: 0, unlisted: 0 };
      recordKills({ suite: "mails submitted by SMTP", database, seed: 0, kills: KILLS, ...counts });
    } finally {
      await running?.kill("SIGKILL");
      await store.dispose();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
