import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Api, all, call, total, until } from "./support/api.ts";
import { KILLED_STORES } from "./support/killed-store.ts";
import { countKills } from "./support/kills.ts";
import { type ServerProcess, startServer } from "./support/server.ts";

/** Kills of the server while it deletes. */
const KILLS = countKills(3);
// Enough for dozens of steps of the sweep.
const BATCHES = 15;
const EACH = 100;
const DAY = 86_400_000;

test.each(KILLED_STORES)(
  "%s: a sweep of old mail goes on after kills, and what must stay does",
  { timeout: 120_000 + KILLS * 40_000 },
  async (_engine, open) => {
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-retention-"));
    const data = join(folder, "data");
    const store = await open(data);
    let apiKey = "";
    let running: ServerProcess | undefined;
    const start = async (): Promise<Api> => {
      running = startServer({ data, flags: ["--dev", "--keep", "emails=1,events=1", ...store.flags] });
      const ready = await running.ready();
      if (!ready) throw new Error(`The server did not start:\n${running.stderr()}`);
      apiKey = ready.apiKey ?? apiKey;
      return { url: ready.url, apiKey };
    };
    const mail = { from: "hi@acme.example", subject: "Hello", text: "It works." };
    try {
      let api = await start();
      await call(api, "POST", "/api/v1/senders", { domain: "acme.example" });
      const readClock = async () => Date.parse((await call<{ now: string }>(api, "GET", "/__dev/clock")).now);
      // Between two sweeps.
      const later = (await readClock()) + 20.5 * DAY;
      const scheduledAt = new Date(later).toISOString();
      const waiting = await call<{ id: string }>(api, "POST", "/api/v1/send", { ...mail, to: "later@people.example", scheduledAt });
      for (let batch = 0; batch < BATCHES; batch += 1) {
        const emails = Array.from({ length: EACH }, (_, i) => ({
          ...mail,
          to: `p${batch}-${i}@people.example`,
          tags: { batch: `${batch}` },
        }));
        await call(api, "POST", "/api/v1/send/batch", { emails });
      }
      const countEvents = () => total(api, "/api/v1/events?type=email.delivered");
      const countMail = () => total(api, "/api/v1/emails?status=delivered");
      await until(
        60,
        async () => (await countMail()) === BATCHES * EACH,
        async () => `${await countMail()} delivered`,
      );
      for (let kill = 0; kill < KILLS; kill += 1) {
        const [events, mails] = [await countEvents(), await countMail()];
        // The answer comes when all that is due by then is done; a kill cuts it off.
        const advanced = call(api, "POST", "/__dev/clock/advance", { by: "2d" }).catch(() => null);
        const isUnderWay = async () => (await countEvents()) < events || (await countMail()) < mails || events + mails === 0;
        await until(60, isUnderWay, async () => `${await countEvents()} events and ${await countMail()} mails are left`);
        await running?.kill("SIGKILL");
        await advanced;
        api = await start();
      }
      await call(api, "POST", "/__dev/clock/advance", { by: "2d" });
      const left = await all<{ id: string; status: string }>(api, "/api/v1/emails");
      expect(left.map(({ id, status }) => [id, status])).toEqual([[waiting.id, "queued"]]);
      expect(await countEvents()).toBe(0);
      expect(await total(api, "/api/v1/emails?tag=batch=1")).toBe(0);
      await call(api, "POST", "/__dev/clock/advance", { by: `${Math.ceil((later - (await readClock())) / 1000)}s` });
      expect(await call(api, "GET", `/api/v1/emails/${waiting.id}`)).toMatchObject({ status: "delivered" });
      expect(await store.inspect()).toEqual({ jobs: 0, sound: true });
    } finally {
      await running?.kill("SIGKILL");
      await store.dispose();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
