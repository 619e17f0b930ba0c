import { createHash } from "node:crypto";
import type { ApprovalDetail, NewProposal, Permission, Proposal, ProposalDetail } from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import type { Reader, Tx } from "../../db/db.ts";
import { listHosts } from "../../html/links.ts";
import { ApiError, invalid } from "../../lib/api-error.ts";
import { findLists } from "../../lists/lists.ts";
import { checkProposed, type Parse } from "../../templates/templates.ts";
import { getActivation } from "../activations/activations.ts";
import type { AgentQuery, AgentTx } from "../agent-access.ts";
import type { MessageDeps, ProposalChoice } from "./messages.ts";
import { type ApprovalRow, getMessage, type MessageRow, showMessage } from "./store.ts";

/*
 * An agent proposes a campaign or a template with an approval request, and a person decides. The content is stored with the request and
 * never changes; its hash is part of the question, and an answer that approves has to name it. The answer and what it creates are one
 * transaction, so neither is without the other.
 */

/** A caller, and what they may do. */
interface Person {
  readonly owner: boolean;
  readonly permissions: ReadonlySet<Permission>;
}

/** The part of an answer that is about a proposal. */
interface ProposalAnswer {
  readonly hash?: string | undefined;
  readonly create?: ProposalChoice["create"] | undefined;
  readonly fromEmail?: string | undefined;
  readonly fromName?: string | undefined;
  readonly lists?: readonly string[] | undefined;
}

/** The part of a proposal that its request shows, with the hash of all of it. */
export function summarize(proposal: NewProposal): Proposal {
  const { kind, name, subject, html = null, text = null } = proposal;
  const { previewText = null, lists } = kind === "campaign" ? proposal : { lists: [] };
  const type = kind === "template" ? proposal.type : null;
  const hash = createHash("sha256")
    .update(JSON.stringify([kind, name, subject, previewText, html, text, lists, type]))
    .digest("base64url");
  return { kind, name, subject, previewText, lists, hash };
}

/** Checks the sources of a proposal; a campaign is the same mail for each reader but for their fields. Throws ApiError validation_error. */
export function checkSources(parse: Parse, { kind, subject, html, text }: NewProposal): void {
  try {
    checkProposed(parse, { subject, html: html ?? null, text: text ?? null }, kind === "campaign");
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const details = error.details.map((detail) => ({ ...detail, path: `approval.proposal.${detail.path}` }));
    throw new ApiError(error.code, `approval.proposal.${error.message}`, { details });
  }
}

/** Stores what an approval request proposes. Throws ApiError not_found for a list that the brand does not have. */
export async function storeProposal(tx: AgentTx, { id, workspaceId }: MessageRow, content: NewProposal): Promise<void> {
  await assertListsExist(tx, workspaceId, content);
  await tx.insert(tx.t.proposals).values({ messageId: id, workspaceId, content, created: null });
}

async function assertListsExist(tx: AgentTx, workspaceId: string, content: NewProposal): Promise<void> {
  const wanted = content.kind === "campaign" ? content.lists : [];
  const known = await findLists(tx, workspaceId, wanted);
  for (const [i, id] of wanted.entries())
    if (!known.has(id))
      throw new ApiError("not_found", `The list ${id} was not found.`, {
        details: [{ path: `approval.proposal.lists[${i}]`, code: "not_found", message: "Not found." }],
        hint: "The scope lists:read_metadata lets an agent list the ids.",
      });
}

/** An approval request with what it proposes, as a person sees it before answering. Throws ApiError not_found or invalid_state. */
export async function getApproval(
  read: Reader,
  deps: MessageDeps,
  workspaceId: string,
  person: Person,
  id: string,
): Promise<ApprovalDetail> {
  const found = await getMessage(read, { workspaceId }, id);
  if (found.approval === null) throw new ApiError("invalid_state", `This message is a ${found.message.type}, not an APPROVAL_REQUEST.`);
  const { listing } = await getActivation(read, workspaceId, found.message.activationId);
  const stored = found.approval.proposal === null ? null : await findProposal(read, id);
  return {
    ...showMessage(found, deps.clock.now()),
    agentSlug: listing.slug,
    agentName: listing.name,
    proposal: stored && (await showProposal(read, deps, workspaceId, person, stored)),
  };
}

/** The content that an approval request of a workspace proposes. Throws ApiError not_found. */
export async function getProposed(read: Reader, workspaceId: string, id: string): Promise<NewProposal> {
  const { approval } = await getMessage(read, { workspaceId }, id);
  if (!approval?.proposal) throw new ApiError("not_found", "This message proposes nothing.");
  return (await findProposal(read, id)).content;
}

interface StoredProposal {
  readonly content: NewProposal;
  readonly created: ProposalDetail["created"];
}

async function showProposal(
  read: Reader,
  { proposalHooks }: MessageDeps,
  workspaceId: string,
  person: Person,
  { content, created }: StoredProposal,
): Promise<ProposalDetail> {
  const { html = null, text = null } = content;
  const summary = summarize(content);
  const sees = content.kind === "campaign" && (person.owner || person.permissions.has("campaigns:read"));
  return {
    ...summary,
    html,
    text,
    ...(await proposalHooks.render(read, workspaceId, content)),
    linksTo: [...listHosts(html ?? "", text ?? "").linksTo],
    loadsFrom: [...listHosts(html ?? "", text ?? "").loadsFrom],
    ...(sees ? await proposalHooks.countReach(read, workspaceId, summary.lists) : { suggestedLists: null, reach: null }),
    suggestedSender: sees ? await proposalHooks.suggestSender(read, workspaceId) : null,
    created,
  };
}

