import type { NewProposal, ProposalDetail, ProposalEnd, ProposedBy } from "@mailsvc/sdk/contract";
import type { Db, Reader, Tx } from "../../db/db.ts";
import type { Queue } from "../../queue/queue.ts";
import type { AgentDeps } from "../agent-access.ts";

/** Decisions about a proposal besides approving it. */
export interface ProposalChoice {
  readonly create: ProposalEnd;
  /** Required for a campaign. */
  readonly fromEmail: string | null;
  readonly fromName: string | null;
  /** The lists it goes to. */
  readonly lists: readonly string[];
}

/** Hooks for proposals: the modules of campaigns, lists, senders and templates decide on them, connected by `features.ts`. */
export interface ProposalHooks {
  /** The mail as a reader without a name sees it, or why it cannot be rendered. */
  render(read: Reader, workspaceId: string, proposal: NewProposal): Promise<Pick<ProposalDetail, "rendered" | "renderError">>;
  /** The lists that exist, and how many subscribed contacts they have together. */
  countReach(read: Reader, workspaceId: string, lists: readonly string[]): Promise<Pick<ProposalDetail, "suggestedLists" | "reach">>;
  /** The sender that a person would most likely choose; null if that is open. */
  suggestSender(read: Reader, workspaceId: string): Promise<ProposalDetail["suggestedSender"]>;
  /** Prepares `create`, outside of a transaction: selects the audience of a campaign that is sent at once. */
  prepare(read: Reader, workspaceId: string, proposal: NewProposal, choice: ProposalChoice): Promise<unknown>;
  /** Creates the campaign or template, and starts the campaign if that is wanted. Throws ApiError when it is not allowed. */
  create(
    tx: Tx,
    workspaceId: string,
    given: { readonly proposal: NewProposal; readonly choice: ProposalChoice; readonly prepared: unknown; readonly by: ProposedBy },
  ): Promise<NonNullable<ProposalDetail["created"]>>;
}

export interface MessageDeps extends AgentDeps {
  readonly db: Db;
  readonly queue: Queue;
  readonly proposalHooks: ProposalHooks;
}
