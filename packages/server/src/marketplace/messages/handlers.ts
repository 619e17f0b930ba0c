import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../../http/handler.ts";
import { findActivation } from "../activations/store.ts";
import { answerRequest } from "./approvals.ts";
import { listMessages } from "./list.ts";
import { markRead, writeToAgent } from "./messages.ts";
import { findMessage, showMessage } from "./store.ts";
import { listApprovals, listInbox } from "./waiting.ts";

/** What agents ask, for the brand. */
export const approvalHandlers: Handlers<typeof contract.approvals> = {
  list: (input, { read, deps, workspaceId }) => listApprovals(read, workspaceId, deps.clock.now(), input),
};

/** Messages, for the brand. */
export const messageHandlers: Handlers<typeof contract.messages> = {
  inbox: (input, { read, deps, workspaceId }) => listInbox(read, workspaceId, deps.clock.now(), input),
  list: async ({ id, ...input }, { read, deps, workspaceId }) => {
    await findActivation(read, workspaceId, id);
    return listMessages(read, id, deps.clock.now(), input);
  },
  create: ({ id, ...letter }, { tx, deps, workspaceId }) => writeToAgent(tx, deps, workspaceId, id, letter),
  get: async ({ id }, { read, deps, workspaceId }) => showMessage(await findMessage(read, { workspaceId }, id), deps.clock.now()),
  answer: ({ id, ...answer }, { tx, deps, workspaceId }) => answerRequest(tx, deps, workspaceId, id, answer),
  read: async ({ id, upToSequence }, { tx, deps, workspaceId }) => {
    await findActivation(tx, workspaceId, id);
    return markRead(tx, deps, id, "outbound", upToSequence);
  },
};
