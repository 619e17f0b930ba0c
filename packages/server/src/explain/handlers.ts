import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import type { ExplainDeps } from "./deps.ts";
import { type Explainers, explain } from "./explain.ts";

/** The handlers of explanations; `explainers` says how each kind of object is explained. */
export function explanationHandlers<Deps extends ExplainDeps>(explainers: Explainers<Deps>): Handlers<typeof contract.explanations, Deps> {
  return {
    get: (question, { read, deps, workspaceId, key }) => explain(explainers, read, deps, key, { workspaceId, ...question }),
  };
}
