import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../../http/handler.ts";
import { getBalance, grantCredits } from "./credits.ts";
import { listEntries } from "./ledger.ts";

/** Credits, for the brand that buys them. */
export const creditHandlers: Handlers<typeof contract.credits> = {
  get: async (_input, { read, workspaceId }) => ({ balance: await getBalance(read, workspaceId) }),
  grant: (input, { tx, deps, workspaceId }) => grantCredits(tx, deps, workspaceId, input),
  list: (input, { read, workspaceId }) => listEntries(read, workspaceId, input),
};
