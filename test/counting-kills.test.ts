import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Event, SegmentRule } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { seededRandom } from "../packages/server/src/lib/random.ts";
import { type Api, all, call, total, until } from "./support/api.ts";
import { KILLED_STORES } from "./support/killed-store.ts";
import { chooseSeed, countKills } from "./support/kills.ts";
import { countMail, showMail } from "./support/mail-counts.ts";
import { type ServerProcess, startServer } from "./support/server.ts";

/** Rounds on each database. A round kills the server twice: while it counts, and while it erases a person. Rebuilds are killed at the end. */
const ROUNDS = countKills(3);
const PEOPLE = 24;
const DAY = 86_400_000;
// From the first answers until a kill at most.
const KILL_WITHIN_MS = 400;
const OPEN = ["queued", "sending", "deferred"];

const names = Array.from({ length: PEOPLE }, (_, i) => `p${i}@people.example`);

/** The number of times that somebody did something: what the log says of them, without the help of the product. */
type Times = (what: "bought" | "boughtMuchLately" | "visitedLately" | "receivedLately") => number;

/** Rules about behaviour, and who satisfies them. */
const RULES: readonly (readonly [rules: SegmentRule, satisfies: (times: Times) => boolean])[] = [
  [{ field: "did.purchase", operator: "gte", value: 2 }, (times) => times("bought") >= 2],
  [
    { field: "did.purchase", operator: "gte", value: 1, within: "7d", where: { field: "value", operator: "gt", value: 50 } },
    (times) => times("boughtMuchLately") >= 1,
  ],
  [{ field: "did.visit", operator: "exists", value: false, within: "30d" }, (times) => times("visitedLately") === 0],
  [{ field: "received", operator: "gte", value: 3, within: "7d" }, (times) => times("receivedLately") >= 3],
];

/** Counts in a log what happened to somebody until an instant (ms). */
function countTimes(events: readonly Event[], contactId: string, email: string, now: number): Times {
  const isLate = ({ at }: Event, days: number): boolean => now - Date.parse(at) <= days * DAY;
  const tracked = (name: string) =>
    events.flatMap((event) =>
      event.type === "contact.tracked" && event.contactId === contactId && event.data.name === name ? [event] : [],
    );
  return (what) => {
    if (what === "bought") return tracked("purchase").length;
    if (what === "boughtMuchLately") return tracked("purchase").filter((event) => isLate(event, 7) && (event.data.value ?? 0) > 50).length;
    if (what === "visitedLately") return tracked("visit").filter((event) => isLate(event, 30)).length;
    return events.filter((event) => event.type === "email.sent" && event.to === email && isLate(event, 7)).length;
  };
}

