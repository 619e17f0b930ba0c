import type { Tenant } from "../script.ts";
import type { Universe } from "../universe.ts";
import type { Invariant } from "./invariant.ts";

export const WHY: Invariant = {
  name: "why",
  promise: "Each object can be explained, without a contradiction to its state.",
  says: [
    "For every mail, contact, campaign, webhook, activation, run and entry of an automation that exists, `why` has an answer. It names the state that the object has, and tells its history in the order of time.",
    "What it says will happen next lies ahead, and is not said of what is over for good.",
  ],
  check: async (universe) => {
    const found: string[] = [];
    for (const { what, tenant, id, state } of await listObjects(universe)) {
      const told = await universe.value(() => universe.sdk(tenant).explanations.get(id));
      if (!told) {
        found.push(`${what} is ${state} and is not explained.`);
        continue;
      }
      // A mail to several people has the state of the best of them, and its explanation tells of all.
      const same = told.status.toLowerCase() === state.toLowerCase() || told.status === "mixed";
      if (!same) found.push(`${what} is ${state}, and why says ${told.status}.`);
      told.timeline.forEach(({ at, what: moment }, i) => {
        if (i > 0 && at < (told.timeline[i - 1]?.at ?? "")) found.push(`The history of ${what} is not in order at "${moment}".`);
      });
      if (told.next?.at && Date.parse(told.next.at) < universe.now())
        found.push(`${what} is said to go on at ${told.next.at}, which is over.`);
      if (told.next && OVER.has(state.toLowerCase())) found.push(`${what} is ${state}, and "${told.next.what}" is to come.`);
    }
    return found;
  },
};

const OVER = new Set(["cancelled", "bounced", "failed", "suppressed", "skipped", "completed", "exited", "deactivated", "expired"]);

interface Explained {
  readonly what: string;
  readonly tenant: Tenant;
  readonly id: string;
  readonly state: string;
}

/** Lists the objects that a script has made and that still exist, and the entries of its automations. */
async function listObjects(universe: Universe): Promise<readonly Explained[]> {
  const { read } = universe.world.app.deps.db;
  const { campaigns, contacts, developerWebhooks, activations, runs, automationEntries } = read.t;
  const states = new Map<string, string>();
  for (const table of [campaigns, contacts, developerWebhooks, activations])
    for (const { id, status } of await read.select({ id: table.id, status: table.status }).from(table)) states.set(id, status);
  for (const { runId, status } of await read.select().from(runs)) states.set(runId, status);
  const found: Explained[] = [];
  for (const { label, tenant, id } of universe.things.values()) {
    const state = id.startsWith("em_") ? (await universe.value(() => universe.sdk(tenant).emails.get(id)))?.status : states.get(id);
    if (state) found.push({ what: label, tenant, id, state });
  }
  const tenants = new Map(Object.entries(universe.workspaces).map(([tenant, id]) => [id, tenant as Tenant]));
  for (const { id, workspaceId, status } of (await read.select().from(automationEntries)).slice(0, 20)) {
    const tenant = tenants.get(workspaceId);
    if (tenant) found.push({ what: `The entry ${id}`, tenant, id, state: status });
  }
  return found;
}
