import { createHash } from "node:crypto";
import { getTableName, is, Table } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { TENANTS } from "../script.ts";
import type { Universe } from "../universe.ts";
import type { Invariant } from "./invariant.ts";

/*
 * A key works from the moment it was made or told until it is revoked, its activation is paused or ended; and not a moment longer.
 */
export const KEYS: Invariant = {
  name: "keys",
  promise: "Keys work exactly while they should.",
  check: async (universe) => {
    const found: string[] = [];
    if (universe.rewound) return found;
    for (const { tenant, key, path, works } of universe.ledger.keys) {
      const { status } = await universe.fetchAs(tenant)(universe.world.url + path, { headers: { authorization: `Bearer ${key}` } });
      if ((status === 200) !== works) found.push(`A key for ${path} answers ${status} and should ${works ? "" : "not "}work.`);
    }
    return found;
  },
};

const EXPLAINED = /^(?:em|cmp|con|whk|act|run)_/;

/*
 * `why` has an answer about each object that there is, in the order of time, and names the state that the object has.
 */
export const WHY: Invariant = {
  name: "why",
  promise: "Each object can be explained, without a contradiction to its state.",
  check: async (universe) => {
    const found: string[] = [];
    for (const { label, tenant, id } of universe.things.values()) {
      if (!EXPLAINED.test(id)) continue;
      const sdk = universe.sdk(tenant);
      const told = await universe.value(() => sdk.explanations.get(id));
      const state = await stateOf(universe, tenant, id);
      if (!told) {
        if (state !== null) found.push(`${label} is ${state} and is not explained.`);
        continue;
      }
      // A mail to several people has the state of the best of them, and its explanation tells of all.
      const same = told.status.toLowerCase() === state?.toLowerCase() || told.status === "mixed";
      if (state !== null && !same) found.push(`${label} is ${state}, and why says ${told.status}.`);
      told.timeline.forEach(({ at, what }, i) => {
        if (i > 0 && at < (told.timeline[i - 1]?.at ?? "")) found.push(`The history of ${label} is not in order at "${what}".`);
      });
    }
    return found;
  },
};

async function stateOf(universe: Universe, tenant: (typeof TENANTS)[number], id: string): Promise<string | null> {
  const sdk = universe.sdk(tenant);
  if (id.startsWith("em_")) return (await universe.value(() => sdk.emails.get(id)))?.status ?? null;
  if (id.startsWith("cmp_")) return (await universe.value(() => sdk.campaigns.get(id)))?.status ?? null;
  if (id.startsWith("act_")) return (await universe.value(() => sdk.activations.get(id)))?.status ?? null;
  return null;
}

/*
 * A start on the data of a server that was at rest changes nothing: no row is added, lost or different. So a supervisor may start it as
 * often as it likes.
 */
export const AGAIN: Invariant = {
  name: "again",
  promise: "A second start changes nothing.",
  check: async (universe) => {
    await universe.settle();
    const before = await fingerprints(universe);
    await universe.restart();
    await universe.settle();
    const after = await fingerprints(universe);
    return [...before].flatMap(([name, print]) =>
      after.get(name) === print ? [] : [`The table ${name} has other rows after a second start.`],
    );
  },
};

// What a process notes about itself.
const OWN = new Set(["meta", "jobs", "processes", "rate_buckets"]);

async function fingerprints({ world }: Universe): Promise<ReadonlyMap<string, string>> {
  const { read } = world.app.deps.db;
  const prints = new Map<string, string>();
  for (const table of Object.values(read.t)) {
    if (!is(table, Table) || OWN.has(getTableName(table))) continue;
    const rows = (await read.select().from(table as unknown as PgTable)).map((row) => JSON.stringify(row)).sort();
    prints.set(getTableName(table), createHash("sha256").update(rows.join("\n")).digest("hex"));
  }
  return prints;
}