test.each(KILLED_STORES)(
  "%s: numbers and segments are what the log says after kills, erasures, events told late, jumps of the clock and rebuilds",
  { timeout: 120_000 + ROUNDS * 40_000 },
  async (_engine, open) => {
    const { fraction } = seededRandom(chooseSeed());
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-counting-"));
    const data = join(folder, "data");
    const store = await open(data);
    let apiKey = "";
    let operatorKey = "";
    let running: ServerProcess | undefined;
    const start = async (): Promise<Api> => {
      running = startServer({ data, flags: ["--dev", "--rate-limit", "send=1000000,write=1000000,read=1000000", ...store.flags] });
      const ready = await running.ready();
      if (!ready) throw new Error(`The server did not start:\n${running.stderr()}`);
      apiKey = ready.apiKey ?? apiKey;
      operatorKey = (JSON.parse(readFileSync(running.readyFile, "utf8")) as { operatorKey: string | null }).operatorKey ?? operatorKey;
      return { url: ready.url, apiKey };
    };
    const killSoon = async (): Promise<void> => {
      await new Promise((next) => setTimeout(next, fraction() * KILL_WITHIN_MS));
      expect(await running?.kill("SIGKILL")).toEqual({ code: null, signal: "SIGKILL" });
    };
    const rest = async (api: Api): Promise<void> => {
      const countOpen = async () => (await Promise.all(OPEN.map((status) => total(api, `/api/v1/emails?status=${status}`)))).join();
      await until(60, async () => (await countOpen()) === "0,0,0", countOpen);
    };
    const readClock = async (api: Api): Promise<number> => Date.parse((await call<{ now: string }>(api, "GET", "/__dev/clock")).now);
    /** Asks for mail and events of a round, and waits for an answer to one of each; an answer that a kill cuts off is no fault. */
    const work = async (api: Api, round: number, now: number): Promise<void> => {
      const tag = { kind: `k${round % 2}` };
      const mails = Array.from({ length: 6 }, (_, n) => {
        const to = names.filter((__, i) => (i + n) % 3 === 0);
        return call(api, "POST", "/api/v1/send", { from: "hi@acme.example", subject: "Hello", text: "It works.", to, tags: tag });
      });
      const batches = Array.from({ length: 4 }, (_, n) => {
        const events = names.flatMap((contact, i) => {
          const id = `${round}-${n}-${i}`;
          const dice = Math.floor(fraction() * 6);
          if (dice === 0) return [];
          const purchase = { name: "purchase", value: dice * 20, currency: "EUR" };
          // Half of a day from the ends of all windows, which the clock passes at full days.
          const at = dice % 2 === 0 ? { at: new Date(now - (dice * 9 + 0.5) * DAY).toISOString() } : {};
          return [{ id, contact, ...(dice < 4 ? purchase : { name: "visit" }), ...at }];
        });
        return call(api, "POST", "/api/v1/track/batch", { events });
      });
      for (const one of [...mails, ...batches]) one.catch(() => {});
      await Promise.all([Promise.any(mails), Promise.any(batches)]);
    };
    try {
      let api = await start();
      await call(api, "POST", "/api/v1/senders", { domain: "acme.example" });
      await call(api, "POST", "/api/v1/contacts/import", { rows: names.map((email) => ({ email })) });
      const segments: string[] = [];
      for (const [rules] of RULES)
        segments.push((await call<{ id: string }>(api, "POST", "/api/v1/segments", { name: `Rule ${segments.length}`, rules })).id);
      const began = await readClock(api);
      const erased: Event[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        await work(api, round, await readClock(api));
        await killSoon();
        api = await start();
        await rest(api);
        await call(api, "POST", "/__dev/clock/advance", { by: `${1 + Math.floor(fraction() * 9)}d` });
        const email = names[round % PEOPLE] as string;
        erased.push(...(await all<Event>(api, `/api/v1/events?contact=${email}`)));
        const path = `/api/v1/people/${email}`;
        const erasing = call(api, "DELETE", path).catch(() => null);
        await killSoon();
        await erasing;
        api = await start();
        // Nothing is left to erase where the first request came to its end.
        await call(api, "DELETE", path).catch((error: Error) => expect(error.message).toContain(": 404 "));
      }
      // Rows of the readers are rebuilt from the log, mail goes on meanwhile, and the server is killed before it is done.
      for (const name of ["metrics", "engagement"]) {
        await call({ ...api, apiKey: operatorKey }, "POST", `/api/v1/readers/${name}/rebuild`, {});
        await work(api, ROUNDS, await readClock(api));
        await killSoon();
        api = await start();
        await rest(api);
      }
      // The timer of windows has gone once more.
      await call(api, "POST", "/__dev/clock/advance", { by: "3h" });
      const now = await readClock(api);
      const [from, to] = [began - DAY, now].map((at) => new Date(at).toISOString().slice(0, 10)) as [string, string];
      const events = await all<Event>(api, "/api/v1/events");
      expect(events.filter(({ type }) => type === "email.sent").length).toBeGreaterThan(0);
      expect(await showMail(api, from, to)).toEqual(countMail([...events, ...erased]));
      expect(await call(api, "GET", `/api/v1/metrics/verify?from=${from}&to=${to}`)).toMatchObject({ correct: true });
      const contacts = await all<{ id: string; email: string }>(api, "/api/v1/contacts");
      for (const [i, [rules, satisfies]] of RULES.entries()) {
        const id = segments[i] ?? "";
        const expected = contacts.filter((one) => satisfies(countTimes(events, one.id, one.email, now))).map(({ email }) => email);
        const shown = (await all<{ email: string }>(api, `/api/v1/segments/${id}/contacts`)).map(({ email }) => email);
        const { memberCount } = await call<{ memberCount: number }>(api, "GET", `/api/v1/segments/${id}`);
        expect([rules, shown.sort(), memberCount]).toEqual([rules, expected.sort(), expected.length]);
      }
    } finally {
      await running?.kill("SIGKILL");
      await store.dispose();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
