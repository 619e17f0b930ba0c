import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AutomationEntry, AutomationStats, NewAutomation } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { seededRandom } from "../packages/server/src/lib/random.ts";
import { acknowledge } from "./support/acknowledge.ts";
import { type Api, all, call, total, until } from "./support/api.ts";
import { startCluster } from "./support/cluster.ts";
import { chooseSeed, countKills, type KillRecord, recordKills } from "./support/kills.ts";
import { type ServerProcess, startServer } from "./support/server.ts";

// A few kills for each run; KILLS=100 AUTOMATION_ENTRIES=2000 for a long one.
const KILLS = countKills(2);
const ENTRIES = Number(process.env.AUTOMATION_ENTRIES ?? 60);
const TIMEOUT_MS = 120_000 + KILLS * 15_000 + ENTRIES * 60;
/** Contacts in one request, which enter in one transaction. */
const IMPORT = 20;
/** Every third contact buys something. */
const BUYERS = 3;
const MAILS = ["welcome", "thanks", "reminder", "goodbye"];
const FLAGS = ["--dev", "--rate-limit", "write=1000000,read=1000000,send=1000000"];

/** Servers on one database. */
interface Cluster {
  /** A server that is up, as far as is known. */
  api(): Api;
  /** Kills a server and starts another one in its place. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

async function onSqlite(): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-automation-"));
  let running: ServerProcess;
  let api: Api = { url: "", apiKey: "" };
  const start = async (): Promise<void> => {
    running = startServer({ data: join(folder, "data"), flags: FLAGS });
    const ready = await running.ready();
    if (!ready) throw new Error(`The server did not start:\n${running.stderr()}`);
    api = { url: ready.url, apiKey: ready.apiKey ?? api.apiKey };
  };
  await start();
  return {
    api: () => api,
    kill: async () => {
      await running.kill("SIGKILL");
      await start();
    },
    stop: async () => {
      await running.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Two servers; those that are killed take turns, and so do those that are asked. */
async function onPostgres(): Promise<Cluster> {
  const cluster = await startCluster(2, FLAGS);
  let [asked, killed] = [0, 0];
  return {
    api: () => cluster.members[(asked += 1) % 2]?.api as Api,
    kill: async () => {
      const place = (killed += 1) % 2;
      await cluster.members[place]?.process.kill("SIGKILL");
      await cluster.replace(place);
    },
    stop: cluster.stop,
  };
}

const wait = (ms: number): Promise<void> => new Promise((next) => setTimeout(next, ms));

/** Welcomes, waits for a purchase, thanks or reminds, and says goodbye. */
async function createAutomation(api: Api): Promise<string> {
  const templates = new Map<string, string>();
  for (const slug of MAILS) {
    const fields = { name: slug, slug, type: "marketing", subject: slug, html: `<p>${slug}, {{firstName}}</p>`, publish: true };
    templates.set(slug, (await call<{ id: string }>(api, "POST", "/api/v1/templates", fields)).id);
  }
  const mail = (id: string) => ({ id, type: "send_email" as const, templateId: templates.get(id) ?? "", from: "news@acme.example" });
  const definition: NewAutomation = {
    name: "Kills",
    trigger: { type: "contact.created" },
    goal: { type: "event", name: "purchase" },
    steps: [
      mail("welcome"),
      { id: "second", type: "delay", for: "1s" },
      { id: "bought", type: "wait_for_event", event: { type: "event", name: "purchase" }, timeout: "2s" },
      mail("thanks"),
      mail("reminder"),
      { id: "late", type: "add_tag", tag: "late" },
      { id: "is-late", type: "condition", rule: { field: "tags", operator: "contains", value: "late" } },
      { id: "third", type: "delay", for: "1s" },
      mail("goodbye"),
    ],
    connections: [
      { from: "trigger", to: "welcome" },
      { from: "welcome", to: "second" },
      { from: "second", to: "bought" },
      { from: "bought", to: "thanks", branch: "event" },
      { from: "bought", to: "reminder", branch: "timeout" },
      { from: "reminder", to: "late" },
      { from: "late", to: "is-late" },
      { from: "thanks", to: "is-late" },
      { from: "is-late", to: "third", branch: "yes" },
      { from: "is-late", to: "third", branch: "no" },
      { from: "third", to: "goodbye" },
    ],
  };
  const { id } = await call<{ id: string }>(api, "POST", "/api/v1/automations", definition);
  await call(api, "POST", `/api/v1/automations/${id}/activate`);
  return id;
}

const PATHS = {
  event: ["welcome", "second", "bought:event", "thanks", "is-late:no", "third", "goodbye"],
  timeout: ["welcome", "second", "bought:timeout", "reminder", "late", "is-late:yes", "third", "goodbye"],
};

/** Lets contacts enter, and some of them buy something, twice; as many as the kills so far allow. */
async function live(cluster: Cluster, kills: () => number): Promise<void> {
  for (let i = 0; i < ENTRIES; i += IMPORT) {
    while (kills() / KILLS < i / ENTRIES) await wait(20);
    const rows = Array.from({ length: Math.min(IMPORT, ENTRIES - i) }, (_, n) => ({
      email: `p${i + n}@reader.example`,
      firstName: `P${i + n}`,
    }));
    await acknowledge(cluster, { key: `import-${i}`, path: "/api/v1/contacts/import", body: { rows, startAutomations: true } });
    for (let n = 0; n < rows.length; n += 1)
      if ((i + n) % BUYERS === 0)
        for (const value of [10.25, 0.5])
          await acknowledge(cluster, {
            key: `buy-${i + n}-${value}`,
            path: "/api/v1/track",
            body: { name: "purchase", contact: `p${i + n}@reader.example`, value, currency: "USD" },
          });
  }
}

interface Event {
  readonly sequence: number;
  readonly type: string;
  readonly contactId: string;
  readonly data: { readonly value: number };
}

/** A contact that is triggered fifty times at once, on all servers, enters once. */
async function race(cluster: Cluster): Promise<void> {
  const { id } = await call<{ id: string }>(cluster.api(), "POST", "/api/v1/automations", {
    name: "Race",
    trigger: { type: "event", name: "go" },
    allowReEntry: true,
    reEntryDelayHours: 1,
    steps: [{ id: "wait", type: "delay", for: "1s" }],
    connections: [{ from: "trigger", to: "wait" }],
  });
  await call(cluster.api(), "POST", `/api/v1/automations/${id}/activate`);
  const { id: contact } = await call<{ id: string }>(cluster.api(), "POST", "/api/v1/contacts", { email: "race@reader.example" });
  await Promise.all(
    Array.from({ length: 50 }, (_, i) => acknowledge(cluster, { key: `race-${i}`, path: "/api/v1/track", body: { name: "go", contact } })),
  );
  const read = (): Promise<AutomationStats> => call(cluster.api(), "GET", `/api/v1/automations/${id}/stats`);
  await until(
    30,
    async () => (await read()).completed === 1,
    async () => JSON.stringify(await read()),
  );
  expect(await read()).toMatchObject({ entered: 1, inside: 0 });
  expect(await total(cluster.api(), `/api/v1/events?type=automation.entered&automation=${id}`)).toBe(1);
}

/** Everything that must be true once all entries are over. */
async function judge(api: Api, id: string, about: Pick<KillRecord, "database" | "seed">): Promise<void> {
  const entries = await all<AutomationEntry>(api, `/api/v1/automations/${id}/entries`);
  expect(new Set(entries.map(({ contactId }) => contactId)).size).toBe(ENTRIES);
  expect(entries.filter(({ status }) => status !== "COMPLETED")).toEqual([]);
  // Each step once, in order.
  const taken = entries.map(({ path }) => path.map(({ stepId, branch }) => (branch === null ? stepId : `${stepId}:${branch}`)));
  for (const path of taken) expect(path).toEqual(path.includes("bought:event") ? PATHS.event : PATHS.timeout);
  expect(entries.flatMap(({ path }) => path.filter(({ outcome }) => outcome !== "done"))).toEqual([]);
  // Each mail of a path exists once, and no other one does.
  const sent = entries.flatMap(({ path }) =>
    path.flatMap(({ stepId, emailId }) => (MAILS.includes(stepId) ? [`${emailId} ${stepId}`] : [])),
  );
  const emails = await all<{ id: string; subject: string }>(api, "/api/v1/emails");
  expect(emails.map((email) => `${email.id} ${email.subject}`).sort()).toEqual(sent.sort());
  // The counts equal a recount.
  const stats = await call<AutomationStats>(api, "GET", `/api/v1/automations/${id}/stats`);
  expect(stats).toMatchObject({ entered: ENTRIES, inside: 0, completed: ENTRIES, exited: 0, failed: 0 });
  for (const { stepId, entered, waiting, skipped } of stats.steps)
    expect({ stepId, entered, waiting, skipped }).toEqual({
      stepId,
      entered: taken.flat().filter((step) => step.split(":")[0] === stepId).length,
      waiting: 0,
      skipped: 0,
    });
  // The revenue is the sum of the values that were tracked between what made the contact enter and completing, in the order of commits.
  const read = (type: string) => all<Event>(api, `/api/v1/events?type=${type}`);
  const at = (events: readonly Event[]) => new Map(events.map(({ contactId, sequence }) => [contactId, sequence]));
  const [entered, completed] = [await read(`automation.entered&automation=${id}`), await read(`automation.completed&automation=${id}`)];
  expect([entered.length, completed.length]).toEqual([ENTRIES, ENTRIES]);
  const [from, to] = [at(await read("contact.created")), at(completed)];
  const inside = (await read("contact.tracked")).filter(
    ({ contactId, sequence }) => sequence > (from.get(contactId) ?? 0) && sequence < (to.get(contactId) ?? 0),
  );
  const sum = Math.round(inside.reduce((all, { data }) => all + data.value, 0) * 100) / 100;
  const numbers = await call<{ revenueGenerated: number; goalConversions: number }>(api, "GET", `/api/v1/automations/${id}`);
  const buyers = new Set(inside.map(({ contactId }) => contactId));
  expect(numbers).toMatchObject({ revenueGenerated: sum, goalConversions: buyers.size });
  expect((await read(`automation.goal_reached&automation=${id}`)).length).toBe(buyers.size);
  expect(await total(api, "/api/v1/jobs?state=dead")).toBe(0);
  const steps = taken.reduce((n, path) => n + path.length, 0);
  recordKills({ suite: "steps of automations", ...about, kills: KILLS, acknowledged: steps, missing: 0, repeated: 0, unlisted: 0 });
  console.log(`${ENTRIES} entries, ${emails.length} mails, ${buyers.size} goals, revenue ${sum}`);
}

test.each([
  ["SQLite", onSqlite],
  ["Postgres", onPostgres],
] as const)(
  "servers on %s, killed again and again: each step of each entry takes effect once, and the numbers add up",
  {
    timeout: TIMEOUT_MS,
  },
  async (database, open) => {
    const seed = chooseSeed();
    const { fraction: random } = seededRandom(seed);
    const cluster = await open();
    try {
      await race(cluster);
      const id = await createAutomation(cluster.api());
      let kills = 0;
      const living = live(cluster, () => kills);
      // While contacts enter, and others are on their way.
      for (; kills < KILLS; kills += 1) {
        await wait(random() * 800);
        await cluster.kill();
      }
      await living;
      const read = (): Promise<AutomationStats> => call(cluster.api(), "GET", `/api/v1/automations/${id}/stats`);
      await until(
        60 + ENTRIES / 10,
        async () => (await read()).completed === ENTRIES,
        async () => JSON.stringify(await read()),
      );
      await judge(cluster.api(), id, { database, seed });
    } finally {
      await cluster.stop();
    }
  },
);
