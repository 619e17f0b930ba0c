import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import type { ExplainDeps, Explainers } from "./explain.ts";

/** The handlers of explanations. `load` gives how each kind of object is explained, which no start of a server needs. */
export function explanationHandlers<Deps extends ExplainDeps>(
  load: () => Promise<Explainers<Deps>>,
): Handlers<typeof contract.explanations, Deps> {
  return {
    get: async (question, { read, deps, workspaceId, key }) => {
      const [explainers, { explain }] = await Promise.all([load(), import("./explain.ts")]);
      return explain(explainers, read, deps, key, { workspaceId, ...question });
    },
  };
}
