import type { AgentContract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../../http/handler.ts";
import { cancelRequest } from "./approvals.ts";
import { listMessages } from "./list.ts";
import { markRead, postMessage } from "./messages.ts";
import { findMessage, showMessage } from "./store.ts";

/** The inbox, for its agent. */
export const agentMessageHandlers: Handlers<AgentContract["messages"]> = {
  list: (input, { read, deps, agent }) => listMessages(read, agent.activationId, deps.clock.now(), input),
  get: async ({ activationId, messageId }, { read, deps }) =>
    showMessage(await findMessage(read, { activationId }, messageId), deps.clock.now()),
  create: (input, { tx, deps, agent }) => postMessage(tx, deps, agent, input),
  cancel: ({ activationId, messageId }, { tx, deps }) => cancelRequest(tx, deps, activationId, messageId),
  read: ({ activationId, upToSequence }, { tx, deps }) => markRead(tx, deps, activationId, "inbound", upToSequence),
};
