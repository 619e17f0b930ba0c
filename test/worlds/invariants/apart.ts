import { MARKS, other } from "../script.ts";
import type { Invariant } from "./invariant.ts";
import { findReachable } from "./strangers.ts";

export const APART: Invariant = {
  name: "apart",
  promise: "Nothing of one workspace is seen by another, and no request fails by a fault of the service.",
  says: [
    "Two workspaces do the same under the same names, to the same addresses; only one word differs in all they write. No answer, no webhook, no mail and no event of one has the word of the other. Answers are looked at as they come, and at rest every list of the API is asked for by both. Then each of the two makes every call of the API that names an object with the objects of the other, and none of them is carried out. No line of a log has words of a workspace, an address of a person, a key or a secret.",
    "No request is answered with an error of the server, unless the disk is full or an error was asked for.",
  ],
  check: async (universe) => {
    const reachable = await findReachable(universe);
    const { ledger, things, workspaces } = universe;
    return [
      ...reachable,
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
