import type { contract } from "@mailsvc/sdk/contract";
import type { AgentContext, Handlers } from "../../http/handler.ts";
import type { AgentDeps, AgentHandlers } from "../agent-access.ts";
import { type Author, createPage, setOwnStatus, setStatusForBrand, updatePage } from "./authoring.ts";
import { checkContent } from "./content.ts";
import { deletePage, getPageRow, listPages, type PageDeps, showPage, showSummary, type Viewer } from "./pages.ts";
import { listSubmissions } from "./signups.ts";
import { getStats } from "./stats.ts";

/** Landing pages, for their brand. */
export const landingPageHandlers: Handlers<typeof contract.landingPages, PageDeps> = {
  list: (input, { read, deps, workspaceId }) =>
    listPages(read, toBrandViewer(workspaceId), input, (row) => showSummary(deps, toBrandViewer(workspaceId), row)),
  get: async ({ id }, { read, deps, workspaceId }) =>
    showPage(deps, toBrandViewer(workspaceId), await getPageRow(read, toBrandViewer(workspaceId), id)),
  publish: ({ id }, { tx, deps, workspaceId }) => setStatusForBrand(tx, deps, workspaceId, id, "PUBLISHED"),
  unpublish: ({ id }, { tx, deps, workspaceId }) => setStatusForBrand(tx, deps, workspaceId, id, "DRAFT"),
  delete: ({ id }, { tx, deps, workspaceId }) => deletePage(tx, deps, workspaceId, id),
  stats: ({ id, ...span }, { read, deps, workspaceId }) => getStats(read, toBrandViewer(workspaceId), id, span, deps.clock.now()),
  submissions: ({ id, ...input }, { read, workspaceId }) => listSubmissions(read, workspaceId, id, input),
};

/** Landing pages, for the agent that makes them. */
export const agentLandingPageHandlers: AgentHandlers<"landingPages"> = {
  list: ({ activationId: _own, ...input }, context) =>
    listPages(context.read, toAuthor(context), input, (row) => showSummary(context.deps, toAuthor(context), row)),
  create: {
    prepare: (input, { deps }) => checkContent(input, deps),
    run: ({ activationId: _own, ...input }, context, sanitized) =>
      createPage(context.tx, context.deps, toAuthor(context), input, sanitized),
  },
  get: async ({ id }, context) => showPage(context.deps, toAuthor(context), await getPageRow(context.read, toAuthor(context), id)),
  update: {
    prepare: (input, { deps }) => checkContent(input, deps),
    run: ({ activationId: _own, ...input }, context, sanitized) =>
      updatePage(context.tx, context.deps, toAuthor(context), input, context.header("if-match"), sanitized),
  },
  publish: ({ id }, context) => setOwnStatus(context.tx, context.deps, toAuthor(context), id, "PUBLISHED"),
  unpublish: ({ id }, context) => setOwnStatus(context.tx, context.deps, toAuthor(context), id, "DRAFT"),
  stats: ({ id, from, to }, context) => getStats(context.read, toAuthor(context), id, { from, to }, context.deps.clock.now()),
};

function toBrandViewer(workspaceId: string): Viewer {
  return { workspaceId, activationId: null };
}

function toAuthor({ workspaceId, agent }: AgentContext<AgentDeps>): Author {
  return {
    workspaceId,
    activationId: agent.activationId,
  };
}
