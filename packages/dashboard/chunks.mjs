// Puts the modules that pages share into few files. A file for each set of pages that share something, as bundlers make them, is a dozen or
// more for each page, and a browser loads six at a time.

/**
 * Source that a page may load without a need for it, in characters, to save it a request.
 */
const REQUEST = 40_000;

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
      plan = findChunks(new Map([...this.getModuleIds()].map((id) => [id, this.getModuleInfo(id)])), main);
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

/** Joins the two chunks that save most requests for the least source in vain, until no two are worth it. */
function joinChunks(chunks, modules) {
  let best = { gain: 0, pair: [] };
  for (const [i, a] of chunks.entries())
    for (const b of chunks.slice(i + 1)) {
      const both = a.entries.intersection(b.entries).size;
      const gain = REQUEST * both - a.size * (b.entries.size - both) - b.size * (a.entries.size - both);
      if (gain > best.gain) best = { gain, pair: [a, b] };
    }
  return best.gain === 0 ? chunks : joinChunks(joinCycles(join(chunks, best.pair), modules), modules);
}

/** Joins chunks that import each other: a browser could not run one of them before the other. */
function joinCycles(chunks, modules) {
  const chunkOf = new Map(chunks.flatMap((chunk) => [...chunk.ids].map((id) => [id, chunk])));
  const listNext = ({ ids }) => [...ids].flatMap((id) => modules.get(id).importedIds.flatMap((next) => chunkOf.get(next) ?? []));
  const next = new Map(chunks.map((chunk) => [chunk, new Set(listNext(chunk)).difference(new Set([chunk]))]));
  const follow = (chunk, seen = new Set()) => {
    for (const one of next.get(chunk)) if (!seen.has(one)) follow(one, seen.add(one));
    return seen;
  };
  const reached = new Map(chunks.map((chunk) => [chunk, follow(chunk)]));
  const cycle = chunks
    .map((chunk) => [...reached.get(chunk)].filter((one) => reached.get(one).has(chunk)))
    .find(({ length }) => length > 0);
  return cycle ? joinCycles(join(chunks, cycle), modules) : chunks;
}

const join = (chunks, some) => [
  ...chunks.filter((chunk) => !some.includes(chunk)),
  some.reduce((a, b) => ({ ids: a.ids.union(b.ids), entries: a.entries.union(b.entries), size: a.size + b.size })),
];
