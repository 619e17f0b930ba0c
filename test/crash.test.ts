import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MAX_MARKED_AHEAD } from "../packages/server/src/delivery/marks.ts";
import { seededRandom } from "../packages/server/src/lib/random.ts";
import { type Api, all, call, total, until } from "./support/api.ts";
import { KILLED_STORES } from "./support/killed-store.ts";
import { chooseSeed, countKills, recordKills } from "./support/kills.ts";
import { type ServerProcess, startServer } from "./support/server.ts";
import { smtpSink } from "./support/smtp-sink.ts";
import { newLedger, startTraffic } from "./support/traffic.ts";

// KILLS=56 and more look for what is rare.
const ROUNDS = countKills(3);
const CONNECTIONS = 40;
/** Connections to the next hop, and so the messages one kill can leave in doubt. */
const POOL = 8;
/** The mails that one kill can leave in doubt: those under way, and those that are marked ahead of them. */
const MAX_DOUBTED = POOL + MAX_MARKED_AHEAD;
const OPEN = ["queued", "sending", "deferred"];

interface EmailRow {
  id: string;
  status: string;
  messageId: string;
  inDoubt: boolean;
  tags: Record<string, string>;
}

const wait = (ms: number): Promise<void> => new Promise((next) => setTimeout(next, ms));

/** Lets everything that was accepted reach its end; a message put off for a minute has its minute passed. */
const drain = async (api: Api): Promise<void> => {
  const count = (status: string): Promise<number> => total(api, `/api/v1/emails?status=${status}`);
  const counts = async (): Promise<number[]> => Promise.all(OPEN.map(count));
  await until(
    90,
    async () => {
      const [queued, sending, deferred] = await counts();
      if (queued === 0 && sending === 0 && deferred !== 0) await call(api, "POST", "/__dev/clock/advance", { by: "10m" });
      return queued === 0 && sending === 0 && deferred === 0;
    },
    async () => `${OPEN.join(", ")}: ${(await counts()).join(", ")}`,
  );
};

