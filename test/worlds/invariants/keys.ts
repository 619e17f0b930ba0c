import { type Endpoint, served } from "@mailsvc/sdk/contract";
import type { Universe } from "../universe.ts";
import type { Invariant } from "./invariant.ts";

export const KEYS: Invariant = {
  name: "keys",
  promise: "Keys work exactly while they should, and for what they were given.",
  says: [
    "A key works from the moment it was made or told until it is revoked or expires, or its activation is paused or ended, and not a moment longer; a paused activation that goes on has the same key. What a key may not do it may not do at any time. An agent may do what its brand has granted and its listing still asks for, and nothing else.",
    "Whoever is signed in to the dashboard has the rights of their role. Where the server gives a person another role, their session has its rights with the next request, and those of no other.",
    "Worlds use each key that they make, and try it again right after it was revoked. At rest they try each key that they have seen, with a call that it is for and with one that it is not for.",
  ],
  check: async (universe) => {
    const found: string[] = [...(universe.ledger.notes.get("keys") ?? [])];
    if (universe.rewound) return found;
    for (const { tenant, key, path, forbidden, until = Infinity, works: isGiven } of universe.ledger.keys) {
      const works = isGiven && universe.now() < until;
      const ask = async (what: string): Promise<number> =>
        (await universe.fetchAs(tenant)(universe.world.url + what, { headers: { authorization: `Bearer ${key}` } })).status;
      const status = await ask(path);
      if ((status === 200) !== works) found.push(`A key for ${path} answers ${status} and should ${works ? "" : "not "}work.`);
      const other = forbidden === undefined ? 403 : await ask(forbidden);
      if (other !== 403 && other !== 401) found.push(`A key for ${path} answers ${other} at ${forbidden}.`);
    }
    return [...found, ...(await findWrongScopes(universe))];
  },
};

/** Reads of an agent that need no more than its activation, and the scope that each needs. */
const OF_AGENTS = Object.values(served)
  .flatMap((verbs) => Object.values<Endpoint>(verbs))
  .flatMap(({ method, path, access }) =>
    method === "GET" &&
    /^[^:]*:activationId[^:]*$/.test(path) &&
    !/stream|wait/.test(path) &&
    typeof access === "object" &&
    "scope" in access
      ? { path, scope: access.scope }
      : [],
  );

/** Says which calls an agent may make without having their scope, or may not make although it has. */
async function findWrongScopes(universe: Universe): Promise<string[]> {
  const found: string[] = [];
  for (const { noun, label, tenant, id, also } of universe.things.values()) {
    if (noun !== "agent" || !also["key"]) continue;
    const state = await universe.value(() => universe.sdk(tenant).activations.get(id));
    if (!state) continue;
    for (const { path, scope } of OF_AGENTS) {
      const headers = { authorization: `Bearer ${also["key"]}` };
      const { status } = await universe.fetchAs(tenant)(universe.world.url + path.replace(":activationId", id), { headers });
      const isAllowed = state.status === "active" && state.scopes.includes(scope);
      if (status < 300 !== isAllowed)
        found.push(`${label} (${state.status}) gets ${status} from ${path}, and has ${isAllowed ? "" : "not "}the scope ${scope}.`);
    }
  }
  return found;
}
