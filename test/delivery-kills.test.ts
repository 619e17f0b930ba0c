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

/** Kills on each database. */
const KILLS = countKills(2);
/** Connections to the next hop. */
const POOL = 20;
/** The mails that one kill can leave in doubt: those under way, and those that are marked ahead of them. */
const MAX_DOUBTED = POOL + MAX_MARKED_AHEAD;
const MAILS = 200;
const BATCH = 50;
const OPEN = ["queued", "sending", "deferred"];

interface Recipient {
  id: string;
  email: string;
  status: string;
  inDoubt: boolean;
}

interface Mail {
  messageId: string;
  recipients: Recipient[];
}

/** Sends to this many people: by turns a mail for each, and one mail to all of them, some by cc and bcc. Returns the ids of the recipients. */
async function sendBatch(api: Api, n: number, people: readonly string[]): Promise<string[]> {
  const content = { from: "hi@acme.example", subject: "Hello", text: "It works.", html: "<p>It works.</p>" };
  if (n % 2 === 0) return (await call<{ ids: string[] }>(api, "POST", "/api/v1/send", { ...content, to: people })).ids;
  const fields = { to: people.slice(0, 20), cc: people.slice(20, 40), bcc: people.slice(40) };
  const { recipients } = await call<Mail>(api, "POST", "/api/v1/send", { ...content, ...fields });
  return recipients.map(({ id }) => id);
}

test.each(KILLED_STORES)(
  "%s: a server killed while it hands over batches loses no mail to any recipient, and sends none twice that it does not list as in doubt",
  {
    timeout: 120_000 + KILLS * 20_000,
  },
  async (engine, open) => {
    const seed = chooseSeed();
    const { fraction } = seededRandom(seed);
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-kills-"));
    const data = join(folder, "data");
    const store = await open(data);
    const sink = await smtpSink(() => fraction() * 4);
    const flags = ["--dev", "--rate-limit", "send=1000000", "--smtp-url", `${sink.url}?pool=${POOL}&messages=1000`, ...store.flags];
    const promised: string[] = [];
    /** Mails that each kill left in doubt. On Postgres the mails of earlier kills may still wait for being taken over. */
    const left: Set<string>[] = [];
    let apiKey = "";
    let running: ServerProcess | undefined;
    const start = async (): Promise<Api> => {
      running = startServer({ data, flags });
      const ready = await running.ready();
      if (!ready) throw new Error(`The server did not start:\n${running.stderr()}`);
      apiKey = ready.apiKey ?? apiKey;
      return { url: ready.url, apiKey };
    };
    try {
      for (let kill = 0; kill < KILLS; kill += 1) {
        const api = await start();
        if (kill === 0) await call(api, "POST", "/api/v1/senders", { domain: "acme.example" });
        const before = sink.takenFor.size;
        const accepting = Array.from({ length: MAILS / BATCH }, (_, n) =>
          sendBatch(
            api,
            n,
            Array.from({ length: BATCH }, (__, i) => `k${kill}-${n * BATCH + i}@reader.example`),
          ),
        );
        promised.push(...(await Promise.all(accepting)).flat());
        const handedOver = Math.floor(fraction() * (MAILS - POOL));
        await until(
          60,
          async () => sink.takenFor.size - before >= handedOver,
          async () => `${sink.takenFor.size - before} of ${handedOver} mails had left\n${running?.stderr().slice(-2000)}`,
        );
        expect(await running?.kill("SIGKILL")).toEqual({ code: null, signal: "SIGKILL" });
        const earlier = new Set(left.flatMap((ids) => [...ids]));
        left.push(new Set((await store.listSending()).filter((id) => !earlier.has(id))));
      }
      const api = await start();
      const counts = (): Promise<number[]> => Promise.all(OPEN.map((status) => total(api, `/api/v1/emails?status=${status}`)));
      await until(
        120,
        async () => {
          // Mail that was put off because a connection broke has its minute passed.
          if ((await total(api, "/api/v1/emails?status=deferred")) > 0) await call(api, "POST", "/__dev/clock/advance", { by: "10m" });
          // Not how many are sent: a total counts 10,000 at most.
          return (await counts()).every((n) => n === 0);
        },
        async () => `${OPEN.join(", ")}: ${(await counts()).join(", ")}\n${running?.stderr().slice(-2000)}`,
      );
      const list = async (path: string): Promise<(Recipient & { messageId: string })[]> =>
        (await all<Mail>(api, path)).flatMap(({ messageId, recipients }) => recipients.map((one) => ({ ...one, messageId })));
      const emails = await list("/api/v1/emails");
      const doubted = new Set((await list("/api/v1/emails?inDoubt=true")).filter(({ inDoubt }) => inDoubt).map(({ id }) => id));
      const arrived = ({ messageId, email }: (typeof emails)[number]): number => sink.takenFor.get(`${messageId} ${email}`) ?? 0;
      const twice = emails.filter((email) => arrived(email) > 1);
      recordKills({
        suite: "mails to 50 recipients",
        database: engine,
        seed,
        kills: KILLS,
        acknowledged: promised.length,
        missing: emails.filter((email) => arrived(email) === 0).length,
        repeated: twice.length,
        unlisted: twice.filter(({ id }) => !doubted.has(id)).length,
      });
      expect(new Set(emails.map(({ id }) => id))).toEqual(new Set(promised));
      expect(sink.takenFor.size).toBe(promised.length);
      expect(emails.filter((email) => arrived(email) === 0 || email.status !== "sent")).toEqual([]);
      expect(twice.filter(({ id }) => !doubted.has(id))).toEqual([]);
      for (const ids of left) expect(ids.size).toBeLessThanOrEqual(MAX_DOUBTED);
      expect([...doubted].filter((id) => !left.some((ids) => ids.has(id)))).toEqual([]);
      expect((await all<{ kind: string }>(api, "/api/v1/jobs")).filter(({ kind }) => kind.startsWith("email."))).toEqual([]);
    } finally {
      await running?.kill("SIGKILL");
      await sink.close();
      await store.dispose();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
