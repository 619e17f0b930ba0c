import type { AgentContract, contract } from "@mailsvc/sdk/contract";
import type { AgentReadContext, AgentWriteContext, Handlers } from "../../http/handler.ts";
import { checkContent } from "./content.ts";
import { deletePage } from "./delete.ts";
import { type Author, createPage, setOwnStatus, setStatusForBrand, updatePage } from "./pages.ts";
import { showPage, summaryOf } from "./show.ts";
import { statsOf } from "./stats.ts";
import { findPage, listPages, type Viewer } from "./store.ts";
import { listSubmissions } from "./submissions.ts";

/** Landing pages as their brand oversees them. */
export const landingPageHandlers: Handlers<typeof contract.landingPages> = {
  list: (input, { read, deps, workspaceId }) =>
    listPages(read, brand(workspaceId), input, (row) => summaryOf(deps, brand(workspaceId), row)),
  get: async ({ id }, { read, deps, workspaceId }) => showPage(deps, brand(workspaceId), await findPage(read, brand(workspaceId), id)),
  publish: ({ id }, { tx, deps, workspaceId }) => setStatusForBrand(tx, deps, workspaceId, id, "PUBLISHED"),
  unpublish: ({ id }, { tx, deps, workspaceId }) => setStatusForBrand(tx, deps, workspaceId, id, "DRAFT"),
  delete: ({ id }, { tx, deps, workspaceId }) => deletePage(tx, deps, workspaceId, id),
  stats: ({ id, ...span }, { read, deps, workspaceId }) => statsOf(read, brand(workspaceId), id, span, deps.clock.now()),
  submissions: ({ id, ...input }, { read, workspaceId }) => listSubmissions(read, workspaceId, id, input),
};

/** Landing pages as an agent makes them. */
export const agentLandingPageHandlers: Handlers<AgentContract["landingPages"]> = {
  list: ({ activationId: _own, ...input }, context) =>
    listPages(context.read, author(context), input, (row) => summaryOf(context.deps, author(context), row)),
  create: {
    prepare: (input, { deps }) => checkContent(input, deps),
    run: ({ activationId: _own, ...input }, context, sanitized) => createPage(context.tx, context.deps, author(context), input, sanitized),
  },
  get: async ({ id }, context) => showPage(context.deps, author(context), await findPage(context.read, author(context), id)),
  update: {
    prepare: (input, { deps }) => checkContent(input, deps),
    run: ({ activationId: _own, ...input }, context, sanitized) =>
      updatePage(context.tx, context.deps, author(context), input, context.header("if-match"), sanitized),
  },
  publish: ({ id }, context) => setOwnStatus(context.tx, context.deps, author(context), id, "PUBLISHED"),
  unpublish: ({ id }, context) => setOwnStatus(context.tx, context.deps, author(context), id, "DRAFT"),
  stats: ({ id, from, to }, context) => statsOf(context.read, author(context), id, { from, to }, context.deps.clock.now()),
};

function brand(workspaceId: string): Viewer {
  return { workspaceId, activationId: null };
}

function author({ workspaceId, agent }: AgentReadContext | AgentWriteContext): Author {
  return {
    workspaceId,
    activationId: agent.activationId,
  };
}
