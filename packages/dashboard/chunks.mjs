// Joins modules that pages share, so that a page loads few scripts and little in vain.

// Source that a page may load without a need for it, in characters, to save it a request. A file for each set of pages that share
// modules, as bundlers make them, would be a dozen or more for each page, and a browser loads six at a time.
const REQUEST = 45_000;

/**
 * A plugin of rolldown that finds the chunk of each module, and the group that puts it there.
 *
 * @param {string} main how the path of the entry ends
 */
export function planChunks(main) {
  /** @type {ReadonlyMap<string, string>} */
  let plan = new Map();
  /** @type {import("rolldown").Plugin} */
  const plugin = {
    name: "plan-chunks",
    buildEnd() {
      // In an order that does not depend on which was read first, so that every build makes the same files.
      plan = findChunks(new Map([...this.getModuleIds()].sort().map((id) => [id, this.getModuleInfo(id)])), main);
    },
  };
  return { plugin, group: { name: (/** @type {string} */ id) => plan.get(id) ?? null, debugName: "shared" } };
}

/** The name of the chunk of each shared module, by its id. */
function findChunks(modules, main) {
  const list = (id, seen = new Set()) => {
    if (seen.has(id)) return seen;
    seen.add(id);
    for (const next of modules.get(id)?.importedIds ?? []) list(next, seen);
    return seen;
  };
  const first = list([...modules.keys()].find((id) => id.endsWith(main)));
  const lazy = new Set([...modules.values()].flatMap(({ dynamicallyImportedIds }) => dynamicallyImportedIds));
  const users = new Map();
  for (const entry of lazy) for (const id of list(entry)) if (!first.has(id)) users.set(id, (users.get(id) ?? new Set()).add(entry));
  const shared = [...users].filter(([, entries]) => entries.size > 1);
  const sets = [...Map.groupBy(shared, ([, entries]) => [...entries].sort().join()).values()];
  const chunks = sets.map((set) => ({
    ids: new Set(set.map(([id]) => id)),
    entries: set[0][1],
    size: set.reduce((sum, [id]) => sum + (modules.get(id).code?.length ?? 0), 0),
  }));
  const named = joinChunks(chunks, modules).flatMap(({ ids }, i) => [...ids].map((id) => [id, `shared${i + 1}`]));
  return new Map([...[...first].map((id) => [id, "main"]), ...named]);
}

/**
 * Joins the two chunks that save most requests for the least source in vain, until no two are worth it. Two that could not be run one
 * before the other, because others stand between them, stay apart.
 */
function joinChunks(chunks, modules) {
  const pairs = chunks.flatMap((a, i) => chunks.slice(i + 1).map((b) => ({ a, b, gain: findGain(a, b) })));
  const worthy = pairs.filter(({ gain }) => gain > 0).sort((one, other) => other.gain - one.gain);
  for (const { a, b } of worthy) {
    const joined = { ids: a.ids.union(b.ids), entries: a.entries.union(b.entries), size: a.size + b.size };
    const all = [...chunks.filter((chunk) => chunk !== a && chunk !== b), joined];
    if (!hasCycle(joined, all, modules)) return joinChunks(all, modules);
  }
  return chunks;
}

/** Source that is worth the requests which two chunks save by being one, less the source that is loaded in vain, in characters. */
function findGain(a, b) {
  const both = a.entries.intersection(b.entries).size;
  const [onlyA, onlyB] = [a.entries.size - both, b.entries.size - both];
  // No page pays for the others with more than its own request is worth.
  if ((onlyA > 0 && b.size > REQUEST) || (onlyB > 0 && a.size > REQUEST)) return 0;
  return REQUEST * both - a.size * onlyB - b.size * onlyA;
}

/** True if a chunk needs itself, by way of others. */
function hasCycle(chunk, chunks, modules) {
  const chunkOf = new Map(chunks.flatMap((one) => [...one.ids].map((id) => [id, one])));
  const seen = new Set();
  const follow = (from) =>
    [...from.ids].some((id) =>
      modules.get(id).importedIds.some((next) => {
        const to = chunkOf.get(next);
        if (to === undefined || to === from || seen.has(to)) return false;
        if (to === chunk) return true;
        seen.add(to);
        return follow(to);
      }),
    );
  return follow(chunk);
}
