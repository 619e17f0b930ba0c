import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AutomationEntry, AutomationStats, Email, Event, NewAutomation } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { seededRandom } from "../packages/server/src/lib/random.ts";
import { receiver } from "../packages/server/test/receiver.ts";
import { acknowledge } from "./support/acknowledge.ts";
import { type Api, all, call, total, until } from "./support/api.ts";
import { KILLED_STORES } from "./support/killed-store.ts";
import { chooseSeed, recordKills } from "./support/kills.ts";
import { countMail, showMail } from "./support/mail-counts.ts";
import { OLD_SECRET_KEY, unpackOnPostgres, unpackOnSqlite } from "./support/old-data.ts";
import { type ServerProcess, startServer } from "./support/server.ts";
import { smtpSink } from "./support/smtp-sink.ts";
import { type Ledger, newLedger, startTraffic } from "./support/traffic.ts";

/*
 * A month of an installation that begins with the data of an earlier version: each day brings people, mail, purchases and sometimes a
 * campaign, and on most days the server is killed. At the end everything that it shows is counted again from what is listed one by one.
 */

// A few days in each run; MONTH_DAYS=30 MONTH_MAILS=600 for a whole month.
const DAYS = Number(process.env.MONTH_DAYS ?? 4);
/** Single mails of a day, at least. */
const MAILS = Number(process.env.MONTH_MAILS ?? 40);
const PEOPLE = 20;
const CAMPAIGN_EVERY = 3;
const CONNECTIONS = 6;
const KILL_WITHIN_MS = 800;
const OPEN = ["queued", "sending", "deferred", "scheduled"];
const WAITING = ["pending", "queued"];
const FLAGS = ["--dev", "--secret-key", OLD_SECRET_KEY, "--rate-limit", "send=1000000,write=1000000,read=1000000"];

/** A server that can be killed and started again on the same data. */
class Installation {
  readonly #data: string;
  readonly #flags: readonly string[];
  readonly #apiKey: string;
  #running: ServerProcess | null = null;
  #api: Api = { url: "", apiKey: "" };
  kills = 0;

