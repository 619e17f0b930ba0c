import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { seededRandom } from "../packages/server/src/lib/random.ts";
import { type Api, all, call, total, until } from "./support/api.ts";
import { KILLED_STORES } from "./support/killed-store.ts";
import { chooseSeed, countKills, recordKills } from "./support/kills.ts";
import { type ServerProcess, startServer } from "./support/server.ts";
import { smtpSink } from "./support/smtp-sink.ts";

/** Kills on each database. */
const KILLS = countKills(2);
const MAILS = 200;
const BATCH = 50;
const OPEN = ["queued", "sending", "deferred"];

interface EmailRow {
  id: string;
  status: string;
  messageId: string;
}

test.each(KILLED_STORES)(
  "%s: with a relay that goes out of service again and again, a server that is killed loses no mail, and no mail comes by two relays that is not listed as in doubt",
  { timeout: 180_000 + KILLS * 30_000 },
  async (engine, open) => {
    const seed = chooseSeed();
    const { fraction } = seededRandom(seed);
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-relay-kills-"));
    const store = await open(join(folder, "data"));
    // The first relay takes forty mails of each server and refuses forty tries, so that the second one takes over. Fewer might all be
    // refused on connections that were used before, and succeed on new ones.
    let asked = 0;
    const a = await smtpSink(
      () => fraction() * 4,
      () => {
        asked += 1;
        return asked % 80 >= 40;
      },
    );
    const b = await smtpSink(() => fraction() * 4);
    const relays = [
      { name: "default", host: "127.0.0.1", port: Number(new URL(a.url).port), connections: 10, fallback: ["b"] },
      { name: "b", host: "127.0.0.1", port: Number(new URL(b.url).port), connections: 10 },
    ];
    writeFileSync(join(folder, "relays.json"), JSON.stringify({ relays }));
    const flags = ["--dev", "--rate-limit", "send=1000000", "--relays", join(folder, "relays.json"), ...store.flags];
    const promised: string[] = [];
    let apiKey = "";
    let running: ServerProcess | undefined;
    const start = async (): Promise<Api> => {
      asked = 0;
      running = startServer({ data: join(folder, "data"), flags });
      const ready = await running.ready();
      if (!ready) throw new Error(`The server did not start:\n${running.stderr()}`);
      apiKey = ready.apiKey ?? apiKey;
      return { url: ready.url, apiKey };
    };
    const taken = (): number => a.taken.size + b.taken.size;
    try {
      for (let kill = 0; kill < KILLS; kill += 1) {
        const api = await start();
        if (kill === 0) await call(api, "POST", "/api/v1/senders", { domain: "acme.example" });
        const before = taken();
        const accepting = Array.from({ length: MAILS / BATCH }, (_, n) =>
          call<{ ids: string[] }>(api, "POST", "/api/v1/send", {
            from: "hi@acme.example",
            to: Array.from({ length: BATCH }, (__, i) => `k${kill}-${n * BATCH + i}@reader.example`),
            subject: "Hello",
            text: "It works.",
          }),
        );
        promised.push(...(await Promise.all(accepting)).flatMap(({ ids }) => ids));
        // So many that the first relay was out of service in between.
        const handedOver = 60 + Math.floor(fraction() * (MAILS - 90));
        await until(
          60,
          async () => taken() - before >= handedOver,
          async () => `${taken() - before} of ${handedOver} mails had left\n${running?.stderr().slice(-2000)}`,
        );
        await running?.kill("SIGKILL");
      }
      const api = await start();
      const counts = (): Promise<number[]> => Promise.all(OPEN.map((status) => total(api, `/api/v1/emails?status=${status}`)));
      await until(
        120,
        async () => {
          const [queued, sending, deferred = 0] = await counts();
          // Not while other mail is on its way: the first relay would be back in service for it.
          if (queued === 0 && sending === 0 && deferred > 0) await call(api, "POST", "/__dev/clock/advance", { by: "10m" });
          return queued === 0 && sending === 0 && deferred === 0;
        },
        async () => `${OPEN.join(", ")}: ${(await counts()).join(", ")}\n${running?.stderr().slice(-2000)}`,
      );
      const emails = await all<EmailRow>(api, "/api/v1/emails");
      const doubted = new Set((await all<EmailRow>(api, "/api/v1/emails?inDoubt=true")).map(({ id }) => id));
      const arrived = ({ messageId }: EmailRow): number => (a.taken.get(messageId) ?? 0) + (b.taken.get(messageId) ?? 0);
      const byBoth = emails.filter(({ messageId }) => a.taken.has(messageId) && b.taken.has(messageId));
      const twice = emails.filter((email) => arrived(email) > 1);
      recordKills({
        suite: "mails by two relays",
        database: engine,
        seed,
        kills: KILLS,
        acknowledged: promised.length,
        missing: emails.filter((email) => arrived(email) === 0).length,
        repeated: twice.length,
        unlisted: twice.filter(({ id }) => !doubted.has(id)).length,
      });
      console.log(`by the first relay ${a.taken.size}, by the second ${b.taken.size}, by both ${byBoth.length}; in doubt ${doubted.size}`);
      expect(new Set(emails.map(({ id }) => id))).toEqual(new Set(promised));
      expect(emails.filter((email) => arrived(email) === 0 || email.status !== "sent")).toEqual([]);
      expect(twice.filter(({ id }) => !doubted.has(id))).toEqual([]);
      // Both relays are there all the time, so a mail in doubt is tried again at the one that had it.
      expect(byBoth).toEqual([]);
      expect(b.taken.size).toBeGreaterThan(0);
    } finally {
      await running?.kill("SIGKILL");
      await Promise.all([a.close(), b.close()]);
      await store.dispose();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
