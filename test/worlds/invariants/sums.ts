import { isDeepStrictEqual } from "node:util";
import { DEFAULT_PLAN, PLANS } from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import { findDifferences } from "../../../packages/server/src/campaigns/recount.ts";
import { recountContacts } from "../../../packages/server/test/recount-contacts.ts";
import { TENANTS, type Tenant } from "../script.ts";
import type { Universe } from "../universe.ts";
import type { Invariant } from "./invariant.ts";

// Few enough that a list of a world has several pages.
const PAGE = 10;

export const SUMS: Invariant = {
  name: "sums",
  promise: "Every number that is shown is what counting the objects gives.",
  says: [
    "The service keeps numbers so that it need not count. Each of them is what counting gives. At any moment: the recipients of a campaign by state, its opens and clicks by hour and by variant, contacts by tag and status, members of lists, those who still have to confirm, entries of automations and who waits at which step, and members of segments; where time alone changes these, within an hour. At rest also credits, of which nobody has less than none, mail by day and all its properties, and the views, visitors and sign-ups of a form or a landing page by day, as browsers have asked for it and filled it in. A preview is no view.",
    "The recipients of a campaign by state add up to its recipients. A list that is read page by page has as many entries as it says. A segment keeps the members that its rules find. At no moment has a workspace more agents on than its plan covers, and none of them is paused for want of cover while the plan covers all. An agent is paused as long as there is a reason for it, and no longer. Of the recipients of an A/B test that is not decided, as many are in the sample as its share says, rounded down, and its variants differ by one at most.",
    "An agent can spend credits exactly while the balance of its brand and its own limit for the month are not used up. What it has used this month is what it has spent since the month began, less what it has given back of that.",
  ],
  check: async (universe) => {
    const found: string[] = [];
    for (const tenant of TENANTS) {
      found.push(...(await contacts(universe, tenant)));
      found.push(...(await campaigns(universe, tenant)));
      found.push(...(await lists(universe, tenant)));
      found.push(...(await segments(universe, tenant, { timed: true })));
      found.push(...(await automations(universe, tenant)));
      found.push(...(await credits(universe, tenant)));
      found.push(...(await totals(universe, tenant)));
    }
    return universe.rewound ? found : [...found, ...(await visits(universe)), ...(universe.ledger.notes.get("sums") ?? [])];
  },
  always: async (universe) => {
    const found: string[] = [];
    for (const tenant of TENANTS) {
      found.push(...(await contacts(universe, tenant)));
      found.push(...(await lists(universe, tenant)));
      found.push(...(await segments(universe, tenant, { timed: false })));
      found.push(...(await campaigns(universe, tenant)));
      found.push(...(await automations(universe, tenant)));
      found.push(...(await coverage(universe, tenant)));
    }
    return found;
  },
};

async function contacts({ world, workspaces }: Universe, tenant: Tenant): Promise<string[]> {
  const { kept, counted } = await recountContacts({ app: world.app, workspaceId: workspaces[tenant] });
  return isDeepStrictEqual(kept, counted)
    ? []
    : [`The counts of contacts of ${tenant} are ${JSON.stringify(kept)}, and counting gives ${JSON.stringify(counted)}.`];
}

async function campaigns(universe: Universe, tenant: Tenant): Promise<string[]> {
  const found: string[] = [];
  const workspaceId = universe.workspaces[tenant];
  for (const { id, status } of await universe.sdk(tenant).campaigns.list({ limit: 100 }).toArray()) {
    // Deleted mail cannot be counted anew; the numbers stay.
    const { read } = universe.world.app.deps.db;
    const differences = universe.script.keepDays === null ? await findDifferences(read, { workspaceId, id }) : [];
    if (differences.length > 0) found.push(`The campaign ${id} (${status}) counts wrongly: ${JSON.stringify(differences)}`);
    const { recipients } = await universe.sdk(tenant).campaigns.stats(id);
    const { total, ...states } = recipients;
    const sum = Object.values(states).reduce((all, n) => all + n, 0);
    if (sum !== total) found.push(`The campaign ${id} (${status}) has ${total} recipients, and ${sum} by state.`);
  }
  return [...found, ...(await samples(universe, workspaceId))];
}

