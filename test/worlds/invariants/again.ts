import { createHash } from "node:crypto";
import type { Universe } from "../universe.ts";
import { type Invariant, readAllRows } from "./invariant.ts";

export const AGAIN: Invariant = {
  name: "again",
  promise: "What is done a second time changes nothing: a start, a restoration, a retry.",
  says: [
    "A start on the data of a server that was at rest changes nothing: no row is added, lost or different. Before it the tables are migrated once more, and that changes nothing either. A supervisor may start it as often as it likes. No timer of the server before is missing, and none that it had was left over.",
    "A snapshot that is restored at once gives the same rows, and so does the same snapshot restored again. Asking for a new attempt of what has ended changes nothing.",
  ],
  check: async (universe) => {
    await universe.settle();
    const found: string[] = [];
    const before = await fingerprints(universe);
    const timers = universe.world.clock.control.timers;
    await universe.call(() => universe.sdk("a", universe.operatorKey).queue.requeue({}));
    await universe.settle();
    const after = await fingerprints(universe);
    // The answer of the request is stored, and that somebody has made it.
    found.push(...differences(before, after, "a retry of everything").filter((what) => !/idempotency|audit_entries/.test(what)));
    if (universe.world.app.deps.db.engine === "sqlite") found.push(...(await restoreTwice(universe)));
    const last = await fingerprints(universe);
    await universe.relocate((places, place) => places.migrate(place));
    await universe.settle();
    found.push(...differences(last, await fingerprints(universe), "a second start"));
    const now = universe.world.clock.control.timers;
    return timers <= now ? found : [...found, `A second start has ${now} timers, and the server before had ${timers}.`];
  },
};

async function restoreTwice(universe: Universe): Promise<string[]> {
  const { world: dev } = universe.sdk("a");
  const found: string[] = [];
  const before = await fingerprints(universe);
  await universe.call(() => dev.snapshot({ name: "rest" }));
  for (const what of ["a restoration", "a second restoration"]) {
    await universe.call(() => dev.restore({ name: "rest" }));
    await universe.settle();
    found.push(...differences(before, await fingerprints(universe), what));
  }
  return found;
}

// Tables in which a process keeps notes about itself.
const OWN = new Set(["meta", "jobs", "processes", "rate_buckets"]);

/** A row without the last use of a key, which is written when a process stops. */
function withoutUse(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { lastUsedAt: _, ...rest } = row;
  return rest;
}

async function fingerprints(universe: Universe): Promise<ReadonlyMap<string, string>> {
  const prints = new Map<string, string>();
  for (const [name, rows] of await readAllRows(universe)) {
    if (OWN.has(name)) continue;
    const lines = rows.map((row) => JSON.stringify(withoutUse(row))).sort();
    prints.set(name, createHash("sha256").update(lines.join("\n")).digest("hex"));
  }
  return prints;
}

function differences(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>, what: string): string[] {
  return [...before].flatMap(([name, print]) => (after.get(name) === print ? [] : [`The table ${name} has other rows after ${what}.`]));
}