/** An approved proposal, checked and prepared before the transaction of its answer. */
export interface Acceptance {
  readonly hash: string;
  readonly choice: ProposalChoice;
  readonly prepared: unknown;
}

/**
 * Checks what an answer says about a proposal, and prepares what it creates; null when it creates nothing. Throws ApiError
 * validation_error, forbidden, and conflict for the hash of another proposal.
 */
export async function prepareAcceptance(
  read: Reader,
  deps: MessageDeps,
  workspaceId: string,
  person: Person,
  { id, decision, ...answer }: ProposalAnswer & { id: string; decision: string },
): Promise<Acceptance | null> {
  const { approval } = await getMessage(read, { workspaceId }, id);
  // The answer to it is refused.
  if (approval?.status !== "PENDING") return null;
  const { proposal } = approval;
  if (proposal === null || decision !== "approve") {
    assertNothingGiven(answer, proposal === null ? "This request proposes nothing." : "Only an answer that approves creates something.");
    return null;
  }
  const { content } = await findProposal(read, id);
  const choice = choose(content, answer, proposal);
  assertMay(person, content.kind === "campaign" ? "campaigns:write" : "templates:write");
  assertSameHash(answer.hash, content, proposal);
  return { hash: proposal.hash, choice, prepared: await deps.proposalHooks.prepare(read, workspaceId, content, choice) };
}

/** Creates what was proposed, in the transaction that stores the answer. */
export async function createProposed(
  tx: Tx,
  deps: MessageDeps,
  { message, approval }: { readonly message: MessageRow; readonly approval: ApprovalRow },
  acceptance: Acceptance | null,
): Promise<void> {
  if (approval.proposal === null || approval.status !== "APPROVED") return;
  // Prepared while the request was not PENDING, it is not answered now.
  if (acceptance === null) throw new ApiError("conflict", "The request was changed meanwhile. Read it again.");
  const { workspaceId, activationId } = message;
  const { content } = await findProposal(tx, message.id);
  assertSameHash(acceptance.hash, content, approval.proposal);
  const { listing } = await getActivation(tx, workspaceId, activationId);
  const by = { agentSlug: listing.slug, agentName: listing.name, activationId, approvalId: message.id };
  const { choice, prepared } = acceptance;
  const created = await deps.proposalHooks.create(tx, workspaceId, { proposal: content, choice, prepared, by });
  await tx.update(tx.t.proposals).set({ created }).where(eq(tx.t.proposals.messageId, message.id));
}

async function findProposal(q: AgentQuery, messageId: string): Promise<StoredProposal> {
  const { proposals: p } = q.t;
  const [row] = await q.select({ content: p.content, created: p.created }).from(p).where(eq(p.messageId, messageId));
  if (!row) throw new Error(`The approval request ${messageId} has lost its proposal.`);
  return row;
}

function assertNothingGiven(answer: ProposalAnswer, message: string): void {
  const [field] = Object.entries(answer).find(([, value]) => value !== undefined) ?? [];
  if (field !== undefined) throw invalid(field, "not_allowed", message);
}

function choose(content: NewProposal, answer: ProposalAnswer, { lists }: Proposal): ProposalChoice {
  const { create = "draft", fromEmail = null, fromName = null } = answer;
  if (content.kind === "template") {
    const { hash: _, create: end, ...rest } = answer;
    assertNothingGiven(rest, "A template has no sender and no lists until it is sent.");
    if (end === "send") throw invalid("create", "not_allowed", "A template cannot be sent. It becomes a draft, which you can publish.");
    return { create: "draft", fromEmail: null, fromName: null, lists: [] };
  }
  if (fromEmail === null) throw invalid("fromEmail", "required", "Choose the sender of the campaign: fromEmail is required.");
  const to = answer.lists ?? lists;
  if (create === "send" && to.length === 0)
    throw invalid("lists", "required", "Choose the lists that get the campaign: the agent suggests none.");
  return { create, fromEmail, fromName, lists: [...new Set(to)] };
}

function assertMay(person: Person, permission: Permission): void {
  if (person.owner || person.permissions.has(permission)) return;
  throw new ApiError("forbidden", `Approving this creates something, for which the permission ${permission} is needed.`, {
    details: [{ path: "", code: "missing_permission", message: permission }],
  });
}

/** Asserts that a person has seen what was asked and is stored. */
function assertSameHash(given: string | undefined, content: NewProposal, asked: Proposal): void {
  if (given === undefined)
    throw invalid("hash", "required", "To approve a proposal, send the hash of what you have seen: it is in approvals.get.");
  if (given !== asked.hash || summarize(content).hash !== asked.hash)
    throw new ApiError("conflict", "This is not the hash of what the request proposes. Look at it again.", {
      details: [{ path: "hash", code: "other_proposal", message: "It is that of another proposal." }],
      hint: `See: mailsvc approvals get`,
    });
}