async function samples({ world, script }: Universe, workspaceId: string): Promise<string[]> {
  // Recipients who were erased, or whose mail was deleted, are missing.
  if (script.keepDays !== null || script.steps.some((step) => step.do === "disturb" && step.by === "erase")) return [];
  const { read } = world.app.deps.db;
  const rows = await read.select().from(read.t.campaigns).where(eq(read.t.campaigns.workspaceId, workspaceId));
  const mails = await read.select().from(read.t.emails).where(eq(read.t.emails.workspaceId, workspaceId));
  return rows.flatMap(({ id, abTest, winner, eligible, expandedAt }) => {
    if (abTest === null || winner !== null || expandedAt === null) return [];
    const sample = mails.filter(({ campaignId, variant }) => campaignId === id && variant !== null);
    const sizes = [...Map.groupBy(sample, ({ variant }) => variant).values()].map(({ length }) => length);
    const wanted = Math.floor((eligible * abTest.samplePercent) / 100);
    const isFair = sample.length < abTest.variants.length || Math.max(...sizes) - Math.min(...sizes) <= 1;
    return sample.length === wanted && isFair
      ? []
      : [`The test ${id} has ${sizes.join(" and ")} of ${eligible} in its sample of ${wanted}.`];
  });
}

async function lists(universe: Universe, tenant: Tenant): Promise<string[]> {
  const sdk = universe.sdk(tenant);
  const found: string[] = [];
  for (const { id, memberCount, pendingCount } of await sdk.lists.list({ limit: 100 }).toArray()) {
    const all = await sdk.lists.contacts(id, { limit: PAGE }).toArray();
    const members = all.filter(({ status }) => status === "MEMBER").length;
    if (members !== memberCount || all.length - members !== pendingCount)
      found.push(
        `The list ${id} says ${memberCount} members and ${pendingCount} to confirm, and has ${members} and ${all.length - members}.`,
      );
  }
  return found;
}

/** Compares the kept members of segments with those that their rules find now. Segments that change with time follow within an hour. */
async function segments(universe: Universe, tenant: Tenant, { timed }: { readonly timed: boolean }): Promise<string[]> {
  const { read } = universe.world.app.deps.db;
  const own = (await read.select().from(read.t.segments)).filter(
    (one) => one.workspaceId === universe.workspaces[tenant] && one.deletedAt === null && one.state === "READY" && (timed || !one.timed),
  );
  if (own.length === 0) return [];
  const kept = await read.select().from(read.t.segmentMembers);
  const sdk = universe.sdk(tenant);
  const found: string[] = [];
  for (const { id, seq, rules } of own) {
    const members = kept.filter(({ segmentSeq }) => segmentSeq === seq).length;
    const shown = (await sdk.segments.contacts(id, { limit: PAGE }).toArray()).length;
    const { memberCount } = await sdk.segments.get(id);
    // Rules may name a list that was deleted since; then there is nothing to compare with.
    const preview = await universe.value(() => sdk.segments.preview({ rules }));
    const count = preview?.count ?? members;
    if (new Set([members, memberCount, shown, count]).size > 1)
      found.push(`The segment ${id} keeps ${members} members, says ${memberCount} and shows ${shown}, and ${count} fit its rules.`);
  }
  return found;
}

async function automations(universe: Universe, tenant: Tenant): Promise<string[]> {
  const { read } = universe.world.app.deps.db;
  const { automationEntries } = read.t;
  const found: string[] = [];
  const sdk = universe.sdk(tenant);
  for (const { id, totalEntered, totalCompleted } of await sdk.automations.list({ limit: 100 }).toArray()) {
    const rows = await read.select().from(automationEntries).where(eq(automationEntries.automationId, id));
    const completed = rows.filter(({ status }) => status === "COMPLETED").length;
    // Entries of people who were erased are gone, and stay counted.
    if (totalEntered < rows.length || totalCompleted < completed || totalCompleted > totalEntered)
      found.push(
        `The automation ${id} says ${totalEntered} entered and ${totalCompleted} completed; it has ${rows.length} and ${completed}.`,
      );
    const { steps } = await sdk.automations.stats(id);
    for (const { stepId: step, waiting } of steps) {
      const there = rows.filter(({ status, waitingIn }) => status === "ACTIVE" && waitingIn === step).length;
      if (waiting !== there) found.push(`At the step ${step} of the automation ${id} ${waiting} are said to wait, and ${there} do.`);
    }
  }
  return found;
}

