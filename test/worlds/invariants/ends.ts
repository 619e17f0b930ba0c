import type { SqliteDb } from "../../../packages/server/src/db/sqlite/database.ts";
import { TENANTS } from "../script.ts";
import type { Universe } from "../universe.ts";
import type { Invariant } from "./invariant.ts";

/*
 * Whatever was begun ends, or says what it waits for, and that thing exists. A mail waits only for its time, for a campaign that somebody has
 * paused, or for a winner that somebody is to choose. A campaign, a run, an entry of an automation and a delivery wait for nothing that
 * cannot come.
 */
export const ENDS: Invariant = {
  name: "ends",
  promise: "Everything that was begun ends, or waits for something that exists and can still happen.",
  check: async (universe) => [
    ...(await openMail(universe)),
    ...(await openCampaigns(universe)),
    ...(await openEntries(universe)),
    ...(await openRuns(universe)),
    ...(await openDeliveries(universe)),
    ...(await deadJobs(universe)),
  ],
};

const OPEN = ["queued", "sending", "deferred"];

async function openMail(universe: Universe): Promise<string[]> {
  const { read } = universe.world.app.deps.db;
  const { emails, campaigns } = read.t;
  const states = new Map((await read.select().from(campaigns)).map(({ id, status }) => [id, status]));
  const rows = (await read.select().from(emails)).filter(({ status }) => OPEN.includes(status));
  return rows.flatMap(({ id, to, status, nextAttemptAt, campaignId }) => {
    if (nextAttemptAt !== null && nextAttemptAt > universe.now()) return [];
    if (campaignId !== null && states.get(campaignId) === "PAUSED") return [];
    const of = campaignId === null ? "" : ` of the campaign ${campaignId}, which is ${states.get(campaignId) ?? "gone"}`;
    return [`The mail ${id} to ${to}${of} is still ${status}.`];
  });
}

async function openCampaigns(universe: Universe): Promise<string[]> {
  const found: string[] = [];
  for (const tenant of TENANTS)
    for (const { id, status, abTest } of await universe.sdk(tenant).campaigns.list({ limit: 100 }).toArray())
      if ((status === "SENDING" && abTest?.winner !== "manual") || status === "SCHEDULED")
        found.push(`The campaign ${id} is still ${status}.`);
  return found;
}

async function openEntries(universe: Universe): Promise<string[]> {
  const { read } = universe.world.app.deps.db;
  const { automations, automationEntries } = read.t;
  const active = new Set((await read.select().from(automations)).filter(({ status }) => status === "ACTIVE").map(({ id }) => id));
  const rows = (await read.select().from(automationEntries)).filter(
    ({ status, automationId }) => status === "ACTIVE" && active.has(automationId),
  );
  return rows.flatMap(({ id, dueAt, stepId }) =>
    dueAt !== null && dueAt > universe.now() ? [] : [`The entry ${id} stands at ${stepId}, due at ${dueAt}, and the automation is active.`],
  );
}

async function openRuns(universe: Universe): Promise<string[]> {
  const { read } = universe.world.app.deps.db;
  const { runs, activations, wakeups } = read.t;
  const active = new Set((await read.select().from(activations)).filter(({ status }) => status === "active").map(({ id }) => id));
  const late = (await read.select().from(runs)).filter(
    ({ status, deadlineAt, activationId }) => status === "RUNNING" && active.has(activationId) && (deadlineAt ?? 0) < universe.now(),
  );
  const asleep = (await read.select().from(wakeups)).filter(
    ({ status, fireAt, activationId }) => status === "SCHEDULED" && active.has(activationId) && fireAt < universe.now(),
  );
  return [
    ...late.map(({ id }) => `The run ${id} is RUNNING beyond its deadline.`),
    ...asleep.map(({ id }) => `The wakeup ${id} is due and was not sent.`),
  ];
}

async function openDeliveries(universe: Universe): Promise<string[]> {
  const found: string[] = [];
  for (const { label, noun, tenant, id } of universe.things.values()) {
    if (!noun.endsWith("ebhook")) continue;
    const hook = await universe.value(() => universe.sdk(tenant).webhooks.get(id));
    if (hook?.status !== "enabled") continue;
    for (const one of await universe.sdk(tenant).webhooks.deliveries(id, { limit: 100 }).toArray())
      if (one.state === "pending" || one.state === "queued") found.push(`The delivery ${one.id} of ${label} is still ${one.state}.`);
  }
  return found;
}

async function deadJobs(universe: Universe): Promise<string[]> {
  const { db } = universe.world.app.deps;
  if (db.engine !== "sqlite") return [];
  const rows = await (db as SqliteDb).exclusive((connection) =>
    connection.prepare("SELECT kind, state, last_error AS error, run_at AS runAt FROM jobs").all(),
  );
  return (rows as { kind: string; state: string; error: string | null; runAt: number }[]).flatMap(({ kind, state, error, runAt }) => {
    if (state === "dead" || state === "unhandled") return [`A job ${kind} is ${state}: ${error?.slice(0, 200)}`];
    return runAt < universe.now() ? [`A job ${kind} is ${state} and was due at ${new Date(runAt).toISOString()}.`] : [];
  });
}
