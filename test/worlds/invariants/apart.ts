import { contract } from "@mailsvc/sdk/contract";
import { MARKS, other, TENANTS } from "../script.ts";
import type { Universe } from "../universe.ts";
import type { Invariant } from "./invariant.ts";

export const APART: Invariant = {
  name: "apart",
  promise: "Nothing of one workspace is seen by another, and no request fails by a fault of the service.",
  says: [
    "Two workspaces do the same under the same names, to the same addresses; only one word differs in all they write. No answer, no webhook, no mail and no event of one has the word of the other. Answers are looked at as they come, and at rest every list of the API is asked for by both. No line of a log has words of a workspace, an address of a person, a key or a secret.",
    "No request is answered with an error of the server, unless the disk is full or an error was asked for.",
  ],
  check: async (universe) => {
    await askEverything(universe);
    const { ledger, things, workspaces } = universe;
    return [
      ...ledger.faults,
      ...ledger.calls.flatMap(({ name, body }) => {
        const tenant = things.get(name)?.tenant;
        return tenant && body.includes(MARKS[other(tenant)]) ? [`The webhook ${name} of ${tenant} got words of the other workspace.`] : [];
      }),
      ...ledger.handOvers.flatMap(({ emailId, workspaceId, words }) =>
        words.some((tenant) => workspaces[tenant] !== workspaceId) ? [`The mail ${emailId} has words of the other workspace.`] : [],
      ),
    ];
  },
};

/** Lists of the API that take no name of an object. */
const LISTS = Object.values(contract)
  .flatMap((verbs) => Object.values(verbs))
  .filter(
    ({ method, path }) => method === "GET" && path.startsWith("/api/") && !path.includes(":") && !/stream|wait|export|download/.test(path),
  )
  .map(({ path }) => path);

/** Asks for every list as both workspaces. Faults of an answer are noted as it comes. */
async function askEverything(universe: Universe): Promise<void> {
  for (const tenant of TENANTS)
    for (const path of LISTS)
      await universe.fetchAs(tenant)(universe.world.url + path, { headers: { authorization: `Bearer ${universe.keyOf(tenant)}` } });
}
