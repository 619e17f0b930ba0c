import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AutomationStats, NewAutomation } from "../../packages/sdk/src/contract/index.ts";
import { type Contender, call, type MailsvcOptions, mailsvc } from "../contenders.ts";
import { cpuOf } from "../cpu.ts";
import type { Bench, Figure } from "../figure.ts";

const MONTH_CONTACTS = 1000;
const ENTRIES = 100_000;
const IMPORT = 1000;
const POLL_MS = 100;
// After the last work, until a server counts as idle.
const REST_MS = 5000;

/** Automations: a month in seconds, how fast contacts enter, and what those that wait cost. */
export const automations: Bench = {
  name: "automations",
  onlyByName: true,
  meaning:
    `month: ${MONTH_CONTACTS.toLocaleString("en")} contacts through 12 steps and 30 days under the dev clock, five mails each, from the import to the last mail. ` +
    "enter: contacts a second that enter at once, because the rules of a segment changed to match all of them, until each waits in its first step: " +
    "comparing them with the rules, membership, entry, step, events and counts, each on disk. cpu: processor time of the server for that. idle: processor time of a server with as many entries waiting, against that of an empty one. " +
    "--rows N for fewer than 100,000 contacts, --minutes N for how long idle servers are watched (one minute at most).",
  run: async ({ rows, minutes }) => {
    const count = Math.min(rows, ENTRIES);
    const watchMs = Math.min(minutes, 1) * 60_000;
    const empty = await withServer((server) => watch(server, watchMs));
    const month = await withServer((server) => measure(server, () => runMonth(server)));
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-bench-automations-"));
    const data = { data: join(folder, "data") };
    const entering = await withServer((server) => measureEntering(server, count), data);
    // Started again, like the empty one: the first process collects garbage for a while after its work.
    const idle = await withServer((server) => watch(server, watchMs), data);
    rmSync(folder, { recursive: true });
    const alone = { against: null, ratio: null };
    return [
      { name: "automations.month", value: month.seconds, unit: "s", ...alone, goal: { op: "<=", than: 5 } },
      { name: "automations.month.cpu", value: month.cpuSeconds, unit: "s", ...alone },
      { name: "automations.enter", value: count / entering.seconds, unit: "entries/s", ...alone, goal: { op: ">=", than: 5000 } },
      { name: "automations.enter.cpu", value: (entering.cpuSeconds * 1e6) / count, unit: "us/entry", ...alone },
      {
        name: "automations.idle",
        value: idle,
        unit: "ms/minute",
        against: "an empty server",
        ratio: idle / empty,
        goal: { op: "<=", than: 1.2 },
      },
    ] satisfies Figure[];
  },
};

async function withServer<T>(run: (server: Contender) => Promise<T>, options?: MailsvcOptions): Promise<T> {
  const server = await mailsvc(options);
  try {
    return await run(server);
  } finally {
    await server.stop();
  }
}

/** Duration of some work, and processor time of the server, which a busy machine disturbs least. */
interface Effort {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

async function measure({ pid }: Contender, work: () => Promise<void>): Promise<Effort> {
  const [from, cpu] = [performance.now(), cpuOf([pid])];
  await work();
  return { seconds: (performance.now() - from) / 1000, cpuSeconds: (cpuOf([pid]) - cpu) / 1e6 };
}

/** Takes contacts through a month. */
async function runMonth(server: Contender): Promise<void> {
  const fields = {
    name: "News",
    slug: "news",
    type: "marketing",
    subject: "News for {{firstName}}",
    html: `<p>Dear {{firstName}},</p><p>${"News with a little of everything in it. ".repeat(14)}</p>`,
    publish: true,
  };
  const template = (await call(server, "POST", "/api/v1/templates", fields)) as { id: string };
  const mail = (id: string) => ({ id, type: "send_email" as const, templateId: template.id, from: "news@bench.acme.dev" });
  const steps: NewAutomation["steps"] = [
    mail("welcome"),
    { id: "days-3", type: "delay", for: "3d" },
    mail("tips"),
    { id: "days-10", type: "delay", for: "7d" },
    { id: "warm", type: "add_tag", tag: "warm" },
    mail("offer"),
    { id: "days-20", type: "delay", for: "10d" },
    { id: "plan", type: "update_contact", set: { customFields: { plan: "basic" } } },
    mail("reminder"),
    { id: "days-30", type: "delay", for: "10d" },
    { id: "goal", type: "goal" },
    mail("goodbye"),
  ];
  const id = await start(server, { name: "Month", trigger: { type: "contact.created" }, ...chain(steps) });
  await importContacts(server, MONTH_CONTACTS);
  await call(server, "POST", "/__dev/clock/advance", { by: "31d" });
  const { completed } = await readStats(server, id);
  if (completed !== MONTH_CONTACTS) throw new Error(`${completed} of ${MONTH_CONTACTS} entries are completed.`);
}

/** Lets contacts enter at once, after making them. */
async function measureEntering(server: Contender, count: number): Promise<Effort> {
  await importContacts(server, count);
  const tagged = (tag: string) => ({ field: "tags", operator: "contains", value: tag });
  const segment = (await call(server, "POST", "/api/v1/segments", { name: "Readers", rules: tagged("nobody") })) as { id: string };
  const id = await start(server, {
    name: "Readers",
    trigger: { type: "segment.entered", segmentId: segment.id },
    ...chain([{ id: "wait", type: "delay", for: "30d" }]),
  });
  return measure(server, async () => {
    await call(server, "PATCH", `/api/v1/segments/${segment.id}`, { rules: tagged("reader") });
    for (let waiting = 0; waiting < count; ) {
      await new Promise((next) => setTimeout(next, POLL_MS));
      waiting = (await readStats(server, id)).steps[0]?.waiting ?? 0;
    }
  });
}

/** Processor time of a server that has nothing to do, ms for each minute. */
async function watch({ pid }: Contender, watchMs: number): Promise<number> {
  await new Promise((next) => setTimeout(next, REST_MS));
  const before = readScheduledMs(pid);
  await new Promise((next) => setTimeout(next, watchMs));
  return (readScheduledMs(pid) - before) * (60_000 / watchMs);
}

/** The time that the threads of a process have run so far, ms: `cpuOf` counts in steps of ten, which is too coarse here. */
function readScheduledMs(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`);
  return tasks.reduce((sum, task) => sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]) / 1e6, 0);
}

async function start(server: Contender, automation: NewAutomation): Promise<string> {
  const { id } = (await call(server, "POST", "/api/v1/automations", automation)) as { id: string };
  await call(server, "POST", `/api/v1/automations/${id}/activate`);
  return id;
}

/** Connects steps in their order. */
function chain(steps: NewAutomation["steps"]): Pick<NewAutomation, "steps" | "connections"> {
  return { steps, connections: steps.map(({ id }, i) => ({ from: steps[i - 1]?.id ?? "trigger", to: id })) };
}

async function importContacts(server: Contender, count: number): Promise<void> {
  for (let i = 0; i < count; i += IMPORT) {
    const rows = Array.from({ length: Math.min(IMPORT, count - i) }, (_, n) => ({
      email: `reader${i + n}@mail.acme.dev`,
      firstName: `Reader ${i + n}`,
      tags: ["reader"],
    }));
    await call(server, "POST", "/api/v1/contacts/import", { rows, startAutomations: true });
  }
}

async function readStats(server: Contender, id: string): Promise<AutomationStats> {
  return (await call(server, "GET", `/api/v1/automations/${id}/stats`)) as AutomationStats;
}
