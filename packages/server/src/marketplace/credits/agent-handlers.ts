import type { AgentContract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../../http/handler.ts";
import { ApiError } from "../../lib/api-error.ts";
import { consumeCredits, refundCredits, showCredits } from "./credits.ts";
import { listTransactions } from "./ledger.ts";

/** Credits, as an agent spends them. */
export const agentCreditHandlers: Handlers<AgentContract["credits"]> = {
  get: (_input, { read, deps, agent }) => showCredits(read, agent, deps.clock.now()),
  list: ({ activationId, ...input }, { read }) => listTransactions(read, activationId, input),
  consume: (input, { tx, deps, agent, header }) => {
    if (header("idempotency-key") === null)
      throw new ApiError("idempotency_key_required", "Spending credits needs an Idempotency-Key: a repeat must not spend them again.");
    return consumeCredits(tx, deps, agent, input);
  },
  refund: ({ transactionId, ...input }, { tx, deps, agent }) => refundCredits(tx, deps, agent, transactionId, input),
};