test.each(KILLED_STORES)(
  "%s: a server killed at any moment under load loses nothing it acknowledged and sends nothing twice unsaid",
  {
    timeout: 120_000 + ROUNDS * 20_000,
  },
  async (engine, open) => {
    const seed = chooseSeed();
    const chance = seededRandom(seed);
    const random = chance.fraction;
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-crash-"));
    const data = join(folder, "data");
    const store = await open(data);
    const sink = await smtpSink(() => random() * 8);
    const ledger = newLedger();
    /** Mails that each kill left in doubt. On Postgres the mails of earlier kills may still wait for being taken over. */
    const leftPerKill: Set<string>[] = [];
    let killedStarting = 0;
    const rounds = { capture: 0, smtp: 0 };

    // Both ways of delivering take turns on the same data, so that each one finds what the other one left behind.
    let running: ServerProcess | undefined;
    const start = (smtp: boolean): ServerProcess => {
      running = startServer({
        data,
        flags: ["--dev", ...store.flags, ...(smtp ? ["--smtp-url", `${sink.url}?pool=${POOL}&messages=1000`] : [])],
      });
      return running;
    };

    try {
      for (let round = 0; round < ROUNDS; round++) {
        const smtp = random() < 0.4;
        const server = start(smtp);
        rounds[smtp ? "smtp" : "capture"] += 1;
        if (round > 0 && random() < 0.2) {
          killedStarting += 1;
          await wait(10 + random() * 190);
          expect(await server.kill("SIGKILL")).toEqual({ code: null, signal: "SIGKILL" });
        } else {
          const ready = await server.ready();
          expect(ready?.apiKey, `round ${round}: ${server.stderr()}`).toMatch(/^ms_(?:live|dev)_/);
          const api = { url: ready?.url ?? "", apiKey: ready?.apiKey ?? "" };
          const traffic = startTraffic(api, ledger, { connections: CONNECTIONS, pause: 40, random });
          await wait(5 + random() ** 2 * 595);
          const ended = await server.kill("SIGKILL");
          await traffic.stop();
          // Killed, not fallen by itself beforehand.
          expect(ended, server.stderr()).toEqual({ code: null, signal: "SIGKILL" });
        }
        const earlier = new Set(leftPerKill.flatMap((left) => [...left]));
        leftPerKill.push(new Set((await store.listSending()).filter((id) => !earlier.has(id))));
      }

      const last = start(false);
      const ready = await last.ready();
      const api = { url: ready?.url ?? "", apiKey: ready?.apiKey ?? "" };
      // Every key whose answer was lost is asked for once more, until it is answered.
      const ending = startTraffic(api, ledger, { connections: CONNECTIONS, pause: 0, random });
      await until(
        30,
        async () => ledger.lost.length === 0,
        async () => `${ledger.lost.length} requests unanswered`,
      );
      await ending.stop();
      await drain(api);
      const emails = await all<EmailRow>(api, "/api/v1/emails");
      const listedInDoubt = await all<EmailRow>(api, "/api/v1/emails?inDoubt=true");
      const captured = await all<{ emailId: string | null }>(api, "/__dev/inbox");
      expect(await last.kill("SIGTERM"), last.stderr()).toEqual({ code: 0, signal: null });

      const byId = new Map(emails.map((email) => [email.id, email]));
      const byTag = Map.groupBy(emails, (email) => email.tags.wish ?? "");
      const acknowledged = ledger.wishes.filter((wish) => wish.promised !== null);
      const missing = acknowledged.flatMap((wish) => wish.promised ?? []).filter((id) => !byId.has(id));
      const arrivals = new Map<string, number>();
      for (const { emailId } of captured) arrivals.set(emailId ?? "", (arrivals.get(emailId ?? "") ?? 0) + 1);
      const capturedTwice = [...arrivals].filter(([, times]) => times !== 1);
      for (const email of emails) arrivals.set(email.id, (arrivals.get(email.id) ?? 0) + (sink.taken.get(email.messageId) ?? 0));
      const arrived = (email: EmailRow): number => arrivals.get(email.id) ?? 0;
      const doubted = new Set(listedInDoubt.map(({ id }) => id));
      const twice = emails.filter((email) => arrived(email) > 1);
      recordKills({
        suite: "single sends",
        database: engine,
        seed,
        kills: ROUNDS,
        acknowledged: acknowledged.reduce((sum, wish) => sum + wish.recipients, 0),
        missing: missing.length,
        repeated: twice.length,
        unlisted: twice.filter(({ id }) => !doubted.has(id)).length,
      });
      const mostLeft = Math.max(...leftPerKill.map(({ size }) => size));
      const by = `${rounds.capture} rounds by capture, ${rounds.smtp} by SMTP, ${killedStarting} killed while starting`;
      console.log(`${by}; ${doubted.size} in doubt, at most ${mostLeft} by one kill; ${ledger.replayed} answers replayed`);

      expect(ledger.refused).toEqual([]);
      // There was traffic; a busy machine answers a tenth of what a quiet one does.
      expect(acknowledged.length).toBeGreaterThan(ROUNDS * 2);
      expect(missing).toEqual([]);
      expect(emails.filter(({ status }) => status !== "delivered" && status !== "sent")).toEqual([]);
      // A request has its whole effect once, or, when no answer was given and no key allows asking again, perhaps none.
      const effect = (tag: string): number => byTag.get(tag)?.length ?? 0;
      expect(acknowledged.filter((wish) => effect(wish.tag) !== wish.recipients)).toEqual([]);
      expect(ledger.wishes.filter((wish) => ![0, wish.recipients].includes(effect(wish.tag)))).toEqual([]);
      expect(ledger.contradictions).toEqual([]);
      // An answer is lost between its commit and its last byte, which few kills meet.
      if (ROUNDS >= 50) expect(ledger.replayed).toBeGreaterThan(0);

      expect(capturedTwice).toEqual([]);
      expect(emails.filter((email) => arrived(email) === 0)).toEqual([]);
      expect(twice.filter(({ id }) => !doubted.has(id))).toEqual([]);
      expect(mostLeft).toBeLessThanOrEqual(MAX_DOUBTED);
      expect([...sink.taken.keys()].filter((messageId) => !emails.some((email) => email.messageId === messageId))).toEqual([]);

      expect(await store.inspect()).toEqual({ jobs: 0, sound: true });
    } finally {
      await running?.kill("SIGKILL");
      await sink.close();
      await store.dispose();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
