import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createReturnPath } from "../packages/server/src/inbound/inbound.ts";
import { makeMacs } from "../packages/server/src/lib/macs.ts";
import { seededRandom } from "../packages/server/src/lib/random.ts";
import { postfixDsn } from "../packages/server/test/bounce-samples.ts";
import { deliverSmtp } from "../packages/server/test/smtp-client.ts";
import { type Api, all, call, total, until } from "./support/api.ts";
import { KILLED_STORES } from "./support/killed-store.ts";
import { chooseSeed, countKills, recordKills } from "./support/kills.ts";
import { type ServerProcess, startServer } from "./support/server.ts";
import { smtpSink } from "./support/smtp-sink.ts";

const KILLS = countKills(2);
const EMAILS = 20 * KILLS;
const DOMAIN = "in.acme.test";
const SENDERS = 8;
const KEY = "1f".repeat(32);

interface Email {
  readonly id: string;
  readonly to: string;
  readonly status: string;
  readonly messageId: string;
}

/** The port that a server says it accepts mail on. */
const inboundPort = (server: ServerProcess): number => Number(/accepting bounces.*?"port":(\d+)/.exec(server.stderr())?.[1]);

test.each(KILLED_STORES)(
  "%s: a bounce that was answered with 250 survives a kill, and one that comes again counts once",
  {
    timeout: 120_000 + 20_000 * KILLS,
  },
  async (engine, open) => {
    const seed = chooseSeed();
    const random = seededRandom(seed);
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-inbound-"));
    const data = join(folder, "data");
    const store = await open(data);
    const sink = await smtpSink(() => 0);
    let server: ServerProcess | undefined;
    const start = async (): Promise<Api> => {
      server = startServer({
        data,
        flags: [
          ...["--dev", "--secret-key", KEY, "--smtp-url", sink.url, "--inbound-domain", DOMAIN, "--inbound-smtp-port", "127.0.0.1:0"],
          ...store.flags,
        ],
      });
      const ready = await server.ready();
      if (ready === null) throw new Error(server.stderr());
      await until(
        30,
        async () => inboundPort(server as ServerProcess) > 0,
        async () => server?.stderr() ?? "",
      );
      return { url: ready.url, apiKey: ready.apiKey as string };
    };
    try {
      let api = await start();
      for (let i = 0; i < EMAILS; i += 50) {
        const to = Array.from({ length: Math.min(50, EMAILS - i) }, (_, n) => `p${i + n}@example.com`);
        await call(api, "POST", "/api/v1/send", { from: "a@acme.test", to, subject: "Hi", text: "Hi" });
      }
      await until(
        60,
        async () => (await total(api, "/api/v1/emails?status=sent")) === EMAILS,
        async () => `${await total(api, "/api/v1/emails?status=sent")} sent`,
      );
      const returnPath = createReturnPath(makeMacs(Buffer.from(KEY, "hex")), DOMAIN);
      const waiting = await all<Email>(api, "/api/v1/emails");
      const acknowledged = new Set<string>();
      const bounce = async (email: Email, port: number): Promise<void> => {
        const address = returnPath.bounceAddress(email.id) as string;
        const code = await deliverSmtp(port, address, postfixDsn({ messageId: email.messageId, to: email.to }));
        if (code === 250) acknowledged.add(email.id);
      };
      for (let kill = 0; kill < KILLS; kill += 1) {
        const port = inboundPort(server as ServerProcess);
        const queue = waiting.filter(({ id }) => !acknowledged.has(id));
        const enough = acknowledged.size + 1 + Math.floor(random.fraction() * 15);
        let alive = true;
        const senders = Array.from({ length: SENDERS }, async () => {
          while (alive) {
            const email = queue.shift();
            if (!email) return;
            await bounce(email, port);
            if (acknowledged.size >= enough) alive = false;
          }
        });
        await Promise.race(senders);
        await server?.kill("SIGKILL");
        alive = false;
        await Promise.all(senders);
        api = await start();
        const bounced = new Set((await all<Email>(api, "/api/v1/emails?status=bounced")).map(({ id }) => id));
        expect([...acknowledged].filter((id) => !bounced.has(id))).toEqual([]);
      }
      // The other side sends what it got no reply for, and here everything, again.
      const left = [...waiting];
      const resenders = Array.from({ length: SENDERS }, async () => {
        for (let email = left.shift(); email; email = left.shift()) await bounce(email, inboundPort(server as ServerProcess));
      });
      await Promise.all(resenders);
      expect(acknowledged.size).toBe(EMAILS);
      expect(await total(api, "/api/v1/emails?status=bounced")).toBe(EMAILS);
      expect(await total(api, "/api/v1/v1/events?type=email.bounced")).toBe(EMAILS);
      expect(await total(api, "/api/v1/suppressions?reason=bounce")).toBe(EMAILS);
      const counts = { acknowledged: EMAILS, missing: 0, repeated: 0, unlisted: null };
      recordKills({ suite: "bounces that come by SMTP", database: engine, seed, kills: KILLS, ...counts });
    } finally {
      await server?.kill("SIGKILL");
      await sink.close();
      await store.dispose();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
