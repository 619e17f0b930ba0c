import { WEBHOOK_LIMITS } from "@mailsvc/sdk/contract";
import type { Universe } from "../universe.ts";
import type { Invariant } from "./invariant.ts";

export const ENDS: Invariant = {
  name: "ends",
  promise: "Everything that was begun ends, or waits for something that exists and can still happen.",
  says: [
    "A world comes to rest for four weeks after its last disturbance, with all servers, mail servers and webhooks in order. That is longer than any retry, window, test, schedule and wait in it. So nothing may be under way at the end but what waits for a person.",
    "A mail waits only for its time, for a campaign that is paused, or for a campaign whose winner somebody is to choose. A campaign is under way only if somebody is to choose its winner. An entry of an active automation stands at a step that its version has, and is due later than now. A run is active within its deadline; one that waits names an approval that is open or a wakeup that is scheduled. An approval is open within its time. What belongs to an agent that was turned off is neither open, nor scheduled, nor running, from that moment on. No delivery to a webhook that works waits any more. A webhook that has answered with nothing but errors for more than five days is disabled.",
    "No job of the queue has failed for good, is of a kind that the server does not know, or is overdue. A world that takes no step for minutes has failed.",
  ],
  check: async (universe) => [
    ...(await openMail(universe)),
    ...(await openCampaigns(universe)),
    ...(await openEntries(universe)),
    ...(await openWork(universe)),
    ...(await openDeliveries(universe)),
    ...(await webhooksThatFail(universe)),
    ...(await deadJobs(universe)),
  ],
  always: workOfTheEnded,
};

const OPEN = ["queued", "sending", "deferred"];

async function openMail(universe: Universe): Promise<string[]> {
  const { read } = universe.world.app.deps.db;
  const { emails, campaigns } = read.t;
  const byId = new Map((await read.select().from(campaigns)).map((row) => [row.id, row]));
  const rows = (await read.select().from(emails)).filter(({ status }) => OPEN.includes(status));
  return rows.flatMap(({ id, to, status, nextAttemptAt, campaignId }) => {
    if (nextAttemptAt !== null && nextAttemptAt > universe.now()) return [];
    const campaign = byId.get(campaignId ?? "");
    if (campaign?.status === "PAUSED" || (campaign && waitsForWinner(campaign))) return [];
    const of = campaignId === null ? "" : ` of the campaign ${campaignId}, which is ${campaign?.status ?? "gone"}`;
    return [`The mail ${id} to ${to}${of} is still ${status}.`];
  });
}

const waitsForWinner = ({
  status,
  abTest,
  winner,
}: {
  readonly status: string;
  readonly abTest: { readonly winner: string } | null;
  readonly winner: string | null;
}): boolean => status === "SENDING" && abTest?.winner === "manual" && winner === null;

async function openCampaigns({ world }: Universe): Promise<string[]> {
  const { read } = world.app.deps.db;
  const rows = await read.select().from(read.t.campaigns);
  return rows.flatMap((row) =>
    (row.status === "SENDING" && !waitsForWinner(row)) || row.status === "SCHEDULED"
      ? [`The campaign ${row.id} is still ${row.status}.`]
      : [],
  );
}

async function openEntries(universe: Universe): Promise<string[]> {
  const { read } = universe.world.app.deps.db;
  const { automations, automationEntries, automationVersions } = read.t;
  const active = new Set((await read.select().from(automations)).filter(({ status }) => status === "ACTIVE").map(({ id }) => id));
  const versions = new Map((await read.select().from(automationVersions)).map((row) => [`${row.automationId} ${row.version}`, row.steps]));
  const rows = (await read.select().from(automationEntries)).filter(
    ({ status, automationId }) => status === "ACTIVE" && active.has(automationId),
  );
  return rows.flatMap(({ id, dueAt, stepId, automationId, version }) => {
    if (dueAt === null || dueAt <= universe.now())
      return [`The entry ${id} stands at ${stepId}, due at ${dueAt}, and the automation is active.`];
    const exists = stepId === null || versions.get(`${automationId} ${version}`)?.some((step) => step.id === stepId);
    return exists ? [] : [`The entry ${id} stands at ${stepId}, which its version does not have.`];
  });
}

