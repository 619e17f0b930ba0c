import { isDeepStrictEqual } from "node:util";
import { eq } from "drizzle-orm";
import { findDifferences } from "../../../packages/server/src/campaigns/recount.ts";
import { recountContacts } from "../../../packages/server/test/recount-contacts.ts";
import { TENANTS, type Tenant } from "../script.ts";
import type { Universe } from "../universe.ts";
import type { Invariant } from "./invariant.ts";

/*
 * Numbers that are kept are the numbers that counting gives: recipients of a campaign by state, opens and clicks, contacts by tag and
 * status, members of lists and segments, entries of automations, credits.
 */
export const SUMS: Invariant = {
  name: "sums",
  promise: "Every number that is shown is what counting the objects gives.",
  check: async (universe) => {
    const found: string[] = [];
    for (const tenant of TENANTS) {
      found.push(...(await contacts(universe, tenant)));
      found.push(...(await campaigns(universe, tenant)));
      found.push(...(await groups(universe, tenant)));
      found.push(...(await automations(universe, tenant)));
      found.push(...(await credits(universe, tenant)));
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
    // Where mail is deleted after a time, there is nothing to count anew; the numbers stay.
    const { read } = universe.world.app.deps.db;
    const differences = universe.script.keepDays === null ? await findDifferences(read, { workspaceId, id }) : [];
    if (differences.length > 0) found.push(`The campaign ${id} (${status}) counts wrongly: ${JSON.stringify(differences)}`);
    const { recipients } = await universe.sdk(tenant).campaigns.stats(id);
    const { total, ...states } = recipients;
    const sum = Object.values(states).reduce((all, n) => all + n, 0);
    if (sum !== total) found.push(`The campaign ${id} (${status}) has ${total} recipients, and ${sum} by state.`);
  }
  return found;
}

async function groups(universe: Universe, tenant: Tenant): Promise<string[]> {
  const sdk = universe.sdk(tenant);
  const found: string[] = [];
  for (const { id, memberCount } of await sdk.lists.list({ limit: 100 }).toArray()) {
    const members = (await sdk.lists.contacts(id, { limit: 100 }).toArray()).filter(({ status }) => status === "MEMBER").length;
    if (members !== memberCount) found.push(`The list ${id} says ${memberCount} members and has ${members}.`);
  }
  for (const { id, rules } of await sdk.segments.list({ limit: 100 }).toArray()) {
    const kept = (await sdk.segments.contacts(id, { limit: 100 }).toArray()).map(({ email }) => email).sort();
    const { count } = await sdk.segments.preview({ rules });
    if (count !== kept.length) found.push(`The segment ${id} has ${kept.length} members (${kept.join(" ")}), and ${count} fit its rules.`);
  }
  return found;
}

async function automations(universe: Universe, tenant: Tenant): Promise<string[]> {
  const { read } = universe.world.app.deps.db;
  const { automationEntries } = read.t;
  const found: string[] = [];
  for (const { id, totalEntered, totalCompleted } of await universe.sdk(tenant).automations.list({ limit: 100 }).toArray()) {
    const rows = await read.select().from(automationEntries).where(eq(automationEntries.automationId, id));
    const completed = rows.filter(({ status }) => status === "COMPLETED").length;
    // Entries of people who were erased are gone, and stay counted.
    if (totalEntered < rows.length || totalCompleted < completed || totalCompleted > totalEntered)
      found.push(
        `The automation ${id} says ${totalEntered} entered and ${totalCompleted} completed; it has ${rows.length} and ${completed}.`,
      );
  }
  return found;
}

async function credits(universe: Universe, tenant: Tenant): Promise<string[]> {
  const sdk = universe.sdk(tenant);
  const balance = await sdk.credits.get();
  const entries = await sdk.credits.list({ limit: 100 }).toArray();
  const sum = entries.reduce((all, { amount }) => all + amount, 0);
  return balance.balance === sum ? [] : [`The credits of ${tenant} are ${balance.balance}, and their entries add up to ${sum}.`];
}
