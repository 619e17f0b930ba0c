import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../../http/handler.ts";
import { loadParser } from "../../templates/templates.ts";
import { getActivation } from "../activations/activations.ts";
import type { AgentHandlers } from "../agent-access.ts";
import { answerRequest, cancelRequest } from "./approvals.ts";
import { listApprovals, listInbox, listMessages } from "./inbox.ts";
import { type MessageDeps, markRead, postMessage, writeToAgent } from "./messages.ts";
import { type Acceptance, checkSources, getApproval, prepareAcceptance } from "./proposals.ts";
import { getMessage, showMessage } from "./store.ts";

/** Approval requests of all agents, for the brand. */
export const approvalHandlers: Handlers<typeof contract.approvals, MessageDeps> = {
  list: (input, { read, deps, workspaceId }) => listApprovals(read, workspaceId, deps.clock.now(), input),
  get: ({ id }, { read, deps, workspaceId, key }) => getApproval(read, deps, workspaceId, key, id),
};

/** Messages, for the brand. */
export const messageHandlers: Handlers<typeof contract.messages, MessageDeps> = {
  inbox: (input, { read, deps, workspaceId }) => listInbox(read, workspaceId, deps.clock.now(), input),
  list: async ({ id, ...input }, { read, deps, workspaceId }) => {
    await getActivation(read, workspaceId, id);
    return listMessages(read, id, deps.clock.now(), input);
  },
  create: ({ id, ...message }, { tx, deps, workspaceId }) => writeToAgent(tx, deps, workspaceId, id, message),
  get: async ({ id }, { read, deps, workspaceId }) => showMessage(await getMessage(read, { workspaceId }, id), deps.clock.now()),
  answer: {
    prepare: ({ comment: _, ...input }, { read, deps, workspaceId, key }) => prepareAcceptance(read, deps, workspaceId, key, input),
    run: ({ id, ...answer }, { tx, deps, workspaceId }, acceptance: Acceptance | null) =>
      answerRequest(tx, deps, workspaceId, id, answer, acceptance),
  },
  read: async ({ id, upToSequence }, { tx, deps, workspaceId }) => {
    await getActivation(tx, workspaceId, id);
    return markRead(tx, deps, id, "outbound", upToSequence);
  },
};

/** Messages, for the agent of one activation. */
export const agentMessageHandlers: AgentHandlers<"messages"> = {
  list: (input, { read, deps, agent }) => listMessages(read, agent.activationId, deps.clock.now(), input),
  get: async ({ activationId, messageId }, { read, deps }) =>
    showMessage(await getMessage(read, { activationId }, messageId), deps.clock.now()),
  create: {
    prepare: async ({ approval }) => {
      if (approval?.proposal) checkSources(await loadParser(), approval.proposal);
    },
    run: async (input, { tx, deps, agent }) => {
      const { message, created } = await postMessage(tx, deps, agent, input);
      return { status: created ? 201 : 200, body: message };
    },
  },
  cancel: ({ activationId, messageId }, { tx, deps }) => cancelRequest(tx, deps, activationId, messageId),
  read: ({ activationId, upToSequence }, { tx, deps }) => markRead(tx, deps, activationId, "inbound", upToSequence),
};
