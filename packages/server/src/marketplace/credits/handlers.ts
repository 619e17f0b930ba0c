import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../../http/handler.ts";
import { ApiError } from "../../lib/api-error.ts";
import type { AgentDeps, AgentHandlers } from "../agent-access.ts";
import { consumeCredits, getBalance, grantCredits, refundCredits, showCredits } from "./credits.ts";
import { listEntries, listTransactions } from "./ledger.ts";

/** Credits, for the brand that buys them. */
export const creditHandlers: Handlers<typeof contract.credits, AgentDeps> = {
  get: async (_input, { read, workspaceId }) => ({ balance: await getBalance(read, workspaceId) }),
  grant: (input, { tx, deps, workspaceId }) => grantCredits(tx, deps, workspaceId, input),
  list: (input, { read, workspaceId }) => listEntries(read, workspaceId, input),
};

/** Credits, for the agent that spends them. */
export const agentCreditHandlers: AgentHandlers<"credits"> = {
  get: (_input, { read, deps, agent }) => showCredits(read, agent, deps.clock.now()),
  list: ({ activationId, ...input }, { read }) => listTransactions(read, activationId, input),
  consume: (input, { tx, deps, agent, header }) => {
    if (header("idempotency-key") === null)
      throw new ApiError("idempotency_key_required", "Spending credits requires an Idempotency-Key, so that a retry does not spend twice.");
    return consumeCredits(tx, deps, agent, input);
  },
  refund: ({ transactionId, ...input }, { tx, deps, agent }) => refundCredits(tx, deps, agent, transactionId, input),
};