/** Open matters of agents that were turned off; they end with them. */
async function workOfTheEnded({ world }: Universe): Promise<string[]> {
  const { read } = world.app.deps.db;
  const ended = new Set((await read.select().from(read.t.activations)).flatMap(({ id, status }) => (status === "deactivated" ? id : [])));
  if (ended.size === 0) return [];
  const open = [
    ...(await read.select().from(read.t.runs)).filter(({ status }) => status === "RUNNING" || status === "WAITING"),
    ...(await read.select().from(read.t.wakeups)).filter(({ status }) => status === "SCHEDULED"),
    ...(await read.select().from(read.t.approvals)).filter(({ status }) => status === "PENDING"),
  ];
  return open.flatMap(({ activationId, status }) =>
    ended.has(activationId) ? [`Something ${status} of the activation ${activationId} is open, which was turned off.`] : [],
  );
}

/** Lists the open work of agents: runs, wakeups and approvals. */
async function openWork(universe: Universe): Promise<string[]> {
  const { read } = universe.world.app.deps.db;
  const now = universe.now();
  const states = new Map((await read.select().from(read.t.activations)).map(({ id, status }) => [id, status]));
  const runs = (await read.select().from(read.t.runs)).filter(({ status }) => status === "RUNNING" || status === "WAITING");
  const wakeups = (await read.select().from(read.t.wakeups)).filter(({ status }) => status === "SCHEDULED");
  const approvals = (await read.select().from(read.t.approvals)).filter(({ status }) => status === "PENDING");
  const open = new Set<string | null>([...wakeups.map(({ id }) => id), ...approvals.map(({ messageId }) => messageId)]);
  const found: string[] = [];
  const judge = (what: string, { activationId }: { readonly activationId: string }, until: number): void => {
    const state = states.get(activationId) ?? "gone";
    if (state === "deactivated" || state === "gone") found.push(`${what} is open, and its activation is ${state}.`);
    else if (until < now && state === "active") found.push(`${what} is open beyond its time.`);
  };
  for (const run of runs) {
    judge(`The run ${run.id} (${run.status})`, run, run.deadlineAt ?? 0);
    if (run.status === "WAITING" && states.get(run.activationId) === "active" && !open.has(run.waitingOn))
      found.push(`The run ${run.id} waits for ${run.waitingOn}, which is not open.`);
  }
  for (const wakeup of wakeups) judge(`The wakeup ${wakeup.id}`, wakeup, wakeup.fireAt);
  // An approval expires also while its agent is paused.
  for (const one of approvals) {
    judge(`The approval ${one.messageId}`, one, one.expiresAt);
    if (one.expiresAt < now && states.get(one.activationId) === "paused")
      found.push(`The approval ${one.messageId} is open beyond its time.`);
  }
  return found;
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

/** Says which webhooks are on, although they have failed for more time than they may. */
async function webhooksThatFail({ world }: Universe): Promise<string[]> {
  const { read } = world.app.deps.db;
  const most = WEBHOOK_LIMITS.disabledAfterDays * 86_400_000;
  return (await read.select().from(read.t.developerWebhooks)).flatMap(({ id, status, failingSince, lastError }) =>
    status === "enabled" && failingSince !== null && lastError !== null && lastError.at - failingSince > most
      ? [`The webhook ${id} has failed since ${new Date(failingSince).toISOString()}, and is on.`]
      : [],
  );
}

async function deadJobs(universe: Universe): Promise<string[]> {
  const { read } = universe.world.app.deps.db;
  return (await read.select().from(read.t.jobs)).flatMap(({ kind, state, lastError, runAt }) => {
    if (state === "dead" || state === "unhandled") return [`A job ${kind} is ${state}: ${lastError?.slice(0, 200)}`];
    return runAt < universe.now() ? [`A job ${kind} is ${state} and was due at ${new Date(runAt).toISOString()}.`] : [];
  });
}
