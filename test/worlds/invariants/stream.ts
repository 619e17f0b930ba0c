import { parseEventTypes } from "@mailsvc/sdk/contract";
import { MARKS, other, TENANTS, type Tenant } from "../script.ts";
import type { Universe } from "../universe.ts";
import type { Invariant } from "./invariant.ts";

const listAll = (universe: Universe, tenant: Tenant) => universe.sdk(tenant).events.list({ after: 0, limit: 100 }).toArray();

/*
 * Who follows the events by their numbers sees each once, in order, and never finds a new one behind a number that was already read.
 */
export const EVENTS: Invariant = {
  name: "events",
  promise: "A poller gets each event once, in order, and misses none.",
  check: async (universe) => {
    const found: string[] = [];
    for (const tenant of TENANTS) {
      const all = await listAll(universe, tenant);
      all.forEach(({ sequence, id }, i) => {
        if (i > 0 && sequence <= (all[i - 1]?.sequence ?? 0)) found.push(`The event ${id} of ${tenant} is out of order.`);
      });
      if (universe.rewound) continue;
      const { last, seen } = universe.pollers[tenant];
      for (const { sequence, id, type } of all)
        if (sequence <= last && !seen.has(id))
          found.push(`A poller of ${tenant} at ${last} has missed ${type} ${id} with the number ${sequence}.`);
    }
    return found;
  },
};

/*
 * A webhook that works gets everything it subscribed to since it was registered, at least once, also what happened while it was paused,
 * while it did not answer, and while a server was dead.
 */
export const WEBHOOKS: Invariant = {
  name: "webhooks",
  promise: "A webhook that works gets each event it subscribed to at least once.",
  check: async (universe) => {
    if (universe.rewound) return [];
    const found: string[] = [];
    for (const thing of universe.things.values()) {
      if (thing.noun !== "webhook") continue;
      const hook = await universe.value(() => universe.sdk(thing.tenant).webhooks.get(thing.id));
      if (hook?.status !== "enabled") continue;
      const types = new Set(hook.events.flatMap((pattern) => parseEventTypes(pattern)));
      const got = new Set(
        universe.ledger.calls
          .filter(({ name, status }) => name === thing.label && status === 200)
          .map(({ body }) => (JSON.parse(body) as { id: string }).id),
      );
      const since = Number(thing.also["sequence"] ?? 0);
      for (const event of await listAll(universe, thing.tenant))
        if (event.sequence > since && types.has(event.type) && event.type !== "automation.webhook" && !event.test && !got.has(event.id))
          found.push(`${thing.label} never got ${event.type} ${event.id} (number ${event.sequence}, registered at ${since}).`);
    }
    return found;
  },
};

/*
 * Nothing of one workspace is in an answer, a webhook or an event of the other one, although both use the same names and addresses. Answers
 * were looked at as they came.
 */
export const APART: Invariant = {
  name: "apart",
  promise: "Nothing of one workspace is seen by another, and no request fails by a fault of the service.",
  check: async ({ ledger, things }) => [
    ...ledger.faults,
    ...ledger.calls.flatMap(({ name, body }) => {
      const tenant = things.get(name)?.tenant;
      return tenant && body.includes(MARKS[other(tenant)]) ? [`The webhook ${name} of ${tenant} got words of the other workspace.`] : [];
    }),
  ],
};
