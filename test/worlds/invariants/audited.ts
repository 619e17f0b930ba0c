import { TENANTS } from "../script.ts";
import type { Invariant } from "./invariant.ts";

/** Nouns whose changes are settings and content, as the audit keeps them. */
const KEPT =
  /^(?:key|limitedKey|testMail|webhook|failingWebhook|hangingWebhook|list|segment|template|form|member|series|waiting|branching|calling|\w*[cC]ampaign)$/;

const ENDS = /\.(?:delete|revoke|remove)$/;

export const AUDITED: Invariant = {
  name: "audited",
  promise: "Each change of settings and content names its author.",
  says: [
    "What a key, a person or the operator has made is in the audit of its workspace, with the one who has made it, and so is that it was deleted, revoked or removed. No entry of one workspace names an object of the other.",
  ],
  check: async ({ world, things, ledger, rewound, workspaces }) => {
    if (rewound) return [];
    const { read } = world.app.deps.db;
    const entries = Map.groupBy(await read.select().from(read.t.auditEntries), ({ objectId }) => objectId);
    const kept = [...things.values()].filter(({ noun }) => KEPT.test(noun));
    return kept.flatMap(({ id, label, tenant }) => {
      const own = entries.get(id) ?? [];
      const foreign = own.find(({ workspaceId }) => TENANTS.some((one) => one !== tenant && workspaces[one] === workspaceId));
      if (foreign) return [`The audit of another workspace names ${label} of ${tenant}: ${foreign.action}.`];
      if (own.length === 0) return [`The audit does not say who has made ${label}.`];
      return ledger.deleted.has(id) && !own.some(({ action }) => ENDS.test(action))
        ? [`The audit does not say who has ended ${label}.`]
        : [];
    });
  },
};