  constructor(data: string, apiKey: string, flags: readonly string[]) {
    [this.#data, this.#apiKey, this.#flags] = [data, apiKey, flags];
  }

  api(): Api {
    return this.#api;
  }

  async start(): Promise<void> {
    this.#running = startServer({ data: this.#data, flags: this.#flags });
    const ready = await this.#running.ready();
    if (!ready) throw new Error(`The server did not start:\n${this.#running.stderr()}`);
    this.#api = { url: ready.url, apiKey: this.#apiKey };
  }

  async kill(): Promise<void> {
    this.kills += 1;
    expect(await this.#running?.kill("SIGKILL")).toEqual({ code: null, signal: "SIGKILL" });
    await this.start();
  }

  async restart(): Promise<void> {
    expect(await this.#running?.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    await this.start();
  }

  async stop(): Promise<void> {
    await this.#running?.kill("SIGKILL");
  }

  /** Waits until no mail is under way but what is scheduled. */
  async rest(): Promise<void> {
    const count = (status: string): Promise<number> => total(this.#api, `/api/v1/emails?status=${status}`);
    const countOpen = async () => {
      const [queued = 0, sending = 0, deferred = 0, scheduled = 0] = await Promise.all(OPEN.map(count));
      return queued + sending + deferred - scheduled;
    };
    await until(
      300,
      async () => (await countOpen()) === 0,
      async () => `${await countOpen()} mails are under way`,
    );
  }

  async readNow(): Promise<number> {
    return Date.parse((await call<{ now: string }>(this.#api, "GET", "/__dev/clock")).now);
  }
}

/** Greets, and asks a day later whether all is well. */
function buildWelcome(templateId: string): NewAutomation {
  const mail = (id: string) => ({ id, type: "send_email" as const, templateId, from: "news@acme.example" });
  return {
    name: "Welcome",
    trigger: { type: "contact.created" },
    goal: { type: "event", name: "purchase" },
    steps: [mail("welcome"), { id: "night", type: "delay", for: "20h" }, mail("tips"), { id: "done", type: "add_tag", tag: "welcomed" }],
    connections: ["trigger", "welcome", "night", "tips"].map((from, i) => ({ from, to: ["welcome", "night", "tips", "done"][i] ?? "" })),
  };
}

/** Facts about a month, as its customers know them. */
interface Month {
  /** Single mails, one ledger for each day: for longer an Idempotency-Key is not kept. */
  readonly ledgers: Ledger[];
  readonly listId: string;
  readonly automationId: string;
  readonly webhookId: string;
  readonly campaigns: string[];
  /** Addresses of people who are neither erased nor gone, oldest first. */
  readonly people: string[];
  /** Events of people who were erased, as they were listed before. */
  readonly erased: Event[];
}

async function prepare(house: Installation, hookUrl: string): Promise<Month> {
  const post = <T>(path: string, body: unknown) => call<T>(house.api(), "POST", path, body);
  await post("/api/v1/senders", { domain: "month.example" });
  const content = { name: "Greeting", slug: "greeting", type: "marketing", subject: "Hello", html: "<p>Hello {{firstName}}</p>" };
  const { id: templateId } = await post<{ id: string }>("/api/v1/templates", { ...content, publish: true });
  const { id: automationId } = await post<{ id: string }>("/api/v1/automations", buildWelcome(templateId));
  await post(`/api/v1/automations/${automationId}/activate`, undefined);
  const { id: listId } = await post<{ id: string }>("/api/v1/lists", { name: "Month" });
  const events = ["contact.*", "campaign.*", "list.*"];
  const { id: webhookId } = await post<{ id: string }>("/api/v1/v1/webhooks", { url: hookUrl, events });
  return { ledgers: [], listId, automationId, webhookId, campaigns: [], people: [], erased: [] };
}

/** New people of a day join; some of those of the days before buy something, and one leaves. */
async function meetPeople(house: Installation, month: Month, day: number, random: () => number): Promise<void> {
  const emails = Array.from({ length: PEOPLE }, (_, i) => `d${day}-${i}@reader.example`);
  const rows = emails.map((email, i) => ({ email, firstName: `P${i}`, tags: [`day-${day % 7}`] }));
  const before = [...month.people];
  await acknowledge(house, { key: `people-${day}`, path: "/api/v1/contacts/import", body: { rows, startAutomations: true } });
  await acknowledge(house, { key: `join-${day}`, path: `/api/v1/lists/${month.listId}/contacts`, body: { contacts: emails } });
  month.people.push(...emails);
  for (const contact of before.filter(() => random() < 0.1)) {
    const body = { name: "purchase", contact, value: Math.ceil(random() * 90), currency: "EUR" };
    await acknowledge(house, { key: `buy-${day}-${contact}`, path: "/api/v1/track", body });
  }
  const leaver = before[Math.floor(random() * before.length)];
  if (leaver === undefined) return;
  const body = { status: "UNSUBSCRIBED" };
  await acknowledge(house, { key: `leave-${day}`, path: `/api/v1/contacts/${leaver}`, method: "PATCH", body });
}

async function sendCampaign(house: Installation, month: Month, day: number): Promise<void> {
  const fields = {
    ...{ name: `News ${day}`, fromEmail: "news@month.example", text: "Hello {{firstName}}", recipientType: "list", listId: month.listId },
    subjectLine: "News",
    ...(day % 2 === 1 && { abTest: { variants: [{}, { subjectLine: "Your news" }], decideAfterMinutes: 60 } }),
  };
  const { id } = await acknowledge<{ id: string }>(house, { key: `write-${day}`, path: "/api/v1/campaigns", body: fields });
  month.campaigns.push(id);
  await acknowledge(house, { key: `send-${day}`, path: `/api/v1/campaigns/${id}/send` });
}

/** Sends the single mails of a day until as many were acknowledged as it has, through deaths of the server. */
async function sendSingles(house: Installation, { ledgers }: Month, random: () => number): Promise<void> {
  const ledger = newLedger(ledgers.reduce((sum, { wishes }) => sum + wishes.length, 0));
  ledgers.push(ledger);
  const count = (): number => ledger.wishes.filter(({ promised }) => promised !== null).length;
  while (count() < MAILS || ledger.lost.length > 0) {
    const traffic = startTraffic(house.api(), ledger, { connections: CONNECTIONS, pause: 5, random });
    await new Promise((next) => setTimeout(next, 50));
    await traffic.stop();
  }
}

async function erase(house: Installation, month: Month, random: () => number): Promise<void> {
  const [email] = month.people.splice(Math.floor(random() * month.people.length), 1);
  if (email === undefined) return;
  month.erased.push(...(await all<Event>(house.api(), `/api/v1/events?contact=${email}`)));
  await call(house.api(), "DELETE", `/api/v1/people/${email}`);
}

/** Mail handed over, by day. Campaigns are accepted without an event of each mail, and of the tags of a day only the first are counted. */
function handedOver(counts: ReadonlyMap<string, number>): Map<string, number> {
  return new Map([...counts].filter(([name]) => /^\d\S+ sent$/.test(name)));
}

/** Counts everything again that the server shows as a number. */
async function recount(api: Api, { listId, automationId, campaigns, erased }: Month, from: number, to: number): Promise<void> {
  const day = (at: number): string => new Date(at).toISOString().slice(0, 10);
  const events = await all<Event>(api, "/api/v1/events");
  const period = `from=${day(from)}&to=${day(to)}`;
  expect(await call(api, "GET", `/api/v1/metrics/verify?${period}`)).toMatchObject({ correct: true });
  const listed = [...events, ...erased].filter(({ at }) => at >= day(from));
  expect(handedOver(await showMail(api, day(from), day(to)))).toEqual(handedOver(countMail(listed)));
  for (const id of campaigns) {
    expect(await call(api, "GET", `/api/v1/campaigns/${id}/verify`)).toMatchObject({ correct: true, differences: [] });
    expect(await call(api, "GET", `/api/v1/campaigns/${id}`)).toMatchObject({ status: "SENT" });
  }
  const entries = await all<AutomationEntry>(api, `/api/v1/automations/${automationId}/entries`);
  const stats = await call<AutomationStats>(api, "GET", `/api/v1/automations/${automationId}/stats`);
  const inState = (state: string): number => entries.filter(({ status }) => status === state).length;
  const counts = { inside: inState("ACTIVE"), completed: inState("COMPLETED"), exited: inState("EXITED"), failed: inState("FAILED") };
  expect(stats).toMatchObject({ ...counts, inside: 0, failed: 0 });
  const contacts = await all<{ status: string }>(api, "/api/v1/contacts");
  expect(await total(api, "/api/v1/contacts")).toBe(contacts.length);
  for (const [status, group] of Map.groupBy(contacts, (contact) => contact.status))
    expect([status, await total(api, `/api/v1/contacts?status=${status}`)]).toEqual([status, group.length]);
  const members = await all(api, `/api/v1/lists/${listId}/contacts`);
  expect(await call(api, "GET", `/api/v1/lists/${listId}`)).toMatchObject({ memberCount: members.length });
  expect(await total(api, "/api/v1/jobs?state=dead")).toBe(0);
}

test.each(KILLED_STORES)(
  "%s: a month of mail on the data of an earlier version loses nothing, and all of its sums add up",
  { timeout: 240_000 + DAYS * (60_000 + MAILS * 100) },
  async (database, open) => {
    const seed = chooseSeed();
    const { fraction: random } = seededRandom(seed);
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-month-"));
    const data = join(folder, "data");
    const store = await open(data);
    const sink = await smtpSink(() => random() * 4);
    await using hook = await receiver();
    const old = database === "SQLite" ? unpackOnSqlite(data) : await unpackOnPostgres(store.flags[1] ?? "");
    const house = new Installation(data, old.apiKey, [...FLAGS, "--smtp-url", `${sink.url}?pool=8&messages=1000`, ...store.flags]);
    try {
      await house.start();
      // Work that was under way in the earlier version ends.
      await call(house.api(), "POST", "/__dev/clock/advance", { by: "1d" });
      await house.rest();
      const began = await house.readNow();
      const month = await prepare(house, hook.url);
      for (let day = 0; day < DAYS; day += 1) {
        const deeds = [meetPeople(house, month, day, random), sendSingles(house, month, random)];
        if (day % CAMPAIGN_EVERY === 0) deeds.push(sendCampaign(house, month, day));
        const done = Promise.all(deeds);
        done.catch(() => {});
        if (day % 5 < 4) {
          await new Promise((next) => setTimeout(next, random() * KILL_WITHIN_MS));
          await house.kill();
        }
        await done;
        if (day % 7 === 6) await house.restart();
        await call(house.api(), "POST", "/__dev/clock/advance", { by: "1d" });
        await house.rest();
        await erase(house, month, random);
      }
      await call(house.api(), "POST", "/__dev/clock/advance", { by: "2d" });
      await house.rest();
      const api = house.api();
      await recount(api, month, began, await house.readNow());

      const emails = await all<Pick<Email, "id" | "status" | "inDoubt" | "messageId">>(api, "/api/v1/emails");
      const byId = new Map(emails.map((email) => [email.id, email]));
      const promised = [
        ...old.emails.map(({ id }) => id),
        ...month.ledgers.flatMap(({ wishes }) => wishes.flatMap((wish) => wish.promised ?? [])),
      ];
      const missing = promised.filter((id) => !byId.has(id));
      const left = emails.filter(({ status }) => status === "sent");
      const never = left.filter(({ messageId }) => !sink.taken.has(messageId));
      const twice = left.filter(({ messageId }) => (sink.taken.get(messageId) ?? 0) > 1);
      expect({ missing, never, twice: twice.filter(({ inDoubt }) => !inDoubt) }).toEqual({ missing: [], never: [], twice: [] });
      expect(month.ledgers.flatMap(({ refused, contradictions }) => [...refused, ...contradictions])).toEqual([]);

      const webhook = `/api/v1/v1/webhooks/${month.webhookId}`;
      const countWaiting = async () =>
        (await Promise.all(WAITING.map((state) => total(api, `${webhook}/deliveries?state=${state}`)))).join();
      await until(120, async () => (await countWaiting()) === "0,0", countWaiting);
      const { createdAt } = await call<{ createdAt: string }>(api, "GET", webhook);
      const told = new Set(hook.received.map(({ event }) => event.id));
      const untold = (await all<Event>(api, "/api/v1/events")).filter(
        ({ id, type, at }) => /^(?:contact|campaign|list)\./.test(type) && at > createdAt && !told.has(id),
      );
      expect(untold).toEqual([]);
      const counts = { acknowledged: promised.length, missing: missing.length, repeated: twice.length };
      recordKills({ suite: `${DAYS} days after an upgrade`, database, seed, kills: house.kills, ...counts, unlisted: 0 });
    } finally {
      await house.stop();
      await sink.close();
      await store.dispose();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