/** More agents that are on than the plan of their workspace covers. */
async function coverage({ world, workspaces }: Universe, tenant: Tenant): Promise<string[]> {
  const { read } = world.app.deps.db;
  const [own] = (await read.select().from(read.t.plans)).filter(({ workspaceId }) => workspaceId === workspaces[tenant]);
  const covers = PLANS[own?.plan ?? DEFAULT_PLAN].activations;
  const all = (await read.select().from(read.t.activations)).filter(({ workspaceId }) => workspaceId === workspaces[tenant]);
  const on = all.filter(({ status }) => status === "active");
  const living = all.filter(({ status }) => status !== "deactivated");
  const uncovered = living.filter(({ pauseReasons }) => pauseReasons.includes("plan_downgrade"));
  const torn = living.find(({ status, pauseReasons }) => (status === "active") !== (pauseReasons.length === 0));
  if (torn)
    return [`The activation ${torn.id} is ${torn.status}, and the reasons to pause it are: ${torn.pauseReasons.join(", ") || "none"}.`];
  if (covers !== null && on.length > covers) return [`The plan of ${tenant} covers ${covers} agents, and ${on.length} are on.`];
  return uncovered.length > 0 && (covers === null || living.length <= covers)
    ? [`The plan of ${tenant} covers ${covers ?? "all"} agents. It has ${living.length}, and ${uncovered.length} of them are not covered.`]
    : [];
}

async function credits(universe: Universe, tenant: Tenant): Promise<string[]> {
  const sdk = universe.sdk(tenant);
  const balance = await sdk.credits.get();
  const entries = await sdk.credits.list({ limit: 100 }).toArray();
  const sum = entries.reduce((all, { amount }) => all + amount, 0);
  if (balance.balance < 0) return [`The credits of ${tenant} are ${balance.balance}.`];
  return balance.balance === sum ? [] : [`The credits of ${tenant} are ${balance.balance}, and their entries add up to ${sum}.`];
}

/** Says which days of pages do not count what browsers have seen and sent. */
async function visits(universe: Universe): Promise<string[]> {
  const found: string[] = [];
  for (const { tenant, page, date, views, signUps, unsure, browsers } of universe.ledger.visits.values()) {
    const { forms, landingPages } = universe.sdk(tenant);
    const span = { from: date, to: date };
    const shown = (await universe.value(() => forms.stats(page, span))) ?? (await universe.value(() => landingPages.stats(page, span)));
    // A page that was deleted has no numbers.
    if (shown === null) continue;
    const isOff = (count: number, seen: number): boolean => count < seen || count > seen + unsure;
    if (isOff(shown.views, views) || isOff(shown.uniqueVisitors, browsers.size) || isOff(shown.submissions, signUps))
      found.push(
        `On ${date} ${page} says ${shown.views} views of ${shown.uniqueVisitors} visitors and ${shown.submissions} sign-ups; there were ${views}, ${browsers.size} and ${signUps}.`,
      );
  }
  return found;
}

async function totals(universe: Universe, tenant: Tenant): Promise<string[]> {
  // Days whose events are deleted cannot be counted anew.
  if (universe.script.keepDays !== null) return [];
  const iso = (at: number): string => new Date(at).toISOString().slice(0, 10);
  const days = { from: iso(universe.now() - 40 * 86_400_000), to: iso(universe.now()) };
  const { correct, differences } = await universe.sdk(tenant).metrics.verify(days);
  return correct ? [] : [`The totals of mail of ${tenant} are not what its events say: ${JSON.stringify(differences)}.`];
}
